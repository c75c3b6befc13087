"""Requests as a scoring process reads them, and its answers as responses."""

from __future__ import annotations

from typing import Any

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.local.weights import PACKAGED
from audit_lib.score.requests import Request, Response
from audit_lib.seeds import derive_seed
from audit_lib.spec import Model


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
