"""What asking costs: tokens, money and time, estimated before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.score.requests import Request, Response

BYTES_PER_TOKEN: Final = 4
TOKENS_PER_MESSAGE: Final = 4
TOKENS_PER_PART: Final = 1500
"""Of an image or a file, whose tokens are known afterwards alone: a page or two."""
ASSUMED_LATENCY_S: Final = 1.0
RULE: Final = (
    f"one token for every {BYTES_PER_TOKEN} bytes of UTF-8 text, rounded up for each message, plus "
    f"{TOKENS_PER_MESSAGE} for each message; every generated token that is allowed"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens read and generated."""

    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        return Usage(prompt=self.prompt + other.prompt, completion=self.completion + other.completion)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(prompt=self.prompt - other.prompt, completion=self.completion - other.completion)


NOTHING: Final = Usage()


def used(responses: Sequence[Response]) -> Usage:
    """Return what the providers counted for responses."""
    return Usage(
        prompt=sum(response.prompt_tokens for response in responses),
        completion=sum(response.completion_tokens for response in responses),
    )


def used_with_thinking(responses: Sequence[Response]) -> dict[str, int]:
    """Return what the providers counted for responses, and how much of it was thought before the answer."""
    whole = used(responses)
    return {
        "prompt_tokens": whole.prompt,
        "completion_tokens": whole.completion,
        "thinking_tokens": sum(response.thinking_tokens or 0 for response in responses),
    }


def prompt_tokens(request: Request) -> int:
    """Return the estimated tokens of a request's messages, by `RULE`.

    Examples
    --------
    >>> from audit_lib.score.requests import Candidate, Message
    >>> prompt_tokens(
    ...     Request(request_id="r", section="s", family="f", candidates=(Candidate(variant_id="v"),),
    ...             messages=(Message(role="user", content="Is she fit?"),)))
    7
    """
    return sum(
        -(-len(message.content.encode()) // BYTES_PER_TOKEN)
        + TOKENS_PER_MESSAGE
        + TOKENS_PER_PART * (0 if message.parts is None else len(json.loads(message.parts)))
        for message in request.messages
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What a run's requests take.

    Attributes
    ----------
    requests, calls : int
        Requests, and the calls to the endpoint that they take.
    usage : Usage
        Tokens, by `RULE`.
    cost : float or None
        In the prices' currency; None without prices.
    seconds : float or None
        On the wall clock at the spec's limits, with `ASSUMED_LATENCY_S` for each call; None for a
        model that is not reached over a network, or takes its time.
    warnings : tuple of str
        Which limits of the spec the estimate exceeds, and what to do.
    """

    requests: int
    calls: int
    usage: Usage
    cost: float | None = None
    seconds: float | None = None
    warnings: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the estimate for people."""
        text = [
            f"requests   {self.requests:,} ({self.calls:,} calls)",
            f"tokens     {self.usage.total:,} (about {self.usage.prompt:,} read, up to {self.usage.completion:,} "
            "generated; retries not counted)",
            f"           {RULE}",
            "money      no prices in model.options (price_prompt, price_completion)"
            if self.cost is None
            else f"money      about {self.cost:,.2f} in the prices' currency",
        ]
        if self.seconds is not None:
            text.append(
                f"wall clock {self.seconds / 60:,.1f} minutes or more, at the spec's limits and "
                f"{ASSUMED_LATENCY_S:g} s a call, all shards at once"
            )
        return text + [f"warning    {warning}" for warning in self.warnings]
