"""The study as a document: points, correlations, model selection, and which metric foretells gaps best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.documents.validity import ValidityStudy
from audit_lib.errors import InputError
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.validity.best_metric import best_metric
from audit_lib.validity.correlations import correlations
from audit_lib.validity.model_selection import selections
from audit_lib.validity.of_runs import panel_of_runs
from audit_lib.validity.points import PointTable, measured_points
from audit_lib.validity.scored_panel import ScoredPanel

NOBODY_COMPETES: Final = (
    "candidates do not compete for places, so no gap of an allocation is there to be foretold; name the rounds in "
    "decision.round, or draw them by measure.random_rounds"
)


def study_of(panel: ScoredPanel) -> ValidityStudy:
    """Study which metric foretells the gaps of a panel; the same document for the same panel."""
    points = measured_points(panel)
    table = PointTable.of(panel, points)
    return ValidityStudy(
        title=panel.title,
        source=panel.source,
        design=panel.design,
        groups=panel.compared,
        reference=panel.reference,
        quotas=panel.quotas,
        bins=panel.bins,
        level=panel.level,
        same_pools=panel.same_pools,
        models=panel.models,
        best=best_metric(panel, table),
        correlations=correlations(panel, table),
        selection=selections(panel, table),
        points=points,
    )


def study_of_runs(runs: Sequence[Run]) -> ValidityStudy | Undefined:
    """Study sealed runs of one design, for a page about their models.

    Parameters
    ----------
    runs : sequence of Run
        Sealed, of one design (`audit_lib.compare.same_design`).

    Returns
    -------
    ValidityStudy or Undefined
        Undefined where there is nothing to study, with the reason: nobody competes for places, no score says who would
        win, or runs of one task judged other pools.
    """
    try:
        panel = panel_of_runs(runs)
    except InputError as error:
        said = str(error)
        for run in runs:  # where a store is says nothing of its runs
            said = said.replace(run.uri, run.key.prefix)
        return Undefined(said)
    if not any(((one.drawn or one).pools.places > 0).any() for one in panel.scores):
        return Undefined(NOBODY_COMPETES)
    return study_of(panel)
