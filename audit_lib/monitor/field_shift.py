"""How the sampled rows of two sides of windows differ in the fields that the spec names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.attribution import FieldShift
from audit_lib.documents.window_cells import WindowCells
from audit_lib.monitor.window_cells import BLOCKS
from audit_lib.seeds import generator

Floats = NDArray[np.float64]

_DRAWS: Final = 999


def field_shifts(before: Sequence[WindowCells], after: Sequence[WindowCells]) -> list[FieldShift]:
    """Return population stability index and Jensen-Shannon divergence of each field, and what chance makes of them.

    The reference is a wild cluster bootstrap: blocks of clusters keep their sizes, and how each departs from its side's
    shares is added to the shares of both sides together with a random sign.
    """
    names = list(dict.fromkeys(level.field for window in (*before, *after) for level in window.fields))
    standardised = set(after[0].strata_by)
    return [
        found
        for name in names
        if (found := _shift(name, before, after, standardised=name in standardised)) is not None
    ]


def _shift(
    name: str, before: Sequence[WindowCells], after: Sequence[WindowCells], *, standardised: bool
) -> FieldShift | None:
    levels = sorted(
        {one.level for window in (*before, *after) for one in window.fields if one.field == name},
        key=lambda level: (level is None, level or ""),
    )
    sides = [_counts(name, side, levels) for side in (before, after)]
    if len(levels) < 2 or any(side.sum() == 0 for side in sides):
        return None
    p, q = (_shares(side.sum(axis=0)) for side in sides)
    middle = (p + q) / 2.0
    pooled = sum(side.sum(axis=0) for side in sides)
    expected = pooled / pooled.sum()
    random = generator(0, "field shift", name)
    drawn = []
    for side in sides:
        sizes = side.sum(axis=1, keepdims=True)
        departs = side - sizes * (side.sum(axis=0) / side.sum())
        signs = random.choice([-1.0, 1.0], (_DRAWS, len(side)))
        drawn.append(signs @ departs / sizes.sum())
    chance = np.square(drawn[0] - drawn[1])
    told = np.square(sides[0].sum(axis=0) / sides[0].sum() - sides[1].sum(axis=0) / sides[1].sum())
    some = expected > 0
    statistic = float((told[some] / expected[some]).sum())
    references = (chance[:, some] / expected[some]).sum(axis=1)
    return FieldShift(
        field=name,
        levels=len(levels),
        psi=float(((q - p) * np.log(q / p)).sum()),
        jsd=float((p * np.log2(p / middle) + q * np.log2(q / middle)).sum() / 2.0),
        reference=float(np.quantile(references, 0.95)),
        p_value=(1 + int((references >= statistic * (1.0 - 1e-12)).sum())) / (1 + _DRAWS),
        standardised=standardised,
    )


def _counts(name: str, side: Sequence[WindowCells], levels: Sequence[str | None]) -> Floats:
    """Rows of each level, in each block of each window."""
    found = np.zeros((len(side), BLOCKS, len(levels)))
    for place, window in enumerate(side):
        for one in window.fields:
            if one.field == name:
                found[place, :, levels.index(one.level)] += one.rows
    rows = found.reshape(-1, len(levels))
    return np.asarray(rows[rows.sum(axis=1) > 0])


def _shares(counts: Floats) -> Floats:
    """Shares of the levels, each with half a row more, so that none is 0."""
    return np.asarray((counts + 0.5) / (counts + 0.5).sum())
