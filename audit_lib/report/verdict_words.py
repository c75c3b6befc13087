"""Verdicts as they are printed: a word, with what is known of the size, and the reason under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from audit_lib.documents.estimates import AnyEstimate
from audit_lib.report.blocks import Cell
from audit_lib.results import Estimate, Verdict
from audit_lib.translation import Filled, archived, mark, t

_WORDS: Final = {
    ("difference", None): mark("difference"),
    ("difference", "within"): mark("difference, within the margin"),
    ("difference", "beyond"): mark("difference, beyond the margin"),
    ("below_the_line", None): mark("below the line"),
    ("equivalent", None): mark("equivalent"),
    ("undecided", None): mark("undecided"),
    ("uninterpretable", None): mark("uninterpretable"),
}

_MEANING: Final = {
    "below_the_line": mark(
        "Below the line: a difference, and the ratio is shown to be below the plan's margin."
    ),
    "difference": mark(
        "Difference: the test, adjusted for all tests, shows one; how large and why it does not say."
    ),
    "equivalent": mark("Equivalent: shown to be inside the plan's margin, which is not the same as equal."),
    "uninterpretable": mark(
        "Uninterpretable: nothing was found, and the model did not tell the groups apart when asked."
    ),
    "undecided": mark("Undecided: too little data to say more, which is no sign of equal treatment."),
}
"""What each kind says, those with the most to say first."""
_BOUNDED: Final = mark(
    "Undecided: groups are imputed, and what their probabilities allow leaves it open, which is no sign of equal "
    "treatment; more people may not change it."
)
_NOT_LAW: Final = mark("No verdict says what is lawful.")


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict in words.

    Examples
    --------
    >>> verdict_words(Verdict(kind="difference", size="within"))
    'difference, within the margin'
    """
    size = None if verdict.kind == "below_the_line" else verdict.size
    return t(_WORDS[verdict.kind, size])


def shown_verdict(estimate: AnyEstimate) -> Verdict | None:
    """Return the verdict on an estimate; None where it is hidden, and where nothing is compared."""
    return estimate.verdict if isinstance(estimate, Estimate) else None


def verdict_cell(estimate: AnyEstimate, *, reason: bool = False) -> Cell:
    """Make the cell of a verdict; `reason` puts under it why nothing could be told."""
    verdict = shown_verdict(estimate)
    if verdict is None:
        return Cell("\N{EN DASH}")
    said = "" if verdict.reason is None or not (reason or verdict.found) else archived(verdict.reason)
    return Cell(verdict_words(verdict), note=said, tone="plain" if verdict.found else "muted")


def counted(estimates: Iterable[AnyEstimate]) -> tuple[str, str] | None:
    """Say how many comparisons of the headline have which verdict, and what these say; None where there is none."""
    judged = [(one, verdict) for one in estimates if (verdict := shown_verdict(one)) is not None]
    kinds = [verdict.kind for _, verdict in judged]
    if not kinds:
        return None
    there = [kind for kind in _MEANING if kind in kinds]
    numbers = t(
        "Verdicts on {n:,} comparisons of the headline: {verdicts}.",
        n=len(kinds),
        verdicts=", ".join(f"{t(_WORDS[kind, None])} {kinds.count(kind):,}" for kind in there),
    )
    open_ones = [one for one, verdict in judged if verdict.kind == "undecided"]
    bounded = {isinstance(one, Estimate) and one.imputed is not None for one in open_ones}
    meanings = [_MEANING[kind] for kind in there if kind != "undecided"]
    meanings += [_BOUNDED if imputed else _MEANING["undecided"] for imputed in sorted(bounded)]
    return numbers, Filled(" ").join(t(words) for words in (*meanings, _NOT_LAW))
