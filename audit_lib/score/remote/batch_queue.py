"""How many lines a batch holds, and when the next one is submitted: a provider's queue holds so many tokens.

A batch that finds the queue full (``token_limit_exceeded``, at OpenAI and Azure) is refused as a whole and did nothing.
It is noted, with the batches of the shard that were in the queue at the time, and from then on:

- nothing is submitted while all of those are still under way;
- one batch is submitted at a time;
- where there were none, so that the batch alone was too much, batches hold half of its lines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.canonical import canonical_json
from audit_lib.store import Store

CODES: Final = ("token_limit_exceeded",)
_ENDS: Final = ".full.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FullQueue:
    """A batch that the queue did not hold.

    Attributes
    ----------
    lines : int
        Of the batch.
    others : tuple of str
        Ids of the shard's batches that were under way.
    """

    lines: int
    others: tuple[str, ...]


class BatchQueue:
    """What is known of a provider's queue, kept in the store.

    Parameters
    ----------
    store, folder : Store, str
        Where the notes are.
    size, most_bytes : int
        Most lines and bytes of a batch.
    """

    def __init__(self, store: Store, folder: str, *, size: int, most_bytes: int) -> None:
        self._store, self._folder = store, folder
        self._size, self._most_bytes = size, most_bytes

    def refused(self) -> frozenset[int]:
        """Return the numbers of the batches that it did not hold."""
        return frozenset(self._notes())

    def note(self, number: int, lines: int, others: Collection[str]) -> None:
        """Write down that it did not hold a batch."""
        content = {"lines": lines, "others": sorted(others)}
        self._store.put(f"{self._folder}/{number:04d}{_ENDS}", canonical_json(content))

    def next_batches(
        self, custom_ids: Sequence[str], sizes: Mapping[str, int], under_way: Collection[str]
    ) -> Iterator[list[str]]:
        """Yield the lines of each batch that may be submitted now.

        Parameters
        ----------
        custom_ids : sequence of str
            Lines to be asked.
        sizes : mapping of str to int
            Bytes of each.
        under_way : collection of str
            Ids of the batches under way.
        """
        full = self._notes().values()
        if any(note.others and set(note.others) <= set(under_way) for note in full):
            return
        alone = [note.lines // 2 for note in full if not note.others]
        most = max(1, min([self._size, *alone]))
        for batch in self._cut(custom_ids, sizes, most):
            yield batch
            if full:
                return

    def _cut(self, custom_ids: Sequence[str], sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
        batch: list[str] = []
        weight = 0
        for custom_id in custom_ids:
            if batch and (len(batch) == most or weight + sizes[custom_id] > self._most_bytes):
                yield batch
                batch, weight = [], 0
            batch.append(custom_id)
            weight += sizes[custom_id]
        if batch:
            yield batch

    def _notes(self) -> dict[int, FullQueue]:
        keys = [key for key in self._store.list(self._folder) if key.endswith(_ENDS)]
        return {int(key.rsplit("/", 1)[1].split(".")[0]): _read(self._store.get(key)) for key in keys}


def _read(content: bytes) -> FullQueue:
    said: dict[str, Any] = json.loads(content)
    return FullQueue(lines=said["lines"], others=tuple(said["others"]))
