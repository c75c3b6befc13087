from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import auc_covariance, auc_gap_intervals, auc_interval, rank_index_interval


def delong_by_definition(models, outcome):
    """DeLong, DeLong and Clarke-Pearson (1988), equations 2 to 6, pair by pair."""
    positive, negative = models[:, outcome == 1], models[:, outcome == 0]
    kernel = (np.sign(positive[:, :, None] - negative[:, None, :]) + 1) / 2
    s10, s01 = np.cov(kernel.mean(axis=2)), np.cov(kernel.mean(axis=1))
    return kernel.mean(axis=(1, 2)), s10 / positive.shape[1] + s01 / negative.shape[1]


def sample(seed, n=400, k=3):
    rng = np.random.default_rng(seed)
    outcome = rng.integers(2, size=n)
    scores = np.round(rng.normal(outcome, 1.2), 1)
    return scores, outcome, rng.random((n, k)) < [[0.7, 0.5, 0.3][:k]]


@pytest.mark.parametrize("seed", range(3))
def test_variance_of_one_subgroup_is_delongs(seed):
    scores, outcome, members = sample(seed)
    fit = auc_covariance(scores, outcome, members)
    for k in range(3):
        rows = members[:, k]
        auc, variance = delong_by_definition(np.atleast_2d(scores[rows]), outcome[rows])
        assert fit.auc[k] == pytest.approx(auc[0], abs=1e-12)
        assert fit.auc[k] == pytest.approx(roc_auc_score(outcome[rows], scores[rows]), abs=1e-12)
        assert fit.covariance[k, k] == pytest.approx(float(variance), rel=1e-10)
        assert fit.positives[k] == outcome[rows].sum()


def test_two_models_on_the_same_rows_are_delongs_matrix():
    # model 2 is put below model 1 as further rows of the same applications
    rng = np.random.default_rng(1)
    outcome = rng.integers(2, size=120)
    models = np.stack([rng.normal(outcome), rng.normal(0.5 * outcome)])
    models[1] += 0.4 * models[0]
    expected_auc, expected = delong_by_definition(models, outcome)
    members = np.kron(np.eye(2, dtype=bool), np.ones((120, 1), dtype=bool))
    fit = auc_covariance(models.ravel(), np.tile(outcome, 2), members, np.tile(np.arange(120), 2))
    assert fit.auc == pytest.approx(expected_auc)
    assert fit.covariance == pytest.approx(expected, rel=1e-10)


def test_disjoint_subgroups_are_independent_and_equal_ones_are_one():
    scores, outcome, members = sample(4)
    first = members[:, 0]
    fit = auc_covariance(scores, outcome, np.column_stack([first, ~first, first]))
    assert fit.covariance[0, 1] == 0.0
    assert fit.covariance[0, 2] == pytest.approx(fit.covariance[0, 0])


def test_covariance_of_overlapping_subgroups_agrees_with_the_bootstrap():
    scores, outcome, members = sample(5, n=600)
    fit = auc_covariance(scores, outcome, members)
    rng = np.random.default_rng(0)
    replicates = []
    for _ in range(1500):
        rows = rng.integers(600, size=600)
        score, positive, member = scores[rows], outcome[rows] == 1, members[rows]
        pairs = [np.sign(np.subtract.outer(score[m & positive], score[m & ~positive])) for m in member.T]
        replicates.append([(p.mean() + 1) / 2 for p in pairs])
    expected = np.cov(np.array(replicates).T)
    ours, theirs = (v / np.sqrt(np.outer(np.diag(v), np.diag(v))) for v in (fit.covariance, expected))
    assert np.diag(fit.covariance) == pytest.approx(np.diag(expected), rel=0.15)
    assert ours == pytest.approx(theirs, abs=0.1)
    assert ours[0, 1] > 0.3


def test_repeating_every_row_of_an_application_changes_nothing():
    scores, outcome, members = sample(6, n=80, k=2)
    once = auc_covariance(scores, outcome, members, np.arange(80))
    twice = auc_covariance(
        np.tile(scores, 2), np.tile(outcome, 2), np.tile(members, (2, 1)), np.tile(np.arange(80), 2)
    )
    assert twice.covariance == pytest.approx(once.covariance, rel=1e-12)
    plain = auc_covariance(scores, outcome, members)
    assert once.covariance == pytest.approx(plain.covariance, rel=1e-12)
    assert np.isinf(plain.df).all()
    assert once.df == tuple(min(pair) - 1 for pair in zip(once.positives, once.negatives, strict=True))


@given(st.integers(0, 10**6))
def test_covariance_is_positive_semidefinite(seed):
    scores, outcome, members = sample(seed, n=60)
    try:
        fit = auc_covariance(scores, outcome, members)
    except UndefinedMetricError:
        return
    assert np.linalg.eigvalsh(fit.covariance).min() >= -1e-12


def test_interval_is_the_rank_index_moved():
    scores, outcome, _ = sample(7, n=50)
    ours = auc_interval(scores, outcome)
    index = rank_index_interval(scores[outcome == 1], scores[outcome == 0])
    assert (ours.low, ours.high) == ((index.low + 1) / 2, (index.high + 1) / 2)
    clusters = np.repeat(np.arange(10), 5)
    clustered = auc_interval(scores, outcome, clusters)
    assert "cluster" in clustered.method


def test_a_separated_subgroup_still_has_variance():
    scores = np.array([4.0, 3, 2, 1, 4, 1, 3, 2])
    outcome = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    members = np.arange(2) == np.repeat([0, 1], 4)[:, None]
    fit = auc_covariance(scores, outcome, members)
    assert fit.auc.tolist() == [1.0, 0.5]
    low = auc_interval(scores[:4], outcome[:4]).low
    assert 1.959963984540054 * np.sqrt(fit.covariance[0, 0]) == pytest.approx(1 - low)


def test_gap_allows_for_the_choice_of_the_pair():
    scores, outcome, members = sample(8)
    result = auc_gap_intervals(scores, outcome, members)
    aucs = [roc_auc_score(outcome[m], scores[m]) for m in members.T]
    assert abs(result.largest.value) == pytest.approx(max(aucs) - min(aucs))
    assert result.gap.low <= abs(result.largest.value) <= result.gap.high
    assert result.gap.kind == "simultaneous"
    assert result.largest.conditional.kind == "conditional"
    assert result.largest.conditional.low > result.largest.interval.low
    again = auc_gap_intervals(scores, outcome, members)
    assert again == result


def test_refusals():
    scores, outcome = [0.1, 0.2, 0.3, 0.4], [0, 0, 0, 1]
    with pytest.raises(UndefinedMetricError, match="subgroup 0 has 1 positives"):
        auc_covariance(scores, outcome, np.ones((4, 1), dtype=bool))
    with pytest.raises(UndefinedMetricError, match="0 positives"):
        auc_covariance(scores, [0, 0, 0, 0], np.ones((4, 1), dtype=bool))
    with pytest.raises(UndefinedMetricError, match="1 independent negatives"):
        auc_covariance(scores, [0, 0, 1, 1], np.ones((4, 1), dtype=bool), [1, 1, 2, 3])
    with pytest.raises(InputError, match="one 0 or 1 a score"):
        auc_covariance(scores, [0, 1, 2, 1], np.ones((4, 1), dtype=bool))
    with pytest.raises(InputError, match="members have shape"):
        auc_covariance(scores, outcome, np.ones(4, dtype=bool))


def test_labels_and_members_are_complete():
    scores, outcome = [1, 2, 3, 4], [0, 1, 0, 1]
    with pytest.raises(InputError, match="clusters have shape"):
        auc_interval(scores, outcome, [1, 2])
    members = np.array([[1.0, 1], [1, np.nan], [1, 1], [1, 1]])
    with pytest.raises(InputError, match="members must hold"):
        auc_covariance(scores, outcome, members)
    with pytest.raises(InputError, match="scores: expected numbers"):
        auc_interval(["1", "2", "3", "4"], outcome)
