"""Which recommended metrics a run has measured, could measure with further columns or sections, or cannot, and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.documents.metrics import read_metrics
from audit_lib.measure.metric import owner_of, record_of
from audit_lib.measure.remarks import without_columns
from audit_lib.measure.requirements import lacking
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from audit_lib.spec import UNDECIDED, AuditSpec

MetricStatus = Literal["measured", "possible", "not possible"]
_BY_SECTION: Final = {"words", "toxicity", "stereotype", "terms", "sentiment", "embedding"}
"""Needs that a section of the spec meets, whatever was asked of the model."""
_ASKED_AGAIN: Final = {"controls", "checks"}
"""Needs that a live model meets, asked again."""
_READ: Final = ("round_id", "qualified", "outcome", "recorded_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """What a run says of one metric.

    Parameters
    ----------
    metric : str
        Its name.
    status : {"measured", "possible", "not possible"}
        Measured: at least one number of it is defined. Possible: with the columns, or what `why` names. Otherwise not,
        with the reason.
    why : str
        How many numbers are defined, what has to be added, or why it cannot be.
    columns : tuple of str
        Columns that the source lacks; any one of them is enough.
    """

    metric: str
    status: MetricStatus
    why: str
    columns: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "metric": self.metric, "status": self.status, "why": self.why, "columns": list(self.columns),
        }  # fmt: skip


def availability(names: Sequence[str], run: Run) -> list[Availability]:
    """Say of each metric whether a run has measured it, could, or cannot.

    Parameters
    ----------
    names : sequence of str
        Registered metrics.
    run : Run
        With a complete stage sample; what is measured is read where the stage metrics is complete too.
    """
    columns, found = _columns(run), _estimates(run)
    return [_of(name, run.spec, columns, found.get(name, [])) for name in names]


def _of(name: str, spec: AuditSpec, columns: Collection[str], estimates: Sequence[Estimate]) -> Availability:
    reasons = [one.value.reason for one in estimates if isinstance(one.value, Undefined)]
    if len(estimates) > len(reasons):
        undefined = f"; undefined: {reasons[0]}" if reasons else ""
        defined = f"{len(estimates) - len(reasons)} of {len(estimates)} numbers are defined{undefined}"
        return Availability(metric=name, status="measured", why=defined)
    if (fault := lacking(name, spec)) is not None:
        return Availability(
            metric=name, status="possible" if _can_be_met(name, spec) else "not possible", why=fault
        )
    missing = next(without_columns(name, spec, columns), None)
    if missing is not None:
        wanted, why = missing
        return Availability(metric=name, status="possible", why=why, columns=wanted)
    if reasons:
        return Availability(metric=name, status="not possible", why=f"undefined in this run: {reasons[0]}")
    provenance = record_of(name).provenance
    if provenance != "any" and (provenance == "assigned") != (spec.groups.provenance == "assigned"):
        return Availability(
            metric=name,
            status="not possible",
            why=f"it is for groups that are {provenance}, and these are not",
        )
    return Availability(
        metric=name, status="possible", why="all that it needs is there; add it to measure.metrics"
    )


def _can_be_met(name: str, spec: AuditSpec) -> bool:
    """Tell whether something that a spec can add would give a metric what it lacks, with the answers of this task."""
    needs = set(record_of(name).needs)
    if needs & _BY_SECTION:
        return spec.task in UNDECIDED
    return bool(needs & _ASKED_AGAIN) and not spec.model.answers_are_recorded


def _columns(run: Run) -> frozenset[str]:
    """Columns of ours in which at least one sampled row has a value."""
    table = pq.read_table(run.stage("sample").parquet("prompts.parquet"), columns=list(_READ))
    return frozenset(name for name in _READ if pc.any(pc.is_valid(table[name])).as_py())


def _estimates(run: Run) -> dict[str, list[Estimate]]:
    """Estimates of the headline, by metric; differences of a metric are its own."""
    if not run.stage("metrics").is_complete():
        return {}
    headline = set(run.spec.measure.strata[0])
    found: dict[str, list[Estimate]] = {}
    for one in read_metrics(run.stage("metrics").read("metrics.json")).estimates:
        if set(one.stratum) == headline:
            found.setdefault(owner_of(one.metric), []).append(one)
    return found
