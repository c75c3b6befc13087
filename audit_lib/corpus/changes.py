"""What changed between two snapshots of a page, by what each of them says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Final

from audit_lib.corpus.page_facts import figure
from audit_lib.documents.published_pages import (
    ChangedPageNumber,
    ChangeKind,
    PageChange,
    PageFacts,
    PageSnapshot,
    PrintedNumber,
    Severity,
)
from audit_lib.policies import Policy
from audit_lib.policies.clocks import months_later, valid_until

_PEOPLE: Final = ("applicants", "selected", "unknown", "total", "people in the words")
_NAMED: Final = 3
_UNSURE: Final = "read from where words stand: look at both snapshots before you rely on it"

SEVERITIES: Final[Mapping[ChangeKind, Severity]] = {
    "taken_down": "warning",
    "not_reached": "note",
    "came_back": "note",
    "numbers_changed_silently": "warning",
    "numbers_changed_with_date": "note",
    "date_moved_without_numbers": "warning",
    "no_longer_readable": "warning",
    "readable_again": "note",
    "over_a_year_old": "warning",
    "audit_in_the_future": "warning",
    "leads_elsewhere": "note",
    "laid_out_anew": "note",
    "other_words": "note",
}


def change(
    kind: ChangeKind,
    message: str,
    *,
    before: PageSnapshot | None = None,
    now: PageSnapshot | None = None,
    numbers: tuple[ChangedPageNumber, ...] = (),
) -> PageChange:
    """Return a change with the weight of its kind."""
    return PageChange(
        kind=kind,
        severity=SEVERITIES[kind],
        message=message,
        is_new=True,
        numbers=numbers,
        before=before,
        now=now,
    )


def changes_between(
    old: PageFacts, new: PageFacts, before: PageSnapshot, now: PageSnapshot
) -> Iterator[PageChange]:
    """Yield what differs in what two snapshots say that were both read, by one checker.

    Parameters
    ----------
    old, new : PageFacts
        Of the two.
    before, now : PageSnapshot
        Where they are kept.

    Raises
    ------
    ValueError
        If the facts are of two checkers.
    """
    if old.checker != new.checker:
        raise ValueError("facts of two checkers are not compared")
    told = partial(change, before=before, now=now)
    numbers = tuple(changed_numbers(old, new))
    is_unsure = old.unsure or new.unsure
    kept = tuple(one for one in numbers if not is_unsure or is_printed_otherwise(one, old, new))
    if kept:
        moved = old.audited != new.audited and new.audited is not None
        kind: ChangeKind = "numbers_changed_with_date" if moved else "numbers_changed_silently"
        caution = f"; {_UNSURE}" if is_unsure else ""
        yield told(kind, f"{_said(kept)}; {_dates(old, new)}{caution}", numbers=kept)
    elif old.audited != new.audited:
        yield told("date_moved_without_numbers", f"{_dates(old, new)}; every number is as before")
    elif numbers:
        yield told(
            "laid_out_anew", "its tables are read otherwise, and every number is still printed as often"
        )
    elif old.words != new.words:
        yield told("other_words", "its words changed; its numbers and the day of the audit did not")


def unread(old: PageFacts, new: PageFacts, before: PageSnapshot, now: PageSnapshot) -> Iterator[PageChange]:
    """Yield what is to be told of a snapshot that cannot be read any more, or still cannot be.

    One in which every number of the tables before is still printed was laid out anew, as far as can be seen.
    """
    told = partial(change, before=before, now=now)
    if old.unchecked:
        if old.figures != new.figures:
            yield told("other_words", "it could not be read as tables, and cannot now; numbers in it changed")
        elif old.words != new.words:
            yield told("other_words", "it could not be read as tables, and cannot now; its words changed")
        return
    lacks = [one for one in old.numbers if is_printed_otherwise(_gone(one), old, new)]
    if lacks or not (old.numbers and old.figures):  # a CSV has no words around its tables
        why = f"its summary could be read before, and cannot now: {new.unchecked}"
        yield told(
            "no_longer_readable", f"{why}; {len(lacks)} of its numbers are printed less often or not at all"
        )
    else:
        yield told(
            "laid_out_anew",
            f"every number is still printed as often; its tables cannot be read: {new.unchecked}",
        )


def _gone(number: PrintedNumber) -> ChangedPageNumber:
    return ChangedPageNumber(
        table=number.table, row=number.row, column=number.column, before=number.value, now=None
    )


def is_printed_otherwise(one: ChangedPageNumber, old: PageFacts, new: PageFacts) -> bool:
    """Whether the words of two snapshots bear a change out: the old number is printed less often, or the new one more.

    A table that is read from where words stand may be read otherwise when it is laid out anew. What is printed on a
    page at all does not depend on that.
    """
    if (old.overprinted or new.overprinted) and old.digits == new.digits:
        return False  # which digits are one number is not to be seen where words lie over them
    gone = any(new.figures.get(key, 0) < old.figures.get(key, 0) for key in _keys(one.before))
    return gone or any(new.figures.get(key, 0) > old.figures.get(key, 0) for key in _keys(one.now))


def _keys(value: str | None) -> set[str]:
    """Return how a number may stand in the words: as a share, or as a percentage."""
    if value is None:
        return set()
    try:
        number = Decimal(value)
    except InvalidOperation:  # several numbers that a table states
        return set()
    return {figure(number), figure(number.scaleb(2))}


def changed_numbers(old: PageFacts, new: PageFacts) -> Iterator[ChangedPageNumber]:
    """Yield numbers that are another number, are gone or are new; not those that are printed with other digits."""
    before, now = ({(n.table, n.row, n.column): n.value for n in facts.numbers} for facts in (old, new))
    for place in dict.fromkeys((*before, *now)):
        was, is_ = before.get(place), now.get(place)
        if was == is_ or (was is not None and is_ is not None and _same(place[2], was, is_)):
            continue
        yield ChangedPageNumber(table=place[0], row=place[1], column=place[2], before=was, now=is_)


def _same(column: str, was: str, is_: str) -> bool:
    """Whether a rate or ratio is the same, rounded to the fewer digits of the two; people are counted."""
    if column in _PEOPLE:
        return False
    try:
        one, other = Decimal(was), Decimal(is_)
    except InvalidOperation:
        return False
    fewer = max(_exponent(one), _exponent(other))
    # Either way of rounding the longer one gives the shorter one.
    return abs(one - other) <= Decimal(5).scaleb(fewer - 1) and _exponent(one) != _exponent(other)


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _said(numbers: tuple[ChangedPageNumber, ...]) -> str:
    named = "; ".join(
        f"{', '.join(filter(None, (one.table, one.row, one.column)))}: {one.before or 'none'} to {one.now or 'none'}"
        for one in numbers[:_NAMED]
    )
    more = f"; and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    return f"{len(numbers)} number{'s' * (len(numbers) != 1)} changed ({named}{more})"


def _dates(old: PageFacts, new: PageFacts) -> str:
    if old.audited == new.audited:
        return (
            f"the day of the audit is still {new.audited}"
            if new.audited
            else "no day of an audit was found in either"
        )
    if new.audited is None:
        return f"the day of the audit was {old.audited}, and none is found now"
    return f"the day of the audit moved from {old.audited or 'none that was found'} to {new.audited}"


def age(audited: str | None, as_of: date, policy: Policy, now: PageSnapshot) -> Iterator[PageChange]:
    """Yield an audit that is too old on a day, or lies after it."""
    if audited is None:
        return
    day = date.fromisoformat(audited)
    last = valid_until(policy, day) if policy.gate("validity") is not None else months_later(day, 12)
    if as_of > last:
        message = f"the audit is of {audited}, which is more than one year ago"
        yield change("over_a_year_old", message, now=now)
    elif day > as_of:
        yield change("audit_in_the_future", f"the audit is of {audited}, which is still to come", now=now)
