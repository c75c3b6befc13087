"""What a page of ours says, read back from it, and the transcript of it that the page carries."""

from __future__ import annotations

from audit_lib.page_transcript.numerals import Numeral, numerals
from audit_lib.page_transcript.transcript import Transcript, read_transcript, write_transcript
from audit_lib.page_transcript.visible import NAME, PageText, Visible, read_visible

__all__ = [
    "NAME",
    "Numeral",
    "PageText",
    "Transcript",
    "Visible",
    "numerals",
    "read_transcript",
    "read_visible",
    "with_transcript",
    "write_transcript",
]

_AFTER = "</title>"


def with_transcript(html: str) -> str:
    """Return a page with the transcript of what it says, in its head.

    Examples
    --------
    >>> page = with_transcript("<html><head><title>1 of 20</title></head><body><p>0.8</p></body></html>")
    >>> seen = read_visible(page)
    >>> read_transcript(seen.transcript).texts == seen.texts
    True
    """
    seen = read_visible(html)
    written = write_transcript(seen.texts, seen.elements)
    return html.replace(_AFTER, f'{_AFTER}\n<meta name="{NAME}" content="{written}">', 1)
