"""Registered metrics against the kernels, the general intervals of `audit_lib.stats`, and other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from audit_lib.errors import EvidenceError
from audit_lib.metrics import (
    demographic_parity_gap,
    earth_movers_distance,
    equal_opportunity_gap,
    false_discovery_rate_gap,
    false_negative_rate_gap,
    false_omission_rate_gap,
    false_positive_rate_gap,
    jensen_shannon_divergence,
    rabbi,
    score_gap,
    selection_shares,
)
from audit_lib.results import Undefined
from audit_lib.stats import mean_difference, rank_index_interval
from tests.measure.tables import SPEC, as_rows, measured, table
from tests.specs import load

CELL = {"sex": "female", "race": "Black"}
GROUPS = [CELL, {"race": "Black"}, {"sex": "female"}]


def pick(found: list[dict[str, Any]], group: dict[str, str], k: int | None = None) -> Any:
    own = [e for e in found[0]["estimates"] if e["metric"] != "auc"]  # each subgroup's own
    (one,) = [e for e in own if e["group"] == group and e["parameters"].get("k") == k]
    return one


def sides(rows: pd.DataFrame, group: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    reference = {axis: SPEC.groups.reference[axis] for axis in group}
    return tuple(rows[(rows[list(cell)] == pd.Series(cell)).all(axis=1)] for cell in (group, reference))  # type: ignore[return-value]


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_the_aggregates_give_the_kernels_and_the_general_intervals(group: dict[str, str], ties: bool) -> None:
    rows = table(400, ties=ties)
    rows.loc[::9, "score"] = np.nan
    a, b = sides(rows.dropna(subset="score"), group)
    clusters = a["application_id"].to_numpy(), b["application_id"].to_numpy()
    for name, kernel, interval in (
        ("rabbi", rabbi, rank_index_interval),
        ("score_gap", score_gap, mean_difference),
    ):
        found = pick(measured(name, rows), group)
        expected = interval(a["score"], b["score"], *clusters, 0.95)
        assert found["value"] == pytest.approx(kernel(a["score"], b["score"]), abs=1e-14)
        assert (found["interval"]["low"], found["interval"]["high"]) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
        assert found["interval"]["method"] == expected.method
        assert found["clusters"] == pd.concat([a, b])["application_id"].nunique()


@pytest.mark.parametrize("name", ["rabbi", "score_gap", "demographic_parity_gap", "false_negative_rate_gap"])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_the_test_rejects_where_the_interval_excludes_parity(name: str, level: float) -> None:
    spec = load(decision={"rule": "recorded"}, measure={"level": level})
    outcomes = set()
    for seed in range(6):
        rows = table(200, seed=seed)
        rows["score"] += 0.5 * (rows["sex"] == "female") * (seed % 3)
        for part in measured(name, rows, spec=spec):
            for e in part["estimates"]:
                (test,) = e["tests"]
                excluded = not e["interval"]["low"] <= 0 <= e["interval"]["high"]
                assert (test["p_value"] < 1 - level) == excluded
                outcomes.add(excluded)
    assert outcomes == {True, False} or level == 0.999


def test_samples_that_do_not_overlap_still_have_a_test() -> None:
    rows = table(64)
    rows["score"] = rows["score"].rank() + 1000 * (rows["sex"] == "female")
    found = pick(measured("rabbi", rows), {"sex": "female"})
    assert found["value"] == 1.0
    assert found["interval"]["low"] > 0
    assert found["tests"][0]["p_value"] < 0.001


def test_every_row_its_own_application_is_welch() -> None:
    rows = table(160).assign(application_id=lambda f: f["variant_id"])
    a, b = sides(rows, {"sex": "female"})
    peer = stats.ttest_ind(a["score"], b["score"], equal_var=False)
    (test,) = pick(measured("score_gap", rows), {"sex": "female"})["tests"]
    assert test["p_value"] == pytest.approx(peer.pvalue, rel=1e-9)
    assert test["statistic"] == pytest.approx(peer.statistic, rel=1e-9)


@pytest.mark.parametrize("k", [1, 3])
def test_quotas(k: int) -> None:
    rows = table(160, ties=True)
    rows["share"] = selection_shares(rows["score"], rows["round_id"], k=k)
    a, b = sides(rows, CELL)
    assert pick(measured("demographic_parity_gap", rows), CELL, k)["value"] == pytest.approx(
        demographic_parity_gap(a["share"], b["share"]), abs=1e-14
    )
    assert pick(measured("equal_opportunity_gap", rows), CELL, k)["value"] == pytest.approx(
        equal_opportunity_gap(a["share"], a["qualified"], b["share"], b["qualified"]), abs=1e-14
    )


def test_a_stratum_that_cuts_rounds_counts_places_won_in_the_whole_round() -> None:
    rows = table(64, ties=True).assign(position=["cook", "driver"] * 32)
    rows["share"] = selection_shares(rows["score"], rows["round_id"], k=1)
    for part in ("cook", "driver"):
        own = rows[rows["position"] == part]
        a, b = sides(own, {"race": "Black"})
        (found,) = [
            e
            for one in measured("demographic_parity_gap", rows)
            for e in one["estimates"]
            if e["stratum"] == {"position": part}
            and e["group"] == {"race": "Black"}
            and e["parameters"]["k"] == 1
        ]
        assert found["value"] == pytest.approx(a["share"].mean() - b["share"].mean(), abs=1e-14)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("false_negative_rate_gap", false_negative_rate_gap),
        ("false_omission_rate_gap", false_omission_rate_gap),
        ("false_positive_rate_gap", false_positive_rate_gap),
        ("false_discovery_rate_gap", false_discovery_rate_gap),
    ],
)
@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_error_rates(name: str, kernel: Any, group: dict[str, str]) -> None:
    rows = table(200)
    rows.loc[::7, "qualified"] = pd.NA
    known = rows.dropna(subset="qualified")
    a, b = sides(known, group)
    expected = kernel(
        known["qualified"], known["selected"], known.index.isin(a.index), known.index.isin(b.index)
    )
    assert pick(measured(name, rows), group)["value"] == pytest.approx(expected, abs=1e-14)


def test_an_outcome_of_one_or_zero_stands_in_for_qualified() -> None:
    rows = table(96)
    outcome = rows["qualified"].astype(float)
    nobody = pd.array([pd.NA] * len(rows), dtype="boolean")
    expected = measured("auc_gap", rows)
    assert measured("auc_gap", rows.assign(qualified=nobody, outcome=outcome)) == expected
    graded = measured("auc_gap", rows.assign(qualified=nobody, outcome=outcome + 2.5))
    assert all("undefined" in e["value"] for e in graded[0]["estimates"])


def test_distances_are_the_kernels_and_their_interval_agrees_with_the_test() -> None:
    rows = table(120)
    a, b = sides(rows, CELL)
    for name, kernel in (
        ("jensen_shannon_divergence", jensen_shannon_divergence),
        ("earth_movers_distance", earth_movers_distance),
    ):
        found = pick(measured(name, rows), CELL)
        assert found["value"] == pytest.approx(kernel(a["score"], b["score"]), abs=1e-12)
        assert 0 <= found["interval"]["low"] <= found["value"] < found["interval"]["high"]
        assert "undirected" in found["flags"]
        (test,) = found["tests"]
        assert test["name"] == "distance_test"
        assert (test["p_value"] <= 0.05) == (found["interval"]["low"] > 0)


def test_auc_gaps() -> None:
    rows = table(400)
    rows["score"] += rows["qualified"].astype(float) * np.where(rows["sex"] == "female", 0.3, 1.5)
    found = measured("auc_gap", rows)
    area = {}
    for cell in [*GROUPS, {"race": "White"}, {"sex": "male"}, {"sex": "male", "race": "White"},
                 {"sex": "male", "race": "Black"}, {"sex": "female", "race": "White"}]:  # fmt: skip
        own = rows[(rows[list(cell)] == pd.Series(cell)).all(axis=1)]
        area[tuple(sorted(cell.items()))] = roc_auc_score(own["qualified"].astype(int), own["score"])
    for group in GROUPS:
        reference = {axis: SPEC.groups.reference[axis] for axis in group}
        expected = area[tuple(sorted(group.items()))] - area[tuple(sorted(reference.items()))]
        one = pick(found, group)
        assert one["value"] == pytest.approx(expected, abs=1e-12)
        (wide,) = one["intervals"]
        assert wide["kind"] == "simultaneous"
        assert wide["low"] < one["interval"]["low"] < one["value"] < one["interval"]["high"] < wide["high"]
        # The test and the interval of a pair fixed in advance agree.
        assert (one["tests"][0]["p_value"] < 0.05) == (
            not one["interval"]["low"] <= 0 <= one["interval"]["high"]
        )
    largest = pick(found, {})
    assert largest["value"] == pytest.approx(max(area.values()) - min(area.values()), abs=1e-12)
    assert largest["interval"]["kind"] == "simultaneous"
    assert largest["interval"]["low"] <= largest["value"] <= largest["interval"]["high"]
    assert largest["parameters"]["subgroups"] == 8


def test_auc_of_a_group_of_one_class_is_left_out_with_the_reason() -> None:
    rows = table(200)
    rows.loc[(rows["sex"] == "female") & (rows["race"] == "Black"), "qualified"] = True
    found = measured("auc_gap", rows)
    assert "0 not" in pick(found, CELL)["value"]["undefined"]
    assert pick(found, {})["parameters"]["left_out"] == 1


def test_repeats_are_averaged_and_may_stand_in_two_shards() -> None:
    rows = table(32)
    again = pd.concat(
        [rows.assign(repeat=0), rows.assign(repeat=1, score=rows["score"] + 2)], ignore_index=True
    )
    for cuts in (1, 3):
        found = as_rows(again, cuts=cuts)
        assert found.score[np.argsort(found.place)] == pytest.approx(rows["score"].to_numpy() + 1)
    half = again.assign(score=again["score"].where(again["repeat"] == 0))
    assert as_rows(half).score[np.argsort(as_rows(half).place)] == pytest.approx(rows["score"].to_numpy())


def test_an_answer_that_stands_twice_is_refused() -> None:
    rows = table(16)
    with pytest.raises(EvidenceError, match="16 answers stand twice"):
        as_rows(pd.concat([rows, rows], ignore_index=True), cuts=2)


def test_scores_of_a_variant_that_was_never_made_are_refused() -> None:
    from audit_lib.measure.rows.load import make_rows
    from tests.measure.tables import scores, variants

    rows = table(16)
    with pytest.raises(EvidenceError, match="2 rows of variants that were never made"):
        make_rows(variants(rows.head(14)), [scores(rows)], SPEC)


def test_a_scale_that_has_no_location_says_so() -> None:
    from audit_lib.measure.metric import METRICS
    from tests.measure.tables import POLICY

    rows = table(64)
    rows["score"] = rows["score"].rank() + 1000 * (rows["sex"] == "female")
    found = METRICS.get("rabbi")(as_rows(rows), SPEC, POLICY).estimates
    (one,) = [e for e in found if e.group == {"sex": "female"}]
    assert isinstance(one.location, Undefined)  # type: ignore[attr-defined]
