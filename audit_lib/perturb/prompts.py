"""The sampled prompts as the stage ``variants`` reads them: again and again, a few at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.parquet_batches import batches_of
from audit_lib.run import Run

HELD: Final = 1024
"""Prompts held at a time."""
_IDS_HELD: Final = 1 << 16
_PAGE_BYTES: Final = 1 << 20
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
        self._number, self.come_sorted = 0, True
        """Whether variants made prompt by prompt are in the order of their ids, ``prompt/group/replicate``."""
        last = None
        for batch in self._batches(_IDS_HELD, ["prompt_id"]):
            self._number += batch.num_rows
            ids = batch["prompt_id"] if last is None else pa.concat_arrays([last, batch["prompt_id"]])
            last = ids[-1:]
            if not _ascend(ids):
                raise EvidenceError(
                    "sample/prompts.parquet: its rows are not in the order of their prompt_id"
                )
            self.come_sorted = self.come_sorted and not _any(pc.match_substring(ids, "/"))
            self.come_sorted = self.come_sorted and _ascend(pc.binary_join_element_wise(ids, "/", ""))

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for batch in self.batches(HELD):
            yield from batch.to_pylist()

    def __contains__(self, prompt: object) -> bool:
        return any(prompt == one for one in self)

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the prompts as Arrow has them, so many at a time."""
        return self._batches(rows, self._columns)

    def _batches(self, rows: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # In pages, so that no whole column of texts is held.
        file = pq.ParquetFile(self._source, buffer_size=_PAGE_BYTES)
        return batches_of(file, rows, columns)

    def column(self, name: str) -> list[Any]:
        """Return one column, without reading the others."""
        return list(pq.read_table(self._source, columns=[name])[name].to_pylist())


def _ascend(texts: pa.Array) -> bool:
    return not _any(pc.greater(texts[:-1], texts[1:]))


def _any(found: pa.Array) -> bool:
    return bool(pc.any(found).as_py())
