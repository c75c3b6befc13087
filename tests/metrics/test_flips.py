"""Decisions that flip between versions of one application: by hand, and the sign test against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import decision_flip_share
from audit_lib.stats import sign_test


def test_by_hand():
    # x: 1 against 0 and 1, half of the pairs differ; y: equal; z has no version of the reference.
    decision, application = [1, 0, 1, 0, 0, 1], ["x", "x", "x", "y", "y", "z"]
    group = np.array([1, 0, 0, 1, 0, 1])
    assert decision_flip_share(decision, application, group, 1 - group) == 0.25
    assert decision_flip_share(decision, application, 1 - group, group) == 0.25


def test_what_cannot_be_compared_says_why():
    with pytest.raises(UndefinedMetricError, match="no application has a version in each"):
        decision_flip_share([1, 0], ["x", "y"], [1, 0], [0, 1])
    with pytest.raises(InputError, match="1 rows are in is_group and in is_reference"):
        decision_flip_share([1, 0], ["x", "x"], [1, 0], [1, 1])
    with pytest.raises(InputError, match="none missing"):
        decision_flip_share([1, 0], ["x", None], [1, 0], [0, 1])


@pytest.mark.parametrize(("plus", "minus"), [(9, 1), (5, 5), (0, 6), (1, 0), (40, 22)])
def test_the_sign_test_is_scipy_s(plus, minus):
    assert sign_test(plus, minus).p_value == pytest.approx(binomtest(plus, plus + minus).pvalue, rel=1e-12)
    with pytest.raises(InputError, match="not both 0"):
        sign_test(0, 0)
