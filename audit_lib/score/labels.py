"""Reading a label from an answer's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit_lib.score.thinking import without_thinking

_AROUND = " \t\r\n.,;:!\"'`*_()[]"


def read_label(text: str | None, labels: Sequence[str]) -> int | None:
    """Return the index of the label that an answer gives, or None.

    The answer must begin with the label as whole words, in any case; quotes, markdown and
    punctuation around it do not count. If it begins with several labels, the longest is meant.
    Nothing is guessed from the rest of the text.

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
    """
    answer = without_thinking(text or "").lstrip(_AROUND).casefold()
    fits = [i for i, label in enumerate(labels) if re.match(_pattern(label), answer) is not None]
    return max(fits, key=lambda i: len(labels[i])) if fits else None


def _pattern(label: str) -> str:
    """A word of up to three letters begins other phrases too ("A better ...", "No doubt"): it has to end there."""
    plain = label.strip().casefold()
    end = (
        r"(?=\s*(?:$|[\n*_)\]}\"',;:!\u2013\u2014-]|\.(?!\s*\d)))"
        if len(plain) <= 3 and plain.isalpha()
        else r"(?!\w)"
    )
    return re.escape(plain) + end
