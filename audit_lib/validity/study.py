"""The study as a document: points, correlations, model selection, and which metric foretells gaps best."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.documents.validity import ValidityStudy
from audit_lib.errors import InputError
from audit_lib.run import Run
from audit_lib.validity.best_metric import best_metric
from audit_lib.validity.correlations import correlations
from audit_lib.validity.model_selection import selections
from audit_lib.validity.of_runs import panel_of_runs
from audit_lib.validity.points import PointTable, measured_points
from audit_lib.validity.scored_panel import ScoredPanel


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


def study_of_runs(runs: Sequence[Run]) -> ValidityStudy | None:
    """Study sealed runs of one design, for a page about their models.

    Parameters
    ----------
    runs : sequence of Run
        Sealed, of one design (`audit_lib.compare.same_design`).

    Returns
    -------
    ValidityStudy or None
        None where there is nothing to study: nobody competes for places, no score says who would win, or all runs are
        of one model. `panel_of_runs` says which.
    """
    try:
        panel = panel_of_runs(runs)
    except InputError:
        return None
    competing = any(((one.drawn or one).pools.places > 0).any() for one in panel.scores)
    return study_of(panel) if competing else None
