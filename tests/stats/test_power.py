from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import power_proportions_2indep

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import (
    design_effect,
    fisher_exact,
    power_of_two_proportions,
    sample_size_for_means,
    sample_size_for_proportions,
    smallest_detectable_ratio,
)


@pytest.mark.parametrize(
    ("p1", "p2", "n1", "n2"), [(0.4, 0.5, 200, 200), (0.1, 0.05, 300, 150), (0.8, 0.75, 90, 400)]
)
def test_normal_power_agrees_with_statsmodels(p1, p2, n1, n2):
    theirs = power_proportions_2indep(p1 - p2, p2, n1, ratio=n2 / n1).power
    # theirs counts one tail only; the other one is far away in these cases
    assert power_of_two_proportions(p1, n1, p2, n2) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("test", ["fisher", "fisher-midp"])
def test_exact_power_agrees_with_enumeration(test):
    p1, n1, p2, n2 = 0.2, 14, 0.7, 11
    expected = 0.0
    for x1 in range(n1 + 1):
        for x2 in range(n2 + 1):
            if fisher_exact(x1, n1 - x1, x2, n2 - x2, midp=test == "fisher-midp").p_value < 0.05:
                expected += stats.binom.pmf(x1, n1, p1) * stats.binom.pmf(x2, n2, p2)
    assert power_of_two_proportions(p1, n1, p2, n2, test=test) == pytest.approx(expected, rel=1e-9)


def test_exact_tests_keep_their_level():
    for rate in (0.1, 0.5, 0.83):
        assert power_of_two_proportions(rate, 25, rate, 40, test="fisher") <= 0.05


def test_midp_has_more_power_and_large_samples_agree():
    for n in (20, 60):
        exact, midp = (power_of_two_proportions(0.3, n, 0.6, n, test=t) for t in ("fisher", "fisher-midp"))
        assert exact < midp
    large = [power_of_two_proportions(0.45, 800, 0.5, 800, test=t) for t in ("normal", "fisher-midp")]
    assert large[0] == pytest.approx(large[1], abs=0.01)


def test_normal_power_agrees_with_simulation():
    rng = np.random.default_rng(0)
    x1, x2 = rng.binomial(150, 0.35, 200_000), rng.binomial(250, 0.5, 200_000)
    pooled = (x1 + x2) / 400
    z = (x1 / 150 - x2 / 250) / np.sqrt(pooled * (1 - pooled) * (1 / 150 + 1 / 250))
    simulated = (np.abs(z) > 1.959963984540054).mean()
    assert power_of_two_proportions(0.35, 150, 0.5, 250) == pytest.approx(simulated, abs=0.01)


def test_fleiss_table_of_sample_sizes():
    # Fleiss, Levin and Paik (2003), table A.4 without continuity correction: their formula (4.14)
    size = sample_size_for_proportions(0.5, ratio=0.8)
    assert (size.n_group, size.n_reference) == (388, 388)
    assert size.power >= 0.8
    assert power_of_two_proportions(0.4, 387, 0.5, 387) < 0.8


@given(
    st.floats(0.1, 0.9),
    st.floats(0.3, 0.9),
    st.floats(0.5, 3.0),
    st.sampled_from([1.0, 1.7]),
    st.sampled_from([0.8, 0.9]),
)
def test_sample_size_is_the_smallest(rate, ratio, allocation, deff, power):
    size = sample_size_for_proportions(
        rate, ratio=ratio, allocation=allocation, design_effect=deff, power=power
    )
    again = power_of_two_proportions(rate * ratio, size.n_group, rate, size.n_reference, design_effect=deff)
    assert again == pytest.approx(size.power)
    assert size.power >= power
    n2 = size.n_reference - 1
    if n2 >= 1:
        n1 = int(np.ceil(allocation * n2))
        assert power_of_two_proportions(rate * ratio, n1, rate, n2, design_effect=deff) < power


def test_a_gap_is_a_ratio_in_other_words():
    by_gap, by_ratio = sample_size_for_proportions(0.5, gap=-0.1), sample_size_for_proportions(0.5, ratio=0.8)
    assert by_gap.n_group == by_ratio.n_group
    assert by_gap.as_dict()["method"] == by_ratio.method


@pytest.mark.parametrize("gap", [0.1, 0.2, -0.5])
def test_means_agree_with_statsmodels(gap):
    theirs = NormalIndPower().solve_power(abs(gap), alpha=0.05, power=0.8)
    assert sample_size_for_means(gap).n_group == int(np.ceil(theirs))


def test_design_effects():
    assert design_effect(1, 0.5) == 1.0
    assert design_effect(8, 0.05) == pytest.approx(1.35)
    assert design_effect(8, 0.05, cv=0.5) == pytest.approx(1 + (1.25 * 8 - 1) * 0.05)
    plain = sample_size_for_means(0.2).n_group
    assert sample_size_for_means(0.2, design_effect=2.0).n_group == pytest.approx(2 * plain, abs=1)


@pytest.mark.parametrize("test", ["normal", "fisher", "fisher-midp"])
def test_smallest_detectable_ratio_has_the_power(test):
    ratio = smallest_detectable_ratio(80, 120, 0.6, test=test)
    assert power_of_two_proportions(0.6 * ratio, 80, 0.6, 120, test=test) == pytest.approx(0.8, abs=1e-9)
    assert 0.5 < ratio < 0.75


def test_larger_audits_find_smaller_disparities():
    ratios = [smallest_detectable_ratio(n, n, 0.5) for n in (50, 200, 1000)]
    assert ratios == sorted(ratios)
    assert smallest_detectable_ratio(200, 200, 0.5, design_effect=2.0) == pytest.approx(
        smallest_detectable_ratio(100, 100, 0.5)
    )


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="even a ratio of 0"):
        smallest_detectable_ratio(3, 5, 0.2)
    with pytest.raises(UndefinedMetricError, match="nothing to find"):
        sample_size_for_proportions(0.5, ratio=1.0)
    with pytest.raises(UndefinedMetricError, match="at least one member"):
        power_of_two_proportions(0.5, 0, 0.5, 5)
    with pytest.raises(InputError, match="either a ratio or a gap"):
        sample_size_for_proportions(0.5)
    with pytest.raises(InputError, match="must lie in"):
        sample_size_for_proportions(0.5, ratio=2.5)
    with pytest.raises(InputError, match="independent rows"):
        power_of_two_proportions(0.5, 5, 0.4, 5, test="fisher", design_effect=2.0)
    with pytest.raises(InputError, match="too large"):
        power_of_two_proportions(0.5, 5000, 0.4, 5000, test="fisher")
    with pytest.raises(InputError, match="alpha < power"):
        smallest_detectable_ratio(30, 50, 0.2, power=0.01)


@pytest.mark.parametrize(
    "wrong", [{"alpha": 1.5}, {"alpha": 0}, {"design_effect": 0}, {"design_effect": np.nan}]
)
def test_levels_and_design_effects_are_checked(wrong):
    name = next(iter(wrong))
    for call in (
        lambda: power_of_two_proportions(0.4, 100, 0.5, 100, **wrong),
        lambda: sample_size_for_proportions(0.5, ratio=0.8, **wrong),
        lambda: sample_size_for_means(0.2, **wrong),
        lambda: smallest_detectable_ratio(100, 100, 0.5, **wrong),
    ):
        with pytest.raises(InputError, match=name):
            call()
    with pytest.raises(InputError, match="finite"):
        power_of_two_proportions(0.4, float("inf"), 0.5, 100)
