"""A few small calls that show what a model takes and gives, before the first row is paid for.

Each tries one thing more than the simplest question. What a provider refuses, it says with HTTP 400 or 422, which costs
nothing; what it passes over in silence shows in the answer.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from audit_lib.documents.capabilities import Capabilities, TokenLimit
from audit_lib.score.reading.json_values import writable
from audit_lib.score.reading.thinking import without_thinking
from audit_lib.score.remote.asker import FailedError, TryAgainError
from audit_lib.score.remote.chat_options import GOES_ON, ChatOptions
from audit_lib.score.remote.completions import (
    count,
    has_logprobs,
    mapping,
    nothing_said,
    said,
    thought,
    used_tokens,
)
from audit_lib.score.remote.structured import label_schema, response_format
from audit_lib.score.requests import Candidate, Message, Request, Sampling

LABELS: Final = ("No", "Yes")
_NAMES: Final[tuple[TokenLimit, ...]] = ("max_completion_tokens", "max_tokens")
_ANSWER_TOKENS: Final = 32
_UNBUDGETED_TOKENS: Final = 256
NOT_SENT: Final = "not_sent"
"""Field of a completion: what its transport did not pass on, because the model takes none of it."""

Ask = Callable[[dict[str, Any]], Awaitable[Any]]


def probe_request(labels: tuple[str, ...] = LABELS) -> Request:
    """Return the question that is tried, as a request."""
    question = f"Answer with exactly one of these and nothing else: {', '.join(labels)}."
    return Request(
        request_id="capabilities",
        section="capabilities",
        family="capabilities",
        messages=(Message(role="user", content=question),),
        labels=labels,
        candidates=(Candidate(variant_id="capabilities"),),
    )


def small_request(like: Request) -> Request:
    """Return the question as a request in the form of another: for its labels, or for a text that is generated so."""
    if like.labels:
        return probe_request(like.labels)
    sampling = like.sampling or Sampling(max_tokens=_ANSWER_TOKENS)
    return replace(probe_request(), labels=(), sampling=replace(sampling, max_tokens=_ANSWER_TOKENS))


def forced_request(small: Request, label: str) -> Request:
    """Return a small question that only one of its labels answers."""
    question = f"Answer with exactly this and nothing else: {label}"
    return replace(small, messages=(Message(role="user", content=question),))


class CapabilityProbe:
    """The calls, and what they show.

    Parameters
    ----------
    model : str
        Its name.
    options : ChatOptions
        The spec's.
    ask : callable
        Makes one call, with a body of ``/chat/completions``; raises FailedError or TryAgainError.
    """

    def __init__(self, model: str, options: ChatOptions, ask: Ask) -> None:
        self._options, self._ask = options, ask
        self._base: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": probe_request().messages[0].content}],
            **options.extra_body,
        }
        self._refusals: dict[str, str] = {}
        self._answers: list[Mapping[str, Any]] = []
        self._calls = 0

    async def find_out(self) -> Capabilities:
        """Return what the model can do; all is unknown where not even the simplest question is answered."""
        options = self._options
        room = _ANSWER_TOKENS + (options.thinking_tokens or _UNBUDGETED_TOKENS)
        token_limit = await self._limit(room)
        effort = system_role = temperature = logprobs = several = seed = structured = prefill = None
        if token_limit is not None:
            effort = await self._takes("effort", {"reasoning_effort": options.effort or "low"})
            if options.effort is not None and effort:
                self._base["reasoning_effort"] = options.effort
            turns = [{"role": "system", "content": "Be brief."}, *self._base["messages"]]
            system_role = await self._takes("system_role", {"messages": turns})
            temperature = await self._takes("temperature", {"temperature": options.temperature or 0.0})
            logprobs = await self._takes("logprobs", {"logprobs": True, "top_logprobs": 20}, has_logprobs)
            several = await self._takes("several", {"n": 2}, lambda answer: len(answer["choices"]) == 2)
            seed = await self._takes("seed", {"seed": 1})
            form = {"response_format": response_format(label_schema(LABELS))}
            structured = await self._takes("structured", form, _keeps_to_schema)
            prefill = await self._goes_on() if options.prefill else None
        unsaid = sum(map(nothing_said, self._answers))
        if options.thinking_tokens and 2 * unsaid > len(self._answers):
            self._refusals["thinking_tokens"] = (
                f"{unsaid} of {len(self._answers)} small questions were not answered within {room:,} tokens"
            )
        return Capabilities(
            served=next((writable(str(a["model"]))[:200] for a in self._answers if a.get("model")), None),
            token_limit=token_limit,
            system_role=system_role,
            temperature=temperature,
            logprobs=logprobs,
            several=several,
            seed=seed,
            structured=structured,
            effort=effort,
            thinks=any(map(thought, self._answers)) if self._answers else None,
            prefill=prefill,
            refusals=self._refusals,
            calls=self._calls,
            prompt_tokens=sum(used_tokens(answer).prompt for answer in self._answers),
            completion_tokens=sum(used_tokens(answer).completion for answer in self._answers),
        )

    async def _limit(self, room: int) -> TokenLimit | None:
        """Return the name under which a limit of tokens is taken, and keep to it from then on."""
        wanted = self._options.token_limit
        for name in _NAMES if wanted is None else (wanted,):
            if await self._takes(name, {name: room}):
                self._base[name] = room
                return name
            if name not in self._refusals:
                return None  # it does not answer at all
        return None

    async def _goes_on(self) -> bool | None:
        """Return whether the server goes on from a begun answer; by the tokens of its prompts, as texts do not tell.

        A server that does reads as many tokens as without the answer and those of its words. One that closes the turn
        and begins another reads more: as many as where it is told to do so.
        """

        async def read(words: str, fields: Mapping[str, bool]) -> int:
            turns = [*self._base["messages"], *([{"role": "assistant", "content": words}] if words else [])]
            found = len(self._answers)
            await self._takes("prefill", {"messages": turns, **fields})
            return used_tokens(self._answers[-1]).prompt if len(self._answers) > found else 0

        closed = {name: not told for name, told in GOES_ON.items()}
        without, one, two, turned = (
            await read("", {}), await read("Yes", GOES_ON), await read("Yes Yes", GOES_ON), await read("Yes", closed)
        )  # fmt: skip
        if "prefill" in self._refusals and not one:
            return False
        if not (without and one and two > one):
            return None
        if turned > one or one - without == two - one:
            return True
        if turned == one:
            self._refusals["prefill"] = "it closes the begun turn and opens another"
            return False
        return None

    async def _takes(
        self, what: str, fields: dict[str, Any], shown: Callable[[Any], bool] = lambda answer: True
    ) -> bool | None:
        """Return whether the model takes more fields than the simplest question; None if that cannot be told."""
        self._calls += 1
        try:
            answer = await self._ask(self._base | fields)
        except FailedError as refused:
            self._refusals[what] = refused.detail
            return False
        except TryAgainError:
            return None
        if not mapping(answer).get("choices"):
            return None
        self._answers.append(answer)
        if passed_over := [name for name in mapping(answer).get(NOT_SENT, ()) if name in fields]:
            self._refusals[what] = f"{', '.join(passed_over)} is not sent to this model"
            return False
        try:
            if shown(answer):
                return True
        except (TypeError, KeyError, ValueError, IndexError, AttributeError):
            pass
        self._refusals[what] = "it was taken, and the answer does not show it"
        return False


def _keeps_to_schema(answer: Any) -> bool:
    text = without_thinking(said(answer["choices"][0]["message"].get("content")) or "")
    return bool(json.loads(text)["answer"] in LABELS)


def spent(found: Capabilities) -> tuple[int, int]:
    """Return the tokens read and generated to find out."""
    return count(found.prompt_tokens), count(found.completion_tokens)
