"""Generation: a prompt is answered by a text, as often as the spec says; the text is kept, and not judged here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from audit_lib.records import recorded_answers
from audit_lib.score.reading.thinking import without_thinking
from audit_lib.score.request_rows import group_requests
from audit_lib.score.requests import (
    AnswerKind,
    AnswerRecord,
    Request,
    Response,
    Sampling,
    elicitation,
    score_row,
)
from audit_lib.seeds import derive_seed
from audit_lib.spec import RECORDED

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec


def text_sampling(spec: AuditSpec) -> Sampling:
    """Return how the texts of an audit of texts or lists are generated."""
    settings = spec.generation
    seed = derive_seed(spec.seed, "generation") % 2**31 if settings.seed is None else settings.seed
    return Sampling(max_tokens=settings.max_tokens, temperature=settings.temperature, seed=seed)


def text_requests(variants: pd.DataFrame, spec: AuditSpec) -> list[Request]:
    """Return one request for each variant, with the spec's sampling unless the answers are recorded."""
    sampling = text_sampling(spec)
    return [
        request if request.recorded_response is not None else replace(request, sampling=sampling)
        for request in group_requests(variants)
    ]


def answer_text(request: Request, response: Response) -> tuple[str | None, str | None]:
    """Return the text of an answer, with what was thought before it, and why it is no answer, if it is none.

    Of several recorded answers to one prompt, repeat r is number r, counted from 0.
    """
    text = response.text
    if response.method == RECORDED:
        answers = [] if text is None else recorded_answers(text)
        if request.repeat >= len(answers):
            return None, f"{len(answers)} recorded answers, and this would be number {request.repeat + 1}"
        text = answers[request.repeat]
    if not without_thinking(text or "").strip():
        return (text if (text or "").strip() else None), "the answer is empty"
    return text, None


@elicitation("generation")
class GenerationTask:
    """Keep the text of each answer.

    There is no score and nobody is selected. An empty answer is a row with status ``unparsed``; so is a
    recorded prompt that has fewer answers than ``score.repeats``.
    """

    asks: ClassVar[AnswerKind] = "text"
    planned_by: ClassVar[tuple[str, str]] = ("position", "prompt_id")

    def __init__(self, spec: AuditSpec) -> None:
        self.spec = spec

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each variant."""
        return text_requests(variants, self.spec)

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return the variant's row."""
        if response.status != "ok":
            return [score_row(request, candidate, response) for candidate in request.candidates]
        text, why = answer_text(request, response)
        values: AnswerRecord = {"text": text}
        if why is not None:
            values |= {"status": "unparsed", "detail": why}
        return [score_row(request, candidate, response, **values) for candidate in request.candidates]
