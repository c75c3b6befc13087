"""Impact ratios of categories between models: over one comparator, that of the spec's reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from audit_lib.compare.contents import Contents, EstimateKey, identity, stratum_key
from audit_lib.compare.paired import contrast_of, parts_of
from audit_lib.documents.comparison import PairedContrast
from audit_lib.measure.influence import Influence
from audit_lib.measure.metrics.scoring_rate_impact_ratio import above_median
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import decision_unit, score_unit
from audit_lib.measure.statutory.fixed_ratios import ratios_to_reference
from audit_lib.policies import policy_of
from audit_lib.report.exact_tables import ExactRow
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run

METRICS_OF: Final = {"selection": "impact_ratio", "scoring": "scoring_rate_impact_ratio"}
"""Kind of rate -> the metric whose tables hold its impact ratios."""

Found = Mapping[EstimateKey, tuple[Estimate, Influence | None]]


def rate_contrasts(contents: Contents) -> Iterator[PairedContrast]:
    """Test every pair of runs by each category's rate over that of the reference's category.

    The comparator of a run's own tables is its highest rate, which may be another category in another model; here it
    is the same in all, and named before any answer. Tables of a tool's classes are not tested.
    """
    parts = [parts_of(run, rows) for run, rows in zip(contents.runs, contents.rows, strict=True)]
    level = contents.runs[0].spec.measure.level
    for kind in METRICS_OF:
        strata = [
            {stratum_key(table.stratum) for table in one.tables if table.kind == kind}
            for one in contents.contents
        ]
        for where in (where for where in parts[0] if all(where in own for own in strata)):
            found = [_ratios(kind, run, own[where]) for run, own in zip(contents.runs, parts, strict=True)]
            for key in dict.fromkeys(key for one in found for key in one):
                told = [_told(contents, n, kind, one.get(key)) for n, one in enumerate(found)]
                if sum(one is not None for one in told) > 1:
                    kept = [
                        one[key][1] if shown is not None and shown.is_defined else None
                        for one, shown in zip(found, told, strict=True)
                    ]
                    yield contrast_of(told, kept, level)


def _ratios(kind: str, run: Run, rows: Rows) -> Found:
    spec, policy = run.spec, policy_of(run.spec)
    if kind == "selection":
        positive, unit = rows.decisions.selected, decision_unit(spec)
    else:
        positive, unit = above_median(rows, policy)[0], score_unit(spec)
    made = ratios_to_reference(METRICS_OF[kind], rows, spec, policy, positive, unit)
    return {identity(estimate): (estimate, influence) for estimate, influence in made}


def _told(
    contents: Contents, number: int, kind: str, found: tuple[Estimate, Influence | None] | None
) -> Estimate | None:
    """Return what a run's report lets be told of a ratio: None where its policy hides one of the two rates."""
    if found is None:
        return None
    estimate, _ = found
    rows = [_row(contents, number, kind, estimate, cell) for cell in (estimate.group, estimate.reference)]
    if any(row is None or row.hidden or row.ratio_hidden for row in rows):
        return None
    for row in rows:
        if row is not None and row.excluded is not None:
            return replace(estimate, value=Undefined(row.excluded), interval=Undefined(row.excluded))
    return estimate


def _row(
    contents: Contents, number: int, kind: str, estimate: Estimate, cell: Mapping[str, str]
) -> ExactRow | None:
    return next(
        (
            row
            for table in contents.contents[number].tables
            if table.kind == kind and stratum_key(table.stratum) == stratum_key(estimate.stratum)
            for row in table.rows
            if dict(row.levels) == dict(cell)
        ),
        None,
    )
