"""Canaries: fixed prompts asked in every run, so that a model which changes under one name is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from audit_lib.documents.canaries import CanaryAnswer, canary_bytes
from audit_lib.errors import BackendError
from audit_lib.run import Run
from audit_lib.score.backends import backend
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Candidate, Elicitation, Message, Request, Response, Sampling

_MOST_TOKENS = 64


def canary_pack(run: Run, task: Elicitation) -> Pack:
    """Return the spec's canaries as requests, asked as the task asks: for labels, or for a short text.

    A canary is the user's turn, unless the backend has a method ``canary(text)`` that says otherwise.
    """
    spec = run.spec
    if not spec.score.canaries:
        return ()
    with closing(backend.get(spec.model.backend)(spec.model)) as answering:
        turns: Callable[[str], tuple[Message, ...]] = getattr(answering, "canary", _as_user)
    by_labels = task.asks == "labels" and spec.prompt is not None and spec.prompt.read == "labels"
    labels = tuple(spec.prompt.labels) if by_labels and spec.prompt is not None else ()
    return tuple(
        Request(
            request_id=f"canary/{number:03d}",
            section="canary",
            family="canary",
            messages=turns(text),
            labels=labels,
            sampling=None if labels else Sampling(max_tokens=_MOST_TOKENS, seed=spec.seed),
            candidates=(Candidate(variant_id=f"canary/{number:03d}"),),
        )
        for number, text in enumerate(spec.score.canaries)
    )


def _as_user(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)


def canary_answers(canaries: Pack, responses: Sequence[Response]) -> bytes:
    """Return ``canaries.json``: what was answered to each canary, in the spec's order.

    Raises
    ------
    BackendError
        If a canary has no answer, or two.
    """
    answers = {response.key: response for response in responses}
    if len(answers) != len(responses) or answers.keys() != {request.key for request in canaries}:
        raise BackendError(f"{len(canaries)} canaries were asked, and {len(responses)} answers came")
    return canary_bytes([_answer(request, answers[request.key]) for request in canaries])


def _answer(request: Request, response: Response) -> CanaryAnswer:
    probabilities = response.label_probabilities
    return CanaryAnswer(
        request_digest=request.digest(),
        status=response.status,
        model=response.model,
        system_fingerprint=response.system_fingerprint,
        score=response.score,
        label_probabilities=None if probabilities is None else tuple(probabilities),
        text=response.text,
    )
