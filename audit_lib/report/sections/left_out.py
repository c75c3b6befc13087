"""What the estimates of a table leave out, counted below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.documents.parameters import (
    CONDITION,
    PEOPLE_IN_THEM,
    ROUNDS_LEFT_OUT,
    STRATA_OF_ONE_DECISION,
    UNKNOWN_GROUP,
    UNPAIRED,
    WITHOUT_CONDITION,
    WITHOUT_DECISION,
    WITHOUT_OUTCOME,
    WITHOUT_PROBABILITIES,
    WITHOUT_SCORE,
    K,
)
from audit_lib.report.numbers import count
from audit_lib.results import Estimate
from audit_lib.translation import Filled, known, mark, t

_COUNTED: Final = {
    WITHOUT_SCORE: mark("rows without a score: {n}"),
    WITHOUT_DECISION: mark("rows without a decision: {n}"),
    WITHOUT_OUTCOME: mark("rows whose true outcome is not known: {n}"),
    WITHOUT_PROBABILITIES: mark("rows without probabilities of their group: {n}"),
    WITHOUT_CONDITION: mark("rows of which it is not known what like cases share: {n}"),
    STRATA_OF_ONE_DECISION: mark("sets of like cases with one decision only: {n}"),
    PEOPLE_IN_THEM: mark("people in these sets: {n}"),
    UNKNOWN_GROUP: mark("candidates whose level is not known: {n}"),
    UNPAIRED: mark("versions without a counterpart: {n}"),
    ROUNDS_LEFT_OUT: mark("rounds left out: {n}"),
}


def left_out(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """Say by what like cases are alike, and what is left out of the estimates of one table: the most of any row."""
    conditions = dict.fromkeys(
        known(str(e.parameters[CONDITION])) for e in estimates if CONDITION in e.parameters
    )
    said = [t("Like cases have the same {condition}.", condition=one) for one in conditions]
    parts = []
    for name, words in _COUNTED.items():
        counts = [
            int(e.parameters[name]) for e in estimates if name in e.parameters and K not in e.parameters
        ]
        if not any(counts):
            continue
        fewest, most = min(counts), max(counts)
        n = count(most) if fewest == most else t("{fewest} to {most}", fewest=count(fewest), most=count(most))
        parts.append(t(words, n=n))
    return (*said, *([t("Left out: {parts}.", parts=Filled("; ").join(parts))] if parts else []))
