"""Spread of effects over jobs, and each shrunk: what was planted comes back, and the normal model is the peer's."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats.shrinkage import effect_spread


@pytest.mark.parametrize(("planted", "law"), [(0.2, "normal"), (0.2, "two points"), (0.5, "skewed")])
def test_a_planted_spread_comes_back(planted: float, law: str) -> None:
    found, inside = [], 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        true = {
            "normal": rng.normal(size=80),
            "two points": rng.choice([-1.0, 1.0], size=80),
            "skewed": rng.exponential(size=80) - 1,
        }[law]
        errors = rng.uniform(0.1, 0.4, 80)
        spread = effect_spread(0.3 + planted * true + errors * rng.normal(size=80), errors)
        found.append(spread.sd)
        inside += spread.low <= planted <= spread.high
    assert np.mean(np.square(found)) == pytest.approx(planted**2, rel=0.1)  # unbiased as a variance
    assert np.mean(found) == pytest.approx(planted, rel=0.1)
    if law == "normal":
        assert 0.92 <= inside / 300 <= 0.98


def test_shrunken_values_are_the_posterior_of_a_normal_model() -> None:
    rng = np.random.default_rng(3)
    theta, errors = rng.normal(size=12), rng.uniform(0.2, 0.6, 12)
    found = effect_spread(theta, errors)
    # Best linear prediction, with every covariance written out.
    v = np.diag(found.sd**2 + errors**2)
    ones = np.ones(12)
    mean = (ones @ np.linalg.inv(v) @ theta) / (ones @ np.linalg.inv(v) @ ones)
    predicted = mean + found.sd**2 * np.linalg.inv(v) @ (theta - mean)
    assert found.mean == pytest.approx(mean) and found.values == pytest.approx(predicted)
    grid = found.sd**2 * (np.eye(12) - found.sd**2 * np.linalg.inv(v))
    lever = ones - found.sd**2 * np.linalg.inv(v) @ ones
    variance = np.diag(grid) + lever**2 / (ones @ np.linalg.inv(v) @ ones)
    assert found.errors == pytest.approx(np.sqrt(variance))


def test_estimates_that_differ_by_their_errors_alone_are_all_the_mean() -> None:
    found = effect_spread([-0.7, 0.2, 1.1], [1.0, 1.0, 1.0])
    assert found.sd == found.low == 0.0 and found.values == pytest.approx([0.2] * 3) and found.high > 0.0
    with pytest.raises(UndefinedMetricError, match="1 estimate"):
        effect_spread([1.0], [1.0])
    with pytest.raises(InputError, match="one positive error"):
        effect_spread([1.0, 2.0], [1.0, 0.0])
