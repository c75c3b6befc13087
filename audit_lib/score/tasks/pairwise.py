"""Pairwise: which of two candidates is better? Every pair of a pool, in both orders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.pairs import ANSWERS, UNPARSED, pair_points
from audit_lib.records import ANSWER_SCHEMA, to_parquet
from audit_lib.score.request_rows import conversation, records
from audit_lib.score.requests import (
    AnswerKind,
    AnswerRecord,
    Candidate,
    Collected,
    Request,
    Response,
    elicitation,
    questions,
)

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

AnsweredPair = tuple[Request, Response]

_WORST_FIRST: Final[tuple[AnswerStatus, ...]] = ("error", "refused", "unparsed")


@elicitation("pairwise")
class Pairwise:
    """Score candidates by what the model says about pairs.

    The answer to a prompt is its label of the highest probability: a candidate's name or letter, or the label
    that calls both equally good. Where two labels share the highest probability, or all the probability that falls
    on labels is 0, the answer is ``unparsed``.

    A candidate's score is the sum of its points over the pairs that it is in (`audit_lib.pairs.pair_points`: a
    consistent win 1, inconsistent orders 0.5 each, "both equally good" 0.25 a prompt). An answer that is missing
    counts as a tie, and the row's `detail` says how many do; a candidate of whom not even half of the answers are
    there has no score, and the status of most of them. Its label mass is the mean over its answers.

    All prompts of a pool are in one shard, in packs of their own.
    """

    asks: ClassVar[AnswerKind] = "labels"
    planned_by: ClassVar[tuple[str, str]] = ("round_id", "round_id")
    table: ClassVar[str] = "pairs.parquet"

    def __init__(self, spec: AuditSpec) -> None:
        pass

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return a request for each row of ``pairs.parquet``."""
        return [
            Request(
                request_id=row["request_id"],
                section=row["round_id"],
                family=row["round_id"],
                messages=conversation(row["messages"], row["request_id"]),
                labels=tuple(row["labels"]),
                candidates=(
                    Candidate(variant_id=row["first"], order_shown=1),
                    Candidate(variant_id=row["second"], order_shown=2),
                ),
            )
            for row in records(variants)
        ]

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return none: a candidate's row needs all the answers of its pool."""
        return []

    def collect(self, asked: Sequence[AnsweredPair]) -> Collected:
        """Return a row for each candidate and repeat, and ``pairs.parquet``: the answers one by one."""
        ordered = sorted(asked, key=lambda pair: (pair[0].family, pair[0].repeat, pair[0].request_id))
        rows: list[AnswerRecord] = []
        for _, pool in groupby(ordered, key=lambda pair: (pair[0].family, pair[0].repeat)):
            rows += _pool_rows(list(pool))
        answers = [_answer_row(request, response) for request, response in ordered]
        unread = sum(row["answer"] == "unparsed" for row in answers)
        return Collected(
            rows=rows,
            artefacts={"pairs.parquet": to_parquet(answers, ANSWER_SCHEMA, ["request_id", "repeat"])},
            counts={"unread_answers": unread} if unread else {},
        )

    def again(self, requests: Sequence[Request], artefact: pd.DataFrame) -> Collected:
        """Collect from the answers that ``pairs.parquet`` holds: what verification compares."""
        kept = {(row["request_id"], row["repeat"]): row for row in records(artefact)}
        return self.collect([(request, _kept_response(kept[request.key])) for request in requests])


def read_answer(response: Response) -> tuple[int, str | None]:
    """Return the place in ``ANSWERS`` of a prompt's answer, and why it is unparsed if it is."""
    if response.status != "ok":
        return UNPARSED, response.detail
    shares = response.label_probabilities or ()
    best = max(shares, default=0.0)
    if not 0 < best < math.inf:
        return UNPARSED, "no probability falls on any label"
    if shares.count(best) > 1:
        return UNPARSED, "two labels share the highest probability"
    return shares.index(best), None


def _answer_row(request: Request, response: Response) -> AnswerRecord:
    answer, why = read_answer(response)
    first, second = request.candidates
    return {
        "request_id": request.request_id,
        "repeat": request.repeat,
        "round_id": request.family,
        "first": first.variant_id,
        "second": second.variant_id,
        "answer": ANSWERS[answer],
        "model": response.model,
        "request_digest": request.digest(),
        "label_probabilities": None
        if response.label_probabilities is None
        else list(response.label_probabilities),
        "label_mass": None if response.status != "ok" else math.fsum(response.label_probabilities or ()),
        "text": response.text,
        "method": response.method,
        "status": _status(response),
        "detail": why,
        "attempts": response.attempts,
    }


def _status(response: Response) -> AnswerStatus:
    return "unparsed" if response.status == "ok" and read_answer(response)[0] == UNPARSED else response.status


def _kept_response(row: Mapping[str, Any]) -> Response:
    shares = row["label_probabilities"]
    return Response(
        request_id=row["request_id"],
        repeat=row["repeat"],
        # An answer that could not be read was ok when it came: its probabilities are there.
        status=row["status"] if shares is None else "ok",
        label_probabilities=None if shares is None else tuple(map(float, shares)),
        text=row["text"],
        model=row["model"],
        method=row["method"],
        attempts=row["attempts"],
        detail=row["detail"] if shares is None else None,
    )


def _pool_rows(pool: Sequence[AnsweredPair]) -> list[AnswerRecord]:
    codes = {
        (request.candidates[0].variant_id, request.candidates[1].variant_id): read_answer(response)[0]
        for request, response in pool
    }
    of_candidate: dict[str, list[AnsweredPair]] = {}
    for request, response in pool:
        for candidate in request.candidates:
            of_candidate.setdefault(candidate.variant_id, []).append((request, response))
    asked = questions([request for request, _ in pool])
    return [
        _candidate_row(name, sorted(of_candidate), codes, of_candidate[name], asked[name])
        for name in sorted(of_candidate)
    ]


def _candidate_row(
    name: str,
    pool: Sequence[str],
    codes: dict[tuple[str, str], int],
    asked: Sequence[AnsweredPair],
    question: tuple[str, str],
) -> AnswerRecord:
    others = [other for other in pool if other != name]
    points = pair_points(
        np.array([codes[name, other] for other in others]), np.array([codes[other, name] for other in others])
    )
    statuses = Counter(_status(response) for _, response in asked)
    missing = len(asked) - statuses["ok"]
    masses = [math.fsum(r.label_probabilities or ()) for _, r in asked if r.status == "ok"]
    status: AnswerStatus = "ok"
    if 2 * missing > len(asked):
        status = max(_WORST_FIRST, key=lambda one: statuses[one])
    said = f"{missing} of {len(asked)} answers are missing"
    return {
        "variant_id": name,
        "repeat": asked[0][0].repeat,
        "request_id": question[0],
        "model": asked[0][1].model,
        "request_digest": question[1],
        "label_probabilities": None,
        "label_mass": math.fsum(masses) / len(masses) if masses else None,
        "score": float(points.sum()) if status == "ok" else None,
        "selected": None,
        "text": None,
        "method": asked[0][1].method,
        "status": status,
        "detail": None if not missing else f"{said} and count as ties" if status == "ok" else said,
        "attempts": max(response.attempts for _, response in asked),
    }
