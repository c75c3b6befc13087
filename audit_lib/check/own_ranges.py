"""Numbers of a ``report.json`` of ours that cannot be: a count below 0, a share above 1, limits the wrong way round.

Names say what a number is, wherever it stands, so that numbers which follow from no others are held to something too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeGuard

from audit_lib.check.findings import SummaryFinding

COUNTS: Final = frozenset(
    {
        "answered", "answers", "applications", "attempt", "block_size", "by_status", "cells", "clusters",
        "comparator_n", "comparator_selected", "counted", "counts", "decided_without_score", "equal", "error",
        "family_size", "fewest_applications", "flipped", "groups", "higher", "inconsistent", "late_days",
        "longest_in_parts", "lower", "matched", "median_ties", "mixed", "most_applications", "n", "n_group",
        "n_reference", "names", "names_group", "names_reference", "not_stated", "number", "ok", "pairs", "people",
        "prompts", "refused", "regular", "requests_without_a_line", "rows", "rows_in_window", "rows_late",
        "rows_read", "rows_read_before", "sampled", "score_methods", "selected", "served", "tie", "tied_rounds",
        "total", "unadjusted", "undersized_rounds", "unknown", "unknown_group", "unknown_values", "unmatched",
        "unparsed", "unranked", "without",
    }
)  # fmt: skip
"""Names of whole numbers from 0; of a list or an object, of all numbers in it."""
SHARES: Final = frozenset(
    {
        "flipped_share", "inconsistent_share", "p_value", "p_value_after", "rate_bounds", "regular_share",
        "share_of_data", "share_of_variance", "tie_share", "unparsed_share",
    }
)  # fmt: skip
_WITHIN: Final = frozenset({"alpha", "level"})
"""Between 0 and 1, and neither of them."""
_FROM_ZERO: Final = frozenset({"sd", "standard_error", "ratio", "ratio_after", "ratio_bounds"})
_ASCENDING: Final = frozenset({"rate_bounds", "ratio_bounds", "quantiles"})
_FREE: Final = "parameters"
"""An author of a metric names these."""
_RATE: Final = "rate"
_RATIO: Final = "impact_ratio"


def out_of_range(document: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    """Yield the numbers of a document that are outside of what a number of their name can be."""
    yield from _walk(document, (), "")


def _walk(value: Any, path: tuple[str, ...], name: str) -> Iterator[SummaryFinding]:
    """`name` is what a number here is called: its own key's, or the one of the list or object of counts around it."""
    if isinstance(value, Mapping):
        yield from _of_object(value, path)
        for key, one in value.items():
            if key == _FREE:
                continue
            # What is counted by status or by attribute has names of its own.
            is_counted = name in COUNTS and (_is_number(one) or isinstance(one, Mapping))
            is_own = str(key) in COUNTS | SHARES or not is_counted
            yield from _walk(one, (*path, str(key)), str(key) if is_own else name)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if name in _ASCENDING:
            yield from _order(value, path)
        for i, one in enumerate(value):
            yield from _walk(one, (*path, str(i)), "" if isinstance(one, Mapping) else name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        allowed = _allowed(name, value)
        if allowed:
            yield _finding(path, value, allowed)


def _allowed(name: str, value: float) -> str:
    """Return what a number must be, if it is not; empty if it may be what it is."""
    if name in COUNTS and (not isinstance(value, int) or value < 0):
        return "a whole number, 0 or more"
    if name in SHARES and not 0 <= value <= 1:
        return "from 0 to 1"
    if name in _WITHIN and not 0 < value < 1:
        return "between 0 and 1"
    if name in _FROM_ZERO and not value >= 0:
        return "0 or more"
    return ""


def _of_object(given: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[SummaryFinding]:
    if "low" in given and "high" in given:
        yield from _order([given["low"], given["high"]], path)
    adjusted = given.get("holm") if "test" in given else 0
    if _is_number(adjusted) and not 0 <= adjusted <= 1:
        yield _finding((*path, "holm"), adjusted, "from 0 to 1")
    for name, most in ((_RATE, 1.0), (_RATIO, float("inf"))):
        estimate = given.get(name)
        if not isinstance(estimate, Mapping):
            continue
        limits = [one for one in (estimate.get("interval"), *estimate.get("intervals", ())) if one]
        numbers = [estimate.get("value"), *(one.get(end) for one in limits for end in ("low", "high"))]
        for number in numbers:
            if _is_number(number) and not 0 <= number <= most:
                yield _finding((*path, name), number, "from 0 to 1" if most == 1 else "0 or more")


def _order(values: Sequence[Any], path: tuple[str, ...]) -> Iterator[SummaryFinding]:
    numbers = [value for value in values if _is_number(value)]
    if any(a > b for a, b in pairwise(numbers)):
        yield _finding(path, numbers, "in ascending order")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finding(path: tuple[str, ...], printed: object, allowed: str) -> SummaryFinding:
    return SummaryFinding(
        id="number_contradicted",
        table="/".join(path[:-1]),
        column=path[-1] if path else "",
        printed=str(printed),
        recomputed=allowed,
        message=f"{'/'.join(path)} cannot be this number",
    )
