"""A difference followed over windows: each window's own, an interval that holds at every look, and what was told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import table, undefined
from audit_lib.figures.drawing import (
    LINE,
    SMALL,
    Drawing,
    Floats,
    fit,
    fixed,
    polygon,
    scale_over,
    text_width,
    y_room,
)
from audit_lib.translation import t

_HEIGHT = 200.0


def sequence(
    windows: Sequence[str],
    own: ArrayLike,
    intervals: ArrayLike,
    *,
    baseline: int = 0,
    since: int | None = None,
    versions: Sequence[int] = (),
    title: str | None = None,
    width: int = 760,
) -> str:
    """Draw a sequence, the oldest window first.

    Parameters
    ----------
    windows : sequence of str, length m
        What each window is called on the axis.
    own : array_like, shape (m,)
        Difference in each window alone; undefined ones are left out and counted.
    intervals : array_like, shape (m, 2)
        Limits at each look of the interval that holds at all of them.
    baseline : int
        How many windows are the baseline; 0 without one.
    since : int, optional
        Place of the window with which a change most likely began, where an alarm tells one.
    versions : sequence of int
        Places of windows in which the model, prompt or rule became another.
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
        If there is no window, lengths differ, or a place is none of a window's.
    UndefinedMetricError
        If no window has a difference.

    Examples
    --------
    >>> svg = sequence(["May", "June", "July"], [0.0, 0.1, -0.3], [[-0.4, 0.4], [-0.2, 0.3], [-0.3, 0.1]],
    ...                baseline=2, since=2)
    >>> "May +0.000, June +0.100, July -0.300".replace("-", chr(8722)) in svg, svg.count('class="gap"')
    (True, 2)
    """
    if not windows:
        raise InputError("windows: there is none to draw")
    limits = np.asarray(intervals, dtype=np.float64)
    if limits.shape != (len(windows), 2):
        raise InputError(
            f"intervals: expected two limits for each of {len(windows)} windows, got {limits.shape}"
        )
    rows = table({"own": own, "low": limits[:, 0], "high": limits[:, 1]}, len(windows), "values")
    known = ~np.isnan(rows[0])
    if not known.any():
        raise UndefinedMetricError(f"none of the {len(windows)} windows has a difference")
    places = [place for place in (since, *versions) if place is not None]
    if not all(0 <= place < len(windows) for place in places) or not 0 <= baseline <= len(windows):
        raise InputError(
            f"places: expected some of 0 to {len(windows) - 1}, got {places}; baseline {baseline}"
        )
    y_name = t("difference")
    drawing = Drawing(t("Over all windows") if title is None else title, width)
    extra = [("area-key", t("interval at every look, over all windows so far"))]
    extra += [("guide", t("end of the baseline"))] if 0 < baseline < len(windows) else []
    extra += [("version", t("another version of the tool"))] if versions else []
    extra += [("gap", t("changed from here on"))] if since is not None else []
    drawing.legend([t("this window alone")], extra)
    drawing.bottom += LINE + 8
    top, bottom = drawing.bottom, drawing.bottom + _HEIGHT
    up = scale_over(np.append(rows[0][known], [0.0, *_shown(rows)]), bottom, top)
    left, right = y_room(up) + 4, drawing.width - 12.0
    drawing.y_axis(up, left, right, y_name)
    step = (right - left) / len(windows)
    across = [left + step * (place + 0.5) for place in range(len(windows))]
    every = max(1, round(max(text_width(name, SMALL) for name in windows) / max(step - 6, 1) + 0.5))
    for place, name in enumerate(windows):
        if (len(windows) - 1 - place) % every == 0:
            room = step * every
            half = min(text_width(name, SMALL), room) / 2
            x = min(max(across[place], half + 2), drawing.width - half - 2)
            drawing.text("tick", x, bottom + 18, fit(name, max(room, 40), SMALL), "middle")
    upper = list(zip(across, map(up, rows[2].tolist()), strict=True))
    lower = list(zip(across, map(up, rows[1].tolist()), strict=True))
    drawing.path("area", polygon([*upper, *reversed(lower)]))
    if up.low <= 0.0 <= up.high:
        drawing.line("rule", left, up(0.0), right, up(0.0))
    lines = [("version", place) for place in versions]
    lines += [("guide", baseline)] if 0 < baseline < len(windows) else []
    lines += [("gap", since)] if since is not None else []
    for kind, place in lines:
        drawing.line(kind, left + step * place, top, left + step * place, bottom)
    for x, value in zip(across, rows[0].tolist(), strict=True):
        if not np.isnan(value):
            drawing.mark(0, x, up(value), radius=3.5 if step > 9 else 2.0)
    drawing.bottom = bottom + 26
    if (~known).any():
        drawing.note(undefined(int((~known).sum()), len(windows), "values"))
    listed = ", ".join(
        f"{name} {t('undefined') if np.isnan(value) else _signed(value)}"
        for name, value in zip(windows, rows[0].tolist(), strict=True)
    )
    said = [
        t("{number} in each window.", number=y_name.capitalize()),
        f"{listed}.",
        t(
            "Over all of them between {low} and {high}.",
            low=_signed(float(rows[1][-1])),
            high=_signed(float(rows[2][-1])),
        ),
    ]
    if since is not None:
        said.append(t("It changed, most likely with {window}.", window=windows[since]))
    return drawing.svg(" ".join(said))


def _shown(rows: Floats) -> list[float]:
    """Limits that decide the scale: those of the last look, and no first ones, which say nothing yet."""
    return [float(rows[1][-1]), float(rows[2][-1])]


def _signed(value: float) -> str:
    return fixed(value) if value < 0 else f"+{fixed(value)}"
