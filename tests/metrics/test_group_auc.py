"""AUC and AUC gap: by hand, and against scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import auc, auc_by_group, auc_gap
from audit_lib.results import Undefined

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.sampled_from("abc")), min_size=2, max_size=40)


def test_auc_by_hand():
    # 0.4 ties with 0.4; the other three pairs are in order.
    assert auc([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]) == 0.875
    assert auc([1, 2], [0, 1]) == 1.0
    assert auc([2, 1], [0, 1]) == 0.0
    assert auc([1, 1], [True, False]) == 0.5


@given(ROWS)
def test_auc_is_scikit_learns(rows):
    scores, outcome, _ = map(np.array, zip(*rows, strict=True))
    if outcome.all() or not outcome.any():
        with pytest.raises(UndefinedMetricError, match="no (positive|negative) outcome among"):
            auc(scores, outcome)
        return
    assert auc(scores, outcome) == pytest.approx(roc_auc_score(outcome, scores), abs=1e-12)
    assert auc(scores, outcome) == pytest.approx(1 - auc(-scores, outcome), abs=1e-15)
    assert auc(scores, outcome) == pytest.approx(1 - auc(scores, ~outcome), abs=1e-15)
    assert auc(np.exp(scores), outcome) == auc(scores, outcome)


@given(ROWS)
def test_gap_is_the_largest_difference_of_two_subgroups(rows):
    scores, outcome, groups = map(np.array, zip(*rows, strict=True))
    aucs = [
        roc_auc_score(outcome[groups == g], scores[groups == g])
        for g in np.unique(groups)
        if 0 < outcome[groups == g].sum() < (groups == g).sum()
    ]
    if len(aucs) < 2:
        with pytest.raises(UndefinedMetricError, match="a gap needs two"):
            auc_gap(scores, outcome, groups)
        return
    expected = max(abs(x - y) for x, y in itertools.combinations(aucs, 2))
    assert auc_gap(scores, outcome, groups) == pytest.approx(expected, abs=1e-12)


def test_overlapping_subgroups():
    scores, outcome = [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]
    masks = {
        "everybody": [1, 1, 1, 1, 1, 1],
        "first four": [1, 1, 1, 1, 0, 0],
        "middle": [0, 1, 1, 0, 0, 0],
    }
    table = auc_by_group(scores, outcome, masks)
    assert {row.group: row.auc for row in table.rows} == {
        "everybody": 6 / 9,
        "first four": 0.75,
        "middle": 0.0,
    }
    assert table.overall == 6 / 9
    assert (table.gap, table.highest, table.lowest) == (0.75, "first four", "middle")
    assert [(row.n, row.positives) for row in table.rows] == [(6, 3), (4, 2), (2, 1)]
    assert auc_gap(scores, outcome, masks, min_n=3) == pytest.approx(0.75 - 6 / 9)


def test_left_out_subgroups_say_why():
    table = auc_by_group([1, 2, 3, 4, 5], [0, 1, 1, 1, 0], ["a", "a", "b", "b", "c"])
    assert [row.auc for row in table.rows] == [
        1.0,
        Undefined("no negative outcome among 2"),
        Undefined("1 members, fewer than the minimum of 2"),
    ]
    assert table.gap == Undefined("1 of 3 subgroups have an AUC; a gap needs two")
    assert (table.highest, table.lowest) == (None, None)
    with pytest.raises(UndefinedMetricError, match="1 of 3 subgroups"):
        auc_gap([1, 2, 3, 4, 5], [0, 1, 1, 1, 0], ["a", "a", "b", "b", "c"])


def test_rows_without_a_group_count_overall_only():
    table = auc_by_group([1, 2, 3, 4], [0, 1, 1, 0], ["a", "a", None, None])
    assert [(row.group, row.n) for row in table.rows] == [("a", 2)]
    assert table.overall == 0.5


def test_multiclass_is_the_mean_of_one_against_the_rest():
    rng = np.random.default_rng(8)
    scores = rng.dirichlet(np.ones(3), 300)
    outcome = np.array(["high", "low", "some"])[rng.integers(0, 3, 300)]
    groups = rng.integers(0, 2, 300)
    expected = roc_auc_score(outcome, scores, multi_class="ovr", average="macro")
    assert auc(scores, outcome) == pytest.approx(expected, abs=1e-12)
    by_group = [
        roc_auc_score(outcome[groups == g], scores[groups == g], multi_class="ovr", average="macro")
        for g in (0, 1)
    ]
    assert auc_gap(scores, outcome, groups) == pytest.approx(abs(by_group[0] - by_group[1]), abs=1e-12)


def test_real_outcomes_at_or_above_the_threshold_are_positive():
    ratings = [2.0, 2.9, 3.0, 4.5]
    assert auc([0.1, 0.6, 0.4, 0.8], ratings, threshold=3) == auc([0.1, 0.6, 0.4, 0.8], [0, 0, 1, 1]) == 0.75


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="outcome, row 1: expected 0 or 1, got 2"):
        auc([1, 2], [0, 2])
    with pytest.raises(UndefinedMetricError, match="outcome: 1 of 2 entries are missing"):
        auc([1, 2], [0, np.nan])
    with pytest.raises(UndefinedMetricError, match="scores: 1 of 2 scores are missing"):
        auc([1, np.nan], [0, 1])
    with pytest.raises(InputError, match="outcome: 3 values where 2"):
        auc([1, 2], [0, 1, 1])
    with pytest.raises(InputError, match="2 columns for 3 classes"):
        auc(np.ones((3, 2)), ["a", "b", "c"])
    with pytest.raises(InputError, match="threshold"):
        auc(np.ones((2, 2)), ["a", "b"], threshold=1)
    with pytest.raises(InputError, match="3 labels for 2 scores"):
        auc_gap([1, 2], [0, 1], ["a", "b", "c"])
    with pytest.raises(InputError, match="groups\\['a'\\]: 1 values where 2"):
        auc_gap([1, 2], [0, 1], {"a": [1]})
