"""Clusters that are alike are added up together, with the very numbers that one after another has."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.stats.cluster_kinds import ClusterKinds
from audit_lib.stats.cluster_worth import ClusterWorth, cluster_spread, degrees_of_squares, worth_of


def drawn(seed: int, clusters: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.integers(0, most + 1, clusters)
    people[:4] = most
    return rng.binomial(people, 0.3).astype(float), people.astype(float)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 99),
    clusters=st.sampled_from([4, 255, 256, 257, 3000]),
    most=st.sampled_from([1, 2, 9, 200]),
)
def test_each_cluster_is_of_a_kind_and_totals_are_exact(seed: int, clusters: int, most: int) -> None:
    selected, people = drawn(seed, clusters, most)
    kinds = ClusterKinds.of(selected, people)
    assert (kinds.selected[kinds.of_cluster] == selected).all()
    assert (kinds.people[kinds.of_cluster] == people).all()
    assert kinds.clusters.sum() == clusters and (kinds.clusters > 0).all()
    values = np.random.default_rng(seed).normal(size=kinds.people.size) * 10.0 ** (seed % 7)
    exact = sum(
        (Fraction(v) * c for v, c in zip(values.tolist(), kinds.clusters.tolist(), strict=True)), Fraction(0)
    )
    assert kinds.total(values) == float(exact)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 99), clusters=st.sampled_from([5, 300, 4000]), most=st.sampled_from([1, 2, 30]))
def test_the_spread_is_that_of_one_cluster_after_another(seed: int, clusters: int, most: int) -> None:
    """The formula of the docstring, cluster by cluster, and in any order of the clusters."""
    selected, people = drawn(seed, clusters, most)
    found = cluster_spread(selected, people)
    n, count = people.sum(), int((people > 0).sum())
    shares = people / n
    moved = math.sqrt((count - 1) / count) * (selected - selected.sum() / n * people) / (n * (1 - shares))
    assert (found.moved == moved).all()
    assert found.variance == math.fsum((moved**2).tolist())
    there = people > 0
    as_one = np.ptp(people[there]) == 0 and np.isin(selected[there] / people[there], (0, 1)).all()
    squares = degrees_of_squares(np.square(moved), count)
    assert found.df == (worth_of(shares) - 1 if as_one else min(worth_of(shares) - 1, squares))
    order = np.random.default_rng(seed).permutation(clusters)
    turned = cluster_spread(selected[order], people[order])
    assert (turned.variance, turned.df) == (found.variance, found.df)


def test_many_clusters_of_few_kinds_are_few_numbers() -> None:
    kinds = ClusterKinds.of(*drawn(1, 100_000, 2))
    assert kinds.people.size == 6
    assert kinds.total(np.ones(6)) == 100_000 == kinds.clusters.sum()
    assert kinds.total(kinds.people) == pytest.approx(kinds.people[kinds.of_cluster].sum(), rel=0)


@pytest.mark.parametrize("part", [1.0, 0.75])
def test_what_clusters_are_worth_is_that_of_one_after_another(part: float) -> None:
    """Of whole rows, and of weights, which are not whole."""
    rows = drawn(3, 2000, 5)[1] * part
    assert ClusterWorth.of(rows).df == worth_of(rows / rows.sum()) - 1
