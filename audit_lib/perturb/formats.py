"""Formatting noise: the same words set out in another way. What it moves is not about any group."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_BULLETS: Final = "-*\u2022"
_BULLET: Final = re.compile(rf"^([ \t]*)([{_BULLETS}])(?=[ \t]+\S)", re.MULTILINE)
_SENTENCE: Final = re.compile(r"(?<=[.!?]) (?=\S)")
_PARAGRAPH: Final = re.compile(r"\n(?:[ \t]*\n)+")


def bullets(text: str) -> str:
    r"""Write each bullet in the next style: hyphen, asterisk, dot.

    Examples
    --------
    >>> bullets("- cook\n  * baker\nwell-known")
    '* cook\n  \u2022 baker\nwell-known'
    """
    return _BULLET.sub(lambda m: m[1] + _BULLETS[(_BULLETS.index(m[2]) + 1) % len(_BULLETS)], text)


def spaces(text: str) -> str:
    """Put two spaces after each sentence.

    Examples
    --------
    >>> spaces("One. Two? Three.")
    'One.  Two?  Three.'
    """
    return _SENTENCE.sub("  ", text)


def blank_lines(text: str) -> str:
    r"""Put one blank line more between paragraphs.

    Examples
    --------
    >>> blank_lines("One.\n\nTwo.\nThree.")
    'One.\n\n\nTwo.\nThree.'
    """
    return _PARAGRAPH.sub(lambda m: m[0] + "\n", text)


FORMATS: Final[Mapping[str, Callable[[str], str]]] = {
    "blank_lines": blank_lines,
    "bullets": bullets,
    "spaces": spaces,
}
"""Name in the spec -> what it does to each field's text; all keep the words and their order."""
