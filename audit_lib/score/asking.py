"""Ask the requests of one shard, less those whose answers the ledger holds; and the canaries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from types import TracebackType
from typing import Any

from audit_lib.errors import BackendError
from audit_lib.run import Run
from audit_lib.score.backends import Backend, backend, fingerprint
from audit_lib.score.ledger import Ledger, RequestKey, ledger_keys
from audit_lib.score.packs import Pack
from audit_lib.score.remote.asker import another_answered
from audit_lib.score.remote.cost import used
from audit_lib.score.remote.limiter import Allotment, Limited, Limiter
from audit_lib.score.remote.limits import Limits, may_wait
from audit_lib.score.requests import Response
from audit_lib.spec import RECORDED
from audit_lib.window import Window

_EVERY_S = 5.0
_MOST_OF_OTHERS = 20
"""Answers in a row of models that the spec does not list, where no limit of the spec says how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingResult:
    """What came of asking once.

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
    capabilities : dict or None
        What a model behind an API was found to take and give (``capabilities.json``).
    """

    description: dict[str, Any]
    responses: list[Response]
    remembered: int
    damaged: int
    plan: dict[str, Any] | None = None
    capabilities: dict[str, Any] | None = None

    def counts(self) -> dict[str, int]:
        """Return what people should know, where there is something to know."""
        counts = {"from_ledger": self.remembered, "damaged_in_ledger": self.damaged}
        return {name: count for name, count in counts.items() if count}


class Asking:
    """One shard's model, held open over all that it is asked, so that the steps of a conversation share its limits.

    Use as a context manager.

    Parameters
    ----------
    run : Run
        With its variants.
    shard : int
        Number of the shard.
    shards : iterable of int
        Numbers of all shards that hold requests.

    Raises
    ------
    BackendError
        If the model cannot be loaded.
    """

    def __init__(self, run: Run, shard: int, shards: Iterable[int]) -> None:
        self._run, self._shard, self._shards = run, shard, sorted(shards)
        self._open = ExitStack()
        self._ledger: Ledger | None = None
        self._answered_as: set[str] = set()

    def __enter__(self) -> Asking:
        spec = self._run.spec
        self._kind = backend.get(spec.model.backend)
        self._limiter = self._new_limiter()
        self._backend: Backend = self._open.enter_context(closing(self._kind(spec.model)))
        try:
            self._run.notify(f"score: shard {self._shard}: loading {spec.model.name}")
            self._description = self._backend.describe()
            if (note := self._backend.loading_note()) is not None:
                self._run.notify(f"score: shard {self._shard}: {note}")
        except BaseException:
            self._open.close()
            raise
        if isinstance(self._backend, Limited):
            self._backend.allot(self._allotment())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def ask(self, packs: Sequence[Pack], canaries: Pack = ()) -> AskingResult:
        """Ask the requests of `packs` (and `canaries`) that the ledger does not answer.

        Whatever ends the asking early, the answers until then are in the ledger.

        Raises
        ------
        BackendError
            If the model cannot be reached, or a limit of the spec is reached.
        """
        run, answering, what = self._run, self._backend, f"score: shard {self._shard}"
        whole = [*packs, *([canaries] if canaries else [])]
        total = sum(map(len, whole))
        run.notify(f"{what}: {total} requests to {run.spec.model.name}")
        if run.spec.score.ledger == "off" or not self._kind.kept:
            told = list(self._of_the_model(_told(answering.score(whole), whole, what, run.notify)))
            plan = self._account(whole, told)
            return AskingResult(
                description=self._description,
                responses=told,
                remembered=0,
                damaged=0,
                plan=plan,
                capabilities=self._backend.capabilities(),
            )
        ledger = self._ledger = self._open_ledger(packs, canaries)
        known = {r.key: found for pack in whole for r in pack if (found := ledger.get(r.key)) is not None}
        missing = _missing(whole, known, self._kind.answers_alone)
        if ledger.damaged:
            run.notify(f"{what}: {ledger.damaged} damaged lines of the ledger are asked again")
        if known:
            run.notify(f"{what}: {len(known)} of {total} answers were kept, the rest is asked")
        self._remember(whole, known)
        self._answered_as |= {response.model for response in known.values()}
        fresh = []
        try:
            if missing:
                for response in self._of_the_model(
                    _told(answering.score(missing), missing, what, run.notify)
                ):
                    ledger.add(response)
                    fresh.append(response)
        finally:
            ledger.close()
        again = {response.key for response in fresh}
        responses = [
            *(ledger.settle(response) for response in fresh),
            *(response for key, response in known.items() if key not in again),
        ]
        return AskingResult(
            description=self._description,
            responses=responses,
            remembered=len(known),
            damaged=ledger.damaged,
            plan=self._account(whole, responses),
            capabilities=self._backend.capabilities(),
        )

    def _of_the_model(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Pass on the answers of the models that the spec allows; stop at another's, or where some are listed, fail it.

        Raises
        ------
        BackendError
            If another model than the named one answered, and the spec does not say which may; or where it does, if
            so many answers in a row were others'.
        """
        model = self._run.spec.model
        most = _MOST_OF_OTHERS if self._limiter is None else self._limiter.limits.give_up_after
        of_others = 0
        for response in responses:
            if response.status == "error" or response.method == RECORDED or model.may_be(response.model):
                of_others = 0
                self._tell_of_another(response)
                yield response
            elif model.served is None:
                raise another_answered(model.name, response.model)
            else:
                of_others += 1
                if of_others >= most:
                    raise BackendError(
                        f"{of_others} answers in a row were of {response.model!r}, which model.served does not list; "
                        "what was answered before is kept: list it, or ask where the listed models answer, and run it "
                        "again"
                    )
                yield Response(
                    request_id=response.request_id,
                    repeat=response.repeat,
                    status="error",
                    model=response.model,
                    method=response.method,
                    attempts=response.attempts,
                    detail="another model answered than model.served lists",
                    system_fingerprint=response.system_fingerprint,
                    prompt_tokens=response.prompt_tokens,
                    completion_tokens=response.completion_tokens,
                    thinking_tokens=response.thinking_tokens,
                )

    def _tell_of_another(self, response: Response) -> None:
        """Tell when another name answers than until now; each row has its own, and the page counts them."""
        if response.status == "error" or response.method == RECORDED or response.model in self._answered_as:
            return
        if self._answered_as:
            self._run.notify(
                f"WARNING: score: shard {self._shard}: {response.model} answers, and until now did "
                f"{', '.join(sorted(self._answered_as))}; model.served says which may"
            )
        self._answered_as.add(response.model)

    def _account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any] | None:
        """Return the scoring plan of a backend that has one, and tell its bound and noise floor."""
        plan = self._backend.account(packs, responses)
        if plan is not None:
            self._run.notify(
                f"score: shard {self._shard}: {plan['unique_tokens']:,} of {plan['tokens']:,} tokens are unique, so "
                f"sharing saves at most {plan['bound']:.2f}x; noise floor "
                f"{plan['noise_floor']['largest_difference']}"
            )
        return plan

    def _open_ledger(self, packs: Sequence[Pack], canaries: Pack) -> Ledger:
        """Open the ledger of the model as the spec asks for it.

        The fingerprint is that of what was asked for: the id that is served is known only afterwards, stands in
        each answer, and may differ from one answer to the next.
        """
        run, description = self._run, self._description
        computed_on = {key: description.get(key) for key in ("versions", "device_name")}
        keys = ledger_keys(packs, None if self._kind.answers_alone else computed_on)
        # A canary's answer is never taken from another window: it is there to be asked again.
        keys |= ledger_keys([canaries], {"canaries": run.key.window.label, "on": computed_on})
        window = run.key.window.label if run.spec.score.ledger == "window" else "shared"
        return Ledger(
            run.store,
            f"ledger/{fingerprint(dict(description))}/{window}",
            f"{self._shard}-of-{run.spec.score.shards}",
            keys,
            run.spec.model.may_be,
        )

    def _remember(self, packs: Sequence[Pack], known: Mapping[RequestKey, Response]) -> None:
        """Count remembered answers for the budget; one of their requests can tell whether the endpoint is there."""
        if self._limiter is None or not known:
            return
        self._limiter.budget.remember(used(list(known.values())))
        if self._limiter.good is None:
            self._limiter.good = next(r for pack in packs for r in pack if r.key in known)

    def _new_limiter(self) -> Limiter | None:
        """Return the shard's part of the limits, before anything is loaded: from now its deadline counts."""
        from audit_lib.score.backends import parse_options

        options = parse_options(self._kind.Options, self._run.spec.model)
        if not isinstance(options, Limits):
            return None
        plan, age = self._run.stage("plan"), None
        if plan.is_complete():
            finished = plan.success().finished
            age = (datetime.now(UTC) - finished).total_seconds()
        count = len(self._shards)
        place = self._shards.index(self._shard) / count
        return Limiter(options, share=1 / count, place=place, seconds_since_plan=age)

    def _allotment(self) -> Allotment:
        run, model = self._run, fingerprint(dict(self._description))
        window = run.key.window.label
        return Allotment(
            limiter=self._limiter,
            store=run.store,
            folder=f"ledger/{model}/{window}.batches/{run.key.spec_digest[:16]}-{self._shard}",
            capabilities=capabilities_key(self._description, run.key.window),
            notify=run.notify,
            keep=self._write_down,
            wait=may_wait(),
        )

    def _write_down(self) -> None:
        if self._ledger is not None:
            self._ledger.flush()


def capabilities_key(description: Mapping[str, Any], window: Window) -> str:
    """Return where in the store is kept what a model can do, less ``.json``."""
    return f"ledger/{fingerprint(dict(description))}/{window.label}.capabilities"


def _missing(packs: Sequence[Pack], known: Mapping[RequestKey, Response], alone: bool) -> list[Pack]:
    """Return what is still to be asked: whole packs where an answer depends on its pack."""
    if alone:
        parts = [tuple(request for request in pack if request.key not in known) for pack in packs]
        return [part for part in parts if part]
    return [pack for pack in packs if any(request.key not in known for request in pack)]


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
