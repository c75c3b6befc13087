"""Ask the requests of one shard, less those whose answers the ledger holds; and the canaries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from audit_lib.run import Run
from audit_lib.score.backends import Backend, backend, fingerprint
from audit_lib.score.cost import used
from audit_lib.score.ledger import Ledger, RequestKey, ledger_keys
from audit_lib.score.limits import Allotment, Limited, may_wait
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Response

_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking a shard.

    Attributes
    ----------
    description : dict
        What answered (`Backend.describe`).
    responses : list of Response
        As the backend gave them: one for each request, if it is no faulty one.
    remembered, damaged : int
        Answers that the ledger held, and lines of it that were not what was written.
    plan : dict or None
        How a local model computed the answers (``plan.json``); None for other backends.
    """

    description: dict[str, Any]
    responses: list[Response]
    remembered: int
    damaged: int
    plan: dict[str, Any] | None = None

    def counts(self) -> dict[str, int]:
        """Return what people should know, where there is something to know."""
        counts = {"from_ledger": self.remembered, "damaged_in_ledger": self.damaged}
        return {name: count for name, count in counts.items() if count}


def ask(run: Run, shard: int, cuts: Mapping[int, Sequence[Pack]], canaries: Pack = ()) -> Asked:
    """Ask the requests of `shard` (and `canaries`) that the ledger does not answer.

    Whatever ends the asking early, the answers until then are in the ledger.

    Raises
    ------
    BackendError
        If the model cannot be loaded or reached, or a limit of the spec is reached.
    """
    kind = backend.get(run.spec.model.backend)
    packs = [*cuts[shard], *([canaries] if canaries else [])]
    total = sum(map(len, packs))
    with closing(kind(run.spec.model)) as answering:
        run.notify(f"score: shard {shard}: {total} requests to {run.spec.model.name}; loading")
        description = answering.describe()
        alone = bool(getattr(kind, "answers_alone", False))
        if run.spec.score.ledger == "off" or not getattr(kind, "kept", True):
            _allot(answering, run, shard, cuts, description, [])
            told = list(_told(answering.score(packs), packs, f"score: shard {shard}", run.notify))
            plan = _account(answering, run, shard, packs, told)
            return Asked(description=description, responses=told, remembered=0, damaged=0, plan=plan)
        ledger = _open_ledger(run, shard, cuts, canaries, description, alone)
        known = {r.key: found for pack in packs for r in pack if (found := ledger.get(r.key)) is not None}
        missing = _missing(packs, known, alone)
        if ledger.damaged:
            run.notify(f"score: shard {shard}: {ledger.damaged} damaged lines of the ledger are asked again")
        if known:
            run.notify(f"score: shard {shard}: {len(known)} of {total} answers were kept, the rest is asked")
        _allot(answering, run, shard, cuts, description, list(known.values()))
        fresh = []
        try:
            if missing:
                for response in _told(answering.score(missing), missing, f"score: shard {shard}", run.notify):
                    ledger.add(response)
                    fresh.append(response)
        finally:
            ledger.flush()
        again = {response.key for response in fresh}
        responses = [ledger.settle(r) for r in fresh] + [r for key, r in known.items() if key not in again]
        plan = _account(answering, run, shard, packs, responses)
    return Asked(
        description=description,
        responses=responses,
        remembered=len(known),
        damaged=ledger.damaged,
        plan=plan,
    )


def _account(
    answering: Backend, run: Run, shard: int, packs: Sequence[Pack], responses: Sequence[Response]
) -> dict[str, Any] | None:
    """Return the scoring plan of a backend that has one, and tell its bound and noise floor."""
    make = getattr(answering, "account", None)
    plan: dict[str, Any] | None = None if make is None else make(packs, responses)
    if plan is not None:
        run.notify(
            f"score: shard {shard}: {plan['unique_tokens']:,} of {plan['tokens']:,} tokens are unique, so sharing "
            f"saves at most {plan['bound']:.2f}x; noise floor {plan['noise_floor']['largest_difference']}"
        )
    return plan


def _open_ledger(
    run: Run,
    shard: int,
    cuts: Mapping[int, Sequence[Pack]],
    canaries: Pack,
    description: Mapping[str, Any],
    alone: bool,
) -> Ledger:
    """Open the ledger of the model as the spec asks for it.

    The fingerprint is that of what was asked for: the id that is served is known only afterwards, stands in
    each answer, and may differ from one answer to the next.
    """
    computed_on = {key: description.get(key) for key in ("versions", "device_name")}
    keys = ledger_keys(cuts[shard], None if alone else computed_on)
    # A canary's answer is never taken from another window: it is there to be asked again.
    keys |= ledger_keys([canaries], {"canaries": run.key.window.label, "on": computed_on})
    window = run.key.window.label if run.spec.score.ledger == "window" else "shared"
    return Ledger(
        run.store,
        f"ledger/{fingerprint(dict(description))}/{window}",
        f"{shard}-of-{run.spec.score.shards}",
        keys,
    )


def _missing(packs: Sequence[Pack], known: Mapping[RequestKey, Response], alone: bool) -> list[Pack]:
    """Return what is still to be asked: whole packs where an answer depends on its pack."""
    if alone:
        parts = [tuple(request for request in pack if request.key not in known) for pack in packs]
        return [part for part in parts if part]
    return [pack for pack in packs if any(request.key not in known for request in pack)]


def _allot(
    answering: Backend,
    run: Run,
    shard: int,
    cuts: Mapping[int, Sequence[Pack]],
    description: Mapping[str, Any],
    known: Sequence[Response],
) -> None:
    if not isinstance(answering, Limited):
        return
    plan, age = run.stage("plan"), None
    if plan.is_complete():
        age = (datetime.now(UTC) - datetime.fromisoformat(plan.success()["finished_at"])).total_seconds()
    window = run.key.window.label
    answering.allot(
        Allotment(
            share=1 / len(cuts),
            place=sorted(cuts).index(shard) / len(cuts),
            spent=used(known),
            answered=bool(known),
            seconds_since_plan=age,
            store=run.store,
            folder=f"ledger/{fingerprint(dict(description))}/{window}.batches/{run.key.spec_digest[:16]}-{shard}",
            notify=run.notify,
            wait=may_wait(),
        )
    )


def _told(
    responses: Iterable[Response], packs: Sequence[Pack], what: str, notify: Callable[[str], None]
) -> Iterator[Response]:
    """Pass responses on; every few seconds, when a pack is through, tell how far it is."""
    through = list(accumulate(map(len, packs)))  # requests done at the end of each pack
    started = told = time.monotonic()
    for done, response in enumerate(responses, start=1):
        yield response
        now = time.monotonic()
        if done == through[-1] or (done in through and now - told >= _EVERY_S):
            told = now
            rate = done / max(now - started, 1e-9)
            left = "" if done == through[-1] else f", about {(through[-1] - done) / rate:.0f} s left"
            notify(f"{what}: {done} of {through[-1]} requests, {rate:.1f}/s{left}")
