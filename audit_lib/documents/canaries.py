"""``canaries.json``: what was answered to the fixed prompts that every run asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audit_lib.canonical import pretty_json
from audit_lib.typed_json import OPTIONAL, Typed, decode


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryAnswer(Typed):
    """The answer to one canary."""

    request_digest: str
    status: str
    model: str
    system_fingerprint: str | None
    score: float | None = field(default=None, metadata=OPTIONAL)
    """That the model gives itself; earlier versions did not keep it."""
    label_probabilities: tuple[float, ...] | None
    text: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON form; the score is always written."""
        return {
            "request_digest": self.request_digest,
            "status": self.status,
            "model": self.model,
            "system_fingerprint": self.system_fingerprint,
            "score": self.score,
            "label_probabilities": None
            if self.label_probabilities is None
            else list(self.label_probabilities),
            "text": self.text,
        }


def canary_bytes(answers: Sequence[CanaryAnswer]) -> bytes:
    """Return ``canaries.json`` as it is written."""
    return pretty_json([one.as_dict() for one in answers])


def read_canaries(content: bytes, where: str = "canaries.json") -> tuple[CanaryAnswer, ...]:
    """Read ``canaries.json``.

    Raises
    ------
    EvidenceError
        If it is not what the scoring writes; the message names the keys.

    Examples
    --------
    >>> read_canaries(b'[{"status": "ok"}]')
    Traceback (most recent call last):
    audit_lib.errors.EvidenceError: canaries.json: 0.request_digest: is missing; 0.model: is missing; ...
    """
    return decode(tuple[CanaryAnswer, ...], content, where)
