"""Pointwise: one candidate a prompt, the answer one of a few labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from audit_lib.score.labels import read_label
from audit_lib.score.requests import (
    Candidate,
    Kind,
    Request,
    Response,
    Row,
    elicitation,
    group_requests,
    score_row,
)

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec


@elicitation("pointwise")
class Pointwise:
    """Score each candidate alone.

    With ``p_i`` the probability of label i among all that the model could answer, the label mass is
    ``m = sum_i p_i`` and the score is ``sum_i (p_i / m) * relevance_i``. For labels No and Yes with
    relevance 0 and 1 that is P(Yes) given that the answer is No or Yes. The mass is stored beside it: a small one
    says that the model hardly answers the question at all.

    A recorded decision has the recorded score. Only where no row of the audit has a score is one made: 1 if
    selected and 0 if not, else the relevance of the label with which the recorded text begins. A score that
    is missing beside others stays missing: 0 or 1 need not lie on their scale.
    """

    asks: ClassVar[Kind] = "labels"

    def __init__(self, spec: AuditSpec) -> None:
        self.labels = tuple(spec.prompt.labels) if spec.prompt else ()
        self.relevance = tuple(spec.prompt.relevance) if spec.prompt else ()
        self._scores_were_recorded = False

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each variant."""
        self._scores_were_recorded = bool(variants["recorded_score"].notna().any())
        return group_requests(variants, self.labels)

    def rows(self, request: Request, response: Response) -> list[Row]:
        """Return the candidate's row."""
        return [self._row(request, candidate, response) for candidate in request.candidates]

    def _row(self, request: Request, candidate: Candidate, response: Response) -> Row:
        if response.status != "ok":
            return score_row(request, candidate, response)
        if response.method == "recorded":
            return self._recorded(request, candidate, response)
        masses = response.label_probabilities or ()
        mass = math.fsum(masses)
        if not 0 < mass < math.inf:
            return score_row(
                request,
                candidate,
                response,
                label_mass=mass if mass == 0 else None,
                status="unparsed",
                detail="no probability falls on any label",
            )
        shares = [p / mass for p in masses]
        score = math.fsum(p * worth for p, worth in zip(shares, self.relevance, strict=True))
        return score_row(
            request, candidate, response, label_probabilities=shares, label_mass=mass, score=score
        )

    def _recorded(self, request: Request, candidate: Candidate, response: Response) -> Row:
        score, selected = candidate.recorded_score, candidate.recorded_selected
        made = not self._scores_were_recorded
        if made and score is None and selected is not None:
            score = float(selected)
        if made and score is None and (label := read_label(response.text, self.labels)) is not None:
            score = self.relevance[label]
        if score is None or not math.isfinite(score):
            return score_row(
                request, candidate, response, status="unparsed", detail="no recorded score, decision or label"
            )
        return score_row(request, candidate, response, score=score, selected=selected)
