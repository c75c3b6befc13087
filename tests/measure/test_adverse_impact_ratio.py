"""Adverse impact of real applicants' ratings at each threshold, against a fixed reference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.metric import METRICS
from audit_lib.stats.intervals import ratio_of_proportions
from tests.measure.tables import POLICY, SPEC, as_rows, measured, table
from tests.specs import load

PEOPLE = load(groups={"provenance": "self_reported"}, measure={"strata": [[]]})


def ratings(n: int = 400, seed: int = 5) -> pd.DataFrame:
    rows = table(n, seed=seed)
    rng = np.random.default_rng(seed)
    rows["application_id"] = [f"a{i:04d}" for i in range(n)]  # everybody applied once
    rows["score"] = rng.integers(1, 6, n).astype(float)
    rows.loc[rows.index[:7], "score"] = np.nan
    return rows


def test_the_ratio_and_both_intervals_are_koopman_s_on_the_counts() -> None:
    rows = ratings()
    (part,) = measured("adverse_impact_ratio", rows, spec=PEOPLE)
    assert [e["parameters"]["threshold"] for e in part["estimates"]] == [
        t for t in (3, 4, 5) for _ in range(5)
    ]
    rated = rows[rows["score"].notna()]
    for e in part["estimates"]:
        if e["group"] != {"sex": "female"}:
            continue
        at = e["parameters"]["threshold"]
        counts = []
        for sex in ("female", "male"):
            own = rated[rated["sex"] == sex]
            counts += [int((own["score"] >= at).sum()), len(own)]
        x, n, y, m = counts
        assert e["value"] == pytest.approx((x / n) / (y / m)) and (e["n_group"], e["n_reference"]) == (n, m)
        for level, found in ((0.95, e["interval"]), (0.7, e["intervals"][0])):
            limits = ratio_of_proportions(x, n, y, m, level, method="koopman")
            assert (found["low"], found["high"]) == pytest.approx((limits.low, limits.high))
            assert found["level"] == level and found["kind"] == "marginal"


def test_the_reference_stays_though_another_group_is_higher() -> None:
    rows = ratings()
    rows.loc[rows["sex"] == "female", "score"] = 5.0
    (part,) = measured("adverse_impact_ratio", rows, spec=PEOPLE)
    women = [e for e in part["estimates"] if e["group"] == {"sex": "female"}]
    assert all(e["value"] > 1 for e in women) and women[-1]["value"] > 3


def test_several_ratings_of_one_person_are_not_several_people() -> None:
    once = ratings(200)
    again = pd.concat([once, once.assign(variant_id="w" + once["variant_id"].str[1:])], ignore_index=True)
    widths = []
    for rows in (once, again):
        (part,) = measured("adverse_impact_ratio", rows, spec=PEOPLE)
        limits = part["estimates"][0]["interval"]
        widths.append(np.log(limits["high"] / limits["low"]))
        assert ("clustered by application" in part["estimates"][0]["method"]) == (rows is again)
    assert widths[1] == pytest.approx(widths[0], rel=0.03)


def test_nobody_selected_is_undefined_and_not_zero() -> None:
    rows = ratings()
    rows["score"] = 2.0
    (part,) = measured("adverse_impact_ratio", rows, spec=PEOPLE)
    assert all("undefined" in e["value"] and not e["tests"] for e in part["estimates"])


def test_versions_of_an_experiment_are_refused() -> None:
    with pytest.raises(UndefinedMetricError, match="standardised_effect is the measure"):
        METRICS.get("adverse_impact_ratio")(as_rows(ratings()), SPEC, POLICY)
    with pytest.raises(UndefinedMetricError, match="observed in real people"):
        METRICS.get("standardised_effect")(as_rows(ratings()), PEOPLE, POLICY)
