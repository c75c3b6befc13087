"""Standardised effects: by hand, against statsmodels, and merged from shards."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import standardised_effects
from audit_lib.metrics.correspondence import cluster_sums
from audit_lib.results import Undefined

REFERENCES = {"gender": "man", "race": "White"}
COLUMNS = [("gender", "woman"), ("race", "Asian"), ("race", "Black"), ("race", "Hispanic")]


def experiment(seed, applications=60, dropped=0.0, whole=True):
    """Applications in eight versions each, some versions lost."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [
            (f"app {i}", gender, race)
            for i in range(applications)
            for gender in ("man", "woman")
            for race in ("White", "Asian", "Black", "Hispanic")
        ],
        columns=["application", "gender", "race"],
    )
    quality = rng.normal(3, 1, applications).repeat(8)
    rating = quality + 0.2 * (frame["gender"] == "woman") - 0.1 * (frame["race"] == "Asian")
    rating += rng.normal(0, 0.5, len(frame))
    frame["rating"] = np.clip(np.round(rating), 1, 5) if whole else rating
    frame = frame[rng.random(len(frame)) >= dropped]
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def fit(frame, **options):
    factors = {"gender": frame["gender"], "race": frame["race"]}
    return standardised_effects(frame["rating"], factors, frame["application"], REFERENCES, **options)


def dummies(frame):
    return np.column_stack([frame[factor] == level for factor, level in COLUMNS]).astype(float)


@pytest.mark.parametrize("dropped", [0.0, 0.3])
@pytest.mark.parametrize("whole", [True, False])
def test_estimates_and_clustered_errors_are_statsmodels(dropped, whole):
    frame = experiment(1, dropped=dropped, whole=whole)
    peer = sm.OLS(frame["rating"], sm.add_constant(dummies(frame))).fit(
        cov_type="cluster", cov_kwds={"groups": frame["application"].astype("category").cat.codes}
    )
    sd = frame["rating"].std()
    found = fit(frame)
    assert [(e.factor, e.level) for e in found.effects] == COLUMNS
    assert [e.estimate for e in found.effects] == pytest.approx(peer.params.to_numpy()[1:] / sd, abs=1e-10)
    assert [e.standard_error for e in found.effects] == pytest.approx(peer.bse.to_numpy()[1:] / sd, abs=1e-10)
    covariance = np.asarray(peer.cov_params())[1:, 1:] / sd**2
    assert found.covariance == pytest.approx(covariance, abs=1e-10)
    assert found.outcome_sd == pytest.approx(sd, abs=1e-12)
    assert (found.n, found.clusters, found.degrees_of_freedom) == (len(frame), 60, 59)


@pytest.mark.parametrize("dropped", [0.0, 0.3])
def test_fixed_effects_are_those_of_a_dummy_an_application(dropped):
    frame = experiment(2, applications=25, dropped=dropped)
    n, clusters = len(frame), frame["application"].nunique()
    own = pd.get_dummies(frame["application"]).to_numpy(dtype=float)
    peer = sm.OLS(frame["rating"].to_numpy(), np.column_stack([dummies(frame), own])).fit(
        cov_type="cluster", cov_kwds={"groups": frame["application"].astype("category").cat.codes}
    )
    sd = frame["rating"].std()
    found = fit(frame, fixed_effects=True)
    assert [e.estimate for e in found.effects] == pytest.approx(peer.params[:4] / sd, abs=1e-10)
    # The peer counts each dummy as a parameter; they are nested in the clusters.
    scale = np.sqrt((n - 4 - clusters) / (n - 5)) / sd
    assert [e.standard_error for e in found.effects] == pytest.approx(peer.bse[:4] * scale, abs=1e-10)


def test_fixed_effects_change_nothing_in_a_complete_design():
    frame = experiment(3)
    plain, within = fit(frame), fit(frame, fixed_effects=True)
    for one, other in zip(plain.effects, within.effects, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-12)


def test_effects_by_hand():
    # Pairs differ by 1, 2 and 0: the effect is 1; cluster scores are half the deviations of the differences.
    found = standardised_effects([3, 4, 2, 4, 3, 3], {"gender": ["man", "woman"] * 3}, [1, 1, 2, 2, 3, 3])
    sd = np.std([3, 4, 2, 4, 3, 3], ddof=1)
    effect = found["gender", "woman"]
    assert (effect.reference, found.clusters) == ("man", 3)
    assert effect.estimate == pytest.approx(1 / sd)
    # Sum of squared deviations of the differences is 2; over 3^2, times 3/2 * 5/4.
    assert effect.standard_error == pytest.approx(np.sqrt(2 / 9 * 3 / 2 * 5 / 4) / sd)
    with pytest.raises(KeyError):
        found["gender", "man"]


@given(st.integers(0, 1000), st.integers(1, 5))
def test_shards_give_the_whole(seed, shards):
    frame = experiment(seed, applications=12, dropped=0.2)
    shard = np.random.default_rng(seed).integers(0, shards, len(frame))  # splits applications too
    parts = [
        cluster_sums(part["rating"], {"gender": part["gender"], "race": part["race"]}, part["application"])
        for _, part in frame.groupby(shard)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    whole = cluster_sums(
        frame["rating"], {"gender": frame["gender"], "race": frame["race"]}, frame["application"]
    )
    assert merged.cells == whole.cells
    assert merged.clusters.tolist() == whole.clusters.tolist()
    assert merged.counts.tolist() == whole.counts.tolist()
    assert merged.sums.tolist() == whole.sums.tolist()  # ratings are whole numbers: exact
    one, other = merged.effects(REFERENCES), whole.effects(REFERENCES)
    for mine, theirs in zip(one.effects, other.effects, strict=True):
        assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-12)
        assert mine.standard_error == pytest.approx(theirs.standard_error, abs=1e-12)


def test_labels_of_any_type_give_one_answer():
    frame = experiment(4)
    base = fit(frame)
    for kind in ("category", object):
        typed = frame.astype({"gender": kind, "race": kind, "application": kind})
        assert fit(typed).effects == base.effects
    codes = frame["application"].str[4:].astype(int)
    numbered = standardised_effects(
        frame["rating"].to_numpy(),
        {name: frame[name].tolist() for name in ("gender", "race")},
        codes,
        REFERENCES,
    )
    for mine, theirs in zip(numbered.effects, base.effects, strict=True):
        assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-12)


def test_levels_that_are_numbers_are_ordered_by_size():
    parts = [cluster_sums([1, 2, 4], {"age": [2, 10, 30]}, [i] * 3) for i in (1, 2, 11)]
    merged = parts[2].merge(parts[1]).merge(parts[0])
    whole = cluster_sums([1, 2, 4] * 3, {"age": [2, 10, 30] * 3}, [1] * 3 + [2] * 3 + [11] * 3)
    assert merged.cells == whole.cells == ((2,), (10,), (30,))
    assert merged.clusters.tolist() == whole.clusters.tolist() == [1, 2, 11]
    assert [effect.reference for effect in whole.effects().effects] == [2, 2]


def test_units_cancel():
    frame = experiment(5, whole=False)
    base = fit(frame)
    scaled = fit(frame.assign(rating=frame["rating"] * 40 + 1e4))
    assert scaled.outcome_sd == pytest.approx(40 * base.outcome_sd)
    for mine, theirs in zip(scaled.effects, base.effects, strict=True):
        assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-9)
        assert mine.standard_error == pytest.approx(theirs.standard_error, abs=1e-9)


def test_undefined_says_why():
    factors = {"gender": ["man", "woman"] * 2}
    with pytest.raises(UndefinedMetricError, match="1 application: clustered errors need at least two"):
        standardised_effects([1, 2, 3, 4], factors, [1, 1, 1, 1])
    with pytest.raises(UndefinedMetricError, match="all outcomes are equal"):
        standardised_effects([2, 2, 2, 2], factors, [1, 1, 2, 2])
    with pytest.raises(UndefinedMetricError, match="'gender' has one level"):
        standardised_effects([1, 2], {"gender": ["man", "man"]}, [1, 2])
    with pytest.raises(UndefinedMetricError, match="cannot be told apart"):
        standardised_effects([1, 2, 3, 4], {**factors, "name": ["Al", "Bo"] * 2}, [1, 1, 2, 2])
    with pytest.raises(UndefinedMetricError, match="2 rows for 2 parameters"):
        standardised_effects([1, 2], {"gender": ["man", "woman"]}, [1, 2])
    with pytest.raises(UndefinedMetricError, match="cannot be told apart"):
        # Gender never varies within an application.
        standardised_effects(
            [1, 2, 3, 4], {"gender": ["man", "man", "woman", "woman"]}, [1, 1, 2, 2], None, True
        )
    with pytest.raises(UndefinedMetricError, match="outcome: 1 of 2 scores are missing"):
        standardised_effects([1, np.nan], {"gender": ["man", "woman"]}, [1, 2])


def test_wrong_input_is_named():
    factors = {"gender": ["man", "woman"]}
    with pytest.raises(InputError, match="clusters: 1 labels for 2 outcomes"):
        standardised_effects([1, 2], factors, [1])
    with pytest.raises(InputError, match="factors\\['gender'\\], row 1: no label"):
        standardised_effects([1, 2], {"gender": ["man", None]}, [1, 2])
    with pytest.raises(InputError, match="at least one"):
        standardised_effects([1, 2], {}, [1, 2])
    with pytest.raises(InputError, match="'robot' is no level of factor 'gender'"):
        standardised_effects([1, 2], factors, [1, 2], {"gender": "robot"})
    with pytest.raises(InputError, match="no factor is named 'sex'"):
        standardised_effects([1, 2], factors, [1, 2], {"sex": "man"})
    one = cluster_sums([1, 2], factors, [1, 2])
    with pytest.raises(InputError, match="cannot merge factors"):
        one.merge(cluster_sums([1, 2], {"race": ["a", "b"]}, [1, 2]))


def test_equal_outcomes_have_no_unit_whatever_rounding_leaves():
    groups = {"g": ["a", "b"] * 3}
    with pytest.raises(UndefinedMetricError, match="all outcomes are equal"):
        standardised_effects([0.1] * 6, groups, [1, 1, 2, 2, 3, 3])
    merged = cluster_sums([0.1] * 6, groups, [1, 1, 2, 2, 3, 3]).merge(
        cluster_sums([0.1, 0.3], {"g": ["a", "b"]}, [4, 4])
    )
    assert (merged.low, merged.high) == (0.1, 0.3)
    assert merged.effects()["g", "b"].estimate > 0


def test_an_exact_fit_has_an_effect_but_no_error():
    fit = standardised_effects([0.3, 0.4] * 5, {"g": ["m", "w"] * 5}, np.arange(10) // 2)
    assert fit["g", "w"].estimate == pytest.approx(0.1 / fit.outcome_sd)
    assert fit["g", "w"].standard_error == Undefined(
        "every application shows the same effect: no residual to estimate an error from"
    )


@pytest.mark.parametrize("fixed_effects", [False, True])
def test_threads_change_not_a_bit(fixed_effects):
    """Twenty columns, solved by LAPACK: the same bytes on one thread and on two."""
    program = """
import sys
import numpy as np
from audit_lib.metrics import standardised_effects
rng = np.random.Generator(np.random.PCG64(5))
clusters = np.repeat(np.arange(2000), 6)
factors = {"name": rng.integers(10, size=12000), "school": rng.integers(11, size=12000)}
outcome = rng.normal(size=12000) + rng.normal(size=2000)[clusters] + 0.01 * factors["name"]
fit = standardised_effects(outcome, factors, clusters, fixed_effects=sys.argv[1] == "True")
assert len(fit.effects) == 19
estimates = np.array([effect.estimate for effect in fit.effects])
print(estimates.tobytes().hex(), fit.covariance.tobytes().hex())
"""
    found = set()
    for threads in ("1", "2", "4"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
        result = subprocess.run(
            [sys.executable, "-c", program, str(fixed_effects)],
            env={**os.environ, **dict.fromkeys(names, threads)},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(result.stdout)
    assert len(found) == 1
    assert len(found.pop()) > 2 * 8 * (19 + 19 * 19)
