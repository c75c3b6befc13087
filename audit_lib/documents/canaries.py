"""``canaries.json``: what was answered to the fixed prompts that every run asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from audit_lib.canonical import pretty_json
from audit_lib.typed_json import LATER, Typed, decode


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryAnswer(Typed):
    """The answer to one canary."""

    request_digest: str
    status: str
    model: str
    system_fingerprint: str | None
    score: float | None = field(default=None, metadata=LATER)
    """That the model gives itself; earlier versions did not keep it."""
    label_probabilities: tuple[float, ...] | None
    text: str | None


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
