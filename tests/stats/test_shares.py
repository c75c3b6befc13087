"""The error of shares: by an independent bootstrap, by hand, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import bootstrap_weights, distance_interval
from audit_lib.stats.shares import share_errors


def counts(seed: int, clusters: int = 60, words: int = 3, groups: int = 2) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(seed))
    lean = rng.dirichlet(np.ones(groups), size=clusters)
    return np.stack([[rng.multinomial(3, p) for _ in range(words)] for p in lean])


def test_errors_are_those_of_resampled_rows() -> None:
    table = counts(1)
    # The plain way, row by row: who says what, and how often the row's cluster was drawn.
    rows = [
        (cluster, word, group)
        for cluster, word, group in np.ndindex(table.shape)
        for _ in range(table[cluster, word, group])
    ]
    order = np.lexsort(table.reshape(60, -1).T[::-1])
    place = np.empty(60, int)
    place[order] = np.arange(60)
    cluster, word, group = np.transpose(rows)
    whole = table.sum(axis=0) / table.sum(axis=(0, 2))[:, None]
    expected = []
    for weights in bootstrap_weights(60, 50, seed=4):
        drawn = weights[place[cluster]]
        each = []
        for w in range(3):
            of_group = [drawn[(word == w) & (group == g)].sum() for g in range(2)]
            each.append(np.abs(np.array(of_group) / sum(of_group) - whole[w]).sum() / 2)
        expected.append(np.mean(each) * (60 / 59) ** 0.5)
    assert share_errors(table, seed=4, draws=50).values == pytest.approx(expected)


def test_neither_the_names_of_clusters_nor_empty_ones_change_a_draw() -> None:
    table = counts(2)
    shuffled = np.random.Generator(np.random.PCG64(1)).permutation(table, axis=0)
    wider = np.concatenate([shuffled, np.zeros((5, 3, 2), int)])
    wider = np.concatenate([wider, np.zeros((65, 1, 2), int)], axis=1)  # a word that nobody says
    a, b = share_errors(table, seed=1), share_errors(wider, seed=1)
    assert np.array_equal(a.values, b.values)
    assert a.clusters == b.clusters == 60


def test_shares_that_are_all_alike_have_clopper_and_pearsons_limit() -> None:
    always = np.zeros((20, 1, 2), int)
    always[:, 0, 0] = 2
    values = share_errors(always, seed=3, draws=4000).values
    for p in (0.5, 0.95):
        assert np.quantile(values, p) == pytest.approx(beta.ppf(p, 1, 20), rel=0.07)
    interval = distance_interval(0.5, share_errors(always, seed=3, bound=0.5))
    assert interval.high == 0.5
    assert 0.3 < interval.low < 0.42
    # One of each in all of them: no spread either, and half as far to go.
    even = np.ones((20, 1, 2), int)
    assert share_errors(even, seed=3, draws=4000).values == pytest.approx(values / 2)


def test_a_word_of_one_cluster_says_little() -> None:
    table = np.zeros((30, 2, 2), int)
    table[:, 0] = np.array([[1, 0], [0, 1]] * 15)
    table[0, 1] = [3, 0]
    one = distance_interval(0.25, share_errors(table, seed=1))
    assert one.low == 0.0
    assert one.high - 0.25 > 0.4, "the second word may be anywhere"


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(UndefinedMetricError, match="at least two"):
        share_errors(np.array([[[1, 2]], [[0, 0]]]), seed=1)
    with pytest.raises(InputError, match="whole numbers"):
        share_errors(np.ones((2, 2)), seed=1)
    with pytest.raises(InputError, match="whole numbers"):
        share_errors(-np.ones((2, 2, 2), int), seed=1)


def test_parity_is_covered_by_clusters_and_not_by_rows() -> None:
    """Applications of ten mentions that lean to one side: rows as independent would reject far too often."""
    rng = np.random.Generator(np.random.PCG64(6))
    kept = naive = 0
    for draw in range(200):
        lean = rng.beta(0.5, 0.5, size=(40, 1))
        she = rng.binomial(10, lean)
        table = np.stack([she, 10 - she], axis=2)
        share = she.sum() / 400
        interval = distance_interval(abs(share - 0.5), share_errors(table, seed=draw, draws=399))
        kept += interval.low == 0.0
        naive += abs(share - 0.5) <= 1.96 * (0.25 / 400) ** 0.5
    assert kept / 200 > 0.9
    assert naive / 200 < 0.7
