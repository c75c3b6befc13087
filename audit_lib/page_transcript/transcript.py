"""The transcript of a page: what it said when it was made, every numeral with its type, carried by the page itself.

It finds a change of the page by whoever does not write it anew. Whoever changes page and transcript together is found
by the numbers, where others determine them, and else by the signature alone.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from audit_lib.canonical import canonical_json
from audit_lib.page_transcript.numerals import numerals
from audit_lib.page_transcript.visible import PageText

SCHEMA: Final = "audit-page-transcript/2"
_BEFORE: Final = "audit-page-transcript/1"
"""In which numerals had a type alone, and parts no sources."""
_MOST_BYTES: Final = 64 * 2**20
_FIELDS: Final = ("part", "kind", "words", "table", "row", "column", "of")


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a page said when it was made.

    Parameters
    ----------
    texts : tuple of PageText
        Its texts in order.
    elements : mapping of str to str
        Part of the page -> digest of its elements and their attributes; none for a PDF.
    sources : mapping of str to tuple of str
        Part of the page -> the run's files that it was made from.
    older : bool
        Whether it is of the form before this one, which says of cells alone what they hold.
    """

    texts: tuple[PageText, ...]
    elements: Mapping[str, str]
    sources: Mapping[str, tuple[str, ...]]
    older: bool = False

    @property
    def shown(self) -> tuple[PageText, ...]:
        """The texts as a page shows them, which does not name its numerals."""
        return tuple(replace(one, numerals_of=()) for one in self.texts)

    def comparable(self, shown: Sequence[PageText]) -> tuple[PageText, ...]:
        """Return texts of a page with what this transcript can say of their places."""
        if not self.older:
            return tuple(shown)
        return tuple(one if one.table else replace(one, row="", of="") for one in shown)


def write_transcript(
    texts: Iterable[PageText], elements: Mapping[str, str], sources: Mapping[str, Sequence[str]]
) -> str:
    """Return a transcript as one word, that of the same page always the same.

    bzip2 is used since its writers agree on every byte, which those of zlib do not.
    """
    told = [
        {
            **{name: value for name in _FIELDS if (value := getattr(piece, name))},
            "numerals": [[one.type, one.text, one.of] for one in piece.numerals],
        }
        for piece in texts
    ]
    document = {
        "schema": SCHEMA,
        "elements": dict(elements),
        "sources": {part: list(files) for part, files in sources.items()},
        "texts": told,
    }
    return base64.b64encode(bz2.compress(canonical_json(document), 9)).decode()


def read_transcript(written: str) -> Transcript:
    """Read a transcript.

    Raises
    ------
    ValueError
        If it is none, or one of its numerals is not the one of its words.
    """
    try:
        unpacker = bz2.BZ2Decompressor()
        content = unpacker.decompress(base64.b64decode(written, validate=True), _MOST_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("it does not end where it should")
        document = json.loads(content)
        if document["schema"] not in (SCHEMA, _BEFORE):
            raise ValueError(f"its form is {document['schema']!r}, not {SCHEMA}")
        texts = tuple(_piece(one) for one in document["texts"])
        elements = {str(part): str(digest) for part, digest in document["elements"].items()}
        given = document["sources"] if document["schema"] == SCHEMA else {}
        sources = {str(part): tuple(map(str, files)) for part, files in given.items()}
    except (binascii.Error, OSError, EOFError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it cannot be read ({type(error).__name__})") from None
    return Transcript(texts, elements, sources, document["schema"] == _BEFORE)


def _piece(given: Mapping[str, object]) -> PageText:
    values = {name: given.get(name, "") for name in _FIELDS}
    if not all(isinstance(value, str) for value in values.values()):
        raise ValueError("a text in it is none")
    part, kind, words, table, row, column, of = (str(values[name]) for name in _FIELDS)
    piece = PageText(part, kind, words, table, row, column, of)
    told = cast(list[list[str]], given["numerals"])
    if [one[:2] for one in told] != [[one.type, one.text] for one in numerals(piece.words)]:
        raise ValueError(f"its numerals are not those of {piece.words!r}")
    if any(len(one) > 3 or not all(isinstance(part, str) for part in one) for one in told):
        raise ValueError(f"what it says of the numerals of {piece.words!r} has another form")
    named = tuple(of for one in told for of in (one[2:] or [""]))
    return replace(piece, numerals_of=named if any(named) else ())
