"""Bounds of what groups get whose members are known as probabilities, or by a label with counted errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from audit_lib.documents.parameters import WITHOUT_DECISION, WITHOUT_PROBABILITIES
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.rows.split_columns import IMPUTED
from audit_lib.measure.sides import decision_unit
from audit_lib.results import Estimate, ImputedBounds, Interval, TestResult, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.imputed import CellShares, ImputedRates
from audit_lib.translation import mark

NO_VALUE: Final = mark(
    "who belongs to the group is known as probabilities only, so that there are bounds and no value"
)
_CLOSEST: Final = 1e-10


@dataclass(frozen=True, kw_only=True)
class ImputedAttribute:
    """The people of a stratum with a decision, and what is known of their level of one attribute.

    Parameters
    ----------
    axis : str
        The attribute.
    levels : tuple of str
        Its levels, in the order of the shares.
    rates : ImputedRates
        Who is selected, and the shares.
    rows : Rows
        The stratum.
    spec : AuditSpec
        Of the audit.
    parameters : dict
        What is left out, counted.
    """

    axis: str
    levels: tuple[str, ...]
    rates: ImputedRates
    rows: Rows
    spec: AuditSpec
    parameters: dict[str, int | float | str]

    @classmethod
    def each(cls, rows: Rows, spec: AuditSpec) -> Iterator[ImputedAttribute]:
        """Yield the imputed attributes of a stratum."""
        made = rows.decisions.selected
        units = rows.round if decision_unit(spec) == "round" else rows.application
        for axis, imputed in spec.groups.imputed.items():
            levels = tuple(spec.groups.attributes[axis])
            column = rows.columns[f"{IMPUTED}{axis}" if imputed.probabilities else axis]
            if imputed.probabilities:
                values = [[float(one) for one in text.split()] for text in column.labels]
                shares = CellShares(value=np.array(values, dtype=np.float64).reshape(-1, len(levels)))
                cells = column.codes
            else:
                counts = [[imputed.counts[label].get(level, 0) for level in levels] for label in levels]
                shares = CellShares.of_counts(np.array(counts, dtype=np.int64))
                places = {label: number for number, label in enumerate(levels)}
                cells = np.array([*(places.get(one, -1) for one in column.labels), -1])[column.codes]
            known = (made >= 0) & (cells >= 0)
            clusters = compact(units[known] + 1)[0]  # + 1: rows without a round are one unit together
            rates = ImputedRates(
                made[known].astype(np.float64), cells[known].astype(np.intp), clusters.astype(np.intp), shares,
                derive_seed(spec.seed, "measure", "imputed", axis),
            )  # fmt: skip
            parameters: dict[str, int | float | str] = {
                WITHOUT_DECISION: int((made < 0).sum()),
                WITHOUT_PROBABILITIES: int(((made >= 0) & (cells < 0)).sum()),
            }
            yield cls(axis=axis, levels=levels, rates=rates, rows=rows, spec=spec, parameters=parameters)

    def rate(self, level: str) -> Estimate:
        """Return the rate of a level."""
        own, rates = self.levels.index(level), self.rates
        return self._estimate(
            "imputed_rate", level, None, lambda: rates.bounds(own), lambda: rates.weighted(own),
            lambda at: rates.interval(own, at),
        )  # fmt: skip

    def gap(self, level: str) -> Estimate:
        """Return the difference of the rates of a level and its reference, with the test that its interval is."""
        reference = self.spec.groups.reference[self.axis]
        own, other, rates = self.levels.index(level), self.levels.index(reference), self.rates
        return self._estimate(
            "imputed_rate_gap", level, reference, lambda: rates.gap(own, other),
            lambda: rates.weighted(own) - rates.weighted(other),
            lambda at: rates.gap_interval(own, other, at), tested=True,
        )  # fmt: skip

    def ratio(self, level: str) -> Estimate:
        """Return the rate of a level over the highest one."""
        own, rates = self.levels.index(level), self.rates

        def weighted() -> float:
            highest = max(rates.weighted(one) for one in range(len(self.levels)) if rates.members(one) > 0)
            if highest == 0.0:
                raise UndefinedMetricError("nobody is selected: there is no highest rate")
            return rates.weighted(own) / highest

        return self._estimate(
            "imputed_impact_ratio", level, None, lambda: rates.ratio(own), weighted,
            lambda at: rates.ratio_interval(own, at),
        )  # fmt: skip

    def _estimate(
        self,
        metric: str,
        level: str,
        reference: str | None,
        bounds: Callable[[], tuple[float, float]],
        weighted: Callable[[], float],
        interval: Callable[[float], Interval],
        *,
        tested: bool = False,
    ) -> Estimate:
        own = self.spec.measure
        members = [
            self.rates.members(self.levels.index(one)) for one in (level, reference) if one is not None
        ]
        found: ImputedBounds | None = None
        limits: Interval | Undefined
        test: TestResult | None = None
        value = Undefined(NO_VALUE)
        counts = self.rates.shares.counts
        try:
            if not self.rates.selected.size:
                raise UndefinedMetricError("nobody has both a decision and probabilities of a group")
            found = ImputedBounds(
                bounds=bounds(), weighted=weighted(), members=members[0],
                reference_members=members[1] if len(members) > 1 else None,
                counted=None if counts is None else int(counts.sum()),
            )  # fmt: skip
        except UndefinedMetricError as error:
            value = limits = Undefined(str(error))
        else:
            try:
                limits = interval(own.level)
                test = _turned(interval, self.rates) if tested else None
            except UndefinedMetricError as error:
                limits = Undefined(str(error))
        return Estimate(
            metric=metric, value=value, interval=limits, n=int(self.rates.selected.size), method=_METHODS[metric],
            group={self.axis: level}, reference={} if reference is None else {self.axis: reference},
            stratum=dict(self.rows.levels), parameters=self.parameters,
            clusters=len(np.unique(self.rates.clusters)), tests=() if test is None else (test,), imputed=found,
            flags=("small_cell",) if min(members) < own.small_cell else (),
        )  # fmt: skip


_METHODS: Final = {
    "imputed_rate": mark("bounds of P(selected given group) by probabilities of the group"),
    "imputed_rate_gap": mark(
        "bounds of the difference of P(selected given group) by probabilities of the group"
    ),
    "imputed_impact_ratio": mark(
        "bounds of the ratio to the highest P(selected given group) by probabilities of the group"
    ),
}


def _turned(interval: Callable[[float], Interval], rates: ImputedRates) -> TestResult:
    """Return the test of no difference: the level at which the interval of the bounds ends at 0."""
    low, high = 0.0, 1.0
    while high - low > max(_CLOSEST, 1e-4 * high):
        middle = (low * high) ** 0.5 if low > 0.0 else high / 16
        ends = interval(1.0 - middle)
        if ends.low <= 0.0 <= ends.high:
            low = middle
        else:
            high = middle
    return TestResult(
        name="bounds_test", p_value=high, n=int(rates.clusters.max()) + 1,
        method="level at which the interval of the bounds ends at 0",
    )  # fmt: skip
