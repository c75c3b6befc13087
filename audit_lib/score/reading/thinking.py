"""What of an answer is read: not what a model thinks before it, and no more than can be read in time."""

from __future__ import annotations

import re
from typing import Final

MOST_READ: Final = 50_000
"""Characters of an answer, less what is thought and repeated blanks, beyond which it is not read."""

_BEGINS: Final = re.compile(r"<think(?:ing)?>", re.I)
_ENDS: Final = re.compile(r"</think(?:ing)?>", re.I)
_BLANKS: Final = re.compile(r"[^\S\n]{9,}")
_EMPTY_LINES: Final = re.compile(r"\n(?:[^\S\n]{0,8}\n){2,}")


class TooLongError(ValueError):
    """An answer too long to be read."""


def without_thinking(text: str) -> str:
    """Return a text less what stands between ``<think>`` and ``</think>``.

    Where only one of the two is there, the other is the text's beginning or end: some chat templates write the
    first themselves, and an answer may be cut off before the second.

    Examples
    --------
    >>> without_thinking("<think>Yes? No!</think>No"), without_thinking("Hm.</think>No"), without_thinking("<think>Y")
    ('No', 'No', '')
    """
    said: list[str] = []
    *ended, last = _ENDS.split(text)
    for part in ended:
        begun = _BEGINS.search(part)
        if begun is None:
            said.clear()
        else:
            said.append(part[: begun.start()])
    return "".join(said) + _BEGINS.split(last, maxsplit=1)[0]


def readable(text: str) -> str:
    r"""Return a text without what is thought, long blanks and runs of empty lines cut short.

    Raises
    ------
    TooLongError
        If more than `MOST_READ` characters are left.

    Examples
    --------
    >>> readable("<think>2?</think>4" + " " * 5000 + "\n \n\n\nThanks")
    '4        \n\nThanks'
    """
    short = _EMPTY_LINES.sub("\n\n", _BLANKS.sub(" " * 8, without_thinking(text)))
    if len(short) > MOST_READ:
        raise TooLongError(f"the text has {len(short)} characters, and at most {MOST_READ} are read")
    return short
