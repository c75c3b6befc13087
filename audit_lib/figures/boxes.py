"""Score distributions by group from five numbers each: least, quarters, median, greatest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError
from audit_lib.figures.arrays import numbers
from audit_lib.figures.drawing import Drawing, Floats, fixed, polygon, scale_over, short
from audit_lib.figures.row_labels import label_room, row_label
from audit_lib.translation import t

_ROW = 30
_HALF = 7.0


def score_boxes(
    quantiles: Mapping[str, ArrayLike],
    *,
    guide: tuple[float, str] | None = None,
    title: str | None = None,
    score_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw a box a group: from quarter to three quarters, a stroke at the median, whiskers to both ends.

    Parameters
    ----------
    quantiles : mapping of str to array_like, shape (5,)
        Least score, 25%, 50%, 75% and greatest of each group, in any unit.
    guide : tuple of float and str, optional
        A dashed line, such as the median of all, and its name.
    title, score_name : str, optional
        Heading, and what the horizontal axis shows.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element.

    Raises
    ------
    InputError
        If there is no group, or one has not five ascending numbers.

    Examples
    --------
    >>> svg = score_boxes({"Women": [0, 1, 2, 3, 4], "Men": [1, 2, 3, 4, 5]}, guide=(2.5, "median of all"))
    >>> "Women: median 2, half between 1 and 3, all between 0 and 4" in svg
    True
    """
    if not quantiles:
        raise InputError("quantiles: nothing to draw")
    boxes = {group: numbers(values, f"quantiles[{group!r}]") for group, values in quantiles.items()}
    for group, five in boxes.items():
        if five.size != 5 or np.isnan(five).any() or (np.diff(five) < 0).any():
            raise InputError(f"quantiles[{group!r}]: expected five ascending numbers")
    score_name = t("score") if score_name is None else score_name
    drawing = Drawing(t("Scores by group") if title is None else title, width)
    signs: Sequence[tuple[str, str]] = [("area-key", t("middle half")), ("outline", t("median"))]
    drawing.legend([], [*signs, *([("guide", guide[1])] if guide else [])])
    drawing.bottom += 6
    names = label_room(list(boxes), width)
    left = names + 10 if names else 12.0
    everything = np.concatenate([*boxes.values(), np.array([guide[0]] if guide else [])])
    across = scale_over(everything, left, width - 14.0)
    head = 0 if names else 18
    height = _ROW + head
    top = drawing.bottom
    end = top + height * len(boxes)
    drawing.bottom = drawing.x_axis(across, top, end, score_name)
    for number, (group, five) in enumerate(boxes.items()):
        above = top + number * height
        row_label(drawing, group, names, above, height)
        y = above + head + (height - head) / 2
        low, quarter, middle, three, high = (across(float(value)) for value in five)
        drawing.line("bar", low, y, high, y)
        for x in (low, high):
            drawing.line("bar", x, y - 4, x, y + 4)
        box = [(quarter, y - _HALF), (three, y - _HALF), (three, y + _HALF), (quarter, y + _HALF)]
        drawing.path("box", polygon(box))
        drawing.line("outline", middle, y - _HALF - 1, middle, y + _HALF + 1)
    if guide:
        drawing.line("guide", across(guide[0]), top - 4, across(guide[0]), end)
    words = "; ".join(_in_words(group, five) for group, five in boxes.items())
    said = [t("{score} of {groups} groups.", score=score_name.capitalize(), groups=len(boxes)), f"{words}."]
    if guide:
        said.append(t("Dashed: {name}, {value}.", name=guide[1], value=fixed(guide[0])))
    return drawing.svg(" ".join(said))


def _in_words(group: str, five: Floats) -> str:
    least, quarter, middle, three, most = (short(float(value), 4) for value in five)
    return t(
        "{group}: median {middle}, half between {quarter} and {three}, all between {least} and {most}",
        group=group,
        middle=middle,
        quarter=quarter,
        three=three,
        least=least,
        most=most,
    )
