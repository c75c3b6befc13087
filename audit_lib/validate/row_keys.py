"""Whether rows have the same values as others, of a table whose rows come some at a time.

Tables of a run come in the order of their ids. As long as each row's values lie behind the ones before, none is there
twice, and nothing is held but a file of them, which is read again only where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.known_ids import dealt

if TYPE_CHECKING:
    import pandas as pd

_ROW: Final = "row number"
_HELD: Final = 1 << 24
"""Bytes from which what came before is kept in a file."""
_TOGETHER: Final = 1 << 20
"""Rows that are compared with each other at a time."""


class RowKeys:
    """The values that rows are told apart by.

    Parameters
    ----------
    columns : sequence of str
        In which they stand.

    Examples
    --------
    >>> import pandas as pd
    >>> keys = RowKeys(["a"])
    >>> keys.add(pd.DataFrame({"a": [1, 2, 3]}), 0)
    >>> keys.add(pd.DataFrame({"a": [2, 4]}), 3)
    >>> keys.repeated(20)
    (2, [1, 3])
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._rises, self._rows = True, 0
        self._last: list[Any] | None = None
        self._file = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - goes with this object
        self._writer: pa.RecordBatchStreamWriter | None = None

    def add(self, values: pd.DataFrame, first: int) -> None:
        """Take rows without nulls, whose index counts from the row number `first`."""
        if values.empty:
            return
        table = pa.Table.from_pandas(values, preserve_index=False).combine_chunks()
        self._rows += len(table)
        self._rises = self._rises and self._goes_on(table)
        numbers = pa.array(values.index.to_numpy(dtype=np.int64) + first)
        kept = table.append_column(_ROW, numbers)
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._file, kept.schema)
        self._writer.write_table(kept)

    def repeated(self, most: int) -> tuple[int, list[int]]:
        """Return how many rows have the same values as another, and the numbers of the first `most` of them."""
        if self._rises or self._writer is None:
            return 0, []
        self._writer.close()
        parts = -(-self._rows // _TOGETHER)
        wrong, shown = 0, list[int]()
        for part in range(parts):
            found = [*self._of(part, parts)]
            if not found:
                continue
            rows = pa.Table.from_batches(found).to_pandas()
            numbers = rows.loc[rows.duplicated(self._columns, keep=False), _ROW]
            wrong += len(numbers)
            shown = sorted([*shown, *numbers.nsmallest(most).tolist()])[:most]
        return wrong, shown

    def _of(self, part: int, parts: int) -> Iterator[pa.RecordBatch]:
        self._file.seek(0)
        with pa.ipc.open_stream(self._file) as stream:
            by = next((name for name in self._columns if _is_text(stream.schema.field(name).type)), None)
            for batch in stream:
                if by is not None:
                    yield batch.filter(pa.array(dealt(batch[by], parts) == part))
                elif part == 0:  # numbers alone, which take little
                    yield batch

    def _goes_on(self, table: pa.Table) -> bool:
        """Whether each row's values lie behind those of the one before."""
        columns: list[Any] = [table[name] for name in self._columns]
        last = self._last
        self._last = [column[-1].as_py() for column in columns]
        try:
            if last is not None and not last < [column[0].as_py() for column in columns]:
                return False
            rises = pa.array(np.zeros(len(table) - 1, bool))
            for column in reversed(columns):
                before, after = column.slice(0, len(column) - 1), column.slice(1)
                rises = pc.or_(pc.less(before, after), pc.and_(pc.equal(before, after), rises))
            return bool(pc.all(rises, min_count=0).as_py())
        except (TypeError, pa.ArrowNotImplementedError):  # values that have no order
            return False


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
