"""Leakage: a planted leak is found, none is chance, and the fit is the one of another library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats.leakage import fit_logistic, leakage


def material(n: int, shift: float, seed: int) -> tuple[np.ndarray, list[str], list[str]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 40))
    race = rng.choice(["Asian", "Black", "Hispanic", "White"], n)
    x[race == "Black", 3] += shift
    return x, race.tolist(), [f"a{i}" for i in range(n)]


def test_a_planted_leak_is_found_in_its_level_and_in_no_other() -> None:
    found = {leak.level: leak for leak in leakage(*material(400, 2.5, 1))}
    assert list(found) == ["Asian", "Black", "Hispanic", "White"]
    assert found["Black"].value > 0.85 and found["Black"].interval.low > 0.8
    assert all(found[x].interval.low < found["Black"].interval.low for x in ("Asian", "Hispanic", "White"))


def test_without_a_leak_the_auc_is_chance() -> None:
    values, held = [], 0
    for seed in range(15):
        for leak in leakage(*material(200, 0.0, seed), seed=seed):
            values.append(leak.value)
            held += leak.interval.low <= 0.5 <= leak.interval.high
    assert np.mean(values) == pytest.approx(0.5, abs=0.025)
    assert held >= 55  # of 60


def test_versions_of_one_application_are_never_on_both_sides() -> None:
    # Every application has features of its own and one label: known applications would be told apart perfectly.
    rng = np.random.default_rng(2)
    own = rng.normal(size=(60, 30))
    labels = rng.choice(["man", "woman"], 60)
    x, sex = np.repeat(own, 8, axis=0), np.repeat(labels, 8).tolist()
    ids = np.repeat([f"a{i}" for i in range(60)], 8).tolist()
    (leak,) = leakage(x, sex, ids)
    assert leak.value < 0.7 and leak.clusters == 60 and leak.n == 480
    (alone,) = leakage(own, labels.tolist(), [f"a{i}" for i in range(60)])
    assert leak.interval.high - leak.interval.low > 0.6 * (alone.interval.high - alone.interval.low)


def test_the_fit_is_scikit_learn_s() -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    x, race, _ = material(300, 1.0, 3)
    y = np.array(race) == "Black"
    weights, constant = fit_logistic(x, y, penalty=2.0)
    theirs = linear.LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(x, y)
    assert weights == pytest.approx(theirs.coef_[0], abs=1e-5)
    assert constant == pytest.approx(theirs.intercept_[0], abs=1e-5)


def test_the_same_data_give_the_same_bytes_and_another_seed_other_folds() -> None:
    data = material(120, 0.5, 4)
    assert leakage(*data) == leakage(*data)
    assert leakage(*data, seed=1) != leakage(*data)


def test_unknown_labels_are_left_out_and_two_levels_are_one_question() -> None:
    x, _, ids = material(60, 0.0, 5)
    labels = ["man", "woman", None] * 20
    (leak,) = leakage(x, labels, ids)
    assert leak.n == 40 and leak.level == "man" and leak.positives == 20


def test_what_cannot_be_told_is_undefined() -> None:
    x, _, ids = material(30, 0.0, 6)
    found = leakage(x, ["man"] * 30, ids)
    assert isinstance(found[0].value, Undefined) and "one class" in found[0].value.reason
    with pytest.raises(UndefinedMetricError, match="5 applications for 10 folds"):
        leakage(x[:5], ["man"] * 5, ids[:5])
    with pytest.raises(InputError, match="not one a row"):
        leakage(x, ["man"], ids)
    with pytest.raises(InputError, match="not above 0"):
        fit_logistic(x, [True] * 30, penalty=0.0)


def test_small_models_are_fitted_with_one_thread_whoever_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fitted(*given: Any) -> Any:
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
        return fit_logistic(*given)

    monkeypatch.setattr("audit_lib.stats.leakage.fit_logistic", fitted)
    x = np.random.default_rng(5).normal(size=(60, 3))
    with threadpool_limits(2, user_api="blas"):
        leakage(x, ["a", "b"] * 30, [str(i) for i in range(60)])
        after = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    assert seen == [{1}] * 10
    assert after == {2}
