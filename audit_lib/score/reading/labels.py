"""Reading a label from an answer's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit_lib.score.reading.thinking import without_thinking

_AROUND = " \t\r\n.,;:!\"'`*_()[]"
_SIGNS = re.compile(r"[*`\"\u201c\u201d]+")
_CLOSED = r"[_')\]}]*"
_NO_DIGIT, _NO_NUMBER = r"(?!\d)", r"(?!\s*\d)"
_LONGEST = 400
"""Characters of an answer, past the longest label, that can tell whether it ends there."""
_GOES_ON = (
    r"because\b|is\s+(?:the\s+|a\s+|my\s+)?(?:clearly\s+|much\s+|far\s+|overall\s+)?"
    r"(?:better|best|stronger|strongest|preferred)\b|(?:candidates\s+|applicants\s+)?are\s+equal(?:ly)?\b"
)


def read_label(text: str | None, labels: Sequence[str]) -> int | None:
    """Return the index of the label that an answer gives, or None.

    The answer must begin with the label as whole words, in any case; quotes, markdown and
    punctuation around it do not count. If it begins with several labels, the longest is meant.
    The label has to end there: at the end of a line, at a punctuation mark, before "because", before words such
    as "is the better candidate" or "are equal"; not before "or", "to", a fraction, a percent sign or another
    label. Of labels that are numbers, the largest may follow after "/" or "out of"; a number with a full
    stop or a bracket, and words after it, begins a list and is none.
    All labels end alike, long or short: a name's length decides nothing.

    Examples
    --------
    >>> read_label("**Yes**, because ...", ["No", "Yes"])
    1
    >>> read_label("Yesterday", ["No", "Yes"]) is None
    True
    >>> read_label("The answer is Yes", ["No", "Yes"]) is None
    True
    >>> [read_label(text, ["A", "B"]) for text in ("A better candidate is B", "A/B", "A.", "b, by far")]
    [None, None, 0, 1]
    >>> [read_label(text, ["1", "2", "3", "4", "5"]) for text in ("4", "4/5", "4/10", "3.5", "3 or 4", "4 - good")]
    [3, 3, None, None, None, 3]
    """
    plain = [_SIGNS.sub("", label.strip().casefold()) for label in labels]
    answer = without_thinking(text or "").lstrip(_AROUND)[: _LONGEST + max(map(len, plain), default=0)]
    answer = _SIGNS.sub("", answer).casefold()
    top = max((label for label in plain if label.isdecimal()), key=int, default="")
    begun = {i: found for i, label in enumerate(plain) if (found := _begin(answer, label, top)) is not None}
    if not begun:
        return None
    longest = max(begun, key=lambda i: len(plain[i]))
    line = answer[begun[longest].end() :].partition("\n")[0].lstrip(_AROUND + "-/\u2013\u2014")
    others = (label for i, label in enumerate(plain) if i != longest)
    return None if any(_begin(line, label, top) is not None for label in others) else longest


def _begin(answer: str, label: str, top: str) -> re.Match[str] | None:
    """Return the label that the answer begins with, None if it begins otherwise or goes on."""
    return re.match(_number(label, top) if label.isdecimal() else _word(label), answer)


def _number(label: str, top: str) -> str:
    out_of = rf"(?:\s*(?:/|out\s+of)\s*{top}(?!\d))?"
    return rf"{label}(?![^\S\n]*[.)][^\S\n]*[^\W\d]){_CLOSED}{out_of}{_stop(_NO_NUMBER)}"


def _word(label: str) -> str:
    return rf"{re.escape(label)}(?:{_CLOSED}{_stop(_NO_DIGIT)}|(?=[)\]}}][^\S\n]+(?!(?:or|to|and|out|of)\b)[^\W\d]))"


def _stop(no_digit: str) -> str:
    """What may stand after a label and its closing signs."""
    alone = rf"{no_digit}(?!\s*(?:or|to|maybe|perhaps)\b)"
    return (
        rf"(?=[^\S\n]*(?:$|\n|[,;:!.\u2013\u2014]{alone}|-(?!\w){alone}|\((?!out\b)(?![^)\n]*\d)|{_GOES_ON}))"
    )
