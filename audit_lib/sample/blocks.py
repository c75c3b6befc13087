"""Records that are read together: looked at column by column where all of them are plain, and else one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from types import NoneType
from typing import Any, Final

import msgspec

BLOCK_ROWS: Final = 1024
"""Records of a block, where no number of bytes ends it."""
ABSENT: Final = object()
"""The value of a record that lacks a column which others of its block have."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file.

    Parameters
    ----------
    values : mapping of str to object
        The file's columns; a null cell is None.
    where : str
        The file and the line (Parquet: the row), both counted from 1, for messages.
    is_text : bool
        Whether every value is text (CSV), so that numbers are still to be read from it.
    """

    values: Mapping[str, Any]
    where: str
    is_text: bool = False


class ColumnBlock(ABC):
    """Columns of some records that come one after the other."""

    is_text: bool

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def column(self, name: str) -> list[Any] | None:
        """Return a column's values, `ABSENT` where a record lacks it; None where all do."""

    def texts(self, name: str) -> list[bytes] | None:
        """Return a column's texts as canonical JSON, null as ""; None where all lack it, or a value is no text."""
        values = self.column(name)
        if values is None or not set(map(type, values)) <= {str, NoneType}:
            return None
        return [_encoded("" if value is None else value) for value in values]


class RecordBlock(ABC):
    """Some records that come one after the other."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def select(self, names: Sequence[str], texts: Sequence[str]) -> ColumnBlock | None:
        """Return some columns; None where the records are to be read one by one.

        Parameters
        ----------
        names : sequence of str
            Those whose values are asked for.
        texts : sequence of str
            Those of which only `ColumnBlock.texts` is.
        """

    @abstractmethod
    def where(self, place: int) -> str:
        """Return where the record at a place stands."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield the records."""


class WholeBlock(ColumnBlock, RecordBlock):
    """Records all of whose columns are at hand."""

    def select(self, names: Sequence[str], texts: Sequence[str]) -> ColumnBlock | None:
        """Return the block."""
        return self


_encoded: Final = msgspec.json.Encoder().encode
"""Writes a text as `audit_lib.canonical.canonical_json` does."""


class ObjectBlock(WholeBlock):
    """Records as they were decoded: an object each, with keys of its own.

    Parameters
    ----------
    objects : sequence of mapping
    where : callable
        Place in the block -> the record's place in the file.
    is_text : bool
        As of `Record`.
    """

    def __init__(
        self, objects: Sequence[Mapping[str, Any]], where: Callable[[int], str], *, is_text: bool = False
    ) -> None:
        self._objects, self._where, self.is_text = objects, where, is_text

    def __len__(self) -> int:
        return len(self._objects)

    def column(self, name: str) -> list[Any] | None:
        """Return a column's values."""
        try:
            return list(map(itemgetter(name), self._objects))  # as nearly always, all have it
        except KeyError:
            values = [one.get(name, ABSENT) for one in self._objects]
        return None if values.count(ABSENT) == len(values) else values

    def where(self, place: int) -> str:
        """Return where the record at a place stands."""
        return self._where(place)

    def records(self) -> Iterator[Record]:
        """Yield the records."""
        for place, values in enumerate(self._objects):
            yield Record(values, self._where(place), self.is_text)


class TableBlock(WholeBlock):
    """Rows that all have the same columns.

    Parameters
    ----------
    columns : mapping of str to callable
        Name -> what gives its values, asked only of columns that are read.
    rows : int
    where : callable
        Place in the block -> the row's place in the file.
    is_text : bool
        As of `Record`.
    """

    def __init__(
        self,
        columns: Mapping[str, Callable[[], list[Any]]],
        rows: int,
        where: Callable[[int], str],
        *,
        is_text: bool = False,
    ) -> None:
        self._columns, self._rows, self._where, self.is_text = columns, rows, where, is_text

    def __len__(self) -> int:
        return self._rows

    def column(self, name: str) -> list[Any] | None:
        """Return a column's values."""
        return self._columns[name]() if name in self._columns else None

    def where(self, place: int) -> str:
        """Return where the row at a place stands."""
        return self._where(place)

    def records(self) -> Iterator[Record]:
        """Yield the rows."""
        names = list(self._columns)
        rows = zip(*(values() for values in self._columns.values()), strict=True)
        for place, row in enumerate(rows):
            yield Record(dict(zip(names, row, strict=True)), self._where(place), self.is_text)


def single_records(records: Iterable[Record]) -> Iterator[RecordBlock]:
    """Yield records that come one by one in blocks; an error on the way comes after the records before it."""
    rest = iter(records)
    while True:
        held: list[Record] = []
        failed: BaseException | None = None
        try:
            held.extend(islice(rest, BLOCK_ROWS))
        except Exception as error:  # noqa: BLE001 - raised again below
            failed = error
        if held:
            yield _GivenBlock(held)
        if failed is not None:
            raise failed
        if len(held) < BLOCK_ROWS:
            return


def blocks_of(records: Iterable[Record]) -> Iterator[RecordBlock]:
    """Return the blocks of what is read: its own, or those that its records make."""
    own = getattr(records, "blocks", None)
    return single_records(records) if own is None else own()


class _GivenBlock(WholeBlock):
    """Records that a source has made itself."""

    def __init__(self, given: Sequence[Record]) -> None:
        self._given = given
        self.is_text = all(one.is_text for one in given)
        self._alike = self.is_text or not any(one.is_text for one in given)

    def __len__(self) -> int:
        return len(self._given)

    def column(self, name: str) -> list[Any] | None:
        if not self._alike:  # texts to be read and values beside each other: one by one
            return [ABSENT] * len(self._given)
        values = [one.values.get(name, ABSENT) for one in self._given]
        return None if values.count(ABSENT) == len(values) else values

    def where(self, place: int) -> str:
        return self._given[place].where

    def records(self) -> Iterator[Record]:
        yield from self._given
