"""Listwise: several named candidates in one prompt, the answer their ranking in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from audit_lib.canonical import canonical_json
from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.reading.ranking import DeclinedError, read_first, read_ranking
from audit_lib.score.reading.ratings import CUT
from audit_lib.score.remote.structured import ranking_schema
from audit_lib.score.request_rows import group_requests
from audit_lib.score.requests import (
    AnswerKind,
    AnswerRecord,
    Request,
    Response,
    elicitation,
    sampling_of,
    score_row,
)

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec


def needs_first(spec: AuditSpec) -> bool:
    """Whether a ranking decides by its first place alone."""
    return spec.task == "listwise" and spec.decision.rule == "top_k" and spec.decision.k == 1


@elicitation("listwise")
class Listwise:
    """Rank the candidates who share a request.

    A live model is shown them in an order drawn by the spec's seed (``order_shown``), and generates the ranking.

    The score of the candidate at rank r of n is ``n - r + 1``, so that higher is better. A candidate
    whom the text does not name is kept, ranked last in the order shown, with status ``unranked`` and
    the detail ``absent`` or ``misspelt``. A text that names nobody, gives no one order or is cut gives ``unparsed``
    rows without a score, and one that declines to rank ``refused`` ones. Where the spec selects the first of each list
    alone, an unparsed text that gives one candidate the first place still decides that: its rows have no score, and
    `selected` says who is first. The whole rule is in `audit_lib.score.reading.ranking`.
    """

    asks: ClassVar[AnswerKind] = "text"
    planned_by: ClassVar[tuple[str, str]] = ("position", "prompt_id")

    def __init__(self, spec: AuditSpec) -> None:
        self.needs_first = needs_first(spec)
        self.sampling = None if spec.model.answers_are_recorded else sampling_of(spec)

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each list of candidates."""
        return [
            replace(request, sampling=self.sampling, answer_schema=self._schema(request))
            for request in group_requests(variants)
        ]

    def _schema(self, request: Request) -> str | None:
        names = [c.name for c in request.candidates if c.name]
        if self.sampling is None or len(set(names)) != len(request.candidates):
            return None
        return canonical_json(ranking_schema(names)).decode()

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return a row for each candidate of the list."""
        if response.status != "ok":
            return [score_row(request, candidate, response) for candidate in request.candidates]
        if response.detail == CUT:
            return self._unread(request, response, CUT)
        try:
            ranking = read_ranking(response.text or "", [c.name or "" for c in request.candidates])
        except DeclinedError as error:
            return self._unread(request, response, str(error), status="refused")
        except ValueError as error:
            return self._first_place(request, response, str(error))
        if ranking.names_nobody:
            return self._unread(request, response, "the text names no candidate")
        rows = []
        for candidate, rank, place in zip(request.candidates, ranking.rank, ranking.place, strict=True):
            rows.append(
                score_row(
                    request,
                    candidate,
                    response,
                    score=float(len(request.candidates) - rank + 1),
                    selected=candidate.recorded_selected,
                    status="ok" if place == "named" else "unranked",
                    detail=None if place == "named" else place,
                )
            )
        return rows

    def _first_place(self, request: Request, response: Response, why: str) -> list[AnswerRecord]:
        names = [c.name or "" for c in request.candidates]
        first = read_first(response.text or "", names) if self.needs_first else None
        if first is None:
            return self._unread(request, response, why)
        rows = self._unread(request, response, f"{why}; only the first place is read")
        return [row | {"selected": i == first} for i, row in enumerate(rows)]

    def _unread(
        self, request: Request, response: Response, why: str, *, status: AnswerStatus = "unparsed"
    ) -> list[AnswerRecord]:
        return [score_row(request, c, response, status=status, detail=why) for c in request.candidates]
