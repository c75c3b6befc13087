"""Tests of equal rates hold though the comparator is picked by the data: against enumeration and simulation."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, norm

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import ClusteredRates, clustered_equal_rates, equal_rates


def root(a: int, n: int, b: int, m: int) -> float:
    """Signed root of the likelihood ratio of two binomials, term by term."""

    def loglik(x: int, total: int, p: float) -> float:
        return (x * log(p) if x else 0.0) + ((total - x) * log(1 - p) if x < total else 0.0)

    common = (a + b) / (n + m)
    gain = loglik(a, n, a / n) + loglik(b, m, b / m) - loglik(a, n, common) - loglik(b, m, common)
    return (2 * max(gain, 0.0)) ** 0.5


def largest(x: list[int], n: list[int]) -> float:
    return max(root(x[i], n[i], x[j], n[j]) for i, j in combinations(range(len(n)), 2))


@pytest.mark.parametrize(("x", "n"), [((20, 40), (100, 100)), ((3, 9), (7, 30)), ((0, 6), (9, 12))])
def test_two_categories_are_the_exact_conditional_test(x: tuple[int, int], n: tuple[int, int]) -> None:
    total = sum(x)
    counts = range(max(0, total - n[1]), min(n[0], total) + 1)
    seen = root(x[0], n[0], x[1], n[1])
    expected = sum(
        hypergeom.pmf(a, sum(n), total, n[0]) for a in counts if root(a, n[0], total - a, n[1]) >= seen - 1e-9
    )
    assert equal_rates(x, n).p_value == pytest.approx(expected, rel=1e-9)


def test_few_people_are_counted_one_by_one() -> None:
    x, n, people = [3, 1, 0], [3, 3, 2], range(8)
    group = np.repeat([0, 1, 2], n)
    draws = [np.bincount(group[list(who)], minlength=3).tolist() for who in combinations(people, sum(x))]
    p = np.mean([largest(one, n) >= largest(x, n) - 1e-9 for one in draws])
    found = equal_rates(x, n)
    assert found.p_value == pytest.approx(p) == min(found.p_values)
    assert found.p_values[0] == 1.0, "the highest rate is below no other"


def test_permutations_agree_with_shuffled_people() -> None:
    n = [40, 55, 70, 35, 60]
    x = [20, 18, 21, 6, 25]
    group = np.repeat(np.arange(5), n)
    chosen = np.arange(sum(n)) < sum(x)
    rng = np.random.default_rng(3)
    seen = largest(x, n)
    drawn = [
        largest(np.bincount(group[rng.permutation(chosen)], minlength=5).tolist(), n) for _ in range(1500)
    ]
    assert equal_rates(x, n).p_value == pytest.approx(np.mean(np.array(drawn) >= seen), abs=0.015)


def test_equal_groups_are_seldom_found_unequal_and_the_picked_comparator_is_the_reason() -> None:
    rng, k, n, repeats = np.random.default_rng(5), 14, 50, 300
    found = naive = 0
    for repeat in range(repeats):
        x = rng.binomial(n, 0.3, k).tolist()
        found += equal_rates(x, [n] * k, permutations=499, seed=repeat).p_value < 0.05
        fixed = [2 * norm.sf(root(one, n, max(x), n)) for one in x]
        naive += min(fixed) * (k - 1) < 0.05
    assert found / repeats <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5
    assert naive / repeats > 0.1


def test_a_true_difference_is_found_next_to_equal_rates_and_steps_down() -> None:
    found = equal_rates([100, 98, 97, 40, 96, 60], [200] * 6)
    assert [p < 0.05 for p in found.p_values] == [False, False, False, True, False, True]
    assert found.p_values[3] < 1e-6, "p-values below what draws can tell come from exact tests"
    alone = equal_rates([100, 98, 97, 96, 60], [200] * 5)
    assert found.p_values[5] == pytest.approx(alone.p_values[4], abs=0.003), "the first find is set aside"


def test_a_tiny_category_at_the_top_does_not_hide_a_difference_between_large_ones() -> None:
    found = equal_rates([47, 112, 2], [224, 224, 2])
    assert found.p_values[0] < 1e-6 and found.p_values[1] > 0.2 and found.p_values[2] == 1.0


def test_neither_the_names_nor_the_order_of_categories_change_anything() -> None:
    x, n = [10, 25, 30, 12], [60, 70, 65, 66]
    order = [2, 0, 3, 1]
    there = equal_rates(x, n, seed=9)
    back = equal_rates([x[i] for i in order], [n[i] for i in order], seed=9)
    assert [there.p_values[i] for i in order] == list(back.p_values)


def test_what_cannot_be_tested_says_why() -> None:
    with pytest.raises(UndefinedMetricError, match="nobody was selected"):
        equal_rates([0, 0], [5, 5])
    with pytest.raises(UndefinedMetricError, match="everybody was selected"):
        equal_rates([5, 5], [5, 5])
    with pytest.raises(UndefinedMetricError, match="fewer than two"):
        equal_rates([5], [9])
    with pytest.raises(InputError, match="2 counts of selected for 1"):
        equal_rates([5, 1], [9])
    one = ClusteredRates.of(np.array([[1, 0, 2], [0, 2, 0]]), np.array([[1, 1, 2], [0, 3, 0]]))
    with pytest.raises(UndefinedMetricError, match="in one cluster"):
        clustered_equal_rates(one)
    empty = ClusteredRates.of(np.array([[1, 0], [0, 1], [0, 0]]), np.array([[1, 1], [1, 1], [0, 0]]))
    with pytest.raises(UndefinedMetricError, match="a category has no people"):
        clustered_equal_rates(empty)


def competing(rng: np.random.Generator, rounds: int, size: int, places: int) -> tuple[np.ndarray, np.ndarray]:
    """Rounds of one candidate of each of `size` groups, of whom some win by lot."""
    won = np.argsort(rng.random((rounds, size)), axis=1) < places
    return won.T.astype(int), np.ones((size, rounds), dtype=int)


def test_one_of_two_is_the_exact_sign_test() -> None:
    for rounds, won in ((20, 15), (31, 21), (300, 172)):
        first = (np.arange(rounds) < won).astype(int)
        found = clustered_equal_rates(
            ClusteredRates.of(np.array([first, 1 - first]), np.ones((2, rounds), int))
        )
        exact = 2 * binom.sf(won - 1, rounds, 0.5)
        assert found.p_value == pytest.approx(exact, abs=3 * (exact / 2000) ** 0.5)
        assert "permutations" in found.method


@pytest.mark.parametrize(("rounds", "size", "places"), [(30, 2, 1), (300, 2, 1), (40, 8, 4), (300, 8, 4)])
def test_pools_of_equal_groups_are_seldom_found_unequal(rounds: int, size: int, places: int) -> None:
    rng, repeats = np.random.default_rng([rounds, size]), 150
    found = sum(
        clustered_equal_rates(
            ClusteredRates.of(*competing(rng, rounds, size, places)), permutations=299, seed=repeat
        ).p_value
        < 0.05
        for repeat in range(repeats)
    )
    assert found / repeats <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5


@pytest.mark.parametrize(("applications", "rate", "largest"), [(30, 0.1, 1), (60, 0.05, 4), (400, 0.05, 6)])
def test_versions_of_applications_are_seldom_found_unequal(
    applications: int, rate: float, largest: int
) -> None:
    """Rare selections, answered much alike within an application, of one size and of uneven ones."""
    rng, repeats, found = np.random.default_rng([applications, largest]), 150, 0
    for repeat in range(repeats):
        chance = rng.beta(rate / 4, (1 - rate) / 4, applications)
        people = np.ones((4, 1), int) * rng.integers(1, largest + 1, applications)
        rates = ClusteredRates.of(rng.binomial(people, chance), people)
        try:
            found += clustered_equal_rates(rates, permutations=299, seed=repeat).p_value < 0.05
        except UndefinedMetricError:
            continue
    assert found / repeats <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5


def test_the_order_of_clusters_changes_nothing() -> None:
    won, people = competing(np.random.default_rng(2), 40, 4, 1)
    won[0, :12], won[1:, :12] = 1, 0
    order = np.random.default_rng(4).permutation(40)
    there = clustered_equal_rates(ClusteredRates.of(won, people), seed=1)
    back = clustered_equal_rates(ClusteredRates.of(won[:, order], people[:, order]), seed=1)
    assert there == back


def test_a_category_of_two_clusters_does_not_hide_a_difference_between_those_of_hundreds() -> None:
    rng = np.random.default_rng(5)
    people = np.zeros((3, 602), dtype=int)
    people[0, :300] = people[1, 300:600] = 5
    people[2, 600:] = 1
    won = rng.binomial(people, np.array([0.5, 0.38, 0.5])[:, None])
    won[2, 600:] = [1, 0]
    without = clustered_equal_rates(ClusteredRates.of(won[:2, :600], people[:2, :600])).p_values[1]
    found = clustered_equal_rates(ClusteredRates.of(won, people)).p_values
    assert without < 1e-6 and found[1] == pytest.approx(3 * without)
    assert found[0] > 0.2 and found[2] == 1.0


@pytest.mark.parametrize(("largest", "others", "rate"), [(3000, 60, 0.4), (10, 300, 0.02)])
def test_neither_one_large_cluster_nor_few_selected_make_equal_groups_unequal(
    largest: int, others: int, rate: float
) -> None:
    # Each cluster is of one group, and shares a fifth of the variance; more than 2,000 rows, so nothing is permuted.
    sizes = np.array([largest] + [5 if largest > 10 else 10] * others)
    found, rng = 0, np.random.default_rng(5)
    for repeat in range(200):
        people = np.zeros((4, sizes.size), dtype=int)
        people[rng.permuted(np.arange(sizes.size) % 4), np.arange(sizes.size)] = sizes
        won = rng.binomial(people, rng.beta(4 * rate, 4 * (1 - rate), sizes.size))
        rates = ClusteredRates.of(won, people)
        found += clustered_equal_rates(rates, draws=999, seed=repeat).p_value < 0.05
    assert found / 200 < 0.05 + 2 * 0.0154  # 5%, and two Monte Carlo errors
