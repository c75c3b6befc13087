"""What a model thinks before it answers, where it writes that down: no part of its answer."""

from __future__ import annotations

import re
from typing import Final

_BEGINS: Final = re.compile(r"<think(?:ing)?>", re.I)
_ENDS: Final = re.compile(r"</think(?:ing)?>", re.I)


def without_thinking(text: str) -> str:
    """Return a text less what stands between ``<think>`` and ``</think>``.

    Where only one of the two is there, the other is the text's beginning or end: some chat templates write the
    first themselves, and an answer may be cut off before the second.

    Examples
    --------
    >>> without_thinking("<think>Yes? No!</think>No"), without_thinking("Hm.</think>No"), without_thinking("<think>Y")
    ('No', 'No', '')
    """
    said = ""
    *ended, last = _ENDS.split(text)
    for part in ended:
        begun = _BEGINS.search(part)
        said = "" if begun is None else said + part[: begun.start()]
    return said + _BEGINS.split(last, maxsplit=1)[0]
