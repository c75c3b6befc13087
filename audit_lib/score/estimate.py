"""What scoring a run would take, counted from its very requests before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from audit_lib.run import Run
from audit_lib.score.backends import Backend
from audit_lib.score.canaries import canary_pack
from audit_lib.score.packs import Pack
from audit_lib.score.remote.cost import ASSUMED_LATENCY_S, NOTHING, CostEstimate, Usage, prompt_tokens
from audit_lib.score.remote.limits import Limits
from audit_lib.score.requests import Elicitation, Request, sampling_of
from audit_lib.score.steps import reply_places

Taken = tuple[int, Usage]
"""Calls and tokens of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shard:
    """What one shard takes: requests, calls, tokens, and the calls of its largest request."""

    requests: int
    calls: int
    usage: Usage
    most_calls: int


def estimate_cuts(
    run: Run, task: Elicitation, cuts: Mapping[int, Sequence[Pack]], answering: Backend
) -> CostEstimate:
    """Return what the requests of all shards, and the canaries, take; `answering` is asked nothing.

    The ledger counts as empty. The wall clock is that of the slowest shard, and a shard's the longest of three
    times: calls at the assumed latency and the concurrency, calls at its part of ``requests_per_minute``, and
    tokens at its part of ``tokens_per_minute``.
    """
    ask: Callable[[Request], Taken] = getattr(answering, "estimate", _one_call)
    sampling = sampling_of(run.spec)
    longest = sampling.max_tokens
    places = reply_places(run, (request for packs in cuts.values() for pack in packs for request in pack))

    def with_steps(request: Request) -> Taken:
        calls, usage = ask(request)
        steps = len(places.get(request.request_id, ()))
        # A step is asked with less than the whole prompt, and its reply is read again by what follows.
        thought = ask(replace(request, labels=(), sampling=sampling))[1].completion
        step = Usage(prompt=prompt_tokens(request) + longest, completion=max(longest, thought))
        return calls + steps, usage + Usage(prompt=step.prompt * steps, completion=step.completion * steps)

    shards: list[_Shard] = []
    for number in sorted(cuts):
        requests = [request for pack in cuts[number] for request in pack]
        requests += canary_pack(run, task) if not shards else ()
        shards.append(_shard(map(with_steps, requests)))
    requests_in_all, calls = sum(s.requests for s in shards), sum(s.calls for s in shards)
    usage = sum((s.usage for s in shards), NOTHING)
    limits = getattr(answering, "options", None)
    if not isinstance(limits, Limits):
        return CostEstimate(requests=requests_in_all, calls=calls, usage=usage)
    waits = answering.answers_later
    seconds = None if waits else max(_seconds(shard, limits, len(shards)) for shard in shards)
    return CostEstimate(
        requests=requests_in_all,
        calls=calls,
        usage=usage,
        cost=limits.cost(usage),
        seconds=seconds,
        warnings=(*_over_budget(shards, limits), *_too_slow(shards, limits, seconds)),
    )


def _shard(taken: Iterable[Taken]) -> _Shard:
    count, calls, usage, most = 0, 0, NOTHING, 0
    for one, tokens in taken:
        count, calls, usage, most = count + 1, calls + one, usage + tokens, max(most, one)
    return _Shard(requests=count, calls=calls, usage=usage, most_calls=most)


def _seconds(shard: _Shard, limits: Limits, shards: int) -> float:
    times = [shard.calls * ASSUMED_LATENCY_S / limits.max_concurrency]
    if limits.requests_per_minute is not None:
        times.append(60 * shard.calls * shards / limits.requests_per_minute)
    if limits.tokens_per_minute is not None:
        times.append(60 * shard.usage.total * shards / limits.tokens_per_minute)
    return max(times)


def _over_budget(shards: Sequence[_Shard], limits: Limits) -> list[str]:
    """Say which budget does not hold the estimate; a shard has an equal part, so the largest one decides."""
    found, equal = [], "; each shard has an equal part, and the largest decides" if len(shards) > 1 else ""
    tokens = max(shard.usage.total for shard in shards) * len(shards)
    if limits.max_tokens_total is not None and tokens > limits.max_tokens_total:
        found.append(
            f"model.options.max_tokens_total ({limits.max_tokens_total:,}) may stop the run: set it to {tokens:,} or "
            f"more{equal}, or ask less"
        )
    money = max(limits.cost(shard.usage) or 0.0 for shard in shards) * len(shards)
    if limits.max_cost is not None and money > limits.max_cost:
        found.append(
            f"model.options.max_cost ({limits.max_cost:g}) may stop the run: set it to "
            f"{math.ceil(money * 100) / 100:,.2f} or more{equal}, or ask less"
        )
    return found


def _too_slow(shards: Sequence[_Shard], limits: Limits, seconds: float | None) -> list[str]:
    """Say which deadline is over before the estimate's end."""
    if seconds is None:
        return []
    found = []
    for name in ("shard_deadline", "run_deadline"):
        given: float | None = getattr(limits, name)
        if given is not None and seconds > given:
            found.append(
                f"model.options.{name} ({given:g} s) ends before the slowest shard, which takes {seconds:,.0f} s or "
                "more: raise it, or the rates, max_concurrency and score.shards that hold the shard up"
            )
    one = max(shard.most_calls for shard in shards) * ASSUMED_LATENCY_S
    if one > limits.deadline:
        found.append(
            f"model.options.deadline ({limits.deadline:g} s) ends before a request of {one / ASSUMED_LATENCY_S:,.0f} "
            "calls one after the other: raise it, or samples_per_call"
        )
    return found


def _one_call(request: Request) -> Taken:
    generated = 0 if request.sampling is None else request.sampling.max_tokens
    return 1, Usage(prompt=prompt_tokens(request), completion=generated)
