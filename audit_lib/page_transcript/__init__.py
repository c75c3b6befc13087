"""What a page of ours says, read back from it, and the transcript of it that the page carries."""

from __future__ import annotations

import re

from audit_lib.page_transcript.numerals import MINUS, Numeral, numerals
from audit_lib.page_transcript.transcript import Transcript, read_transcript, write_transcript
from audit_lib.page_transcript.visible import NAME, PageText, Visible, read_visible

__all__ = [
    "MINUS",
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
_NAMED = re.compile(r'<span data-of="[^"<>]*">([^<>]*)</span>')


def with_transcript(html: str) -> str:
    """Return a page with the transcript of what it says, in its head.

    Parameters
    ----------
    html : str
        The page. What ``<span data-of="NAME">`` encloses has that name in the transcript; these elements are taken
        out of the page, whose words stay whole.

    Examples
    --------
    >>> page = with_transcript(
    ...     '<html><head><title>A page</title></head><p><span data-of="selected">9</span> of 24</p></html>'
    ... )
    >>> seen = read_visible(page)
    >>> [(one.text, one.of) for one in read_transcript(seen.transcript).texts[1].numerals]
    [('9', 'selected'), ('24', '')]
    >>> "<p>9 of 24</p>" in page
    True
    """
    seen = read_visible(html)
    written = write_transcript(seen.texts, seen.elements, seen.sources)
    return _NAMED.sub(r"\1", html).replace(_AFTER, f'{_AFTER}\n<meta name="{NAME}" content="{written}">', 1)
