"""Batches at a provider: submitted, polled and collected step by step, and found again after a restart.

::

    <folder>/<number>.asked.json    what a batch asks, written before it is made
    <folder>/<number>.batch.json    its id, written after
    <folder>/<number>.failed.json   that the provider refused it as a whole, or no longer knows it

All are written once. A process that dies between the two leaves a batch that nobody knows the id of; it is
found again by the digest of its lines, which its metadata holds, and never paid for twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import BackendError
from audit_lib.store import Store

_UNDER_WAY: Final = ("validating", "in_progress", "finalizing", "cancelling")
_MARK: Final = "audit_lines_sha256"
_ENDPOINT: Final = "/v1/chat/completions"
_MOST_REFUSALS: Final = 3


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
        Custom ids that a batch under way holds. Every other one is final: it has a result, or was tried
        as often as it may be.
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
    client : openai.OpenAI
        The official client.
    store, folder : Store, str
        Where ids are kept.
    retries : int
        Further batches for lines that expired or met a fault of the server.
    size : int
        Most lines in a batch.
    window : str
        ``completion_window`` of a batch.
    notify : callable
        Tells people about progress.
    """

    def __init__(
        self,
        client: Any,
        store: Store,
        folder: str,
        *,
        retries: int,
        size: int,
        window: str,
        notify: Callable[[str], None],
    ) -> None:
        self._client, self._store, self._folder = client, store, folder
        self._retries, self._size, self._window, self._notify = retries, size, window, notify
        self._collected: dict[str, dict[str, dict[str, Any]]] = {}

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
        for number, lines in asked.items():
            if self._failure(number) in failed:
                continue
            batch_id = self._batch_id(number, lines, bodies, new=False)
            if batch_id is None:
                continue
            tried.update(lines)
            found = self._results(batch_id, number, len(failed))
            if found is None:
                under_way[batch_id] = lines
            else:
                results |= {i: line for i, line in found.items() if i in bodies}
        busy = {i for lines in under_way.values() for i in lines}
        # A line that a finished batch does not mention was lost by it, and is asked again like an expired one.
        again = [
            i
            for i in bodies
            if i not in busy and (i not in results or _may_heal(results[i])) and tried[i] <= self._retries
        ]
        number = max(asked, default=-1) + 1
        for start in range(0, len(again), self._size):
            key = f"{self._folder}/{number:04d}.asked.json"
            new = self._store.put(key, canonical_json(again[start : start + self._size]))
            lines = json.loads(self._store.get(key))
            if (batch_id := self._batch_id(number, lines, bodies, new=new)) is not None:
                under_way[batch_id] = lines
                tried.update(lines)
            number += 1
        waiting = frozenset(i for lines in under_way.values() for i in lines)
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
        for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_MARK) == mark:
                self._notify(f"batch {batch.id} was made before a restart; going on from it")
                return str(batch.id)
        return None

    def _make(self, bodies: Mapping[str, dict[str, Any]], mark: str) -> str:
        content = b"".join(
            canonical_json({"custom_id": i, "method": "POST", "url": _ENDPOINT, "body": body}) + b"\n"
            for i, body in bodies.items()
        )
        file = self._client.files.create(file=("audit.jsonl", content), purpose="batch")
        batch = self._client.batches.create(
            input_file_id=file.id, endpoint=_ENDPOINT, completion_window=self._window, metadata={_MARK: mark}
        )
        self._notify(f"batch {batch.id}: {len(bodies)} lines submitted")
        return str(batch.id)

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

    def _results(self, batch_id: str, number: int, failed: int) -> dict[str, dict[str, Any]] | None:
        """Return the lines of a batch that is done, also of one that expired or was cancelled; else None."""
        if batch_id in self._collected:
            return self._collected[batch_id]
        import openai

        try:
            batch = self._client.batches.retrieve(batch_id)
        except openai.NotFoundError:
            raise self._refused(batch_id, number, failed, "the provider does not know it any more") from None
        if batch.status in _UNDER_WAY:
            return None
        if batch.status == "failed":
            faults = getattr(batch.errors, "data", None) or []
            codes = ", ".join(sorted({str(fault.code) for fault in faults})) or "no code"
            raise self._refused(batch_id, number, failed, f"refused as a whole ({codes})")
        results: dict[str, dict[str, Any]] = {}
        for file_id in (batch.error_file_id, batch.output_file_id):
            if file_id:
                try:
                    results |= _lines(self._client.files.content(file_id).read())
                except openai.NotFoundError:
                    raise self._refused(
                        batch_id, number, failed, "the provider does not have its answers any more"
                    ) from None
        counts = (
            f"{len(results)} of {batch.request_counts.total}" if batch.request_counts else str(len(results))
        )
        self._notify(f"batch {batch_id}: {batch.status}, {counts} lines")
        self._collected[batch_id] = results
        return results


def status_of(line: Mapping[str, Any]) -> tuple[int, str]:
    """Return the HTTP status of a line (0 where no server answered) and its error's code."""
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict) and isinstance(response.get("status_code"), int):
        body = response.get("body")
        inner = body.get("error") if isinstance(body, dict) else None
        return response["status_code"], str(inner.get("code") if isinstance(inner, dict) else None)
    return 0, str(error.get("code") if isinstance(error, dict) else None)


def _may_heal(line: Mapping[str, Any]) -> bool:
    status, _ = status_of(line)
    return status in (0, 408, 409, 429) or status >= 500


def _lines(content: bytes) -> dict[str, dict[str, Any]]:
    """Return the lines of an output or error file by custom id; one that does not parse is lost."""
    found: dict[str, dict[str, Any]] = {}
    for text in content.splitlines():
        try:
            line = json.loads(text)
            found.setdefault(str(line["custom_id"]), line)
        except (ValueError, TypeError, KeyError):
            continue
    return found
