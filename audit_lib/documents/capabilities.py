"""``capabilities.json``: what a model behind an API takes and gives, found out by asking it before the first row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from audit_lib.typed_json import OPTIONAL, Count, Typed

TokenLimit = Literal["max_completion_tokens", "max_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(Typed):
    """What a model takes and gives; null is what could not be told."""

    served: str | None
    """The id under which it answered."""
    token_limit: TokenLimit | None
    """The field that bounds an answer."""
    system_role: bool | None
    """Whether it takes messages of the role system."""
    temperature: bool | None
    """Whether it takes the temperature that the spec asks for, or 0."""
    logprobs: bool | None
    """Whether it gives the log-probabilities of the 20 most probable tokens."""
    several: bool | None
    """Whether one call gives several answers (n)."""
    seed: bool | None
    """Whether it takes a seed; not whether it heeds it."""
    structured: bool | None
    """Whether it keeps to a JSON schema."""
    effort: bool | None
    """Whether it takes an effort of thinking."""
    thinks: bool | None
    """Whether it thinks before it answers, as it is asked."""
    prefill: bool | None = field(default=None, metadata=OPTIONAL)
    """Whether it goes on from an answer that is begun; looked at where the spec asks for that."""
    refusals: Mapping[str, str]
    """What was refused, and what the provider said of it."""
    calls: Count
    """Calls that it took to find out."""
    prompt_tokens: Count
    """Tokens that were read."""
    completion_tokens: Count
    """Tokens that were generated, with those of thinking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRecord(Typed):
    """What a model can do, and what of the spec's asking was changed for it."""

    capabilities: Capabilities
    """What was found."""
    adapted: tuple[str, ...]
    """What is asked otherwise than the spec says, because the model takes it in no other way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Typed):
    """What one small question took, that was asked before anything was paid for, and showed nothing to adapt to."""

    prompt_tokens: Count
    """Tokens that were read."""
    completion_tokens: Count
    """Tokens that were generated, with those of thinking."""
