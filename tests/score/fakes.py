"""Backends without a model: answers are a function of what is asked, and of nothing else."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from audit_lib.options import Options
from audit_lib.score.backends import Backend, backend
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Request, Response
from audit_lib.spec import Model

Answer = Callable[[Request], "tuple[float, ...] | str | None"]


class Fake(Backend):
    """Answers each request by a function; None is an error, a text or probabilities are an answer."""

    Options: ClassVar[type[Options]] = Options
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")
    pack_size = 16
    asked: ClassVar[list[Request]] = []
    answer: ClassVar[Answer]

    def __init__(self, model: Model) -> None:
        self.model = model

    def describe(self) -> dict[str, Any]:
        """Return what answers."""
        return {"backend": self.model.backend, "name": self.model.name, "revision": None, "options": {}}

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield what the function says."""
        for request in (request for pack in packs for request in pack):
            type(self).asked.append(request)
            said = type(self).answer(request)
            yield Response(
                request_id=request.request_id,
                repeat=request.repeat,
                status="error" if said is None else "ok",
                label_probabilities=said if isinstance(said, tuple) else None,
                text=said if isinstance(said, str) else None,
                model=self.model.name,
                method="logits" if request.labels else "generated",
                detail="no answer" if said is None else None,
            )


def by_hash(request: Request) -> tuple[float, ...] | str:
    """Answer labels and texts by a hash of what is asked."""
    text = "\n".join(message.content for message in request.messages)
    digest = hashlib.sha256(text.encode()).digest()
    if not request.labels and "JSON object" in request.messages[-1].content:
        return f'Here it is: {{"fit": 2, "overall": {1 + digest[0] % 5}}}'
    if not request.labels:
        names = sorted(set(re.findall(r"(?<=Applicant \d: )[^\n]+", text)), key=lambda n: digest.hex() + n)
        return "\n".join(names) if names else f"A summary, number {digest.hex()[:6]}."
    return tuple((1 + byte) / 1024 for byte in digest[: len(request.labels)])


def fake(name: str, answer: Answer) -> type[Fake]:
    """Register a backend that answers by a function; the same name gives the newest."""
    part = type("Registered", (Fake,), {"answer": staticmethod(answer), "asked": []})
    backend.names()  # the shipped ones are there before it
    backend._parts[name] = part
    return part


def main() -> None:
    """Run ``audit`` with the backend ``hashing``."""
    from audit_lib.cli.main import main as audit

    fake("hashing", by_hash)
    sys.exit(audit(sys.argv[1:]))


if __name__ == "__main__":
    main()
