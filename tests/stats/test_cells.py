from __future__ import annotations

import numpy as np
import pytest

from audit_lib.errors import InputError
from audit_lib.stats import class_reason, flags, pair_reason


def test_a_cell_of_exactly_the_threshold_is_not_small():
    assert flags(5, threshold=5) == ()
    assert flags(4, threshold=5) == ("small_cell",)
    assert flags(100, 0, threshold=5) == ("small_cell",)
    assert flags(0, threshold=0) == ()


def test_reasons_of_pairs():
    assert pair_reason(1, 1) is None
    assert pair_reason(3, 0) == "no one in the reference"
    assert pair_reason(0, 0) == "no one in the group"
    assert pair_reason(1, 9, minimum=2) == "one member in the group; at least 2 are needed"
    assert pair_reason(9, 3, minimum=4) == "3 members in the reference; at least 4 are needed"


def test_reasons_of_classes():
    assert class_reason(np.array([True, False])) is None
    assert class_reason([0, 0]) == "one class only: 0 positive, 2 negative"
    assert class_reason(iter([])) == "no one in the cell"
    assert class_reason([1, 0, 0, 0], minimum=2) == "1 positive, 3 negative; at least 2 of each are needed"


@pytest.mark.parametrize("arguments", [(), (-1,)])
def test_refuses_what_is_not_a_count(arguments):
    with pytest.raises(InputError, match="must be counts"):
        flags(*arguments, threshold=5)


@pytest.mark.parametrize("outcome", [float("nan"), None, "0", 2])
def test_an_outcome_is_true_or_false(outcome):
    with pytest.raises(InputError, match="row 1"):
        class_reason([1, outcome, 0])
    assert class_reason(np.array([True, False])) is None
