"""Names crossed with applications: against the definition over all rows, mixed models, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats.crossed import NameDesign, two_way


def drawn(seed: int, shared: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Applications in three groups, with names by chance and up to three rows each; some are missing."""
    rng = np.random.default_rng(seed)
    rows = [
        (i, group, int(rng.integers(4)) + (0 if shared else 4 * group), int(rng.integers(4)))
        for i in range(30)
        for group in range(3)
        for _ in range(2)
    ]
    table = np.array([(i, group, name) for i, group, name, times in rows for _ in range(times)])
    return table[:, 0], table[:, 1], table[:, 2]


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_it_is_the_definition(weighed: bool, shared: bool, within: bool) -> None:
    application, group, name = drawn(5, shared)
    n, rng = len(name), np.random.default_rng(1)
    own = np.array([0.7, 1.0 if shared else -1.0, 0.4])[group]
    w = own * (1 + 0.3 * np.cos(7.0 * application + name)) if weighed else np.ones(n)
    u = rng.normal(size=12)
    y = rng.normal(size=30)[application] + 0.5 * u[name] + rng.normal(size=n)
    # Every matrix n by n.
    dummies = [np.eye(3)[group]] + [np.eye(30)[application]] * within
    x = np.column_stack(dummies)
    maker = np.eye(n) - x @ np.linalg.pinv(x)
    z = np.eye(12)[name]
    apart = (name[:, None] == name) & (application[:, None] != application)
    q = w[:, None] * apart * w
    r = maker @ y
    moved = maker @ q @ maker
    blocks = [np.flatnonzero(application == i) for i in range(30)]
    taken = sum(float(r[b] @ moved[np.ix_(b, b)] @ r[b]) for b in blocks)
    tau = float(np.trace(q @ maker @ z @ z.T @ maker))
    variance = (float(r @ q @ r) - taken) / tau
    _, pair = np.unique(application * 100 + name, return_inverse=True)
    pairs = np.eye(pair.max() + 1)[pair] * w[:, None]
    inside = np.einsum("is,ij,js->s", pairs, maker, pairs)
    norms = np.square(z.T @ maker @ pairs).sum(axis=0)
    least = max(variance, 0.0)
    residual = (float(np.square(pairs.T @ r).sum()) - least * norms.sum()) / inside.sum()
    weighted = w[:, None] * z
    covariance = residual * weighted.T @ maker @ weighted
    covariance += least * (weighted.T @ maker @ z) @ (weighted.T @ maker @ z).T
    half = (np.square(covariance).sum() - np.square(residual * inside + least * norms).sum()) / tau**2

    design = NameDesign(name, group, application, within=within)
    found = design.spread(design.residuals(y), w if weighed else None)
    assert found.variance == pytest.approx(variance, rel=1e-8)
    assert found.residual == pytest.approx(residual, rel=1e-8)
    assert found.half_variance == pytest.approx(half, rel=1e-8)
    assert found.df == pytest.approx(np.trace(covariance) ** 2 / np.square(covariance).sum(), rel=1e-8)
    assert found.names == len(set(name))
    pure = np.eye(pair.max() + 1)[pair]
    added = np.square(w @ z).sum() - np.square(w @ pure).sum()
    assert design.added(w) == pytest.approx(added, rel=1e-8)
    if found.variance > 0:
        # Prediction from the covariance of the scores themselves, applications and groups as columns.
        v = found.residual * np.eye(n) + found.variance * z @ z.T
        inverse = np.linalg.inv(v)
        beta = np.linalg.pinv(x.T @ inverse @ x) @ x.T @ inverse @ y
        predicted = found.variance * z.T @ inverse @ (y - x @ beta)
        assert design.shrunken(design.residuals(y), found)[0] == pytest.approx(
            predicted[np.unique(name)], abs=1e-7
        )


def test_in_a_crossed_design_it_is_the_mixed_model_of_the_paper() -> None:
    """Gaebler and others: constants of applications and names, both random (statsmodels, REML)."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng = np.random.default_rng(8)
    application, name = (part.ravel() for part in np.meshgrid(np.arange(24), np.arange(10), indexing="ij"))
    group = name // 5
    y = rng.normal(size=24)[application] + 0.3 * rng.normal(size=10)[name] + 0.5 * rng.normal(size=240)
    frame = pd.DataFrame({"y": y, "group": group, "application": application, "name": name, "all": 1})
    parts = {"application": "0 + C(application)", "name": "0 + C(name)"}
    model = MixedLM.from_formula("y ~ group", frame, groups="all", vc_formula=parts)
    fit = model.fit(reml=True)
    of = dict(zip(model.exog_vc.names, fit.vcomp, strict=True))
    design = NameDesign(name, group, application)
    found = design.spread(design.residuals(y))
    assert found.variance == pytest.approx(of["name"], rel=0.05)
    assert found.residual == pytest.approx(fit.scale, rel=0.05)
    w = (group - 0.5) / 60
    sums = np.bincount(application, w * (y - np.array([y[group == g].mean() for g in (0, 1)])[group]))
    by_application = float(np.square(sums).sum()) ** 0.5
    both = two_way(by_application, 23.0, found, design.added(w))
    assert both.standard_error == pytest.approx(float(fit.bse["group"]), rel=0.05)
    assert by_application < 0.5 * both.standard_error
    assert both.df == pytest.approx(8, abs=1.5)  # ten names in two groups


def test_more_applications_do_not_make_a_few_names_many() -> None:
    rng, errors = np.random.default_rng(2), {}
    for applications in (60, 600):
        cluster, group = np.repeat(np.arange(applications), 2), np.tile([0, 1], applications)
        name = cluster % 5 + 5 * group
        y = 0.3 * rng.normal(size=10)[name] + rng.normal(size=cluster.size)
        design = NameDesign(name, group, cluster)
        w = (2.0 * group - 1) / applications
        spread = design.spread(design.residuals(y), w)
        errors[applications] = two_way((2 / applications) ** 0.5, applications - 1, spread, design.added(w))
    assert all(3.5 < one.df < 6 for one in errors.values())
    assert errors[600].standard_error > 2 * (2 / 600) ** 0.5


def test_a_name_in_one_application_adds_nothing_and_one_name_a_group_says_nothing() -> None:
    cluster, group = np.repeat(np.arange(12), 2), np.tile([0, 1], 12)
    w = (2.0 * group - 1) / 12
    nested = NameDesign(np.arange(24), group, cluster)
    assert nested.added(w) == 0.0
    y = np.random.default_rng(0).normal(size=24)
    with pytest.raises(UndefinedMetricError, match="no name can be told"):
        nested.spread(nested.residuals(y))
    single = NameDesign(group, group, cluster)
    assert single.added(w) > 0
    with pytest.raises(UndefinedMetricError, match="no name can be told"):
        single.spread(single.residuals(y))
    with pytest.raises(InputError, match="3 outcomes of 24 rows"):
        single.residuals([1.0, 2.0, 3.0])


def test_the_interval_of_the_spread_and_its_mean_are_right() -> None:
    inside, variances = 0, []
    cluster, group = np.repeat(np.arange(200), 2), np.tile([0, 1], 200)
    design = NameDesign(cluster % 10 + 10 * group, group, cluster)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=200)[cluster] + 0.4 * rng.normal(size=20)[cluster % 10 + 10 * group]
        spread = design.spread(design.residuals(y + 0.7 * rng.normal(size=400)))
        low, high = spread.sd_interval()
        inside += low <= 0.4 <= high
        variances.append(spread.variance)
    assert 0.92 <= inside / 400 <= 0.98
    assert np.mean(variances) == pytest.approx(0.16, rel=0.08)
