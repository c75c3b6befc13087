"""Heterogeneity over positions, Simpson's paradox, and the family of tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.meta_analysis import combine_effects

from audit_lib.measure.heterogeneity import heterogeneity
from audit_lib.measure.metric import METRICS, Measured
from audit_lib.measure.multiplicity import Hypotheses, adjust
from tests.measure.tables import POLICY, SPEC, as_rows, parts, table


def entries(name: str, rows: pd.DataFrame) -> list[dict[str, Any]]:
    whole, *others = [METRICS.get(name)(part, SPEC, POLICY) for part in parts(as_rows(rows))]
    return [entry.as_dict() for entry in heterogeneity(whole, others, ["position"])]


def find(found: list[dict[str, Any]], group: dict[str, str], **keys: Any) -> dict[str, Any]:
    (one,) = [
        e for e in found if e["group"] == group and keys.items() <= {**e, **e.get("parameters", {})}.items()
    ]
    return one


def test_breslow_day_is_statsmodels() -> None:
    rows = table(800).assign(application_id=lambda frame: frame["variant_id"])
    found = [e for e in entries("impact_ratio", rows) if e["family"] == "sex"]
    (one,) = found
    tables = []
    for position in ("cook", "driver"):
        own = rows[rows["position"] == position]
        pair = [one["group"]["sex"].lower(), one["reference"]["sex"].lower()]
        tables.append(
            [[(own[own["sex"] == sex]["selected"] == flag).sum() for flag in (True, False)] for sex in pair]
        )
    peer = StratifiedTable([np.array(t) for t in tables]).test_equal_odds(adjust=True)
    assert one["breslow_day"]["statistic"] == pytest.approx(peer.statistic, rel=1e-8)
    assert one["breslow_day"]["p_value"] == pytest.approx(peer.pvalue, rel=1e-8)
    assert [s["stratum"]["position"] for s in one["strata"]] == ["cook", "driver"]
    assert one["strata"][0]["counts"][0] == tables[0][0][0]


def test_cochran_q_of_a_gap_is_statsmodels() -> None:
    rows = table(400)
    rows.loc[(rows["position"] == "cook") & (rows["sex"] == "female"), "score"] += 0.7
    one = find(entries("score_gap", rows), {"sex": "female"})
    found = [METRICS.get("score_gap")(part, SPEC, POLICY).estimates[0] for part in parts(as_rows(rows))[1:]]
    effects, errors = np.array([e.value for e in found]), np.array([e.standard_error for e in found])  # type: ignore[attr-defined]
    peer = combine_effects(effects, errors**2).test_homogeneity()
    assert one["cochran_q"]["statistic"] == pytest.approx(peer.statistic, rel=1e-9)
    assert one["cochran_q"]["p_value"] == pytest.approx(peer.pvalue, rel=1e-9)


def test_simpson_turns_round_where_women_apply_for_the_harder_position() -> None:
    rows = table(400)
    female = rows["sex"] == "female"
    # 80% of women apply where scores are 5 lower, and in each position women score 0.3 higher.
    hard = np.where(female, rows.index % 10 < 8, rows.index % 10 < 2)
    rows["position"] = np.where(hard, "driver", "cook")
    rows["application_id"] = rows["variant_id"]
    rows["score"] = rows["score"] * 0.2 - 5.0 * hard + 0.3 * female
    one = find(entries("score_gap", rows), {"sex": "female"})
    assert one["simpson"]["reversed"] is True
    assert one["simpson"]["complete"] is True
    assert one["simpson"]["pooled"] < 0 < one["simpson"]["adjusted"]
    assert find(entries("score_gap", table(400)), {"race": "Black"})["simpson"]["higher"] in (0, 1, 2)


def test_applications_in_several_positions_are_no_independent_strata() -> None:
    rows = table(96).assign(position=["cook", "driver"] * 48)
    one = find(entries("score_gap", rows), {"race": "Black"})
    assert "several strata" in one["cochran_q"]["undefined"]


def step_down(p_values: list[float], parts: list[object], of_everybody: set[int]) -> list[float]:
    """Holm's steps, where each part counts as long as something of it is left, tables of everybody as half of all."""
    everything = {repr(part) for part in parts}
    tables = {repr(parts[i]) for i in of_everybody}
    share = {part: 0.5 / len(tables if part in tables else everything - tables) for part in everything}
    adjusted: dict[int, float] = {}
    reached = 0.0
    for i in sorted(range(len(p_values)), key=lambda i: p_values[i] / share[repr(parts[i])]):
        left = {repr(part) for k, part in enumerate(parts) if k not in adjusted}
        shares = sum(share[part] for part in left)
        reached = max(reached, min(1.0, shares / share[repr(parts[i])] * p_values[i]))
        adjusted[i] = reached
    return [adjusted[i] for i in range(len(p_values))]


def test_the_family_is_all_hypotheses_and_a_table_counts_once() -> None:
    rows = table(400)
    rows["score"] += 0.6 * (rows["sex"] == "female")
    names = ["impact_ratio", "scoring_rate_impact_ratio", "rabbi", "score_gap", "demographic_parity_gap"]
    done: list[list[Measured]] = [
        [METRICS.get(n)(p, SPEC, POLICY) for n in names] for p in parts(as_rows(rows))
    ]
    result, family = adjust(
        Hypotheses(
            tables=tuple(t for part in done for one in part for t in one.tables),
            estimates=tuple(e for part in done for one in part for e in one.estimates),
            heterogeneity=tuple(
                entry
                for i in range(len(names))
                for entry in heterogeneity(done[0][i], [part[i] for part in done[1:]], ["position"])
            ),
        ),
        alpha=0.05,
    )
    summary = family.as_dict()
    document: dict[str, Any] = {
        name: [one.as_dict() for one in getattr(result, name)]
        for name in ("tables", "estimates", "heterogeneity")
    }
    rows_of = [(n, row["impact_ratio"]) for n, t in enumerate(document["tables"]) for row in t["rows"]]
    holders = [*rows_of, *((("estimate", n), h) for n, h in enumerate(document["estimates"]))]
    parts_of: list[object] = [part for part, h in holders if h["tests"]]
    tested = [h for _, h in holders if h["tests"]]
    assert {h["tests"][0]["name"] for part, h in rows_of if h["tests"]} == {"could_be_highest"}
    p_values = [h["tests"][0]["p_value"] for h in tested]
    for entry in document["heterogeneity"]:
        tested.append(entry)
        parts_of.append(("strata", len(tested)))
        counts = "table" in entry and "clustered_by" not in entry
        p_values.append(entry["breslow_day" if counts else "cochran_q"]["p_value"])
    assert summary["family_size"] == len(p_values) > 100
    whole = {n for n, one in enumerate(document["tables"]) if not one["stratum"]}
    peer = step_down(p_values, parts_of, {i for i, part in enumerate(parts_of) if part in whole})
    assert [h["multiplicity"]["holm"] for h in tested] == pytest.approx(peer, abs=1e-12)
    assert summary["findings"]["holm"] == sum(p < 0.05 for p in peer)
    for one in document["tables"]:
        own = [row["impact_ratio"] for row in one["rows"] if row["impact_ratio"]["tests"]]
        assert one["equal_rates"]["p_value"] == min(h["tests"][0]["p_value"] for h in own)
        assert one["multiplicity"]["holm"] == min(h["multiplicity"]["holm"] for h in own)
    assert (
        summary["findings"]["unadjusted"] == sum(p < 0.05 for p in p_values) > summary["findings"]["holm"] > 0
    )


def test_no_test_no_family() -> None:
    summary = adjust(Hypotheses(tables=(), estimates=(), heterogeneity=()), alpha=0.05)[1].as_dict()
    assert summary["family_size"] == 0
    assert summary["findings"] == {"unadjusted": 0, "holm": 0}
