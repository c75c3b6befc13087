"""What one side of a comparison says of the other's ranks, against comparing them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.measure.sides import SideRanks

RANKS = st.lists(st.integers(0, 9), min_size=1, max_size=30).map(
    lambda ranks: np.array(ranks, dtype=np.int32)
)


@given(ours=RANKS, theirs=RANKS)
def test_ranks_stand_as_comparing_them_one_by_one_says(ours: np.ndarray, theirs: np.ndarray) -> None:
    won, lost = SideRanks.among(theirs).twice_won(ours)
    sign = np.sign(ours[:, None] - theirs[None, :])
    assert won.tolist() == (1 + sign).sum(axis=1).tolist()
    assert lost.tolist() == (1 - sign).sum(axis=0).tolist()
