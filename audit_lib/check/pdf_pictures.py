"""Pages of a PDF that are scans, and pictures on its pages that are large enough to hold a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit_lib.check.picture_words import (
    MOST_PICTURES,
    MOST_PIXELS,
    NO_READER,
    PictureWord,
    can_read,
    words_of,
)

_DOTS: Final = 200 / 72
"""Pixels for a point: 200 dots per inch."""
_WIDE, _HIGH, _SHARE = 150.0, 50.0, 0.04
"""A picture that is less wide or high (points), or a smaller share of its page, is a logo or a signature."""


def words_in_pictures(
    content: bytes, pages: Sequence[Any]
) -> tuple[dict[int, list[PictureWord]], tuple[str, ...]]:
    """Recognise the words of scanned pages and of large pictures.

    Returns
    -------
    words : dict of int to list
        Words by page, from 0, at their places on it; pages without pictures are not in it.
    unread : tuple of str
        Which pictures were not read, and why.
    """
    wanted = {number: areas for number, page in enumerate(pages) if (areas := list(_areas(page)))}
    if not wanted:
        return {}, ()
    named = f"pictures on page{'' if len(wanted) == 1 else 's'} {', '.join(str(n + 1) for n in wanted)}"
    if not can_read():
        return {}, (f"{named}: {NO_READER}",)
    if len(wanted) > MOST_PICTURES:
        return {}, (f"{named}: more than {MOST_PICTURES} pages of pictures; save the summary alone",)
    return _recognised(content, wanted), ()


def _recognised(
    content: bytes, wanted: Mapping[int, Sequence[tuple[float, float, float, float]]]
) -> dict[int, list[PictureWord]]:
    import pypdfium2

    words: dict[int, list[PictureWord]] = {}
    with pypdfium2.PdfDocument(content) as document:
        for number, areas in wanted.items():
            page = document[number]
            scale = min(_DOTS, (MOST_PIXELS / max(page.get_width() * page.get_height(), 1.0)) ** 0.5)
            sheet = page.render(scale=scale).to_pil().convert("RGB")
            for left, top, right, bottom in areas:
                edges = (round(left * scale), round(top * scale), round(right * scale), round(bottom * scale))
                whole = (
                    edges[0] <= 0 and edges[1] <= 0 and edges[2] >= sheet.width and edges[3] >= sheet.height
                )
                found = words_of(sheet if whole else sheet.crop(edges), scale)
                words.setdefault(number, []).extend(_moved(word, left, top) for word in found)
    return words


def _moved(word: PictureWord, left: float, top: float) -> PictureWord:
    places = {"x0": left, "x1": left, "top": top, "bottom": top}
    return dict(word) | {side: word[side] + by for side, by in places.items()}


def _areas(page: Any) -> Iterator[tuple[float, float, float, float]]:
    """Yield where large pictures stand; the whole page where it has a picture and no text."""
    large = [image for image in page.images if _is_large(image, page)]
    if large and not page.chars:
        yield (0.0, 0.0, float(page.width), float(page.height))
        return
    for image in large:
        sides = (max(image["x0"], 0.0), max(image["top"], 0.0))
        yield (*sides, min(image["x1"], float(page.width)), min(image["bottom"], float(page.height)))


def _is_large(image: Mapping[str, Any], page: Any) -> bool:
    width, height = image["x1"] - image["x0"], image["bottom"] - image["top"]
    share = width * height / max(float(page.width) * float(page.height), 1.0)
    return bool(width >= _WIDE and height >= _HIGH and share >= _SHARE)
