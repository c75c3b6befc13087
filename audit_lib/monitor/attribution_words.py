"""An attribution as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from audit_lib.documents.attribution import Attribution, Cause, PartOfChange
from audit_lib.results import Interval, Undefined

CAUSES: Final[dict[Cause, str]] = {
    "model": "the model",
    "prompt": "the prompt",
    "rule": "the decision rule",
    "mix": "the mix",
    "answers": "parsing and missing answers",
    "source": "the data source",
    "software": "the software",
    "none": "none of these",
    "cannot_tell": "cannot tell",
}


_ROUNDING: Final = 1e-9
"""Below it a part of a difference is what is left of nothing after some additions."""


def cause_name(part: PartOfChange, strata_by: tuple[str, ...] = ()) -> str:
    """Return what a part is attributed to, in words."""
    if part.cause == "cannot_tell":
        return f"cannot tell: {' or '.join(CAUSES[one] for one in part.candidates)}"
    if part.cause == "mix" and strata_by:
        return f"the mix of {', '.join(strata_by)}"
    return CAUSES[part.cause]


def sentence(attribution: Attribution) -> Attribution:
    """Return the attribution with its sentence."""
    return replace(attribution, sentence=" ".join(_sentences(attribution)))


def _sentences(one: Attribution) -> Iterator[str]:
    what = "selection rates" if one.quantity == "selection_rate" else "scores"
    yield (
        f"The difference of {what}, {'+'.join(one.group.values())} less {'+'.join(one.reference.values())}, went from "
        f"{one.difference_before:+.3f} to {one.difference_after:+.3f}, a change of "
        f"{_number(one.change, one.interval)}: {'; '.join(_part(one, part) for part in told_parts(one))}."
    )
    if one.simpson:
        sign = "rose" if one.change > 0 else "fell"
        yield (
            f"The difference {sign} as a whole, and moved the other way in each of {len(one.strata)} strata of "
            f"{', '.join(one.strata_by)}: the mix alone turned it round (Simpson's paradox)."
        )


def told_parts(one: Attribution) -> list[PartOfChange]:
    """Return the parts that a sentence names: one that is nothing, with all of its interval, is left out."""
    return [part for part in one.parts if not _is_nothing(part)] or list(one.parts)


def _is_nothing(part: PartOfChange) -> bool:
    numbers = [
        part.part,
        *([] if isinstance(part.interval, Undefined) else [part.interval.low, part.interval.high]),
    ]
    return len(numbers) == 3 and max(abs(one) for one in numbers) < _ROUNDING


def _part(one: Attribution, part: PartOfChange) -> str:
    share = "" if isinstance(part.share, Undefined) else f", {round(part.share, 2) + 0.0:.0%} of it,"
    said = "; ".join(mark.said for mark in one.marks if mark.cause in (part.cause, *part.candidates))
    name, number = cause_name(part, one.strata_by), f"{_number(part.part, part.interval)}{share}"
    why = f" ({said})" if said and part.how != "standardised" else ""
    if part.cause == "cannot_tell":
        return f"{number} cannot be told apart: {name.removeprefix('cannot tell: ')}{why}"
    if part.cause == "none":
        return f"{number} is due to none of these"
    return f"{number} is attributed to {name}{why}"


def _number(value: float, interval: Interval | Undefined) -> str:
    if isinstance(interval, Undefined):
        return f"{value:+.3f} (no interval: {interval.reason})"
    return f"{value:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"
