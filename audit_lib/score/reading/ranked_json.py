"""The order of candidates that JSON in an answer gives, if a key says that it is one.

1. A number is a rank under a key that says so: "rank", "ranking", "position", "place" or "order", beside a name or
   around names. Any other number ("score", "fit", or under a name alone) may be a score, of which the highest is best.
2. Keys that are ordinals or numbers ("first", "1st", "1") are the ranks of the names under them.
3. An array is an order if it stands alone or under a key that says so ("ranking", "best_to_worst").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from audit_lib.score.reading.json_values import json_values
from audit_lib.score.reading.naming import mentions, one_form, plain

ORDINALS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)

_RANK_KEYS: Final = ("rank", "ranking", "position", "place", "order")
_SAYS_ORDER: Final = re.compile(r"\b(?:rank(?:s|ed|ing|ings)?|orders?|positions?|places?|best to worst)\b")
_OTHER_ORDER: Final = re.compile(r"\b(?:worst|weakest|lowest|least|ascending|reversed?|alphabetical)\b")
_SCORES: Final = re.compile(r"scor|point|rating")
_RANK: Final = re.compile(
    r"(?:(?:rank|no\.?|number|place|position)? ?#?)?(\d{1,3})(?:st|nd|rd|th)?(?: place| choice)?"
)
_NAME_KEYS: Final = (
    "name",
    "candidate",
    "applicant",
    "person",
    "full name",
    "candidate name",
    "applicant name",
)

ListSpan = tuple[int, int]  # rank, candidate


def json_order(text: str, names: Sequence[str]) -> list[int]:
    """Return the order that the JSON of a text gives; nothing if it gives none and names fewer than two candidates.

    Parameters
    ----------
    text : str
    names : sequence of str
        As `naming.plain` gives them.

    Raises
    ------
    ValueError
        If the JSON names candidates and gives no order or several, or a key is given twice.

    Examples
    --------
    >>> json_order('{"ranking": ["Bo Chi", "Ann Lee"]}', ["ann lee", "bo chi"])
    [1, 0]
    >>> json_order('{"scores": {"Ann Lee": 1, "Bo Chi": 2}}', ["ann lee", "bo chi"])
    Traceback (most recent call last):
        ...
    ValueError: the JSON in the text names candidates, and no key says that it gives their ranks
    """
    named: set[int] = set()
    orders: list[list[int]] = []
    try:
        for _, value in json_values(one_form(text)):
            named.update(_named_in(value, names))
            orders += _orders(value, None, names)
    except RecursionError:
        raise ValueError("the JSON in the text is nested beyond all sense") from None
    if not orders and len(named) < 2:
        return []
    if not orders:
        raise ValueError("the JSON in the text names candidates, and no key says that it gives their ranks")
    if any(order != orders[0] for order in orders):
        raise ValueError("the JSON in the text gives two orders")
    return orders[0]


def _named_in(value: Any, names: Sequence[str]) -> set[int]:
    if isinstance(value, dict):
        return set().union(*(_named_in(one, names) for pair in value.items() for one in pair))
    if isinstance(value, list):
        return set().union(*(_named_in(one, names) for one in value))
    return set(mentions(plain(value), names)) if isinstance(value, str) else set()


def _orders(value: Any, key: str | None, names: Sequence[str]) -> Iterator[list[int]]:
    """Yield each order in a value under a key; None is the key of what stands alone."""
    if isinstance(value, list):
        if records := [record for one in value if (record := _record(one, names)) is not None]:
            yield _sorted(records)
        elif _is_order(value, key, names):
            yield list(dict.fromkeys(place for one in value if (place := _whom(one, names)) is not None))
        else:
            for one in value:
                yield from _orders(one, key or "", names)
    elif isinstance(value, dict):
        around = key is not None and _says_order(key)
        ranks: list[ListSpan] = []
        for name, one in value.items():
            if (place := _one(name, names)) is not None:
                rank = _beside(one) if around or isinstance(one, dict) else None
            elif (rank := rank_of(name)) is not None and _SCORES.search((key or "").casefold()) is None:
                place = _whom(one, names)
            else:
                yield from _orders(one, name, names)
            if rank is not None and place is not None:
                ranks.append((rank, place))
        if ranks:
            yield _sorted(ranks)


def _is_order(value: list[Any], key: str | None, names: Sequence[str]) -> bool:
    """Whether an array is of candidates, one each, and stands alone without numbers or under a key that says so."""
    if not (_says_order(key) if key is not None else not any(map(_has_number, value))):
        return False
    named = [_whom(one, names) is not None for one in value]
    clear = (
        whom or (isinstance(one, str | dict) and len(_named_in(one, names)) < 2)
        for whom, one in zip(named, value, strict=True)
    )
    return any(named) and all(clear)


def _says_order(key: str) -> bool:
    words = key.casefold().replace("_", " ").replace("-", " ")
    return (
        _SAYS_ORDER.search(words) is not None
        and _OTHER_ORDER.search(words.replace("best to worst", "")) is None
    )


def _sorted(ranks: Sequence[ListSpan]) -> list[int]:
    if len({place for _, place in ranks}) < len(ranks) or sorted(rank for rank, _ in ranks) != list(
        range(1, len(ranks) + 1)
    ):
        raise ValueError("the numbers beside the names are no ranks from 1 on")
    return [place for _, place in sorted(ranks)]


def _record(value: Any, names: Sequence[str]) -> ListSpan | None:
    """Return the rank and the candidate of an object that gives one of each."""
    rank, place = _beside(value) if isinstance(value, dict) else None, _whom(value, names)
    return None if rank is None or place is None else (rank, place)


def _beside(value: Any) -> int | None:
    """Return the rank that stands under a name: a number, or in an object under a key that says so."""
    if not isinstance(value, dict):
        return rank_of(value)
    said = [
        rank
        for key, one in value.items()
        if key.casefold() in _RANK_KEYS and (rank := rank_of(one)) is not None
    ]
    return said[0] if len(said) == 1 else None


def _whom(value: Any, names: Sequence[str]) -> int | None:
    """Return the one candidate whom a text, or an object's name, names."""
    if isinstance(value, str):
        return _one(value, names)
    if not isinstance(value, dict):
        return None
    called = [one for key, one in value.items() if key.casefold().replace("_", " ") in _NAME_KEYS]
    texts = [one for one in called or value.values() if isinstance(one, str)]
    found = mentions(" / ".join(map(plain, texts)), names)
    return found[0] if len(found) == 1 else None


def _one(text: str, names: Sequence[str]) -> int | None:
    found = mentions(plain(text), names)
    return found[0] if len(found) == 1 else None


def _has_number(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(one, int | float) and not isinstance(one, bool) for one in value.values()
    )


def rank_of(value: Any) -> int | None:
    """Return the rank that a key or a value is: a whole number, or an ordinal in words.

    Examples
    --------
    >>> [rank_of(value) for value in (2, "2", "2nd", "second_place", "Rank 2", 2.5, "2 years", True)]
    [2, 2, 2, 2, 2, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return int(value) if math.isfinite(value) and value == int(value) else None
    words = value.casefold().replace("_", " ").strip()
    for rank, ordinal in enumerate(ORDINALS, start=1):
        if words.removesuffix(" place").removesuffix(" choice") == ordinal:
            return rank
    found = _RANK.fullmatch(words)
    return None if found is None else int(found[1])
