"""A metric and a gap as sums over each model, from which the correlation without any of the models follows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.stats.correlations import cluster_moments
from audit_lib.validity.points import PointTable
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import Setting


def model_sums(panel: ScoredPanel, table: PointTable, metric: str, setting: Setting) -> NDArray[np.float64]:
    """Return the sums of each model of the panel, in its order; a model without points has zeros."""
    x, y = table.pair(metric, setting.k)
    known = table.select(setting.task, setting.gap) & ~table.left_out & ~np.isnan(x) & ~np.isnan(y)
    sums = np.zeros((len(panel.labels), 6))
    if known.any():
        sums[np.unique(table.model[known])] = cluster_moments(x[known], y[known], table.model[known])
    return sums
