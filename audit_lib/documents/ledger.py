"""A line of the ledger: an answer that is kept, so that nothing is asked twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from audit_lib.typed_json import OPTIONAL, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer(Typed):
    """What came back, without the request of the run that asked first; failures are never kept."""

    status: Literal["ok", "unranked", "refused", "unparsed"]
    label_probabilities: tuple[float, ...] | None
    text: str | None
    score: float | None
    selected: bool | None
    model: str
    method: Literal["logits", "logprobs", "sampled", "generated", "recorded", "endpoint", "similarity"]
    attempts: int
    detail: str | None
    system_fingerprint: str | None
    prompt_tokens: int
    completion_tokens: int
    thinking_tokens: int | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRecord(Typed):
    """An answer under its content address."""

    key: str
    response: KeptAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine(Typed):
    """A line of a segment: a record, and the SHA-256 of its canonical JSON."""

    record: LedgerRecord
    sha256: str
