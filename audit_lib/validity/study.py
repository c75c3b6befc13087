"""The study as a document: points, correlations, model selection, and which metric foretells gaps best."""

from __future__ import annotations

from audit_lib.documents.validity import ValidityStudy
from audit_lib.validity.best_metric import best_metric
from audit_lib.validity.correlations import correlations
from audit_lib.validity.model_selection import selections
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
