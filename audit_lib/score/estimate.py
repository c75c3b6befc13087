"""What scoring a run would take, counted from its very requests before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from audit_lib.perturb.template import REPLY
from audit_lib.run import Run
from audit_lib.score.backends import Backend
from audit_lib.score.canaries import canary_pack
from audit_lib.score.cost import Estimate, Usage, prompt_tokens
from audit_lib.score.limits import Limits, estimate_run
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Elicitation, Request, sampling_of


def estimate_cuts(
    run: Run, task: Elicitation, cuts: Mapping[int, Sequence[Pack]], answering: Backend
) -> Estimate:
    """Return what the requests of all shards, and the canaries, take; `answering` is asked nothing."""
    requests = [request for packs in cuts.values() for pack in packs for request in pack]
    ask: Callable[[Request], tuple[int, Usage]] = getattr(answering, "estimate", _one_call)
    longest = sampling_of(run.spec).max_tokens

    def with_steps(request: Request) -> tuple[int, Usage]:
        calls, usage = ask(request)
        steps = sum(m.role == "assistant" and m.content == REPLY for m in request.messages)
        # A step is asked with less than the whole prompt, and its reply is read again by what follows.
        step = Usage(prompt=prompt_tokens(request) + longest, completion=longest)
        return calls + steps, usage + Usage(prompt=step.prompt * steps, completion=step.completion * steps)

    limits = getattr(answering, "options", None)
    return estimate_run(
        [*requests, *canary_pack(run, task)],
        with_steps,
        limits if isinstance(limits, Limits) else None,
        len(cuts),
    )


def _one_call(request: Request) -> tuple[int, Usage]:
    generated = 0 if request.sampling is None else request.sampling.max_tokens
    return 1, Usage(prompt=prompt_tokens(request), completion=generated)
