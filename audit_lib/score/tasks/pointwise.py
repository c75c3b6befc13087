"""Pointwise: one candidate a prompt, the answer one of a few labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from audit_lib.canonical import canonical_json
from audit_lib.records import CHECK, VARIATION
from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.logprobs import BELOW
from audit_lib.score.reading.ratings import CUT, RatingScale, read_rating
from audit_lib.score.remote.structured import rating_schema
from audit_lib.score.request_rows import group_requests
from audit_lib.score.requests import (
    OWN_SCORE,
    AnswerKind,
    AnswerRecord,
    Candidate,
    Request,
    Response,
    elicitation,
    sampling_of,
    score_row,
)
from audit_lib.spec import RECORDED

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

NO_SCORE: Final = "no recorded score, decision or label"
NO_SCORE_BESIDE_OTHERS: Final = "a recorded decision without the score that others have"


@elicitation("pointwise")
class Pointwise:
    """Score each candidate alone.

    With ``p_i`` the probability of label i among all that the model could answer, the label mass is
    ``m = sum_i p_i`` and the score is ``sum_i (p_i / m) * relevance_i``. For labels No and Yes with
    relevance 0 and 1 that is P(Yes) given that the answer is No or Yes. The mass is stored beside it: a small one
    says that the model hardly answers the question at all. Where labels are read from the few tokens that an API shows
    and too much of them is hidden (`audit_lib.score.reading.logprobs`), there is no score.

    With ``prompt.read`` other than ``labels`` the score is the rating that the generated text gives
    (`audit_lib.score.reading.ratings`), on the scale of labels and relevance.

    A recorded decision has the recorded score. Only where no row of the audit has a score is one made: 1 if
    selected and 0 if not, else the relevance of the label with which the recorded text begins. A score that
    is missing beside others stays missing: 0 or 1 need not lie on their scale.
    """

    asks: ClassVar[AnswerKind] = "labels"
    planned_by: ClassVar[tuple[str, str]] = ("position", "prompt_id")
    known_by: ClassVar[tuple[str, ...]] = ("recorded_score",)

    def __init__(self, spec: AuditSpec) -> None:
        self.labels = tuple(spec.prompt.labels) if spec.prompt else ()
        self.relevance = tuple(spec.prompt.relevance) if spec.prompt else ()
        self.read = spec.prompt.read if spec.prompt else "labels"
        self.sampling = None if spec.model.answers_are_recorded else sampling_of(spec)
        self._scores_were_recorded = False
        self._questions = _questions(spec)
        self._about: dict[str, str] = {}

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each variant."""
        self._scores_were_recorded = bool(variants["recorded_score"].notna().any())
        self._about = _about(variants)
        if self.read == "labels" and not self._about:
            return group_requests(variants, self.labels)
        requests = group_requests(variants)
        if self.read == "labels":
            return [replace(request, labels=self._scale(request).labels) for request in requests]
        return [
            replace(request, sampling=self.sampling, answer_schema=self._schema(request))
            for request in requests
        ]

    def _schema(self, request: Request) -> str | None:
        if not self.read.startswith("json:") or request.request_id in self._about or self.sampling is None:
            return None
        path = self.read.removeprefix("json:").split(".")
        return canonical_json(rating_schema(path, self._scale(request).labels)).decode()

    def known(self, variants: pd.DataFrame) -> dict[str, Any]:
        """Return whether any row of the audit has a recorded score."""
        return {"scores_were_recorded": bool(variants["recorded_score"].notna().any())}

    def know(self, known: dict[str, Any]) -> None:
        """Take what the whole audit says."""
        self._scores_were_recorded = bool(known["scores_were_recorded"])

    def _scale(self, request: Request) -> RatingScale:
        attribute = self._about.get(request.request_id)
        return (
            RatingScale(labels=self.labels, relevance=self.relevance)
            if attribute is None
            else self._questions[attribute]
        )

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return the candidate's row."""
        return [self._row(request, candidate, response) for candidate in request.candidates]

    def _row(self, request: Request, candidate: Candidate, response: Response) -> AnswerRecord:
        if response.status != "ok":
            return score_row(request, candidate, response)
        if response.method == RECORDED:
            return self._recorded(request, candidate, response)
        if response.method in OWN_SCORE and response.score is not None:
            return score_row(request, candidate, response)
        if self.read != "labels":
            return self._read(request, candidate, response)
        masses = response.label_probabilities or ()
        mass = math.fsum(masses)
        if not 0 < mass < math.inf:
            return score_row(
                request,
                candidate,
                response,
                label_mass=mass if mass == 0 else None,
                status="unparsed",
                detail="; ".join(filter(None, ("no probability falls on any label", response.detail))),
            )
        if (response.detail or "").startswith(BELOW):
            return score_row(request, candidate, response, label_mass=mass, status="unparsed")
        shares = [p / mass for p in masses]
        return score_row(
            request,
            candidate,
            response,
            label_probabilities=shares,
            label_mass=mass,
            score=self.expected(shares, request),
        )

    def expected(self, shares: Sequence[float], request: Request | None = None) -> float:
        """Return the score of normalised label probabilities.

        Of a question about an attribute: the place of the most probable answer, the first of equal ones.
        """
        if request is not None and request.request_id in self._about:
            return float(max(range(len(shares)), key=lambda place: shares[place]))
        return math.fsum(p * worth for p, worth in zip(shares, self.relevance, strict=True))

    def _read(self, request: Request, candidate: Candidate, response: Response) -> AnswerRecord:
        if response.detail == CUT:
            return score_row(request, candidate, response, status="unparsed")
        read = "phrase" if request.request_id in self._about else self.read
        found = read_rating(response.text, read, self._scale(request))
        return score_row(
            request, candidate, response, score=found.score, status=found.status, detail=found.detail
        )

    def _recorded(self, request: Request, candidate: Candidate, response: Response) -> AnswerRecord:
        score, selected = candidate.recorded_score, candidate.recorded_selected
        made = not self._scores_were_recorded
        if made and score is None and selected is not None:
            score = float(selected)
        if made and score is None and self.read != "labels":
            return self._read(request, candidate, response)
        if made and score is None and (label := read_label(response.text, self.labels)) is not None:
            score = self.relevance[label]
        if score is None or not math.isfinite(score):
            detail = NO_SCORE if selected is None else NO_SCORE_BESIDE_OTHERS
            return score_row(request, candidate, response, status="unparsed", detail=detail)
        return score_row(request, candidate, response, score=score, selected=selected)


def _questions(spec: AuditSpec) -> dict[str, RatingScale]:
    """Return the answers to the question about each attribute; an answer's worth is its place."""
    if spec.manipulation is None:
        return {}
    found = {}
    for attribute in spec.manipulation.questions:
        labels = spec.manipulation.labels(attribute, spec.groups.attributes[attribute])
        found[attribute] = RatingScale(labels=labels, relevance=tuple(map(float, range(len(labels)))))
    return found


def _about(variants: pd.DataFrame) -> dict[str, str]:
    """Return request -> attribute, for the requests that ask for an attribute."""
    if VARIATION not in variants:
        return {}
    asked = variants[variants[VARIATION].str.startswith(CHECK, na=False)]
    return {
        str(request): str(variation).removeprefix(CHECK)
        for request, variation in zip(asked["request_id"], asked[VARIATION], strict=True)
    }
