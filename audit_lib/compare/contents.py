"""What runs that are compared hold: read once, and used by every part of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit_lib.documents.parameters import DESIGN
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.stage import scored_shards
from audit_lib.report.content import Content, gather
from audit_lib.results import Estimate
from audit_lib.run import Run

EstimateKey = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The runs of a comparison.

    Attributes
    ----------
    runs : tuple of Run
        In the order of the tables.
    contents : tuple of Content
        What the report of each says; where its policy hides small cells, they are gone from it.
    rows : tuple of Rows
        The rows of each.
    """

    runs: tuple[Run, ...]
    contents: tuple[Content, ...]
    rows: tuple[Rows, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Contents:
        """Read the runs."""
        return cls(
            runs=tuple(runs),
            contents=tuple(gather(run) for run in runs),
            rows=tuple(load_rows(run, scored_shards(run))[0] for run in runs),
        )

    def printed(self, number: int) -> tuple[Estimate, ...]:
        """Return the estimates that a run's report prints."""
        return tuple(self.contents[number].metrics.estimates)

    def measured_in(self) -> dict[str, tuple[int, ...]]:
        """Return the metrics in the order of the runs, and which runs have each."""
        found: dict[str, list[int]] = {}
        for number in range(len(self.runs)):
            for metric in dict.fromkeys(e.metric for e in self.printed(number)):
                found.setdefault(metric, []).append(number)
        return {metric: tuple(numbers) for metric, numbers in found.items()}


def design_parameters(estimate: Estimate) -> dict[str, int | float | str]:
    """Return the parameters that come from the spec."""
    return {name: value for name, value in estimate.parameters.items() if name in DESIGN}


def stratum_key(levels: Mapping[str, str]) -> EstimateKey:
    """Return what tells strata apart."""
    return tuple(sorted(levels.items()))


def identity(estimate: Estimate) -> EstimateKey:
    """Return what tells the estimates of a run apart, the same in every run of one design."""
    return (
        estimate.metric,
        stratum_key(estimate.stratum),
        stratum_key(estimate.group),
        stratum_key(estimate.reference),
        tuple(sorted(design_parameters(estimate).items())),
    )
