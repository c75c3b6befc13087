from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import TestResult
from audit_lib.stats import cluster_interval, mean_difference, two_sided_variance
from audit_lib.stats.two_sided import _dot


def half_width(interval):
    return (interval.high - interval.low) / 2


def paired_rows(seed, clusters=30, a=2, b=3):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=clusters)
    left, right = np.repeat(np.arange(clusters), a), np.repeat(np.arange(clusters), b)
    return shared[left] + rng.normal(size=left.size), shared[right] + rng.normal(size=right.size), left, right


def test_mean_agrees_with_statsmodels_cluster_errors():
    y, _, codes, _ = paired_rows(1, a=4)
    fit = sm.OLS(y, np.ones((y.size, 1))).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}, use_t=True
    )
    ours = cluster_interval((y - y.mean()) / y.size, codes, y.mean())
    error = fit.bse[0] * math.sqrt(30 / 29)
    assert half_width(ours) == pytest.approx(error * stats.t.ppf(0.975, 29), rel=1e-10)
    assert (ours.low + ours.high) / 2 == pytest.approx(y.mean())


def test_difference_agrees_with_statsmodels_cluster_errors():
    x, y, left, right = paired_rows(2)
    is_group = np.r_[np.ones(x.size), np.zeros(y.size)]
    fit = sm.OLS(np.r_[x, y], sm.add_constant(is_group)).fit(
        cov_type="cluster", cov_kwds={"groups": np.r_[left, right], "use_correction": False}
    )
    ours = mean_difference(x, y, left, right)
    assert half_width(ours) == pytest.approx(
        fit.bse[1] * math.sqrt(30 / 29) * stats.t.ppf(0.975, 29), rel=1e-9
    )


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=15).filter(lambda v: len(set(v)) > 1),
    st.lists(st.integers(-20, 20), min_size=2, max_size=15),
    st.sampled_from([0.7, 0.95]),
)
def test_without_clusters_it_is_welch(x, y, level):
    ours = mean_difference(x, y, level=level)
    theirs = CompareMeans(DescrStatsW(x), DescrStatsW(y)).tconfint_diff(1 - level, usevar="unequal")
    assert (ours.low, ours.high) == pytest.approx(theirs, abs=1e-8)


def test_a_cluster_a_row_is_the_same_as_no_clusters():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=12), rng.normal(size=20)
    with_labels = mean_difference(x, y, [f"a{i}" for i in range(12)], [f"b{i}" for i in range(20)])
    plain = mean_difference(x, y)
    assert (with_labels.low, with_labels.high) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_one_pair_a_cluster_is_the_paired_t_interval():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=25), rng.normal(size=25)
    codes = rng.permutation(25)
    theirs = stats.ttest_rel(x, y).confidence_interval(0.9)
    ours = mean_difference(x, y, codes, codes, level=0.9)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-10)


def test_rows_that_repeat_their_cluster_carry_no_information():
    x, y, left, right = paired_rows(5)
    once = mean_difference(x, y, left, right)
    thrice = mean_difference(np.tile(x, 3), np.tile(y, 3), np.tile(left, 3), np.tile(right, 3))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), rel=1e-12)


def test_labels_and_order_do_not_matter():
    x, y, left, right = paired_rows(6)
    rng = np.random.default_rng(0)
    names = np.array([f"application {i}" for i in rng.permutation(30)])
    i, j = rng.permutation(x.size), rng.permutation(y.size)
    first = mean_difference(x, y, left, right)
    second = mean_difference(x[i], y[j], names[left[i]], names[right[j]])
    assert (second.low, second.high) == pytest.approx((first.low, first.high), rel=1e-12)


def test_variance_agrees_with_the_jackknife_over_clusters():
    x, y, left, right = paired_rows(7, clusters=200)
    leave_out = np.array([x[left != g].mean() - y[right != g].mean() for g in range(200)])
    jackknife = 199 / 200 * np.square(leave_out - leave_out.mean()).sum()
    ours = two_sided_variance((x - x.mean()) / x.size, (y.mean() - y) / y.size, left, right)
    assert ours.variance == pytest.approx(jackknife, rel=1e-6)
    assert (ours.clusters, ours.clusters_group, ours.clusters_reference) == (200, 200, 200)
    assert ours.df == 199


def uneven(rng, sizes, other):
    """Scores of clusters of these sizes in the group, and of others in the reference; half of each is the cluster's."""
    left, right = (np.repeat(np.arange(len(of)), of) for of in (sizes, other))
    shared = rng.normal(size=(2, len(sizes)))
    return (
        shared[0][left] + rng.normal(size=left.size), shared[1][right] + rng.normal(size=right.size), left, right
    )  # fmt: skip


def test_variance_of_clusters_of_any_size_is_that_of_leaving_each_out():
    """The jackknife around the estimate, to the last digits; a cluster of half of the rows is one of them."""
    sizes = [30, 1, 2, 3, 4, 5, 6, 9]
    x, y, left, right = uneven(np.random.default_rng(9), sizes, sizes[::-1])
    found = two_sided_variance((x - x.mean()) / x.size, (y.mean() - y) / y.size, left, right)
    left_out = [x[left != g].mean() - y[right != g].mean() for g in range(8)]
    assert found.variance == pytest.approx(
        7 / 8 * np.square(left_out - (x.mean() - y.mean())).sum(), rel=1e-10
    )
    worth = 60**2 / np.square(sizes).sum()
    assert 0.4 * worth < found.df <= worth - 1

    one = cluster_interval((x - x.mean()) / x.size, left, x.mean())
    of_one = 7 / 8 * np.square([x[left != g].mean() - x.mean() for g in range(8)]).sum()
    assert half_width(one) == pytest.approx(math.sqrt(of_one) * stats.t.ppf(0.975, worth - 1), rel=1e-10)


def test_clusters_of_one_size_keep_their_numbers_to_the_last_bit():
    x, y, left, right = paired_rows(10)
    a, b = (np.bincount(of, v) for of, v in ((left, (x - x.mean()) / 60), (right, (y.mean() - y) / 90)))
    found = two_sided_variance((x - x.mean()) / 60, (y.mean() - y) / 90, left, right)
    factor = 30 / 29
    twice = 2 * math.sqrt(factor * factor) * float((a * b).sum())
    assert found.variance == factor * float((a * a).sum()) + factor * float((b * b).sum()) + twice
    assert found.df == 29.0


@pytest.mark.parametrize("other", [[5] * 30 + [100], [5] * 31])
def test_a_cluster_of_two_fifths_of_the_rows_is_covered(other):
    """Of 31 clusters one holds 40% of the group: with 30 degrees of freedom intervals held in 74 to 84%."""
    rng, held = np.random.default_rng(11), 0
    for _ in range(400):
        interval = mean_difference(*uneven(rng, [100] + [5] * 30, other))
        held += interval.low <= 0 <= interval.high
    assert held >= 0.93 * 400


def test_clusters_that_are_worth_fewer_than_two_are_refused():
    sizes = [3000] + [5] * 30
    x, y, left, right = uneven(np.random.default_rng(12), sizes, [5] * 31)
    with pytest.raises(
        UndefinedMetricError, match="31 clusters, of which the largest holds 95% of the people, are worth 1.1"
    ):
        mean_difference(x, y, left, right)
    with pytest.raises(UndefinedMetricError, match="are worth 1.1 of one size; at least 2 are needed"):
        cluster_interval((x - x.mean()) / x.size, left, 0.0)


def test_degrees_of_freedom_follow_the_scarcer_side():
    x, y, left, right = paired_rows(8)
    few = left < 4
    spread = two_sided_variance(x[few] - x[few].mean(), y - y.mean(), left[few], right)
    assert spread.df == 3
    assert (spread.clusters_group, spread.clusters_reference, spread.clusters) == (4, 30, 30)


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="1 cluster"):
        cluster_interval([0.5, -0.5], ["a", "a"], 0.0)
    with pytest.raises(UndefinedMetricError, match="at least two"):
        mean_difference([1.0], [1.0, 2.0])
    with pytest.raises(UndefinedMetricError, match="at least two"):
        mean_difference([1.0, 2.0], [1.0, 2.0], [1, 1], [1, 2])
    with pytest.raises(UndefinedMetricError, match="spread cannot be estimated"):
        # the mean of ten times 0.1 is not 0.1 in floats: rounding must not pass for spread
        mean_difference([0.1] * 10, [0.3] * 10)
    with pytest.raises(UndefinedMetricError, match="every cluster shows the same difference"):
        mean_difference([1.1, 2.1, 3.3], [1.0, 2.0, 3.2], [1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="one side only"):
        mean_difference([1.0, 2.0], [1.0, 2.0], [1, 2])
    with pytest.raises(InputError, match="1 of 2 values are not finite"):
        mean_difference([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(InputError, match="one label a row"):
        cluster_interval([0.5, -0.5], ["a"], 0.0)


def test_labels_of_two_types_are_two_clusters():
    x, y = [1, 2, 3, 4], [2, 3, 4, 6]
    shared = mean_difference(x, y, [1, 2, 3, 4], [1, 2, 3, 4])
    apart = mean_difference(x, y, [1, 2, 3, 4], list("1234"))
    assert apart == mean_difference(x, y, list("abcd"), list("efgh")) != shared
    assert cluster_interval([-1, 1, 2, -2], [1, "1", 1, "1"], 0.0).method.endswith("t(1)")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_label_is_refused_with_its_row(missing):
    x, y = [1, 2, 3, 4], [2, 3, 4, 6]
    with pytest.raises(InputError, match="clusters of the reference, row 2: no label"):
        mean_difference(x, y, ["a", "b", "c", "d"], ["a", "b", missing, "d"])
    with pytest.raises(InputError, match="clusters of the group have shape"):
        mean_difference(x, y, [1, 2], [1, 2, 3, 4])


def test_order_and_type_of_labels_do_not_change_the_interval():
    influence = np.array([-0.5, 0.25, 0.5, -0.25])
    several = ([1, 1, 2, 3], ["x", "x", "y", "z"], pd.Series(["x", "x", "y", "z"]), [1, 1, "y", 2.5])
    found = {repr(cluster_interval(influence, labels, 1.0)) for labels in several}
    assert len(found) == 1


def test_nothing_that_varies_gives_no_interval():
    with pytest.raises(UndefinedMetricError, match="no spread to estimate"):
        cluster_interval([0, 0, 0], [1, 2, 3], 0.5)


@pytest.mark.parametrize("wrong", [{"p_value": math.nan}, {"p_value": 0.5, "statistic": math.nan}])
def test_a_test_holds_no_nan(wrong):
    with pytest.raises(ValueError, match="a NaN is not a test"):
        TestResult(name="t_test", n=3, method="by hand", **wrong)


@pytest.mark.parametrize("size", [3, 65_536, 65_537, 250_001])
def test_products_are_added_as_numpy_adds_them(size):
    """In halves, so that not all of them are held: the same float to its last bit."""
    a, b = np.random.default_rng(size).normal(size=(2, size))
    assert _dot(a, b) == float((a * b).sum())
