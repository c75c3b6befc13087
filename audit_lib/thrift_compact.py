"""Thrift's compact protocol, in which Parquet writes footers and headers of pages: as much of it as a check needs."""

from __future__ import annotations

from audit_lib.errors import EvidenceError


class CompactReader:
    """Structures in Thrift's compact protocol, of which only numbers, structures and lists are kept.

    Parameters
    ----------
    content : bytes
        What begins with a structure.
    lists : bool
        Whether a structure may hold lists.

    Examples
    --------
    >>> CompactReader(bytes([0x15, 0x08, 0x19, 0x25, 0x02, 0x04, 0x00]), lists=True).structure()
    {1: 4, 2: [1, 2]}
    """

    def __init__(self, content: bytes, *, lists: bool = False) -> None:
        self._content, self._lists, self.at = content, lists, 0

    def structure(self, depth: int = 0) -> dict[int, object]:
        """Return field -> value.

        Raises
        ------
        EvidenceError
            If the bytes are no structure, or one that says something twice.
        """
        if depth > 8:
            raise EvidenceError("a header is nested too deeply")
        found: dict[int, object] = {}
        field = 0
        while (mark := self._byte()) != 0:
            kind, step = mark & 15, mark >> 4
            field = field + step if step else self._zigzag()
            if field in found:  # which of the two another reader believes is not known
                raise EvidenceError("a header says something twice")
            found[field] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> object:
        if kind in (1, 2):  # true and false are the kind itself
            return None
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            self._skip(8)
        elif kind == 8:
            self._skip(self._varint())
        elif kind == 9 and self._lists:
            return self._list(depth)
        elif kind == 12:
            return self.structure(depth + 1)
        else:
            raise EvidenceError("a header holds what none has")
        return None

    def _list(self, depth: int) -> list[object]:
        mark = self._byte()
        count = mark >> 4 if mark >> 4 != 15 else self._varint()
        kind = 3 if mark & 15 in (1, 2) else mark & 15  # in a list each of true and false is a byte
        return [self._value(kind, depth) for _ in range(count)]

    def _byte(self) -> int:
        if self.at >= len(self._content):
            raise EvidenceError("a header has no end")
        self.at += 1
        return self._content[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise EvidenceError("a header has no end")

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise EvidenceError("a header holds a number without an end")

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
