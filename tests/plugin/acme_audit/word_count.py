"""The backend ``word_count``: the more words, the better the candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from audit_lib.options import Options
from audit_lib.score.backends import Backend, backend, parse_options
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Response
from audit_lib.spec import Model


class WordCountOptions(Options):
    """How many words are many."""

    half: int = Field(100, ge=1, description="Words at which both of two labels are as probable.")


@backend("word_count")
class WordCount(Backend):
    """Gives the second of two labels the probability words / (words + half)."""

    Options: ClassVar[type[Options]] = WordCountOptions
    local: ClassVar[bool] = True
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels",)
    answers_alone: ClassVar[bool] = True
    pack_size = 64

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(WordCountOptions, model)

    def describe(self) -> dict[str, Any]:
        """Return what answers."""
        return {
            "backend": "word_count",
            "name": self.model.name,
            "revision": None,
            "options": self.options.model_dump(),
        }

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request."""
        for request in (request for pack in packs for request in pack):
            words = sum(len(message.content.split()) for message in request.messages)
            share = words / (words + self.options.half)
            yield Response(
                request_id=request.request_id,
                repeat=request.repeat,
                label_probabilities=(1 - share, share),
                model=self.model.name,
                method="logits",
            )
