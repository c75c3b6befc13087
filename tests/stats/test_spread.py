"""The pooled spread of repeats: its interval covers as often as it says, and what does not exist is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats.spread import pooled_sd_interval


def test_the_ends_are_where_the_tails_of_chi_squared_say() -> None:
    for level in (0.8, 0.95):
        found = pooled_sd_interval(17.0, 23, level)
        tail = (1 - level) / 2
        assert chi2.sf(17.0 / found.low**2, 23) == pytest.approx(tail)
        assert chi2.cdf(17.0 / found.high**2, 23) == pytest.approx(tail)


def test_it_covers_the_true_spread_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(scale=1.7, size=(2000, 12, 3))
    squares = ((values - values.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2))
    covered = sum((f := pooled_sd_interval(float(s), 24)).low <= 1.7 <= f.high for s in squares)
    assert 0.93 < covered / 2000 < 0.97


def test_without_repeats_or_spread_there_is_none() -> None:
    with pytest.raises(UndefinedMetricError, match="nothing was asked twice"):
        pooled_sd_interval(0.0, 0)
    with pytest.raises(UndefinedMetricError, match="all repeats are alike"):
        pooled_sd_interval(0.0, 5)
