"""What all statistics share: quantiles as NumPy has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.stats._checks import pair_places, quantiles

LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.95, 1.0)


@given(st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, -0.0, 1.0]), min_size=1, max_size=60))
def test_quantiles_are_those_of_numpy(values):
    given = np.array(values)
    assert quantiles(given, LEVELS) == np.quantile(given, LEVELS).tolist()


def test_kept_pairs_cannot_be_written_to():
    first, second = pair_places(4)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7
