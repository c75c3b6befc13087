"""A number from audit to audit, with a mark where the audited tool became another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import table, undefined
from audit_lib.figures.drawing import (
    LINE,
    SMALL,
    Drawing,
    Scale,
    fit,
    fixed,
    polyline,
    series,
    text_width,
    y_room,
)
from audit_lib.translation import t

_HEIGHT = 220.0


def trend(
    audits: Sequence[str],
    values: Mapping[str, ArrayLike],
    versions: Sequence[str],
    *,
    guide: tuple[float, str] | None = None,
    title: str | None = None,
    y_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw each series over the audits, the oldest first.

    Parameters
    ----------
    audits : sequence of str, length m
        What each audit is called on the axis, such as the day its window ends.
    values : mapping of str to array_like, shape (m,)
        Series, in [0, inf); undefined ones are left out and counted, and break the line.
    versions : sequence of str, length m
        Version of the tool at each audit. Where it differs from the one before, a line stands between them.
    guide : tuple of float and str, optional
        A dashed line and its name.
    title, y_name : str, optional
        Heading, and name of the vertical axis.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element.

    Raises
    ------
    InputError
        If there are fewer than two audits, or lengths differ.
    UndefinedMetricError
        If no value is defined.

    Examples
    --------
    >>> svg = trend(["May", "June", "July"], {"selection": [0.9, 0.7, 0.75]}, ["a", "a", "b"], guide=(0.8, "0.8"))
    >>> svg.count('class="version"'), "selection: May 0.900, June 0.700, July 0.750" in svg  # legend, July
    (2, True)
    """
    if len(audits) < 2 or len(versions) != len(audits):
        raise InputError(
            f"audits: expected two or more, each with a version, got {len(audits)} and {len(versions)}"
        )
    rows = table(values, len(audits), "values")
    known = ~np.isnan(rows)
    if not known.any():
        raise UndefinedMetricError(f"none of the {rows.size} values is defined")
    changes = [i for i in range(1, len(audits)) if versions[i] != versions[i - 1]]
    y_name = t("leading impact ratio") if y_name is None else y_name
    drawing = Drawing(t("From audit to audit") if title is None else title, width)
    extra = [("guide", guide[1])] if guide else []
    extra += [("version", t("another version of the tool"))] if changes else []
    drawing.legend(list(values), extra, lines=True)
    drawing.bottom += LINE + 8
    top, bottom = drawing.bottom, drawing.bottom + _HEIGHT
    highest = max(1.0, float(np.nanmax(rows)), guide[0] if guide else 0.0)
    up = Scale(0.0, highest, bottom, top)
    left, right = y_room(up) + 4, drawing.width - 12.0
    drawing.y_axis(up, left, right, y_name)
    step = (right - left) / len(audits)
    places = [left + step * (i + 0.5) for i in range(len(audits))]
    every = max(1, round(max(text_width(name, SMALL) for name in audits) / max(step - 6, 1) + 0.5))
    for i, name in enumerate(audits):
        if (len(audits) - 1 - i) % every == 0:
            room = step * every if every > 1 else step
            half = min(text_width(name, SMALL), room) / 2
            x = min(max(places[i], half + 2), drawing.width - half - 2)
            drawing.text("tick", x, bottom + 18, fit(name, max(room, 40), SMALL), "middle")
    for i in changes:
        x = (places[i - 1] + places[i]) / 2
        drawing.line("version", x, top, x, bottom)
    if guide:
        drawing.line("guide", left, up(guide[0]), right, up(guide[0]))
    for number, row in enumerate(rows):
        run: list[tuple[float, float]] = []
        for place, value in [*zip(places, row, strict=True), (0.0, np.nan)]:
            if not np.isnan(value):
                run.append((place, up(float(value))))
                continue
            if len(run) > 1:
                drawing.path(f"curve {series(number)}", polyline(run))
            run = []
        for place, value in zip(places, row, strict=True):
            if not np.isnan(value):
                drawing.mark(number, place, up(float(value)))
    drawing.bottom = bottom + 26
    if (~known).any():
        by = dict(zip(values, (~known).sum(axis=1).tolist(), strict=True))
        drawing.note(undefined(int((~known).sum()), rows.size, "values", by))
    listed = {
        name: [
            f"{audit} {t('undefined') if np.isnan(v) else fixed(float(v))}"
            for audit, v in zip(audits, row, strict=True)
        ]
        for name, row in zip(values, rows, strict=True)
    }
    words = "; ".join(f"{name}: {', '.join(own)}" for name, own in listed.items())
    said = [t("{number} from audit to audit.", number=y_name.capitalize()), f"{words}."]
    if changes:
        from_on = ", ".join(audits[i] for i in changes)
        said.append(t("Another version of the tool from {audits} on.", audits=from_on))
    return drawing.svg(" ".join(said))
