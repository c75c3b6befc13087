"""``recorded``: decisions that somebody has made already; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from audit_lib.options import Options
from audit_lib.score.backends import Backend, backend
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Response
from audit_lib.spec import Model


@backend("recorded")
class Recorded(Backend):
    """Give back the answers that the source holds, under the id of the model that made them."""

    Options: ClassVar[type[Options]] = Options
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")
    answers_are_recorded: ClassVar[bool] = True
    kept: ClassVar[bool] = False
    pack_size = 256

    def __init__(self, model: Model) -> None:
        self.model = model

    def describe(self) -> dict[str, Any]:
        """Return the label that the spec gives the decisions."""
        return {
            "backend": "recorded",
            "name": self.model.name,
            "revision": self.model.revision,
            "options": {},
        }

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield what is recorded for each request."""
        for pack in packs:
            for request in pack:
                yield Response(
                    request_id=request.request_id,
                    repeat=request.repeat,
                    text=request.recorded_response,
                    model=request.recorded_model or self.model.name,
                    method="recorded",
                )
