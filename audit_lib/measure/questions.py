"""Every planned comparison with its verdict, and metrics that ask the same question without contradicting each other.

Where one metric finds a difference of two groups, no other metric of that question says that they are equivalent; two
that find differences in opposite directions both say so. *Undecided* next to *difference* is no contradiction: one has
shown what the other could not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from audit_lib.documents.estimates import adjusted_p
from audit_lib.documents.parameters import DESIGN, VARIATION, K
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.measure.metric import record_of
from audit_lib.measure.multiplicity import Hypotheses
from audit_lib.measure.rows.split_columns import CLASSIFICATION
from audit_lib.measure.statutory.categories import category_of
from audit_lib.measure.verdicts import Evidence, verdict_of
from audit_lib.plan.hypotheses import fewest_people, question_of
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Undefined, Verdict
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

_CONTRADICTED: Final = mark(
    "by itself inside the margin, but {metric}, of the same question, finds a difference"
)
_OPPOSED: Final = mark("{metric}, of the same question, finds a difference in the other direction")

SortedLevels = tuple[tuple[str, str], ...]
Doubts = Mapping[SortedLevels, frozenset[tuple[str, str]]]
"""Stratum -> the levels, as (attribute, level), that the model did not tell as they were meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuestion:
    """What is asked of which two groups."""

    question: str
    groups: frozenset[SortedLevels]
    stratum: SortedLevels
    design: SortedLevels


class OwnVerdict(NamedTuple):
    """What one number says by itself, and which of the two groups, in the order of their names, has more (1 or -1)."""

    asked: PairQuestion
    metric: str
    verdict: Verdict
    direction: int


def with_verdicts(tested: Hypotheses, spec: AuditSpec, policy: Policy, doubts: Doubts) -> Hypotheses:
    """Give each planned comparison its verdict.

    Parameters
    ----------
    tested : Hypotheses
        With adjusted p-values, and with the intervals that are held against margins.
    doubts : mapping
        What the model did not tell as it was meant, by stratum.
    """
    # Only tables need the policy's categories; an audit without any may have levels that are none.
    mapping = category_of(spec.groups, policy) if tested.tables else {}
    judge = _Judge(spec=spec, doubts=doubts, mapping=mapping, least=fewest_people(spec, policy))
    estimates = [judge.of_estimate(one) if compares(one) else None for one in tested.estimates]
    tables = [
        {row.label: judge.of_row(table, row, top) for row, top in _compared(table)} for table in tested.tables
    ]
    by: dict[PairQuestion, list[OwnVerdict]] = {}
    for said in (*estimates, *(one for rows in tables for one in rows.values())):
        if said is not None:
            by.setdefault(said.asked, []).append(said)
    return replace(
        tested,
        tables=tuple(
            replace(table, rows=tuple(_row(row, found.get(row.label), by) for row in table.rows))
            for table, found in zip(tested.tables, tables, strict=True)
        ),
        estimates=tuple(
            one if said is None else replace(one, verdict=_consistent(said, by[said.asked]))
            for one, said in zip(tested.estimates, estimates, strict=True)
        ),
    )


def compares(one: Estimate) -> bool:
    """Whether an estimate compares groups, so that there is a question."""
    return record_of(one.metric).parity is not None and (bool(one.reference) or not one.group)


def _row(row: RateRow, said: OwnVerdict | None, by: Mapping[PairQuestion, list[OwnVerdict]]) -> RateRow:
    if said is None:
        return row
    return replace(row, impact_ratio=replace(row.impact_ratio, verdict=_consistent(said, by[said.asked])))


def _consistent(own: OwnVerdict, together: list[OwnVerdict]) -> Verdict:
    """Return a verdict, or what becomes of it where another metric of its question contradicts it."""
    others = [one for one in together if one.metric != own.metric and one.verdict.found]
    if own.verdict.kind == "equivalent" and others:
        reason = _CONTRADICTED.format(metric=record_of(others[0].metric).title)
        return Verdict(kind="undecided", reason=reason)
    opposed = [one for one in others if own.direction * one.direction < 0]
    if own.verdict.found and opposed:
        return replace(own.verdict, reason=_OPPOSED.format(metric=record_of(opposed[0].metric).title))
    return own.verdict


def _compared(table: RateTable[RateRow]) -> Iterator[tuple[RateRow, RateRow]]:
    """Yield each row that is compared, or would be if it had a ratio, and the one it is compared with.

    Where nobody is selected there is no highest rate, and each stands alone.
    """
    top = next((row for row in table.rows if row.label == table.comparator), None)
    yield from ((row, row if top is None else top) for row in table.rows if row is not top)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """Judges the comparisons of one audit, each by itself."""

    spec: AuditSpec
    doubts: Doubts
    mapping: Mapping[str, Mapping[str, str]]
    """Attribute -> level -> the policy's category."""
    least: int

    def of_estimate(self, one: Estimate) -> OwnVerdict:
        own = one.imputed
        members = (None, None) if own is None else (own.members, own.reference_members)
        sizes = [int(n) for n in (one.n_group, one.n_reference, *members) if n is not None]
        fewest = min(sizes) if sizes else 0 if "small_cell" in one.flags else self.least
        group, reference = (self._categories(levels) for levels in (one.group, one.reference))
        record = record_of(one.metric)
        direction = 0
        if record.signed and record.parity is not None and not isinstance(one.value, Undefined):
            direction = (one.value > record.parity) - (one.value < record.parity)
        design = tuple(
            (key, str(one.parameters[key]))
            for key in DESIGN
            if key in one.parameters and (key, one.parameters[key]) != (VARIATION, "none")
        )
        drawn = one.metric == "demographic_parity_gap" and self.spec.measure.random_rounds is not None
        asked = PairQuestion(
            question=one.metric if drawn else question_of(one.metric),
            groups=frozenset((group, reference)),
            stratum=_items(one.stratum),
            design=tuple(sorted((*design, *self._places(one.metric)))),
        )
        # The largest gap of all groups is of no group: a doubt about any of them is one about it.
        levels = {*one.group.items()} or set(self.doubts.get(_items(one.stratum), ()))
        verdict = self._verdict(one, fewest, levels, _items(one.stratum))
        return OwnVerdict(asked, one.metric, verdict, direction if group < reference else -direction)

    def of_row(self, table: RateTable[RateRow], row: RateRow, top: RateRow) -> OwnVerdict:
        one = row.impact_ratio
        stratum = _items({name: level for name, level in table.stratum.items() if name != CLASSIFICATION})
        own, highest = _items(row.category), _items(top.category)
        asked = PairQuestion(
            question=question_of(one.metric),
            groups=frozenset((own, highest)),
            stratum=_items(table.stratum),
            design=self._places(one.metric),
        )
        verdict = self._verdict(one, min(row.n, top.n), {*self._levels(row), *self._levels(top)}, stratum)
        return OwnVerdict(asked, one.metric, verdict, -1 if own < highest else 1)

    def _verdict(
        self, one: Estimate, fewest: int, levels: set[tuple[str, str]], stratum: SortedLevels
    ) -> Verdict:
        found = Evidence(
            metric=one.metric, value=one.value, tested=bool(one.tests), p=adjusted_p(one), held=one.held,
            fewest=fewest, least=self.least,
            told_apart=self.doubts.get(stratum, frozenset()).isdisjoint(levels), bounded=one.imputed is not None,
        )  # fmt: skip
        return verdict_of(found, self.spec.measure.alpha)

    def _places(self, metric: str) -> SortedLevels:
        """How many places those have won whom the tool selects: gaps at that number ask the same."""
        decision = self.spec.decision
        if metric in ("impact_ratio", "decision_rate_gap") and decision.rule == "top_k":
            return ((K, str(decision.k)),)
        return ()

    def _categories(self, levels: Mapping[str, str]) -> SortedLevels:
        return _items({axis: self.mapping.get(axis, {}).get(level, level) for axis, level in levels.items()})

    def _levels(self, row: RateRow) -> Iterator[tuple[str, str]]:
        """Yield the spec's levels of a row's categories."""
        for axis, category in row.category.items():
            yield from ((axis, level) for level, own in self.mapping.get(axis, {}).items() if own == category)


def _items(levels: Mapping[str, str]) -> SortedLevels:
    return tuple(sorted(levels.items()))
