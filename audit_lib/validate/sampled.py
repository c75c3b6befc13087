"""What the checks need to know of all sampled prompts while the rows of a table go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from audit_lib.known_ids import KnownIds

if TYPE_CHECKING:
    import pandas as pd


class SampledPrompts:
    """The prompts' ids, how many variants each has, who is of unknown group, and the size of each round.

    Parameters
    ----------
    parts : iterable of Table
        The prompts some at a time: ``prompt_id``, the columns of `axes`, and ``round_id`` if rounds are ranked.
    axes : sequence of str
        Attributes.
    """

    def __init__(self, parts: Iterable[pa.Table], axes: Sequence[str]) -> None:
        ids, rounds = list[pa.Array](), list[pa.Array]()
        self._unknown = dict.fromkeys(axes, 0)
        for part in parts:
            ids += part["prompt_id"].chunks
            for axis in axes:
                self._unknown[axis] += part[axis].null_count
            if "round_id" in part.column_names:
                rounds += part["round_id"].drop_null().chunks
        self._ids = KnownIds(pa.chunked_array(ids, pa.string()))
        every = KnownIds(pa.chunked_array(rounds, pa.string()))
        self._rounds = every.distinct()
        self._sizes = np.bincount(self._rounds.places(every.ids), minlength=len(self._rounds))
        self.rows = len(self._ids)
        self._variants = np.zeros(len(self._ids), np.int32)

    def unknown_share(self, axis: str) -> float:
        """Return of what share of the prompts an attribute is not known."""
        return self._unknown[axis] / len(self._ids) if len(self._ids) else 0.0

    def count(self, ids: pd.Series) -> pd.Series:
        """Count the variants of each prompt; tell which of them have one."""
        import pandas as pd

        places = self._ids.places(ids)
        there = places >= 0
        np.add.at(self._variants, places[there], 1)
        return pd.Series(there, index=ids.index)

    def variants(self, ids: pd.Series) -> pd.Series:
        """Return how many variants that were counted each of these prompts has."""
        import pandas as pd

        return pd.Series(self._variants[self._ids.places(ids)], ids.index, "int64")

    def places(self, rounds: pd.Series) -> pd.Series:
        """Return how many prompts the round of each has; NaN where it has none."""
        import pandas as pd

        found = self._rounds.places(rounds)
        sizes = np.append(self._sizes.astype(np.float64), np.nan)  # -1 is the last place
        return pd.Series(sizes[found], index=rounds.index)
