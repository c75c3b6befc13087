"""Requests as a scoring process reads them, and its answers as responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.local.weights import PACKAGED
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Request, Response
from audit_lib.seeds import derive_seed
from audit_lib.spec import Model

NOISE_REQUESTS: Final = 4
"""Requests of a shard that are scored again one by one, beside its longest."""


def located(model: Model) -> str:
    """Return the id or folder to load from; evidence names the model as the spec does."""
    return model.name if model.name in PACKAGED else model.location


def order_of(request: Request) -> dict[str, Any]:
    """Return a request as the scoring process reads it; a text's draws follow from the request alone."""
    how = request.sampling
    return {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "labels": list(request.labels),
        "sampling": how
        and {
            "max_tokens": how.max_tokens,
            "temperature": how.temperature,
            "seed": derive_seed(how.seed, request.request_id, request.repeat),
        },
    }


def response_to(request: Request, answer: dict[str, Any], model: str) -> Response:
    """Return what a process answered to a request."""
    status: AnswerStatus = "ok"
    detail = answer["error"]
    text = answer["text"]
    if detail is not None:
        status = "error"
    elif request.sampling is not None and not text.strip():
        status, text, detail = "unparsed", None, "the answer is empty"
    probabilities = answer["probabilities"]
    return Response(
        request_id=request.request_id,
        repeat=request.repeat,
        status=status,
        label_probabilities=None if probabilities is None else tuple(probabilities),
        text=text,
        model=model,
        method="logits" if request.sampling is None else "generated",
        detail=detail,
        prompt_tokens=answer["tokens"][0],
        completion_tokens=answer["tokens"][1],
    )


def checked_requests(packs: Sequence[Pack], responses: Sequence[Response]) -> list[Request]:
    """Return the requests for labels that are scored again to measure the noise floor: the same ones each time."""
    labelled = {response.key for response in responses if response.label_probabilities is not None}
    asked = [r for pack in packs for r in pack if r.key in labelled]
    checked = [asked[i * len(asked) // NOISE_REQUESTS] for i in range(min(NOISE_REQUESTS, len(asked)))]
    # Windows and limits of positions show in long prompts.
    checked += sorted(asked, key=lambda r: -sum(len(m.content) for m in r.messages))[:1]
    return list({request.key: request for request in checked}.values())
