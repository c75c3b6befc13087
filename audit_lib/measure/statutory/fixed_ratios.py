"""Impact ratios to the spec's reference, with what each unit moves their logarithm, to compare models by them.

The comparator of a statutory table is the category with the highest rate, which may differ between models. Two models'
ratios have a difference that means something only over one comparator: here the category of `groups.reference`, which
the spec names before any answer. The influence on a log ratio is that on the log rate of the category less that on the
log rate of the comparator: (x - rate) / (n rate) a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.influence import Floats, Influence
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import ClusterUnit, Variable
from audit_lib.measure.statutory.categories import category_of
from audit_lib.plan.hypotheses import fewest_people
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

LEAST: Final = 5
"""People selected, and people not selected, below which a log rate is no sum of many small influences."""

NOT_ALONE: Final = Undefined("made for the difference of two models only")


def ratios_to_reference(
    metric: str, rows: Rows, spec: AuditSpec, policy: Policy, positive: NDArray[np.int8], unit: ClusterUnit
) -> Iterator[tuple[Estimate, Influence | None]]:
    """Yield each category's rate over that of the reference's category, and what each unit moves its logarithm.

    Parameters
    ----------
    metric : str
        Name of the impact ratio's estimates.
    rows : Rows
        The stratum.
    positive : ndarray of int8, shape (rows,)
        1 selected (or above the median), 0 not, -1 not assessed.
    unit : {"application", "round"}
        What is independent.

    Yields
    ------
    Estimate, Influence or None
        By family of categories, then by category; None where the ratio or its logarithm's influence is undefined, with
        the reason in the estimate.
    """
    mapping = category_of(spec.groups, policy)
    variable = Variable.of(rows, positive, unit)
    for family in policy.families:
        if not set(family.attributes) <= set(mapping):
            continue
        needed = mapping if policy.switch("unknown").value == "list_wise" else family.attributes
        places = {
            tuple(category.levels[name] for name in family.attributes): place
            for place, category in enumerate(policy.categories(family.name))
        }
        of_row = np.full(len(rows), -1, dtype=np.int32)
        for profile, where in rows.profiles():
            known = {name: mapping[name].get(profile[name] or "") for name in mapping}
            if all(known[name] is not None for name in needed):
                of_row[where] = places.get(tuple(str(known[name]) for name in family.attributes), -1)
        table = _Table(
            metric=metric, variable=variable, of_row=of_row if variable.kept is None else of_row[variable.kept],
            least=fewest_people(spec, policy),
        )  # fmt: skip
        top = {name: mapping[name][spec.groups.reference[name]] for name in family.attributes}
        reference = table.side(top, places[tuple(top.values())])
        for levels, place in places.items():
            group = table.side(dict(zip(family.attributes, levels, strict=True)), place)
            if place != reference.place and group.values.size:
                yield table.ratio(group, reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The assessed people of a category."""

    levels: Mapping[str, str]
    place: int
    values: NDArray[np.int8]
    clusters: NDArray[np.int32]

    def reason(self, least: int) -> str | None:
        """Say why the logarithm of its rate has no normal interval."""
        n, selected = int(self.values.size), int(self.values.sum())
        label = ", ".join(self.levels.values())
        if n == 0:
            return mark("{category}: nobody was assessed").format(category=label)
        if n < least:
            return mark("{category}: {n} people, fewer than {least}").format(category=label, n=n, least=least)
        if min(selected, n - selected) < LEAST:
            return mark(
                "{category}: {selected} of {n} are counted for its rate; at least {least} have to be, and as many not"
            ).format(category=label, selected=selected, n=n, least=LEAST)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The rows of one family of categories that were assessed."""

    metric: str
    variable: Variable
    of_row: NDArray[np.int32]
    least: int

    def side(self, levels: Mapping[str, str], place: int) -> _Side:
        """Return the people of a category."""
        there = self.of_row == place
        return _Side(
            levels=levels, place=place, values=self.variable.values[there], clusters=self.variable.clusters[there]
        )  # fmt: skip

    def ratio(self, group: _Side, reference: _Side) -> tuple[Estimate, Influence | None]:
        """Return the ratio of two rates, and what moves its logarithm."""
        reasons = [reason for side in (group, reference) if (reason := side.reason(self.least))]
        nothing = Undefined("; ".join(reasons)) if reasons else None
        value = nothing or float(group.values.mean() / reference.values.mean())
        estimate = Estimate(
            metric=self.metric, value=value, interval=nothing or NOT_ALONE,
            n=int(group.values.size + reference.values.size), n_group=int(group.values.size),
            n_reference=int(reference.values.size), method="rate over that of the reference's category",
            group=dict(group.levels), reference=dict(reference.levels), stratum=dict(self.variable.rows.levels),
        )  # fmt: skip
        if nothing is not None:
            return estimate, None
        sums, people = zip(
            *(self._moved(side, sign) for side, sign in ((group, 1.0), (reference, -1.0))), strict=True
        )
        return estimate, Influence(
            estimate=estimate, unit=self.variable.unit, names=self.variable.unit_names(), group=sums[0],
            reference=sums[1], group_rows=people[0], reference_rows=people[1], scale="log",
        )  # fmt: skip

    def _moved(self, side: _Side, sign: float) -> tuple[Floats, Floats]:
        rate, units = float(side.values.mean()), self.variable.units
        influence = sign * (side.values - rate) / (side.values.size * rate)
        return (
            np.bincount(side.clusters, influence, units).astype(np.float64, copy=False),
            np.bincount(side.clusters, minlength=units).astype(np.float64),
        )
