"""Theil index and conditional demographic disparity: by hand, and against aif360 where it is installed."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import conditional_demographic_disparity, theil_between, theil_index
from audit_lib.metrics.inequality import benefits


def entropy(values: np.ndarray) -> float:
    """Generalised entropy with alpha 1, as the paper writes it."""
    return sum(b / values.mean() * math.log(b / values.mean()) for b in values if b) / values.size


def people(seed: int, n: int = 150) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.5, rng.random(n) < 0.4, rng.integers(0, 3, n)


@pytest.mark.parametrize("seed", range(10))
def test_the_index_and_its_part_between_groups_are_the_paper_s(seed):
    outcome, decision, group = people(seed)
    benefit = decision.astype(float) - outcome + 1
    assert benefits(outcome, decision).tolist() == benefit.tolist()
    assert theil_index(outcome, decision) == pytest.approx(entropy(benefit), abs=1e-12)
    means = np.array([benefit[group == one].mean() for one in range(3)])[group]
    assert theil_between(outcome, decision, group) == pytest.approx(entropy(means), abs=1e-12)


def test_what_has_no_index_says_why():
    with pytest.raises(UndefinedMetricError, match="nobody has a benefit"):
        theil_index([1, 1], [0, 0])
    with pytest.raises(UndefinedMetricError, match="1 groups have people"):
        theil_between([1, 0], [1, 1], ["a", "a"])
    assert theil_index([1, 0, 1], [1, 0, 1]) == 0.0


@pytest.mark.skipif(importlib.util.find_spec("aif360") is None, reason="aif360 has an environment of its own")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(10))
def test_the_index_is_aif360_s(seed):
    import pandas as pd
    from aif360.sklearn.metrics import between_group_generalized_entropy_error
    from aif360.sklearn.metrics import theil_index as theirs

    outcome, decision, group = people(seed)
    assert theil_index(outcome, decision) == pytest.approx(theirs(benefits(outcome, decision)), abs=1e-12)
    index = pd.MultiIndex.from_arrays([group], names=["g"])
    between = between_group_generalized_entropy_error(
        pd.Series(outcome.astype(int), index=index),
        pd.Series(decision.astype(int), index=index),
        prot_attr="g",
        alpha=1,
    )
    assert theil_between(outcome, decision, group) == pytest.approx(between, abs=1e-12)


def clarify(decision: np.ndarray, strata: np.ndarray, group: np.ndarray) -> float:
    """CDD as SageMaker Clarify defines it: DD = n_d(0) / n(0) - n_d(1) / n(1), weighted by the strata's sizes."""
    total, sizes = 0.0, 0
    for one in np.unique(strata):
        own = strata == one
        rejected, accepted = own & ~decision, own & decision
        total += own.sum() * (
            (group & rejected).sum() / rejected.sum() - (group & accepted).sum() / accepted.sum()
        )
        sizes += own.sum()
    return total / sizes


@pytest.mark.parametrize("seed", range(10))
def test_the_disparity_is_clarify_s(seed):
    _, decision, strata = people(seed)
    group = np.random.default_rng([seed, 1]).random(decision.size) < 0.3
    ours = conditional_demographic_disparity(decision, strata, group, ~group)
    assert ours == pytest.approx(clarify(decision, strata, group), abs=1e-14)
    assert conditional_demographic_disparity(decision, strata, ~group, group) == pytest.approx(
        -ours, abs=1e-14
    )


def test_berkeley_s_gap_goes_away_within_departments():
    # 30 of 60 women and 60 of 90 men are admitted; within each department both sexes are admitted alike.
    decision, strata, women = [], [], []
    for department, sex, admitted, rejected in (
        ("x", 1, 20, 5),
        ("x", 0, 56, 14),
        ("y", 1, 10, 25),
        ("y", 0, 4, 10),
    ):
        decision += [1] * admitted + [0] * rejected
        strata += [department] * (admitted + rejected)
        women += [sex] * (admitted + rejected)
    mine = np.array(women) == 1
    assert conditional_demographic_disparity(decision, strata, mine, ~mine) == pytest.approx(0.0, abs=1e-15)
    assert conditional_demographic_disparity(decision, ["all"] * len(decision), mine, ~mine) > 0.2


def test_a_stratum_of_one_decision_says_nothing():
    decision, strata = np.array([1, 0, 1, 1]), np.array(["x", "x", "y", "y"])
    mine = np.array([True, False, True, False])
    assert conditional_demographic_disparity(decision, strata, mine, ~mine) == -1.0
    with pytest.raises(UndefinedMetricError, match="no stratum has both selected and rejected"):
        conditional_demographic_disparity(decision[2:], strata[2:], mine[2:], ~mine[2:])
    with pytest.raises(InputError, match="are in is_group and in is_reference"):
        conditional_demographic_disparity(decision, strata, mine, mine)
