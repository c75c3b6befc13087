"""AUC gap: AUC of everybody, AUC by subgroup with intervals, and the gap, one panel a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import numbers, undefined, within
from audit_lib.figures.drawing import LINE, SMALL, TEXT, Drawing, Floats, Scale, fit, fixed
from audit_lib.figures.row_labels import label_room, row_label
from audit_lib.results import Undefined
from audit_lib.translation import t

_ROW = 24
_VALUE = 44


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelAuc:
    """AUCs of one model, as `audit_lib.metrics.auc_by_group` and `audit_lib.stats` give them.

    Parameters
    ----------
    model : str
        Its name.
    overall : float or Undefined
        AUC of everybody, in [0, 1].
    auc : array_like, shape (groups,)
        AUC by subgroup; undefined ones (one class, too few members) are left out and counted.
    low, high : array_like, shape (groups,), optional
        Ends of their intervals.
    gap_low, gap_high : float, optional
        Interval of the gap. It must allow for the selection of the pair: a simultaneous one.
    """

    model: str
    overall: float | Undefined
    auc: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    gap_low: float | None = None
    gap_high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    model: str
    overall: float
    auc: Floats
    low: Floats
    high: Floats
    gap: str
    words: str


def auc_gap_figure(
    groups: Sequence[str],
    models: Sequence[ModelAuc],
    *,
    title: str | None = None,
    interval_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw, for each model side by side: the overall AUC, each subgroup's AUC, and the AUC gap.

    The gap is the largest less the smallest AUC of the subgroups that have one; a bar below the rows
    spans it.

    Parameters
    ----------
    groups : sequence of str, length m
        Subgroups, from the top; they may overlap.
    models : sequence of ModelAuc
        One panel each.
    title, interval_name : str, optional
        Heading, and what the bars through the marks are: by default 95% intervals.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone, where panels stand below each other.

    Returns
    -------
    str
        An ``<svg>`` element. All panels have one scale, which holds all marks and intervals and need not
        begin at 0.

    Raises
    ------
    InputError
        If there is no model or subgroup, lengths differ, a name comes twice, a value is outside [0, 1], or
        the ends of an interval do not surround its value.
    UndefinedMetricError
        If no AUC at all is defined.

    Examples
    --------
    >>> one = ModelAuc(model="A", overall=0.8, auc=[0.85, 0.7, None], gap_low=0.02, gap_high=0.28)
    >>> svg = auc_gap_figure(["Women", "Men", "Others"], [one])
    >>> "gap 0.150 [0.020, 0.280]" in svg, "1 of 3 AUCs is undefined and not drawn (A 1)." in svg
    (True, True)
    """
    if not groups or not models:
        raise InputError("auc_gap_figure: expected at least one subgroup and one model")
    for name, labels in (("groups", list(groups)), ("models", [m.model for m in models])):
        if len(set(labels)) != len(labels):
            raise InputError(f"{name}: a name comes twice")
    panels = [_panel(groups, model) for model in models]
    everything = np.concatenate([np.concatenate([[p.overall], p.auc, p.low, p.high]) for p in panels])
    everything = everything[~np.isnan(everything)]
    if not everything.size:
        raise UndefinedMetricError("no AUC of any model and subgroup is defined")

    interval_name = t("95% interval") if interval_name is None else interval_name
    drawing = Drawing(t("AUC by subgroup, and the gap") if title is None else title, width)
    signs = [("overall", t("overall AUC")), ("gap", t("AUC gap"))]
    if any((~np.isnan(p.low)).any() for p in panels):
        signs.insert(1, ("bar", interval_name))
    drawing.legend([t("subgroup's AUC")], signs)
    drawing.bottom += 4
    names = label_room(groups, width)
    columns = min(len(panels), max(1, int((width - names) // 200))) if names else 1
    left = names + 8
    wide = (width - left) / columns
    low, high = _ends(everything)
    head = 0 if names else 16
    bottom = drawing.bottom
    for number, panel in enumerate(panels):
        if number % columns == 0:
            top = bottom
        x0 = left + (number % columns) * wide
        across = Scale(low, high, x0 + 8, x0 + wide - _VALUE - 18)
        first = number % columns == 0
        place = _Place(top=top, left=x0, width=wide, head=head, names=names if first else None)
        bottom = _draw(drawing, panel, groups, across, place)
    missing = {p.model: int(np.isnan(p.auc).sum()) for p in panels}
    if sum(missing.values()):
        drawing.note(undefined(sum(missing.values()), len(panels) * len(groups), "AUCs", missing))
    no_interval = {p.model: int((~np.isnan(p.auc) & np.isnan(p.low)).sum()) for p in panels}
    if ("bar", interval_name) in signs and any(no_interval.values()):
        drawing.note(
            undefined(sum(no_interval.values()), len(panels) * len(groups), "intervals", no_interval)
        )
    return drawing.svg(" ".join([t("AUC by subgroup."), *(p.words for p in panels)]), bottom)


def _panel(groups: Sequence[str], model: ModelAuc) -> _Panel:
    where = f"models[{model.model!r}]"
    auc = within(numbers(model.auc, f"{where}.auc"), 0, 1, f"{where}.auc")
    ends = []
    for name, values in (("low", model.low), ("high", model.high)):
        array = np.full(auc.size, np.nan) if values is None else numbers(values, f"{where}.{name}")
        ends.append(within(array, 0, 1, f"{where}.{name}"))
    low, high = ends
    if not auc.size == low.size == high.size == len(groups):
        raise InputError(
            f"{where}: {auc.size} AUCs, {low.size} and {high.size} ends for {len(groups)} subgroups"
        )
    if (np.isnan(low) != np.isnan(high)).any():
        raise InputError(f"{where}: an interval has one end only")
    if ((low > auc + 1e-9) | (high < auc - 1e-9)).any():
        raise InputError(f"{where}: an interval does not hold its AUC")
    low, high = np.where(np.isnan(auc), np.nan, low), np.where(np.isnan(auc), np.nan, high)
    overall = float(within(numbers([model.overall], f"{where}.overall"), 0, 1, f"{where}.overall")[0])
    known = auc[~np.isnan(auc)]
    gap = t("gap undefined")
    if known.size > 1:
        gap = t("gap {gap}", gap=fixed(float(known.max() - known.min())))
        if model.gap_low is not None and model.gap_high is not None:
            gap += f" [{fixed(model.gap_low)}, {fixed(model.gap_high)}]"
    listed = ", ".join(f"{g} {fixed(float(a))}" for g, a in zip(groups, auc, strict=True) if not np.isnan(a))
    words = f"{model.model}: {_overall(overall)}; {listed}; {gap}."
    return _Panel(model.model, overall, auc, low, high, gap, words)


def _overall(overall: float) -> str:
    return t("overall undefined") if np.isnan(overall) else t("overall {auc}", auc=fixed(overall))


def _ends(values: Floats) -> tuple[float, float]:
    """A scale that holds all values, from one twentieth to another."""
    low, high = np.floor(values.min() * 20 - 0.2) / 20, np.ceil(values.max() * 20 + 0.2) / 20
    return max(float(low), 0.0), min(float(high), 1.0)


class _Place(NamedTuple):
    """Where a panel is drawn; `names` is the room of the groups' names, None where another panel has them."""

    top: float
    left: float
    width: float
    head: float
    names: float | None


def _draw(drawing: Drawing, panel: _Panel, groups: Sequence[str], across: Scale, place: _Place) -> float:
    top, x0, wide, head, names = place
    row = _ROW + head
    drawing.text("heading", x0 + 4, top + LINE - 4, fit(panel.model, (wide - 12) * 0.88, TEXT))
    drawing.text("tick", x0 + 4, top + 2 * LINE - 4, fit(_overall(panel.overall), wide - 12, SMALL))
    drawing.text("tick", x0 + 4, top + 3 * LINE - 4, fit(panel.gap, wide - 12, SMALL))
    begin = top + 3 * LINE + 6
    end = begin + row * len(groups) + 16
    bottom = drawing.x_axis(across, begin, end, "AUC") + 10
    if not np.isnan(panel.overall):
        drawing.line("overall", across(panel.overall), begin, across(panel.overall), end)
    for i, group in enumerate(groups):
        above = begin + i * row
        if names is not None:
            row_label(drawing, group, names, above, row)
        y = above + head + _ROW / 2
        value = x0 + wide - 4
        if np.isnan(panel.auc[i]):
            drawing.text("tick", value, y + 4, t("undefined") if wide > 260 else t("undef."), "end")
            continue
        if not np.isnan(panel.low[i]):
            drawing.line("bar", across(float(panel.low[i])), y, across(float(panel.high[i])), y)
        drawing.mark(0, across(float(panel.auc[i])), y)
        drawing.text("value", value, y + 4, fixed(float(panel.auc[i])), "end")
    known = panel.auc[~np.isnan(panel.auc)]
    if known.size > 1:
        ends = across(float(known.min())), across(float(known.max()))
        drawing.line("gap", ends[0], end - 7, ends[1], end - 7)
        for x in ends:
            drawing.line("gap", x, end - 11, x, end - 3)
    return bottom
