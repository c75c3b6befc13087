"""What an audit found, in the order of its evidence: what is shown, what is open, and what could not be computed.

Shown is what has the verdict of a difference: its test holds once it is adjusted for all tests of the audit, or its
interval lies beyond the plan's margin. First come ratios shown to be below the margin, then differences shown to be
beyond it, then other ones, those inside the margin last; of each kind those of the whole audit before those of a part,
and then those with the most evidence. What rests on too few people is open, however small its ratio is. No number is
made here: verdicts, p-values and intervals are those of the measure stage.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from audit_lib.documents.estimates import adjusted_p, first_p
from audit_lib.documents.metrics import Heterogeneity
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import convincing, rank_of, rests_on, too_few_to_tell
from audit_lib.report.verdict_words import shown_verdict
from audit_lib.results import Estimate, Undefined, Verdict

FindingStanding = Literal["shown", "equivalent", "open"]
_SIZES: Final = {"beyond": 1, None: 2, "within": 3}
"""Places of differences by what is shown of their size; ratios below the line come before them."""
_OPEN: Final = 4
_RATIO, _OTHER_NUMBER, _RATIO_OF_FEW = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioFinding:
    """An impact ratio and how it stands; `few` says that it rests on too few people to be more than open."""

    standing: FindingStanding
    table: ExactTable
    row: ExactRow
    ratio: Fraction
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateFinding:
    """Any other number that compares groups, and how it stands."""

    standing: FindingStanding
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementFinding:
    """Strata that do not agree: its test holds once it is adjusted for all tests."""

    entry: Heterogeneity
    standing: FindingStanding = "shown"


Finding = RatioFinding | EstimateFinding | DisagreementFinding
Ranked = tuple[Finding, bool, int, tuple[Any, ...]]
"""A finding, whether it is of the whole audit, the place of its kind, and its evidence: the smaller, the more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFindings:
    """All findings of an audit.

    Parameters
    ----------
    shown, open : tuple of Finding
        The first with the most evidence. What is open is of the whole audit alone.
    equivalent : int
        Comparisons of the whole audit that are shown to be inside the margin.
    open_in_parts : int
        Comparisons in parts of the audit that are open.
    not_computed : dict of str to int
        Why numbers of the whole audit do not exist, and how many.
    hidden : int
        Ratios of the whole audit that the policy hides.
    """

    shown: tuple[Finding, ...]
    open: tuple[Finding, ...]
    equivalent: int
    open_in_parts: int
    not_computed: dict[str, int]
    hidden: int


def findings_of(content: Content) -> RankedFindings:
    """Return what the audit found, ranked."""
    strata = set(content.spec.measure.strata[0]) if content.spec.measure.strata else set()
    ranked = [
        ((kind, not whole, *evidence, number), finding, whole)
        for number, (finding, whole, kind, evidence) in enumerate(_all(content, strata))
    ]
    ranked.sort(key=lambda one: one[0])
    left_open = [(one, whole) for _, one, whole in ranked if one.standing == "open"]
    return RankedFindings(
        shown=tuple(one for _, one, _ in ranked if one.standing == "shown"),
        open=tuple(one for one, whole in left_open if whole),
        equivalent=sum(whole and one.standing == "equivalent" for _, one, whole in ranked),
        open_in_parts=sum(not whole for _, whole in left_open),
        not_computed=_not_computed(content, strata),
        hidden=sum(row.hidden or row.ratio_hidden for table in content.headline for row in table.rows),
    )


def _all(content: Content, strata: set[str]) -> Iterator[Ranked]:
    """Yield every finding, whether it is of the whole audit, its kind and its evidence."""
    seen = set()
    for own in content.tables:
        for table in (own, own.larger):
            if table is None:
                continue
            counts = tuple((row.label, row.n, row.selected) for row in table.rows)
            for row in table.rows:
                # The same counts in tables of two kinds are one hypothesis.
                question = (table.family, table.where, row.label, counts)
                if isinstance(row.ratio, Fraction) and row.label != table.comparator and question not in seen:
                    seen.add(question)
                    yield _of_ratio(content, table, row, row.ratio, set(own.stratum) == strata)
    for estimate in content.metrics.estimates:
        verdict = shown_verdict(estimate)
        if verdict is not None and (
            estimate.imputed is not None or not isinstance(estimate.value, Undefined)
        ):
            p = adjusted_p(estimate) if verdict.found else first_p(estimate)
            found = EstimateFinding(standing=_standing(verdict), estimate=estimate)
            whole = set(estimate.stratum) == strata
            yield found, whole, _kind(verdict), (_OTHER_NUMBER, math.inf if p is None else p)
    alpha = content.spec.measure.alpha
    for entry in content.metrics.heterogeneity:
        p = adjusted_p(entry)
        if p is not None and p < alpha:
            yield DisagreementFinding(entry=entry), False, _SIZES[None], (_OTHER_NUMBER, p)


def _of_ratio(content: Content, table: ExactTable, row: ExactRow, ratio: Fraction, whole: bool) -> Ranked:
    verdict = shown_verdict(row.estimate)
    few = rests_on(content, table, row) is not None or too_few_to_tell(content, row)
    if verdict is None:  # in no planned comparison, such as one with the highest of the larger categories
        standing: FindingStanding = "shown" if convincing(content, table, row) else "open"
        kind = _SIZES[None] if standing == "shown" else _OPEN
    else:
        standing, kind = _standing(verdict), _kind(verdict)
    if few and standing == "shown":
        standing, kind = "open", _OPEN
    finding = RatioFinding(standing=standing, table=table, row=row, ratio=ratio, few=few)
    return finding, whole, kind, (_RATIO_OF_FEW if few else _RATIO, *rank_of(content, table, row, ratio))


def _standing(verdict: Verdict) -> FindingStanding:
    if verdict.found:
        return "shown"
    return "equivalent" if verdict.kind == "equivalent" else "open"


def _kind(verdict: Verdict) -> int:
    """Return the place of a verdict's kind: the smaller, the more it says."""
    if verdict.kind == "below_the_line":
        return 0
    return _SIZES[verdict.size] if verdict.found else _OPEN


def _not_computed(content: Content, strata: set[str]) -> dict[str, int]:
    """Count the numbers of the whole audit that do not exist, by their reasons, the most frequent first."""
    reasons = Counter(
        row.ratio.reason
        for table in content.headline
        for row in table.rows
        if isinstance(row.ratio, Undefined) and not row.hidden and not row.ratio_hidden
    )
    reasons += Counter(
        one.value.reason
        for one in content.metrics.estimates
        if isinstance(one.value, Undefined) and one.imputed is None and set(one.stratum) == strata
    )
    return dict(reasons.most_common())
