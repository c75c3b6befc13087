"""Which correlations get the mark "p above 0.01"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError
from audit_lib.figures.arrays import table, within
from audit_lib.figures.drawing import Floats
from audit_lib.translation import t

WEAK = 0.01
"""Correlations with a p-value above this are marked, as in Chen, Ji and Evans (arXiv:2408.01285)."""


def open_mark() -> tuple[tuple[str, str]]:
    """The sign of such a correlation in a legend, and its name."""
    return (("hollow-mark", t("open: p > {limit:g}", limit=WEAK)),)


def weak(rows: Floats, p_values: Mapping[str, ArrayLike] | None, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which of the correlations have a p-value above 0.01; none where no p-values are given.

    Raises
    ------
    InputError
        If the p-values are not those of the same metrics, are no probabilities, or one is missing.
    """
    if p_values is None:
        return np.zeros(rows.shape, bool)
    if set(p_values) != set(names):
        raise InputError("p_values and correlations do not name the same metrics")
    p = table({name: p_values[name] for name in names}, rows.shape[1], "p_values")
    if (np.isnan(p) & ~np.isnan(rows)).any():
        raise InputError("p_values: one is missing for a correlation that is defined")
    return np.nan_to_num(within(p, 0, 1, "p_values"), nan=1.0) > WEAK
