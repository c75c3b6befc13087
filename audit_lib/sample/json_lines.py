"""Lines of JSON, an object each: decoded by columns where all of them are plain, and else line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress, repeat
from operator import attrgetter, contains, itemgetter
from typing import Any, Final, NoReturn

import msgspec

from audit_lib.errors import CorruptFileError
from audit_lib.sample.blocks import ABSENT, ColumnBlock, ObjectBlock, Record, RecordBlock

_HALF: Final = re.compile(rb"\\ud[89a-f]", re.I)
_QUOTE: Final = ord('"')
_ESCAPE: Final = ord("\\")


class JsonLines(RecordBlock):
    """Some lines of a file.

    Parameters
    ----------
    lines : sequence of bytes
    numbers : sequence of int
        The number of each.
    uri : str
        The file, for messages.
    """

    def __init__(self, lines: Sequence[bytes], numbers: Sequence[int], uri: str) -> None:
        self._lines, self._numbers, self._uri = lines, numbers, uri

    def __len__(self) -> int:
        return len(self._lines)

    def where(self, place: int) -> str:
        """Return where the line at a place stands."""
        return f"{self._uri}, line {self._numbers[place]}"

    def select(self, names: Sequence[str], texts: Sequence[str]) -> ColumnBlock | None:
        """Return some columns; None where a line is to be looked at by itself, as one is that is no object."""
        wanted = _decoder(tuple(names), tuple(text for text in texts if text not in names))
        try:
            # What is not decoded is not looked at for its encoding.
            if wanted is not None and _are_sound(self._lines):
                return _Chosen(list(map(wanted[0], self._lines)), wanted[1])
            return ObjectBlock(list(map(_plain, self._lines)), self.where)
        except (ValueError, RecursionError):  # also of what is right: the other decoder decides
            return None

    def records(self) -> Iterator[Record]:
        """Yield the lines' records; a fault comes after all before it."""
        try:
            objects = list(map(_plain, self._lines))
        except (ValueError, RecursionError):
            yield from self._one_by_one()
        else:
            yield from ObjectBlock(objects, self.where).records()

    def _one_by_one(self) -> Iterator[Record]:
        for place, text in decoded(self._lines, self.where):
            if not text.strip():
                continue
            where = self.where(place)
            try:
                values = _decoded(text)
            except json.JSONDecodeError as error:
                raise CorruptFileError(
                    f"{where}: not JSON ({error.msg.removesuffix(' at')} at column {error.colno}); each line "
                    "is one object"
                ) from None
            except ValueError as error:
                raise CorruptFileError(f"{where}: not JSON ({error})") from None
            except RecursionError:
                raise CorruptFileError(f"{where}: JSON nested too deep to be read") from None
            if not isinstance(values, dict):
                raise CorruptFileError(f"{where}: a JSON {type(values).__name__}; each line is one object")
            if _HALF.search(self._lines[place]) is not None and _holds_half(values):
                raise CorruptFileError(
                    f"{where}: half of a surrogate pair (\\ud800 to \\udfff alone), which no text holds; write the "
                    "file again"
                )
            yield Record(values, where)


class _Chosen(ColumnBlock):
    """Objects of which some columns were decoded, and texts left as they are written."""

    is_text = False

    def __init__(self, objects: Sequence[Any], named: dict[str, str]) -> None:
        self._objects, self._named = objects, named

    def __len__(self) -> int:
        return len(self._objects)

    def column(self, name: str) -> list[Any] | None:
        values = list(map(attrgetter(self._named[name]), self._objects))
        return None if values[0] is ABSENT and values.count(ABSENT) == len(values) else values

    def texts(self, name: str) -> list[bytes] | None:
        values = self.column(name)
        if values is None or ABSENT in values:
            return None
        if not isinstance(values[0], msgspec.Raw):
            return super().texts(name)
        found = list(map(bytes, values))
        if set(map(itemgetter(0), found)) != {_QUOTE} or any(map(contains, found, repeat(_ESCAPE))):
            for place, one in enumerate(found):
                if one == b"null":
                    found[place] = b'""'
                elif one[0] != _QUOTE:
                    return None
                elif b"\\" in one:
                    found[place] = msgspec.json.encode(_text(one))
        return found


def decoded(lines: Iterable[bytes], where: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Yield lines as text, each with its place.

    Raises
    ------
    CorruptFileError
        If one is not UTF-8.
    """
    for place, line in enumerate(lines):
        try:
            yield place, line.decode() + "\n"
        except UnicodeDecodeError as error:
            raise CorruptFileError(
                f"{where(place)}: not UTF-8 (byte {error.start + 1} of the line); save the file "
                'as UTF-8, which spreadsheets call "CSV UTF-8"'
            ) from None


@cache
def _decoder(
    names: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[Callable[[bytes], Any], dict[str, str]] | None:
    """Return what decodes some columns of an object, and by which name each is found; None where a name forbids it."""
    attributes = {name: f"c{place}" for place, name in enumerate((*names, *texts))}
    fields = [(attributes[name], msgspec.Raw if name in texts else Any, ABSENT) for name in (*names, *texts)]
    try:
        kind = msgspec.defstruct(
            "Line", fields, rename={own: name for name, own in attributes.items()}, gc=False
        )
    except ValueError:
        return None
    return msgspec.json.Decoder(kind).decode, attributes


def _are_sound(lines: Sequence[bytes]) -> bool:
    """Tell whether lines are text, and have no half of a surrogate pair."""
    if not all(map(bytes.isascii, lines)):
        b"\n".join(lines).decode()
    escaped = list(
        compress(lines, map(contains, lines, repeat(_ESCAPE)))
    )  # one byte is found sooner than two
    return not any(map(contains, escaped, repeat(b"\\u"))) or not any(map(_HALF.search, escaped))


def _holds_half(values: dict[str, Any]) -> bool:
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_decoded: Final = json.JSONDecoder(parse_constant=_not_a_number).decode
"""Made once: `json.loads` makes a decoder for each line."""
_plain: Final = msgspec.json.Decoder(dict[str, Any]).decode
"""Gives what `_decoded` does, sooner; where it refuses a line, that one decides, and says what is wrong."""
_text: Final = msgspec.json.Decoder(str).decode
