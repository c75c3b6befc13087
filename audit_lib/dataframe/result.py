"""What `audit_lib.frame` gives back: every number as the metric stage made it, as tables, figures and a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from audit_lib.dataframe.figure import DrawnFigure
from audit_lib.dataframe.html import page
from audit_lib.dataframe.numbers import NumberRow, as_row, numbers_of
from audit_lib.dataframe.plots import drawn
from audit_lib.documents.metrics import Metrics
from audit_lib.policies import Policy
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec
from audit_lib.translation import speaking, t

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameResult:
    """The numbers of a table; a notebook prints it.

    Parameters
    ----------
    metrics : Metrics
        All that a run would write to ``metrics.json`` of the same rows.
    spec : AuditSpec
        The spec by which they were measured, made from the keywords.
    policy : Policy
        The pack whose tables and guideline hold.
    called : mapping of str to str
        Attribute -> what the table calls it.
    notes : tuple of str
        What was taken as it was not said, such as the reference.
    language : str
        Of what a notebook shows.
    """

    metrics: Metrics
    spec: AuditSpec
    policy: Policy
    called: Mapping[str, str]
    notes: tuple[str, ...]
    language: str = "en"

    @property
    def numbers(self) -> list[NumberRow]:
        """Every number, rates and ratios first."""
        return list(numbers_of(self.metrics, self.called))

    @property
    def rates(self) -> list[Estimate]:
        """Rates of the categories, each with its interval and n."""
        return [row.rate for table in self.metrics.tables for row in table.rows]

    @property
    def ratios(self) -> list[Estimate]:
        """Impact ratios, over the highest rate of each table.

        `intervals` holds the interval that allows for the highest rate having been picked by the data.
        """
        return [row.impact_ratio for table in self.metrics.tables for row in table.rows]

    @property
    def gaps(self) -> list[Estimate]:
        """Every number of a group against its reference: gaps, indices, effects."""
        return [one for one in self.metrics.estimates if one.reference]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a number: value, interval, n, p, verdict, method, and why there is none.

        ``low`` and ``high`` are the interval to read first: of a ratio the one that allows for the comparator having
        been picked; ``conditional_low`` and ``conditional_high`` hold it fixed.
        """
        import pandas as pd

        counts = dict.fromkeys(("n_group", "n_against", "clusters", "selected", "without_answer"), "Int64")
        return pd.DataFrame(self._rows()).astype({**counts, "below_four_fifths": "boolean"})

    def to_arrow(self) -> pa.Table:
        """Return the same table for Arrow; ``polars.from_arrow(result.to_arrow())``."""
        rows = self._rows()
        return pa.table({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the table to any library that reads Arrow's C stream: ``polars.DataFrame(result)``."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def plot(self, metric: str | None = None, *, strata: bool = False) -> DrawnFigure:
        """Draw one metric with its intervals; by default the first that has a value.

        Parameters
        ----------
        metric : str, optional
            Which, such as ``impact_ratio`` or ``rabbi``.
        strata : bool
            Whether to draw it in each value of `by` too.

        Raises
        ------
        InputError
            If it was not measured.
        UndefinedMetricError
            If none of its numbers exists.
        """
        rows = self.metrics.rows
        numbers = [one for one in self.numbers if strata or not one.estimate.stratum]
        with speaking(self.language):
            return drawn(numbers, metric, self.policy, t("{n} rows", n=f"{rows.total:,}"))

    def __repr__(self) -> str:
        rows = self.metrics.rows
        return (
            f"FrameResult: {rows.total:,} rows, {rows.unknown_group:,} of unknown group, {len(self.numbers)} numbers "
            f"of {', '.join(self.spec.measure.metrics)}; to_frame(), plot()"
        )

    def _repr_html_(self) -> str:
        with speaking(self.language):
            return page(self.metrics, self.numbers, self.policy, self.notes, self._figure())

    def _figure(self) -> DrawnFigure | None:
        """The ratios, where there is one to draw."""
        compared = [one for one in self.numbers if one.kind == "ratio" and one.estimate.is_defined]
        return self.plot(compared[0].estimate.metric) if compared else None

    def _rows(self) -> list[dict[str, Any]]:
        names = dict.fromkeys(name for columns in self.spec.measure.strata for name in columns)
        splits = {name: self.called.get(name, name) for name in names}
        # An attribute's own column is called otherwise than the split by it.
        splits = {name: f"in {called}" if name in self.called else called for name, called in splits.items()}
        return [as_row(one, splits, self.spec.measure.alpha) for one in self.numbers]
