"""Pictures as files: one that was given, those of a saved page or document. Never fetched, and named where not read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, unquote_to_bytes

from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.page_text import paragraphs
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_lines import lines_of
from audit_lib.check.picture_words import NO_READER, UNSURE, can_read, pictures_of, words_of
from audit_lib.errors import InputError

_WIDE, _HIGH = 150, 50
"""Pixels: what is less wide or high is a logo or an icon."""
_MOST_BYTES: Final = 32 * 2**20
_MOST_NAMED: Final = 5
_LONGEST_NAME: Final = 60
_SCANNED: Final = (
    "whether each letter and digit of pictures was recognised: look at them before you rely on a finding"
)
_PARTS: Final = ("a part of the file", "the file")

NamedPicture = tuple[str, bytes | None]
"""What a picture is called, and its bytes; None where they are not here."""


def picture_document(content: bytes, path: Path) -> PublishedFile:
    """Read a picture of a summary.

    Raises
    ------
    InputError
        If pictures cannot be read here, or it is too large.
    CorruptFileError
        If it does not open.
    """
    if any(_large(content, str(path))) and not can_read():
        raise InputError(f"{path}: a picture, and {NO_READER}")
    return with_pictures(
        PublishedFile(format="image", text="", grids=()), [(str(path), content)], strict=True
    )


def with_pictures(
    document: PublishedFile, pictures: Iterable[NamedPicture], *, strict: bool = False
) -> PublishedFile:
    """Add the tables and words of pictures to a document, and the names of those that were not read.

    A picture without a table adds nothing; with `strict` it adds its words, and one that does not open is an error.
    """
    grids: list[Grid] = []
    texts: list[str] = []
    unread: list[str] = []
    for name, content in pictures:
        try:
            pages = (
                None
                if content is None or not can_read()
                else [words_of(each) for each in _large(content, name)]
            )
        except InputError as error:
            if strict:
                raise
            unread.append(str(error))
            continue
        if pages is None:
            unread.append(
                f"{_short(name)}: {NO_READER if content is not None else 'not in the file, and not fetched'}"
            )
            continue
        lines = lines_of(pages)
        found = list(layout_grids(lines, UNSURE.replace("{}", f"{_short(name)}, {{}},")))
        grids += found
        if found or strict:
            texts += paragraphs(lines)
    more = len(unread) - _MOST_NAMED
    unread = [*unread[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return replace(
        document,
        grids=(*document.grids, *grids),
        text="\n".join(filter(None, (document.text, *texts))),
        caution="; ".join(filter(None, (document.caution, _SCANNED if grids else ""))),
        unread=(*document.unread, *unread),
        unsure=document.unsure or (UNSURE.format(_PARTS[document.format == "image"]) if texts else ""),
    )


def _large(content: bytes, name: str) -> Iterator[object]:
    for picture in pictures_of(content, name):
        if picture.width >= _WIDE and picture.height >= _HIGH:
            yield picture


def saved_pictures(pictures: Iterable[Mapping[str, str | None]], folder: Path) -> Iterator[NamedPicture]:
    """Yield the pictures that a saved page shows, each from the page itself or from a file next to it.

    Icons, whose size the page gives, are left out; so are drawings (SVG), whose letters are in no picture.
    """
    for attributes in pictures:
        source = (attributes.get("src") or "").strip()
        sizes = [(attributes.get("width") or "").strip(" px"), (attributes.get("height") or "").strip(" px")]
        small = [
            text.isdecimal() and int(text) < least for text, least in zip(sizes, (_WIDE, _HIGH), strict=True)
        ]
        if any(small) or source.startswith("data:image/svg") or (not source and not attributes.get("srcset")):
            continue
        name = attributes.get("alt") or source.partition(",")[0]
        yield f"picture {_short(name)!r}", _content(source, folder)


def _content(source: str, folder: Path) -> bytes | None:
    if source.startswith("data:"):
        head, _, body = source.partition(",")
        try:
            return base64.b64decode(unquote(body)) if head.endswith(";base64") else unquote_to_bytes(body)
        except (binascii.Error, ValueError):
            return b""
    if ":" in source or source.startswith(("/", "\\")):
        return None
    try:
        path = (folder / unquote(source.partition("?")[0].partition("#")[0])).resolve()
        if (
            not path.is_relative_to(folder.resolve())
            or not path.is_file()
            or path.stat().st_size > _MOST_BYTES
        ):
            return None
        return path.read_bytes()
    except (OSError, ValueError):
        return None


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."
