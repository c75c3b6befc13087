"""Sums of two sides of windows by stratum and block, and the difference of two groups for any mixture of the sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.window_cells import WindowCells
from audit_lib.monitor.window_cells import BLOCKS

Floats = NDArray[np.float64]
Stratum = tuple[str, ...]

OTHER: Final = "other strata"
_FEWEST: Final = 10
"""Answers of a group on a side below which a stratum is merged with other such strata."""
ASKED, ANSWERED, TOTAL = range(3)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """Rows asked, answered, and sum of values, of one group: first of everybody, then without each block.

    Parameters
    ----------
    sums : ndarray, shape (3, strata, 1 + blocks)
        In the order `ASKED`, `ANSWERED`, `TOTAL`.
    """

    sums: Floats

    @property
    def whole(self) -> Floats:
        """The three sums over all strata, of everybody and without each block."""
        return np.asarray(self.sums.sum(axis=1))

    @property
    def unread(self) -> Floats:
        """Share of rows without an answer."""
        asked, answered, _ = self.whole
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 - answered / asked)

    @property
    def mean(self) -> Floats:
        """Mean value of all rows with an answer."""
        return self.at(self)

    def at(self, mix: Tallies) -> Floats:
        """Return the mean value with the strata as frequent as in `mix`, what is in each of them as it is here."""
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = mix.sums[ASKED] / self.sums[ASKED]
            weight = np.where(mix.sums[ASKED] == 0, 0.0, weight)
            own = np.where(weight[None] == 0, 0.0, weight[None] * self.sums[1:])
            answered, total = own.sum(axis=1)
            return np.asarray(total / answered)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StratifiedSides:
    """The two groups of a comparison, on two sides, over the same strata.

    Parameters
    ----------
    strata : list of tuple of str
        Those with enough answers on both sides, then `OTHER` where some are merged.
    tables : mapping of str to (Tallies, Tallies)
        Of each set of windows that was given, the group and its reference.
    blocks : ndarray of bool
        Which blocks hold anybody.
    merged : int
        Strata that are in `OTHER`.
    comparable : bool
        Whether each stratum of either group has answers on both sides.
    """

    strata: list[Stratum]
    tables: Mapping[str, tuple[Tallies, Tallies]]
    blocks: NDArray[np.bool_]
    merged: int
    comparable: bool

    @classmethod
    def of(cls, name: SequenceName, windows: Mapping[str, Sequence[WindowCells]]) -> StratifiedSides:
        """Add up windows; those under ``before`` and ``after`` decide about the strata."""
        raw = {
            key: [_added(name, group, some) for group in (name.group, name.reference)]
            for key, some in windows.items()
        }
        two = [*raw["before"], *raw["after"]]
        strata = sorted({stratum for one in two for stratum in one})
        nothing = np.zeros((3, BLOCKS))

        def cube(one: Mapping[Stratum, Floats]) -> Floats:
            return np.stack([one.get(stratum, nothing) for stratum in strata], axis=1)

        cubes = {key: [cube(one) for one in groups] for key, groups in raw.items()}
        enough = np.ones(len(strata), dtype=bool)
        for before, after in zip(cubes["before"], cubes["after"], strict=True):
            counts = np.stack([before.sum(axis=2), after.sum(axis=2)])
            enough &= (counts[:, ASKED] == 0).all(axis=0) | (counts[:, ANSWERED] >= _FEWEST).all(axis=0)
        merged = int((~enough).sum())
        if merged:
            cubes = {
                key: [
                    np.concatenate([one[:, enough], one[:, ~enough].sum(axis=1, keepdims=True)], axis=1)
                    for one in groups
                ]
                for key, groups in cubes.items()
            }
        kept = [stratum for stratum, full in zip(strata, enough.tolist(), strict=True) if full]
        comparable = all(
            ((one[ASKED].sum(axis=1) == 0) | (other[ANSWERED].sum(axis=1) > 0)).all()
            for before, after in zip(cubes["before"], cubes["after"], strict=True)
            for one, other in ((before, after), (after, before))
        )
        return cls(
            strata=[*kept, *([(OTHER,)] if merged else [])],
            tables={key: (_without(groups[0]), _without(groups[1])) for key, groups in cubes.items()},
            blocks=sum(one[ASKED].sum(axis=0) for key in ("before", "after") for one in cubes[key]) > 0,
            merged=merged,
            comparable=bool(comparable),
        )

    def difference(self, inside: str, mix: str) -> Floats:
        """Return the group's mean less the reference's: what is in the strata of one side, in another side's mix."""
        ours, theirs = self.tables[inside]
        our_mix, their_mix = self.tables[mix]
        if inside == mix:
            return ours.mean - theirs.mean
        return ours.at(our_mix) - theirs.at(their_mix)

    def replicates(self, values: Floats) -> Floats:
        """Return the values without each block that holds anybody."""
        return np.asarray(values[..., 1:][..., self.blocks])


def _added(
    name: SequenceName, group: Mapping[str, str], windows: Sequence[WindowCells]
) -> dict[Stratum, Floats]:
    """Add up a group's cells over windows: stratum -> sums by block."""
    key, found = canonical_json(dict(group)), dict[Stratum, Floats]()
    for window in windows:
        for cell in window.cells:
            if cell.quantity == name.quantity and canonical_json(dict(cell.group)) == key:
                own = np.array([cell.asked, cell.answered, cell.total], dtype=np.float64)
                found[cell.stratum] = found.get(cell.stratum, 0.0) + own
    return found


def _without(cube: Floats) -> Tallies:
    whole = cube.sum(axis=2, keepdims=True)
    return Tallies(sums=np.concatenate([whole, whole - cube], axis=2))
