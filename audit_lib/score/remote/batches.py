"""Batches at a provider: submitted, polled and collected step by step, and found again after a restart.

::

    <folder>/<number>.asked.json    what a batch asks, written before it is made
    <folder>/<number>.batch.json    its id, written after
    <folder>/<number>.failed.json   that the provider refused it as a whole, or no longer knows it
    <folder>/<number>.full.json     that the provider's queue was full (`audit_lib.score.remote.batch_queue`)

All are written once. A process that dies between the two leaves a batch that nobody knows the id of; it is
found again by the digest of its lines, which its metadata holds, and never paid for twice.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import BackendError
from audit_lib.score.remote.batch_provider import (
    ENDPOINT,
    TWICE,
    NotThereError,
    Provider,
    UnsureError,
    may_heal,
)
from audit_lib.score.remote.batch_queue import CODES, BatchQueue
from audit_lib.score.remote.error_texts import provider_message
from audit_lib.store import Store

_MARK: Final = "audit_lines_sha256"
_MOST_REFUSALS: Final = 3
_MOST_FULL: Final = 40
"""Times that a process finds the queue full before it ends; a batch of 50,000 lines is halved 16 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where the lines stand.

    Attributes
    ----------
    results : dict of str to dict
        Custom id -> the line of an output or error file: what is final.
    tried : Counter
        Custom id -> batches that held it.
    waiting : frozenset of str
        Custom ids that a batch under way holds, or one that is yet to be submitted. Every other one is final: it has a
        result, or was tried as often as it may be.
    batches : tuple of str
        Ids of the batches under way.
    """

    results: dict[str, dict[str, Any]]
    tried: Counter[str]
    waiting: frozenset[str]
    batches: tuple[str, ...]


class Batches:
    """The batches of one shard.

    Parameters
    ----------
    provider : Provider
        Who works them off.
    store, folder : Store, str
        Where ids are kept.
    retries : int
        Further batches for lines that expired or met a fault of the server.
    queue : BatchQueue
        How the lines are cut into batches, and when they are submitted.
    window : str
        ``completion_window`` of a batch.
    pause : float
        Seconds before a batch that was perhaps made is looked for again.
    notify : callable
        Tells people about progress.
    """

    def __init__(
        self,
        provider: Provider,
        store: Store,
        folder: str,
        *,
        retries: int,
        queue: BatchQueue,
        window: str,
        pause: float,
        notify: Callable[[str], None],
    ) -> None:
        self._provider, self._store, self._folder = provider, store, folder
        self._retries, self._queue, self._window = retries, queue, window
        self._pause, self._notify = pause, notify
        self._collected: dict[str, dict[str, dict[str, Any]]] = {}
        self._full = 0

    def step(self, bodies: Mapping[str, dict[str, Any]]) -> Step:
        """Collect what is done, submit what is to be asked (again), and return without waiting.

        Parameters
        ----------
        bodies : mapping of str to dict
            Custom id -> body. Lines that have a final result or are under way are not submitted.

        Raises
        ------
        BackendError
            If the provider refuses a batch as a whole.
        """
        asked = self._asked()
        tried: Counter[str] = Counter()
        results: dict[str, dict[str, Any]] = {}
        under_way: dict[str, list[str]] = {}
        failed = {key for key in self._store.list(self._folder) if key.endswith(".failed.json")}
        refused, full = self._queue.refused(), []
        for number, lines in asked.items():
            if self._failure(number) in failed or number in refused:
                continue
            batch_id = self._batch_id(number, lines, bodies, new=False)
            if batch_id is None:
                continue
            try:
                found = self._results(batch_id, lines, number, len(failed))
            except _FullError:
                full.append((number, batch_id, len(lines)))
                continue
            tried.update(lines)
            if found is None:
                under_way[batch_id] = lines
            else:
                results |= {i: line for i, line in found.items() if i in bodies}
        for refusal in full:
            self._note_full(*refusal, under_way)
        busy = {i for lines in under_way.values() for i in lines}
        # A line that a finished batch does not mention was lost by it, and is asked again like an expired one.
        again = [
            i
            for i in bodies
            if i not in busy and (i not in results or _may_heal(results[i])) and tried[i] <= self._retries
        ]
        number = max(asked, default=-1) + 1
        sizes = {i: len(_line(i, bodies[i])) for i in again}
        # A queue that was just found full is given a pause.
        for batch in [] if full else list(self._queue.next_batches(again, sizes, under_way)):
            key = f"{self._folder}/{number:04d}.asked.json"
            new = self._store.put(key, canonical_json(batch))
            lines = json.loads(self._store.get(key))
            if (batch_id := self._batch_id(number, lines, bodies, new=new)) is not None:
                under_way[batch_id] = lines
                tried.update(lines)
            number += 1
        waiting = frozenset([*again, *(i for lines in under_way.values() for i in lines)])
        return Step(
            results={i: line for i, line in results.items() if i not in waiting},
            tried=tried,
            waiting=waiting,
            batches=tuple(sorted(under_way)),
        )

    def _asked(self) -> dict[int, list[str]]:
        """Return the lines of each batch that was ever asked for, by its number."""
        keys = [key for key in self._store.list(self._folder) if key.endswith(".asked.json")]
        return {int(key.rsplit("/", 1)[1].split(".")[0]): json.loads(self._store.get(key)) for key in keys}

    def _batch_id(
        self, number: int, lines: Sequence[str], bodies: Mapping[str, dict[str, Any]], *, new: bool
    ) -> str | None:
        """Return the id of a batch: the one noted, else found at the provider, else of a new one.

        None if it was never made and nothing of it is asked any more.
        """
        key = f"{self._folder}/{number:04d}.batch.json"
        if not new and self._store.exists(key):
            return str(json.loads(self._store.get(key))["batch_id"])
        mark = sha256(canonical_json([self._folder, number, list(lines)]))
        batch_id = None if new else self._find(mark)
        if batch_id is None:
            wanted = {i: bodies[i] for i in lines if i in bodies}
            if not wanted:
                return None
            batch_id = self._make(wanted, mark)
        if not self._store.put(key, canonical_json({"batch_id": batch_id})):
            return str(json.loads(self._store.get(key))["batch_id"])
        return batch_id

    def _find(self, mark: str) -> str | None:
        if (batch_id := self._provider.find(_MARK, mark)) is not None:
            self._notify(f"batch {batch_id} was made before; going on from it")
        return batch_id

    def _make(self, bodies: Mapping[str, dict[str, Any]], mark: str) -> str:
        content = b"".join(_line(i, body) for i, body in bodies.items())
        file_id = self._provider.upload(content)
        try:
            batch_id = self._provider.make(file_id, self._window, {_MARK: mark})
        except UnsureError as unsure:
            # Asked for once more it might be made, and paid, twice. A list may lag behind what was made.
            with contextlib.suppress(BackendError):
                for pause in (0.0, self._pause):
                    self._provider.pause(pause)
                    if (found := self._find(mark)) is not None:
                        return found
            raise BackendError(
                f"{unsure}; perhaps a batch was made all the same: the next run looks for it before it makes one"
            ) from None
        self._notify(f"batch {batch_id}: {len(bodies)} lines submitted")
        return batch_id

    def _failure(self, number: int) -> str:
        return f"{self._folder}/{number:04d}.failed.json"

    def _refused(self, batch_id: str, number: int, before: int, why: str) -> BackendError:
        """Note that a batch is lost, so that the next run submits its lines anew; a few times, not for ever."""
        said = f"batch {batch_id}: {why}"
        if before + 1 >= _MOST_REFUSALS:
            return BackendError(f"{said}, and {before} before it; mend the cause, then delete {self._folder}")
        self._store.put(self._failure(number), canonical_json({"batch_id": batch_id, "why": why}))
        return BackendError(
            f"{said}; run it again to submit its lines anew ({before + 1} of {_MOST_REFUSALS})"
        )

    def _note_full(self, number: int, batch_id: str, lines: int, under_way: Collection[str]) -> None:
        self._full += 1
        if self._full > _MOST_FULL:
            raise BackendError(
                f"batch {batch_id}: the provider's queue has been full {self._full} times; run it again when other "
                "batches of the account are done, or have its limit of enqueued tokens raised"
            )
        self._queue.note(number, lines, under_way)
        self._notify(f"batch {batch_id}: the provider's queue is full; its {lines} lines wait")

    def _results(
        self, batch_id: str, lines: Sequence[str], number: int, failed: int
    ) -> dict[str, dict[str, Any]] | None:
        """Return the lines of a batch that is done, also of one that expired or was cancelled; else None."""
        if batch_id in self._collected:
            return self._collected[batch_id]
        try:
            batch = self._provider.look(batch_id)
        except NotThereError:
            raise self._refused(batch_id, number, failed, "the provider does not know it any more") from None
        if not batch.done:
            return None
        if batch.status == "failed" and any(code.startswith(CODES) for code in batch.codes):
            raise _FullError
        if batch.status == "failed":
            codes = ", ".join(batch.codes) or "no code"
            raise self._refused(batch_id, number, failed, f"refused as a whole ({codes})")
        try:
            results = self._provider.lines(batch.files, frozenset(lines))
        except NotThereError:
            raise self._refused(
                batch_id, number, failed, "the provider does not have its answers any more"
            ) from None
        self._notify(f"batch {batch_id}: {batch.status}, {len(results)} of {len(lines)} lines")
        self._collected[batch_id] = results
        return results


class _FullError(Exception):
    """The provider's queue did not hold a batch."""


def _line(custom_id: str, body: Mapping[str, Any]) -> bytes:
    return canonical_json({"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}) + b"\n"


def status_of(line: Mapping[str, Any]) -> tuple[int, str]:
    """Return the HTTP status of a line (0 where no server answered) and its error's code."""
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict) and isinstance(response.get("status_code"), int):
        body = response.get("body")
        inner = body.get("error") if isinstance(body, dict) else None
        return response["status_code"], str(inner.get("code") if isinstance(inner, dict) else None)
    return 0, str(error.get("code") if isinstance(error, dict) else None)


def message_of(line: Mapping[str, Any]) -> str | None:
    """Return what a line's error says; it may repeat what was asked."""
    response = line.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return provider_message(body) or provider_message(line.get("error"))


def _may_heal(line: Mapping[str, Any]) -> bool:
    status, _ = status_of(line)
    return line is not TWICE and may_heal(status)
