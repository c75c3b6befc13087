"""Calibration in the large and reliability tables: by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import calibration_gap
from audit_lib.metrics.calibration import reliability_table


def test_by_hand():
    # 0.6 less 2/4, and 0.3 less 1/2.
    assert calibration_gap([0.4, 0.8, 0.6, 0.6], [0, 1, 1, 0], [0.2, 0.4], [0, 1]) == pytest.approx(0.3)
    assert calibration_gap([1, 0], [1, 0], [0.5, 0.5], [1, 0]) == 0.0


@pytest.mark.parametrize("scores", [[0.5, 1.5], [-0.1, 0.5]])
def test_what_is_no_probability_is_refused(scores):
    with pytest.raises(UndefinedMetricError, match="calibration is of probabilities, from 0 to 1"):
        calibration_gap(scores, [0, 1], [0.5], [1])
    with pytest.raises(UndefinedMetricError, match="calibration is of probabilities"):
        reliability_table(scores, [0, 1])
    with pytest.raises(InputError, match="bins"):
        reliability_table([0.5], [1], bins=0)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("bins", [3, 10])
def test_the_reliability_table_is_scikit_learn_s(seed, bins):
    rng = np.random.default_rng(seed)
    score = rng.random(300) ** 2
    outcome = rng.random(300) < score
    share, mean = calibration_curve(outcome, score, n_bins=bins, strategy="uniform")
    rows = reliability_table(score, outcome, bins)
    np.testing.assert_allclose([row.outcome for row in rows], share, atol=1e-14)
    np.testing.assert_allclose([row.score for row in rows], mean, atol=1e-14)
    assert sum(row.n for row in rows) == 300
    gap = sum(row.n * (row.score - row.outcome) for row in rows) / 300
    assert calibration_gap(score, outcome, [0.5, 0.5], [0, 1]) == pytest.approx(gap, abs=1e-14)


def test_labelled_columns_are_put_into_one_order():
    score = pd.Series([0.9, 0.1], index=["ann", "ben"])
    outcome = pd.Series([0, 1], index=["ben", "ann"])
    assert [row.outcome for row in reliability_table(score, outcome, 2)] == [0.0, 1.0]
