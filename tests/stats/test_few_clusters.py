"""CR2 with Satterthwaite's degrees of freedom, against the definition written out over all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import ttest_ind

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.correspondence import standardised_effects
from audit_lib.results import Undefined
from audit_lib.stats.few_clusters import least_squares_cr2

SIZES = [3, 4, 5, 3, 2, 6, 4]
CLUSTERS = np.repeat(np.arange(7), SIZES)


def by_definition(x: np.ndarray, y: np.ndarray, clusters: np.ndarray, column: int) -> tuple[float, float]:
    """Every matrix as large as it is: dummies as columns, residual makers n by n, Gamma by its eigenvalues."""
    bread = np.linalg.pinv(x.T @ x)
    maker = np.eye(len(y)) - x @ bread @ x.T
    residuals, variance, columns = maker @ y, 0.0, []
    for one in np.unique(clusters):
        own = np.flatnonzero(clusters == one)
        values, vectors = np.linalg.eigh(maker[np.ix_(own, own)])
        root = vectors @ np.diag([v**-0.5 if v > 1e-9 else 0.0 for v in values]) @ vectors.T
        b = root @ x[own] @ bread[:, column]
        variance += float(b @ residuals[own]) ** 2
        columns.append(maker[:, own] @ b)
    eigenvalues = np.linalg.eigvalsh(np.array(columns) @ np.array(columns).T)
    return variance**0.5, float(eigenvalues.sum() ** 2 / np.square(eigenvalues).sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("constants", [False, True])
def test_it_is_the_definition(seed: int, constants: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(CLUSTERS.size, 3))
    x[:, 0] = rng.random(CLUSTERS.size) < 0.5
    y = rng.normal(size=CLUSTERS.size)
    order = rng.permutation(CLUSTERS.size)  # rows of one cluster need not stand together
    x, y, clusters = x[order], y[order], CLUSTERS[order]
    dummies = (clusters[:, None] == np.arange(7)).astype(float)
    full = np.column_stack([x, dummies if constants else np.ones(y.size)])
    given = x if constants else full
    beta = np.linalg.lstsq(full, y, rcond=None)[0]
    for column, found in enumerate(least_squares_cr2(given, y, clusters, constants=constants)):
        error, df = by_definition(full, y, clusters, column)
        assert found.estimate == pytest.approx(beta[column], abs=1e-10)
        assert found.standard_error == pytest.approx(error, rel=1e-9)
        assert found.df == pytest.approx(df, rel=1e-8)


def test_of_single_rows_it_is_welchs_error_and_of_a_full_design_t_of_clusters_minus_one() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=9), rng.normal(size=4)
    x = np.column_stack([np.r_[np.zeros(9), np.ones(4)], np.ones(13)])
    difference = least_squares_cr2(x, np.r_[a, b], np.arange(13))[0]
    welch = ttest_ind(b, a, equal_var=False)
    assert difference.estimate / difference.standard_error == pytest.approx(welch.statistic)
    full = np.tile([0.0, 1.0, 0.0, 1.0], 8)[:, None]
    y = rng.normal(size=32)
    found = least_squares_cr2(full, y, np.repeat(np.arange(8), 4), constants=True)[0]
    gaps = (y.reshape(8, 4) @ [-0.5, 0.5, -0.5, 0.5]) / np.sqrt(8)
    assert found.df == pytest.approx(7)
    assert found.standard_error == pytest.approx(gaps.std(ddof=1))


def test_a_level_in_one_cluster_has_no_error() -> None:
    x = np.column_stack([CLUSTERS == 2, np.ones(CLUSTERS.size)])
    level, constant = least_squares_cr2(x, np.arange(CLUSTERS.size) ** 1.5, CLUSTERS)
    assert isinstance(level.standard_error, Undefined) and "too few clusters" in level.standard_error.reason
    assert isinstance(constant.standard_error, float)


def test_wrong_input_says_so() -> None:
    with pytest.raises(UndefinedMetricError, match="1 cluster"):
        least_squares_cr2([[1.0], [1.0]], [1.0, 2.0], ["a", "a"])
    with pytest.raises(UndefinedMetricError, match="cannot be told apart"):
        least_squares_cr2([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], [1.0, 2.0, 3.0], ["a", "b", "c"])
    with pytest.raises(InputError, match="one row each"):
        least_squares_cr2([[1.0], [1.0]], [1.0], ["a"])


def test_it_rejects_a_true_null_at_its_level_where_cr1_does_not() -> None:
    """Blocks of two of eight groups, twelve applications with effects of their own: about five a level."""
    rejected = {"cr1": 0, "cr2": 0}
    trials = 400
    rng = np.random.default_rng(11)
    for _ in range(trials):
        groups = np.concatenate([rng.permutation(8) for _ in range(3)]).reshape(12, 2)
        clusters, race, sex = np.repeat(np.arange(12), 2), groups.ravel() // 2, groups.ravel() % 2
        merit, own = rng.normal(size=12), 0.3 * rng.normal(size=(12, 4))
        y = merit[clusters] + own[clusters, race] + 0.5 * rng.normal(size=24)
        design = np.column_stack([sex == 1, *(race == level for level in (1, 2, 3))]).astype(float)
        try:
            fit = standardised_effects(y, {"sex": sex, "race": race}, clusters, {"sex": 0, "race": 0}, True)
            found = least_squares_cr2(design, y, clusters, constants=True)[1]
        except UndefinedMetricError:
            continue
        effect = fit["race", 1]
        if isinstance(found.standard_error, Undefined) or isinstance(effect.standard_error, Undefined):
            continue
        rejected["cr1"] += abs(effect.estimate / effect.standard_error) > -stdtrit(11, 0.025)
        rejected["cr2"] += abs(found.estimate / found.standard_error) > -stdtrit(found.df, 0.025)
    assert rejected["cr2"] / trials < 0.08
    assert rejected["cr1"] / trials > 0.09
