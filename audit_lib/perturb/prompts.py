"""The sampled prompts as the stage ``variants`` reads them: again and again, a few at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.run import Run

HELD: Final = 1024
"""Prompts held at a time."""
_UNREAD: Final = ("occurred_at",)


class Prompts(Collection[Mapping[str, Any]]):
    """The prompts of a run, sorted by id, each a row as plain values.

    Parameters
    ----------
    run : Run
        With its sample.

    Raises
    ------
    EvidenceError
        If they are not in the order in which the stage ``sample`` writes them.
    """

    def __init__(self, run: Run) -> None:
        self._source = run.stage("sample").parquet("prompts.parquet")
        self._columns = [name for name in pq.read_schema(self._source).names if name not in _UNREAD]
        ids = self.column("prompt_id")
        if any(one > another for one, another in pairwise(ids)):
            raise EvidenceError("sample/prompts.parquet: its rows are not in the order of their prompt_id")
        self._number = len(ids)
        self.come_sorted = _come_sorted(ids)
        """Whether variants made prompt by prompt are in the order of their ids, ``prompt/group/replicate``."""

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for batch in pq.ParquetFile(self._source).iter_batches(batch_size=HELD, columns=self._columns):
            yield from batch.to_pylist()

    def __contains__(self, prompt: object) -> bool:
        return any(prompt == one for one in self)

    def column(self, name: str) -> list[Any]:
        """Return one column, without reading the others."""
        return list(pq.read_table(self._source, columns=[name])[name].to_pylist())


def _come_sorted(ids: list[str]) -> bool:
    return not any("/" in one for one in ids) and all(f"{a}/" <= f"{b}/" for a, b in pairwise(ids))
