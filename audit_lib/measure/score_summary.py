"""What the scores of a group look like: how many, their mean, their spread and their quantiles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.metrics import ScoreSummary
from audit_lib.stats._checks import quantiles


def summary_of(
    stratum: Mapping[str, str], group: Mapping[str, str | None], score: NDArray[np.float64]
) -> ScoreSummary:
    """Summarise the scores of a group, from the lowest to the highest; NaN is left out.

    A sum of floats depends on their order, and so the order is part of what a mean is.
    """
    missing = np.isnan(score)
    score = score[~missing] if missing.any() else score
    return ScoreSummary(
        stratum=dict(stratum),
        group={axis: level for axis, level in group.items() if level is not None},
        n=int(score.size),
        mean=float(score.mean()) if score.size else None,
        sd=float(score.std(ddof=1)) if score.size > 1 else None,
        quantiles=_quantiles(score) if score.size else None,
    )


def _quantiles(score: NDArray[np.float64]) -> tuple[float, float, float, float, float]:
    low, first, middle, third, high = quantiles(score, (0.0, 0.25, 0.5, 0.75, 1.0))
    return low, first, middle, third, high
