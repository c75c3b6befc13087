"""The order in which a gate asks: units that are independent of each other, whole, in an order drawn by the seed.

A unit is what is compared within: an application in all its versions, or a round with all its candidates. Batches are
small first and grow, so that what is clear is clear early, and many looks cost few loads of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow.parquet as pq

from audit_lib.large_file import Content
from audit_lib.records import VARIATION, parquet_source
from audit_lib.score.requests import Request
from audit_lib.seeds import generator

FIRST: Final = 25
"""Units of the first batch."""
GROWTH: Final = 4
"""A batch is a part of this size of all before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateUnits:
    """Which unit each row belongs to.

    Parameters
    ----------
    of_variant : mapping of str to str
        Variant id -> its unit. Rows that vary the prompt itself are in none: they answer other questions than a gate's.
    order : tuple of str
        Units in the order in which they are asked.
    """

    of_variant: Mapping[str, str]
    order: tuple[str, ...]

    @classmethod
    def of(cls, variants: Content, columns: Sequence[str], seed: int) -> GateUnits:
        """Join rows that share a value in any of the columns, and draw an order."""
        names = pq.read_schema(parquet_source(variants)).names
        extra = [VARIATION] if VARIATION in names else []
        rows = pq.read_table(parquet_source(variants), columns=["variant_id", *columns, *extra]).to_pylist()
        parent: dict[str, str] = {}

        def root(name: str) -> str:
            while parent.setdefault(name, name) != name:
                parent[name] = parent[parent[name]]
                name = parent[name]
            return name

        joined: dict[str, str] = {}
        for row in rows:
            if row.get(VARIATION):
                continue
            shared = [f"{name}={row[name]}" for name in columns if row[name] is not None]
            first, *others = sorted(root(name) for name in shared or [row["variant_id"]])
            for other in others:
                parent[other] = first
            joined[row["variant_id"]] = first
        of_variant = {variant: root(name) for variant, name in joined.items()}
        units = sorted(set(of_variant.values()))
        places = generator(seed, "gate").permutation(len(units)).tolist()
        return cls(of_variant=of_variant, order=tuple(units[place] for place in places))

    def batches(self, asked: Sequence[Request]) -> dict[int, list[Request]]:
        """Deal requests out, those of one unit together."""
        number, ends = {}, batch_ends(len(self.order))
        for place, unit in enumerate(self.order):
            number[unit] = next(n for n, end in enumerate(ends) if place < end)
        found: dict[int, list[Request]] = {}
        for one in asked:
            units = [self.of_variant.get(candidate.variant_id) for candidate in one.candidates]
            if units[0] is not None:
                found.setdefault(number[units[0]], []).append(one)
        return dict(sorted(found.items()))


def batch_ends(units: int) -> list[int]:
    """Return how many units are asked after each batch.

    Examples
    --------
    >>> batch_ends(24), batch_ends(200)
    ([24], [25, 50, 75, 100, 125, 156, 195, 200])
    """
    ends: list[int] = []
    while not ends or ends[-1] < units:
        before = ends[-1] if ends else 0
        ends.append(min(before + max(FIRST, before // GROWTH), units))
    return ends
