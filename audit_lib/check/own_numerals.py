"""Every numeral of a page of ours, with its type, what it is, and the run's files that determine it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from audit_lib.check.document_reader import read_document
from audit_lib.check.own_page import OwnPage, agreement
from audit_lib.errors import InputError
from audit_lib.page_transcript import Transcript, read_transcript

COLUMNS: Final = ("numeral", "type", "of", "part", "kind", "table", "row", "column", "text", "sources")


def own_numerals(path: str | Path) -> list[dict[str, str]]:
    """Return the numerals of a page of ours, in the order of the page.

    Each has its `numeral` and `type` (count, decimal, percent, day, time, or name: digits of a name or a digest); what
    it is (`of`): the name of the place that it fills in its sentence, such as ``selected``, what its column holds, or
    ``words`` for the fixed words of this library and of policy packs; where it stands (`part`, `kind`, `table`, `row`,
    `column`, `text`); and the `sources` of its part: files of the run, with ``policy`` for the pack that the page
    names.

    Parameters
    ----------
    path : path
        A page (HTML or PDF) as this library made it.

    Raises
    ------
    InputError
        If the file is no page of ours, is one of an older version, or one that was changed since.
    """
    document = read_document(Path(path))
    own = document.own
    if own is None or isinstance(own, Mapping):
        raise InputError(
            f"{path}: no page that this library made with a transcript; its numerals have no names"
        )
    if found := agreement(OwnPage(own)):
        raise InputError(
            f"{path}: it is not what was written ({found[0].message}); `audit check-report` names what differs"
        )
    transcript = read_transcript(own.transcript)
    if transcript.older:
        raise InputError(f"{path}: an older version made this page, whose numerals have types and no names")
    return list(_lines(transcript))


def _lines(transcript: Transcript) -> Iterator[dict[str, str]]:
    for text in transcript.texts:
        for one in text.numerals:
            yield {
                "numeral": one.text,
                "type": one.type,
                "of": one.of or text.of,
                "part": text.part,
                "kind": text.kind,
                "table": text.table,
                "row": text.row,
                "column": text.column,
                "text": text.words,
                "sources": " ".join(transcript.sources.get(text.part, ())),
            }
