"""Differences of error rates: by hand, and against fairlearn and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    false_negative_rate,
    false_positive_rate,
    selection_rate,
)
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import (
    decision_rate_gap,
    demographic_parity_gap,
    false_discovery_rate_gap,
    false_negative_rate_gap,
    false_omission_rate_gap,
    false_positive_rate_gap,
)


def false_discovery_rate(outcome, decision):
    return 1 - precision_score(outcome, decision)


def false_omission_rate(outcome, decision):
    return 1 - precision_score(outcome, decision, pos_label=0)


GAPS = {
    false_negative_rate_gap: (false_negative_rate, "with outcome 1"),
    false_positive_rate_gap: (false_positive_rate, "with outcome 0"),
    false_omission_rate_gap: (false_omission_rate, "with decision 0"),
    false_discovery_rate_gap: (false_discovery_rate, "with decision 1"),
}
ROWS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=60)


def test_gaps_by_hand():
    outcome = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0, 0])
    decision = np.array([0, 1, 1, 1, 1, 0, 0, 0, 1, 1])
    group = np.arange(10) < 6
    # Group: 4 positives, 1 missed; 2 negatives, 1 selected. Reference: 2 and 2 missed; 2 and 2.
    assert false_negative_rate_gap(outcome, decision, group, ~group) == 1 / 4 - 1
    assert false_positive_rate_gap(outcome, decision, group, ~group) == 1 / 2 - 1
    assert false_omission_rate_gap(outcome, decision, group, ~group) == 1 / 2 - 1
    assert false_discovery_rate_gap(outcome, decision, group, ~group) == 1 / 4 - 1


@pytest.mark.parametrize("gap", GAPS)
@given(rows=ROWS)
def test_gaps_are_those_of_the_peers(gap, rows):
    outcome, decision, group = (np.array(column) for column in zip(*rows, strict=True))
    rate, among = GAPS[gap]
    conditioned = {
        "with outcome 1": outcome,
        "with outcome 0": ~outcome,
        "with decision 0": ~decision,
        "with decision 1": decision,
    }[among]
    if not (conditioned & group).any() or not (conditioned & ~group).any():
        with pytest.raises(UndefinedMetricError, match=f"nobody {among}"):
            gap(outcome, decision, group, ~group)
        return
    by_group = MetricFrame(
        metrics=rate, y_true=outcome.astype(int), y_pred=decision.astype(int), sensitive_features=group
    ).by_group
    found = gap(outcome, decision, group, ~group)
    assert found == pytest.approx(by_group[True] - by_group[False], abs=1e-12)
    assert found == -gap(outcome, decision, ~group, group)


def test_a_rate_of_zero_is_a_rate():
    assert false_negative_rate_gap([1, 1], [1, 1], [1, 0], [0, 1]) == 0.0


def test_groups_may_leave_people_out_and_not_overlap():
    everybody = [1, 1, 1, 1]
    with pytest.raises(InputError, match="2 people are in is_group and in is_reference"):
        false_negative_rate_gap([1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0], everybody)
    assert false_negative_rate_gap([1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]) == 0.5


@pytest.mark.parametrize("gap", GAPS)
def test_wrong_input_is_named(gap):
    with pytest.raises(InputError, match="decision: 1 values where 2"):
        gap([1, 0], [1], [1, 0], [0, 1])
    with pytest.raises(InputError, match="is_group: 3 values where 2"):
        gap([1, 0], [1, 0], [1, 0, 0], [0, 1])
    with pytest.raises(InputError, match="outcome, row 0: expected 0 or 1, got 3"):
        gap([3, 0], [1, 0], [1, 0], [0, 1])
    with pytest.raises(UndefinedMetricError, match="decision: 1 of 2 entries are missing"):
        gap([1, 0], [np.nan, 0], [1, 0], [0, 1])
    with pytest.raises(UndefinedMetricError, match="group: nobody"):
        gap([], [], [], [])


@given(rows=ROWS)
def test_the_rate_of_decisions_is_fairlearn_s(rows):
    outcome, decision, group = (np.array(column) for column in zip(*rows, strict=True))
    if group.all() or not group.any():
        with pytest.raises(UndefinedMetricError, match="nobody with a decision"):
            decision_rate_gap(outcome, decision, group, ~group)
        return
    found = decision_rate_gap(outcome, decision, group, ~group)
    frame = MetricFrame(metrics=selection_rate, y_true=outcome, y_pred=decision, sensitive_features=group)
    assert found == pytest.approx(frame.by_group[True] - frame.by_group[False], abs=1e-15)
    assert abs(found) == pytest.approx(
        demographic_parity_difference(outcome, decision, sensitive_features=group), abs=1e-15
    )
    assert found == demographic_parity_gap(decision[group], decision[~group])
