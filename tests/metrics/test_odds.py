"""Average and equalised odds: by hand, against fairlearn, and against aif360 where it is installed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics import average_odds_gap, equalised_odds_gap, false_positive_rate_gap


def people(seed: int, n: int = 200) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    outcome, group = rng.random(n) < 0.5, rng.random(n) < 0.4
    return outcome, rng.random(n) < np.where(group, 0.3, 0.5) + 0.2 * outcome, group


def test_by_hand():
    outcome = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0])
    decision = np.array([1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0])
    group = np.arange(12) < 6
    # True positive rates 3/4 and 1/2, false ones 1/2 and 3/4: the gaps cancel, and one of them is still 1/4.
    assert average_odds_gap(outcome, decision, group, ~group) == 0.0
    assert equalised_odds_gap(outcome, decision, group, ~group) == 0.25
    decision[9] = 0
    assert average_odds_gap(outcome, decision, group, ~group) == 0.125
    with pytest.raises(UndefinedMetricError, match="reference: nobody with outcome 0"):
        equalised_odds_gap(outcome[:8], decision[:8], group[:8], ~group[:8])


@pytest.mark.parametrize("seed", range(20))
def test_equalised_odds_are_fairlearn_s(seed):
    from fairlearn.metrics import equalized_odds_difference

    outcome, decision, group = people(seed)
    theirs = equalized_odds_difference(outcome, decision, sensitive_features=group)
    assert equalised_odds_gap(outcome, decision, group, ~group) == pytest.approx(theirs, abs=1e-15)


@pytest.mark.skipif(importlib.util.find_spec("aif360") is None, reason="aif360 has an environment of its own")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(20))
def test_average_odds_are_aif360_s(seed):
    import pandas as pd
    from aif360.sklearn.metrics import average_odds_difference

    outcome, decision, group = people(seed)
    index = pd.MultiIndex.from_arrays([(~group).astype(int)], names=["g"])
    y = pd.Series(outcome.astype(int), index=index)
    theirs = average_odds_difference(y, decision.astype(int), prot_attr="g", priv_group=1)
    assert average_odds_gap(outcome, decision, group, ~group) == pytest.approx(theirs, abs=1e-15)


def test_the_average_is_half_the_sum_of_both_gaps():
    outcome, decision, group = people(3)
    selected = [decision[outcome & side].mean() for side in (group, ~group)]
    both = selected[0] - selected[1] + false_positive_rate_gap(outcome, decision, group, ~group)
    assert average_odds_gap(outcome, decision, group, ~group) == pytest.approx(both / 2, abs=1e-15)
