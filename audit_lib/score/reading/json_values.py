"""JSON that stands in an answer: alone, in a fenced block, or amid prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

TWICE: Final = "a JSON object in the text gives a key twice"


class RepeatedKeyError(ValueError):
    """A JSON object that gives a key twice; which of the values is meant is not to be known."""


def writable(text: str) -> str:
    r"""Return a text with ``?`` for halves of surrogate pairs, which are valid JSON and cannot be written down.

    Examples
    --------
    >>> writable("Yes \ud83d")
    'Yes ?'
    """
    return text.encode(errors="replace").decode()


def json_values(text: str, opening: str = "{[") -> Iterator[tuple[int, Any]]:
    """Yield where each JSON value begins that starts with one of `opening`, and the value.

    What is inside of a value is not yielded again. NaN and the infinities are None.

    Raises
    ------
    RepeatedKeyError
        If an object gives a key twice.

    Examples
    --------
    >>> list(json_values('Sure: {"a": [1]} and [2] {'))
    [(6, {'a': [1]}), (21, [2])]
    """
    decoder = json.JSONDecoder(object_pairs_hook=once, parse_constant=lambda name: None)
    begins = re.compile(f"[{re.escape(opening)}]")
    at = begins.search(text)
    while at is not None:
        end = at.end()
        try:
            value, end = decoder.raw_decode(text, at.start())
        except RepeatedKeyError:
            raise
        except ValueError:
            pass
        except RecursionError:  # nested beyond all sense: what is inside of it is no answer either
            return
        else:
            yield at.start(), value
        at = begins.search(text, end)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of its pairs: what ``json`` takes as ``object_pairs_hook``.

    Raises
    ------
    RepeatedKeyError
        If a key is given twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RepeatedKeyError(TWICE)
    return found
