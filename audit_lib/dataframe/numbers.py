"""One row a number: what `FrameResult.to_frame` gives, and the page of a notebook prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from audit_lib.documents.estimates import adjusted_p, defined, first_p, limits
from audit_lib.documents.metrics import Metrics
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.report.verdict_words import verdict_words
from audit_lib.results import Estimate, Interval, Undefined

Kind = Literal["rate", "ratio", "gap", "value"]
"""Of one group; over the comparator's; against a reference; of no group."""

_PICKED: Final = "simultaneous"
_AT: Final = ("k", "threshold", "class")
"""Parameters that tell numbers of one metric and group apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRow:
    """One number of a frame.

    Parameters
    ----------
    kind : {"rate", "ratio", "gap", "value"}
        What it says.
    estimate : Estimate
        As the metric stage gave it.
    group, against : str
        Who, and compared with whom; empty where nobody.
    attribute : str
        Of what these are groups.
    table, row : RateTable and RateRow, or None
        Where it stands, if it is of a statutory table.
    """

    kind: Kind
    estimate: Estimate
    group: str
    against: str
    attribute: str
    table: RateTable[RateRow] | None = None
    row: RateRow | None = None

    @property
    def interval(self) -> Interval | Undefined:
        """The interval to read first: of a ratio the one that allows for the comparator having been picked."""
        picked = next((one for one in self.estimate.intervals if one.kind == _PICKED), None)
        return picked if self.kind == "ratio" and picked is not None else self.estimate.interval

    @property
    def conditional(self) -> Interval | None:
        """Of a ratio: the interval that holds the comparator fixed."""
        every = (self.estimate.interval, *self.estimate.intervals)
        return next((one for one in every if isinstance(one, Interval) and one.kind == "conditional"), None)

    @property
    def at(self) -> list[str]:
        """What else it depends on, in words."""
        return [f"{name} = {value}" for name, value in self.estimate.parameters.items() if name in _AT]

    @property
    def verdict(self) -> str:
        """The verdict in words; empty where nothing is compared, such as of a rate."""
        found = self.estimate.verdict
        return "" if found is None else verdict_words(found)


def numbers_of(metrics: Metrics, called: Mapping[str, str]) -> Iterator[NumberRow]:
    """Return every number of a frame: rates and ratios table by table, then the estimates.

    Parameters
    ----------
    metrics : Metrics
        What was measured.
    called : mapping of str to str
        What the table calls each attribute.
    """
    kind: Kind
    for table in metrics.tables:
        attribute = (
            " x ".join(called[axis] for axis in table.rows[0].category) if table.rows else table.family
        )
        against = table.comparator if isinstance(table.comparator, str) else ""
        for row in table.rows:
            group = ", ".join(row.category.values())
            for kind, one in _of_row(row):
                yield NumberRow(
                    kind=kind, estimate=one, group=group, against=against if kind == "ratio" else "",
                    attribute=attribute, table=table, row=row,
                )  # fmt: skip
    for one in metrics.estimates:
        axes = one.group or one.reference
        kind = "gap" if one.reference else "rate" if one.group else "value"
        yield NumberRow(
            kind=kind,
            estimate=one,
            group=", ".join(one.group.values()),
            against=", ".join(one.reference.values()),
            attribute=" x ".join(called.get(axis, axis) for axis in axes),
        )


def as_row(number: NumberRow, splits: Mapping[str, str], alpha: float) -> dict[str, Any]:
    """Return a number as a row: None where something does not exist, and the reason next to it.

    Parameters
    ----------
    number : NumberRow
        The number.
    splits : mapping of str to str
        Columns by which everything was measured again, and what the table calls them.
    alpha : float
        Level of findings.
    """
    one, interval = number.estimate, number.interval
    shown, fixed = limits(interval), number.conditional
    reasons = [x.reason for x in (one.value, interval) if isinstance(x, Undefined)]
    test = one.tests[0] if one.tests else None
    row = number.row
    these = None if one.these_names is None else limits(one.these_names.interval)
    return {
        "metric": one.metric,
        "kind": number.kind,
        **{called: one.stratum.get(name) for name, called in splits.items()},
        "attribute": number.attribute,
        "group": number.group or None,
        "against": number.against or None,
        "at": ", ".join(number.at) or None,
        "value": defined(one.value),
        "low": None if shown is None else _finite(shown.low),
        "high": None if shown is None else _finite(shown.high),
        "level": None if shown is None else shown.level,
        "interval": None if shown is None else shown.kind,
        "conditional_low": None if fixed is None else _finite(fixed.low),
        "conditional_high": None if fixed is None else _finite(fixed.high),
        "these_names_low": None if these is None else _finite(these.low),
        "these_names_high": None if these is None else _finite(these.high),
        "n": one.n,
        "n_group": one.n_group,
        "n_against": one.n_reference,
        "clusters": one.clusters,
        "selected": row.selected if row is not None and number.kind == "rate" else None,
        "without_answer": row.missing.n if row is not None and number.kind == "rate" else None,
        "p_value": first_p(one),
        "p_holm": adjusted_p(one),
        "test": None if test is None else test.name,
        "below_four_fifths": row.four_fifths_flag if row is not None and number.kind == "ratio" else None,
        "verdict": number.verdict or None,
        "verdict_reason": None if one.verdict is None else one.verdict.reason,
        "margin": None if one.held is None else one.held.margin,
        "flags": ", ".join(one.flags) or None,
        "method": one.method,
        **_by_weights(one),
        "interval_method": None if shown is None else shown.method,
        "undefined": "; ".join(dict.fromkeys(reasons)) or None,
    }  # fmt: skip


def _by_weights(one: Estimate) -> dict[str, float | None]:
    """Return what sampling weights add; nothing where there are none."""
    if one.weighted is None:
        return {}
    own = one.weighted
    ends = limits(own.ratio_interval)
    return {
        "effective_n_group": own.effective_group,
        "effective_n_against": own.effective_reference,
        "weighted_rate_group": None if own.rate_group is None else own.rate_group.value,
        "weighted_rate_against": None if own.rate_reference is None else own.rate_reference.value,
        "weighted_ratio": defined(own.ratio),
        "weighted_ratio_low": None if ends is None else ends.low,
        "weighted_ratio_high": None if ends is None else ends.high,
    }


def _of_row(row: RateRow) -> Iterator[tuple[Kind, Estimate]]:
    yield "rate", row.rate
    yield "ratio", row.impact_ratio


def _finite(limit: float) -> float | None:
    return limit if math.isfinite(limit) else None
