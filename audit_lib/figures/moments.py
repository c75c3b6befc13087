"""Skewness and kurtosis of score distributions: one point a model and group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import numbers, undefined
from audit_lib.figures.drawing import (
    LINE,
    SMALL,
    Drawing,
    Floats,
    Scale,
    fixed,
    polyline,
    scale_over,
    text_width,
    y_room,
)
from audit_lib.translation import t

Box = tuple[float, float, float, float]


def score_moments(
    scores: Mapping[str, Mapping[str, ArrayLike]],
    *,
    title: str | None = None,
    width: int = 760,
) -> str:
    """Draw skewness (across) and excess kurtosis (up) of each model's scores of each group.

    With central moments ``m_r = mean((x - mean x)^r)``: skewness ``m3 / m2^1.5``, excess kurtosis
    ``m4 / m2^2 - 3``; both are 0 for a normal distribution. No distribution lies below
    ``skewness^2 - 2``, the dashed line, where all scores take two values.

    Parameters
    ----------
    scores : mapping of model to mapping of group to array_like, shape (n,)
        Scores in any unit; missing and infinite ones are left out and counted. A distribution of equal
        scores, or of fewer than three, has no shape: it is left out and counted.
    title : str, optional
        Heading.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element. Points are named by their group where the name finds room.

    Raises
    ------
    InputError
        If there is no model, or a model has no group, or a group no row.
    UndefinedMetricError
        If no distribution has a shape.

    Examples
    --------
    >>> svg = score_moments({"m": {"Women": [1, 2, 3, 6], "Men": [2, 2, 2, 2]}})
    >>> "m, Women: skewness 0.687, kurtosis −1.000" in svg, "1 of 2 distributions is undefined" in svg
    (True, True)
    """
    if not scores or not all(scores.values()):
        raise InputError("scores: expected models, each with its groups")
    models = list(scores)
    points: list[tuple[int, str, float, float]] = []
    total = missing = rows = 0
    for i, (model, groups) in enumerate(scores.items()):
        for group, values in groups.items():
            array = numbers(values, f"scores[{model!r}][{group!r}]")
            known = array[~np.isnan(array)]
            total, rows, missing = total + 1, rows + array.size, missing + array.size - known.size
            if known.size > 2 and known.min() < known.max():
                points.append((i, group, *_shape(known)))
    if not points:
        raise UndefinedMetricError(
            f"none of the {total} distributions has three scores that are not all equal"
        )

    drawing = Drawing(
        t("Shape of the score distributions") if title is None else title,
        width,
        t("0 and 0: a normal distribution. Dashed: the least kurtosis that a skewness allows."),
    )
    drawing.legend(models)
    drawing.bottom += LINE + 14
    top, height = drawing.bottom, min(0.62 * width, 380.0)
    up = scale_over(np.array([0.0, -2.0, *(p[3] for p in points)]), top + height, top)
    left, right = y_room(up) + 4, width - 12.0
    across = scale_over(np.array([0.0, *(p[2] for p in points)]), left, right, margin=24)
    bottom = drawing.x_axis(across, top, top + height, t("skewness"))
    drawing.y_axis(up, left, right, t("excess kurtosis"))
    drawing.line("origin", across(0), top, across(0), top + height)
    drawing.line("origin", left, up(0), right, up(0))
    drawing.path("guide", polyline(_least_kurtosis(across, up)))
    places = [(across(x), up(y)) for _, _, x, y in points]
    for (i, _, _, _), (x, y) in zip(points, places, strict=True):
        drawing.mark(i, x, y)
    unnamed = _name_points(drawing, [p[1] for p in points], places, (left, top, right, top + height))
    if unnamed:
        drawing.note(
            t(
                "{unnamed} of {points} points have no name beside them for want of room.",
                unnamed=unnamed,
                points=len(points),
            )
        )
    if len(points) < total:
        drawing.note(
            f"{undefined(total - len(points), total, 'distributions')} "
            f"{t('A shape needs three scores, not all equal.')}"
        )
    if missing:
        drawing.note(undefined(missing, rows, "scores"))
    words = "; ".join(
        t(
            "{model}, {group}: skewness {skewness}, kurtosis {kurtosis}",
            model=models[i],
            group=group,
            skewness=fixed(x),
            kurtosis=fixed(y),
        )
        for i, group, x, y in points
    )
    said = t("Scatter plot of skewness (across) and excess kurtosis (up).")
    return drawing.svg(f"{said} {words}.", bottom)


def _shape(values: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis."""
    centred = values - values.mean()
    z = centred / np.abs(centred).max()  # so that no power overflows or vanishes
    second = np.mean(z**2)
    return float(np.mean(z**3) / second**1.5), float(np.mean(z**4) / second**2 - 3)


def _least_kurtosis(across: Scale, up: Scale) -> list[tuple[float, float]]:
    reach = np.sqrt(up.high + 2)
    ends = max(across.low, -reach), min(across.high, reach)
    return [(across(x), up(x * x - 2)) for x in np.linspace(*ends, 49).tolist()]


def _name_points(drawing: Drawing, names: list[str], places: list[tuple[float, float]], frame: Box) -> int:
    """Write each name beside its point where it covers no point and no other name; count the others."""
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    unnamed = 0
    for name, (x, y) in zip(names, places, strict=True):
        wide = text_width(name, SMALL)
        for box, at, line, anchor in (
            ((x + 8, y - 7, x + 8 + wide, y + 7), x + 8, y + 4, "start"),
            ((x - 8 - wide, y - 7, x - 8, y + 7), x - 8, y + 4, "end"),
            ((x - wide / 2, y - 21, x + wide / 2, y - 7), x, y - 10, "middle"),
            ((x - wide / 2, y + 7, x + wide / 2, y + 21), x, y + 18, "middle"),
            ((x + 6, y - 20, x + 6 + wide, y - 6), x + 6, y - 9, "start"),
            ((x + 6, y + 6, x + 6 + wide, y + 20), x + 6, y + 17, "start"),
            ((x - 6 - wide, y - 20, x - 6, y - 6), x - 6, y - 9, "end"),
            ((x - 6 - wide, y + 6, x - 6, y + 20), x - 6, y + 17, "end"),
        ):
            inside = frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
            if inside and not any(_overlap(box, other) for other in taken):
                drawing.text("tick", at, line, name, anchor)
                taken.append(box)
                break
        else:
            unnamed += 1
    return unnamed


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
