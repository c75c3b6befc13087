"""Predictive validity by group: one row a group, one mark a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import table, undefined, within
from audit_lib.figures.drawing import Drawing, Scale, fixed
from audit_lib.figures.row_labels import label_room, row_label
from audit_lib.figures.weak_correlations import open_mark, weak
from audit_lib.translation import t

_STEP = 10


def correlation_by_group(
    groups: Sequence[str],
    correlations: Mapping[str, ArrayLike],
    p_values: Mapping[str, ArrayLike] | None = None,
    *,
    title: str | None = None,
    width: int = 760,
) -> str:
    """Draw the correlation of each metric with the measured gap, for each group on its own.

    Parameters
    ----------
    groups : sequence of str, length m
        The compared groups, from the top.
    correlations : mapping of str to array_like, shape (m,)
        Pearson's r by metric, in [-1, 1]; undefined ones are left out and counted.
    p_values : mapping of str to array_like, shape (m,), optional
        Their p-values; correlations with p above 0.01 have open marks.
    title : str, optional
        Heading.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element.

    Raises
    ------
    InputError
        If there is nothing to draw, lengths differ, a group comes twice, a correlation is out of range, or
        a correlation has no p-value although others have.
    UndefinedMetricError
        If no correlation is defined.

    Examples
    --------
    >>> svg = correlation_by_group(["Women", "Men"], {"RABBI": [0.9, None]})
    >>> "Women: RABBI 0.900" in svg, "1 of 2 correlations is undefined" in svg
    (True, True)
    """
    if len(set(groups)) != len(groups):
        raise InputError("groups: a group comes twice")
    rows = within(table(correlations, len(groups), "correlations"), -1, 1, "correlations")
    open_marks = weak(rows, p_values, list(correlations))
    known = ~np.isnan(rows)
    if not known.any():
        raise UndefinedMetricError(f"none of the {rows.size} correlations is defined")

    drawing = Drawing(t("Correlation with the measured gap, by group") if title is None else title, width)
    drawing.legend(list(correlations), open_mark() if p_values is not None else ())
    drawing.bottom += 6
    names = label_room(groups, width)
    left = names + 8 if names else 12.0
    low = min(0.0, float(np.floor(np.nanmin(rows) * 4) / 4))
    across = Scale(low, 1.0, left, width - 12)
    head = 0 if names else 16
    height = head + max(26, _STEP * len(rows) + 10)
    top = drawing.bottom
    end = top + height * len(groups)
    drawing.bottom = drawing.x_axis(across, top, end, t("Pearson r with the measured gap"))
    drawing.line("origin", across(0), top, across(0), end)
    for column, group in enumerate(groups):
        above = top + column * height
        drawing.line("rule", 4, above, width - 4, above)
        row_label(drawing, group, names, above, height)
        middle = above + head + (height - head) / 2
        for i in np.flatnonzero(known[:, column]):
            y = middle + _STEP * (i - (len(rows) - 1) / 2)
            drawing.mark(int(i), across(float(rows[i, column])), y, hollow=bool(open_marks[i, column]))
    missing = (~known).sum(axis=1)
    if missing.any():
        by = dict(zip(correlations, missing.tolist(), strict=True))
        drawing.note(undefined(int(missing.sum()), rows.size, "correlations", by))
    words = [
        f"{group}: " + ", ".join(
            f"{name} {fixed(float(rows[i, column]))}" for i, name in enumerate(correlations) if known[i, column]
        )
        for column, group in enumerate(groups)
        if known[:, column].any()
    ]  # fmt: skip
    said = t("Pearson correlation with the measured gap by group.")
    return drawing.svg(f"{said} {'; '.join(words)}.")
