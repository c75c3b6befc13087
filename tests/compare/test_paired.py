"""Models tested against each other on the same applications, held against scipy and statsmodels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student
from scipy.stats import ttest_rel

from audit_lib.compare import compare
from audit_lib.errors import UndefinedMetricError
from audit_lib.run import Run
from audit_lib.stats.paired import UnitSums, paired_difference
from tests.compare.cases import PLANTED, applicants, sealed, versions
from tests.peers import multipletests

MODELS = list(PLANTED)
POOLS: dict[str, Any] = {
    "decision": {"rule": "top_k", "k": 4, "round": "round_id"},
    "measure": {
        "metrics": [
            "score_gap",
            "rabbi",
            "demographic_parity_gap",
            "standardised_effect",
            "earth_movers_distance",
        ],
        "quotas": [3, 4],
    },
}


def pooled(model: str) -> list[dict[str, Any]]:
    """Two applications' versions for one position compete, eight candidates a round."""

    def pool(number: int) -> str:
        return f"r{number % 2}-{number // 4:02d}"

    return [{**row, "round_id": pool(int(row["application_id"][1:]))} for row in versions(model)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("paired")
    made = compare([sealed(folder, model, pooled(model), **POOLS) for model in MODELS])
    return dict(json.loads(made["comparison.json"]))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    runs = [sealed(folder, model, pooled(model), **POOLS) for model in MODELS]
    return compare(runs)["comparison.html"].decode()


def test_each_table_has_a_name_of_its_own(page: str) -> None:
    names = re.findall(r'<div class="table" role="region" aria-label="([^"]+)"', page)
    assert len(names) == len(set(names)) > 8
    assert "Score gap: female against male" in names, "two metrics have the same contrasts"


def test_a_way_to_compute_that_not_all_models_have_names_whose_it_is(tmp_path: Path, page: str) -> None:
    """One model answered for fewer applications: its degrees of freedom are other ones."""
    section = page[page.index('id="score-gap"') :]
    assert f"{MODELS[0]}: " not in section[: section.index("</section>")].split("</table>")[1]
    rows = [pooled(MODELS[0]), pooled(MODELS[1])]
    for row in rows[0]:
        if row["application_id"] == rows[0][0]["application_id"]:
            row["recorded_score"] = None
    runs = [
        sealed(tmp_path, model, own, **(POOLS | {"checks": {"minimum_answered_share": 0.5}}))
        for model, own in zip(MODELS, rows, strict=False)
    ]
    section = compare(runs)["comparison.html"].decode()
    section = section[section.index('id="score-gap"') :]
    notes = section[: section.index("</section>")].split("</table>")[1]
    assert f"{MODELS[0]}: " in notes and f"{MODELS[1]}: " in notes


def contrast(document: Mapping[str, Any], metric: str, **parameters: Any) -> dict[str, Any]:
    """The one of women against men over the whole audit."""
    (one,) = [
        one
        for one in document["paired"]["contrasts"]
        if one["metric"] == metric
        and one["group"] == {"sex": "female"}
        and not one["stratum"]
        and parameters.items() <= one["parameters"].items()
    ]
    return dict(one)


def table(model: str) -> pd.DataFrame:
    return pd.DataFrame(pooled(model))


def gaps(value: Callable[[pd.DataFrame], pd.Series], model: str, unit: str = "application") -> Any:
    """Women's mean less men's, unit by unit."""
    frame = table(model)
    frame["value"] = value(frame)
    means = frame.pivot_table(index=f"{unit}_id", columns="sex", values="value")
    return (means["female"] - means["male"]).to_numpy()


def shares(k: int) -> Callable[[pd.DataFrame], pd.Series]:
    """Whether each is among the best k of its round; scores are never tied here."""

    def selected(frame: pd.DataFrame) -> pd.Series:
        places: pd.Series = frame.groupby("round_id")["recorded_score"].rank(ascending=False, method="min")
        return (places <= k).astype(float)

    return selected


@pytest.mark.parametrize(
    ("metric", "parameters", "value", "unit"),
    [
        ("score_gap", {}, lambda frame: frame["recorded_score"], "application"),
        ("demographic_parity_gap", {"k": 3}, shares(3), "round"),
        ("demographic_parity_gap", {"k": 4}, shares(4), "round"),
    ],
)
def test_gaps_are_the_paired_t_test_of_the_applications_own_gaps(
    found: dict[str, Any], metric: str, parameters: dict[str, Any], value: Any, unit: str
) -> None:
    one = contrast(found, metric, **parameters)
    assert one["unit"] == unit and len(one["pairs"]) == 3
    for pair in one["pairs"]:
        ours, theirs = (gaps(value, MODELS[pair[name]], unit) for name in ("first", "second"))
        known = ttest_rel(ours, theirs)
        ends = known.confidence_interval()
        assert pair["value"] == pytest.approx(ours.mean() - theirs.mean(), abs=1e-12)
        assert pair["p_value"] == pytest.approx(known.pvalue, rel=1e-9)
        assert (pair["interval"]["low"], pair["interval"]["high"]) == pytest.approx(
            (ends.low, ends.high), rel=1e-9
        )
        assert pair["units"] == {"application": 60, "round": 30}[unit]


def test_rabbi_is_what_counting_every_pair_gives(found: dict[str, Any]) -> None:
    """Hájek's projection by brute force: each application's share of pairs won, both sides together."""

    def moved(model: str) -> tuple[float, Any]:
        frame = table(model)
        women, men = (frame[frame["sex"] == sex] for sex in ("female", "male"))
        wins = np.sign(
            women["recorded_score"].to_numpy()[:, None] - men["recorded_score"].to_numpy()[None, :]
        )
        ours = pd.Series((wins.mean(axis=1) - wins.mean()) / len(women), index=women["application_id"])
        theirs = pd.Series((wins.mean(axis=0) - wins.mean()) / len(men), index=men["application_id"])
        return wins.mean(), (ours.groupby(level=0).sum() + theirs.groupby(level=0).sum()).to_numpy()

    for pair in contrast(found, "rabbi")["pairs"]:
        (a, ours), (b, theirs) = moved(MODELS[pair["first"]]), moved(MODELS[pair["second"]])
        n = ours.size
        error = np.sqrt(n / (n - 1) * np.square(ours - theirs).sum())
        assert pair["value"] == pytest.approx(a - b, abs=1e-12)
        assert pair["p_value"] == pytest.approx(2 * student.sf(abs(a - b) / error, n - 1), rel=1e-9)


def test_effects_are_the_interaction_of_one_clustered_regression(found: dict[str, Any]) -> None:
    for pair in contrast(found, "standardised_effect")["pairs"]:
        rows = []
        for place, name in enumerate(("first", "second")):
            frame = table(MODELS[pair[name]])
            frame["y"] = frame["recorded_score"] / frame["recorded_score"].std(ddof=1)
            frame["model"] = 1.0 - place
            rows.append(frame)
        both = pd.concat(rows)
        woman, black, model = (both["sex"] == "female") * 1.0, (both["race"] == "Black") * 1.0, both["model"]
        design = np.column_stack([np.ones(len(both)), woman, black, model, model * woman, model * black])
        groups = both["application_id"].astype("category").cat.codes
        fit = sm.OLS(both["y"].to_numpy(), design).fit(
            cov_type="cluster", cov_kwds={"groups": groups.to_numpy(), "use_correction": False}
        )
        error = fit.bse[4] * np.sqrt(60 / 59)
        assert pair["value"] == pytest.approx(fit.params[4], abs=1e-9)
        assert pair["p_value"] == pytest.approx(2 * student.sf(abs(fit.params[4]) / error, 59), rel=1e-6)


def test_impact_ratios_at_thresholds_are_compared_on_their_logarithm(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "groups": {"provenance": "self_reported"},
        "measure": {"metrics": ["adverse_impact_ratio"], "thresholds": [3.0], "strata": [[]]},
    }
    runs = [sealed(tmp_path, model, applicants(model), **sections) for model in MODELS[:2]]
    one = contrast(json.loads(compare(runs)["comparison.json"]), "adverse_impact_ratio")
    (pair,) = one["pairs"]
    rows = []
    for place, model in enumerate(MODELS[:2]):
        frame = pd.DataFrame(applicants(model))
        rows.append(frame.assign(model=1.0 - place, y=(frame["recorded_score"] >= 3) * 1.0))
    both = pd.concat(rows)
    woman, model_ = (both["sex"] == "female") * 1.0, both["model"]
    groups = both["application_id"].astype("category").cat.codes
    fit = sm.GLM(
        both["y"].to_numpy(),
        np.column_stack([np.ones(len(both)), woman, model_, model_ * woman]),
        family=sm.families.Poisson(),
    ).fit(cov_type="cluster", cov_kwds={"groups": groups.to_numpy(), "use_correction": False})
    assert one["scale"] == "ratio" and pair["units"] == 400
    assert np.log(pair["value"]) == pytest.approx(fit.params[3], abs=1e-8)
    width = (np.log(pair["interval"]["high"]) - np.log(pair["interval"]["low"])) / 2
    # n / (n - 1) on each side and Welch's t: half a percent more than the normal interval.
    assert width == pytest.approx(1.96 * fit.bse[3], rel=0.01) and width > 1.96 * fit.bse[3]


def test_holm_is_statsmodels_over_the_models_and_over_all(found: dict[str, Any]) -> None:
    contrasts = found["paired"]["contrasts"]
    for one in contrasts:
        p = [pair["p_value"] for pair in one["pairs"]]
        assert [pair["p_holm_models"] for pair in one["pairs"]] == pytest.approx(
            multipletests(p, method="holm")[1]
        )
    pairs = [pair for one in contrasts for pair in one["pairs"]]
    known = multipletests([pair["p_value"] for pair in pairs], method="holm")[1]
    assert [pair["p_holm"] for pair in pairs] == pytest.approx(known)
    # score_gap, rabbi, two quotas, effects; women and Black applicants (and their cells); three strata; three pairs.
    assert found["paired"]["family_size"] == len(pairs) > 100
    assert found["paired"]["findings"]["p_holm"] == int((known < 0.05).sum())


def test_what_was_planted_in_one_model_is_found_between_models(found: dict[str, Any]) -> None:
    for pair in contrast(found, "score_gap")["pairs"]:
        first, second = (PLANTED[MODELS[pair[name]]] for name in ("first", "second"))
        assert pair["interval"]["low"] < first - second < pair["interval"]["high"]
        assert pair["p_holm"] < 0.001
    of_race = [
        one
        for one in found["paired"]["contrasts"]
        if one["metric"] == "score_gap" and one["group"] == {"race": "Black"} and not one["stratum"]
    ]
    assert all(pair["p_holm_models"] > 0.05 for one in of_race for pair in one["pairs"]), (
        "nothing was planted there"
    )


def test_a_distance_tests_no_models_and_says_why(found: dict[str, Any]) -> None:
    metrics = {one["name"]: one for one in found["metrics"]}
    assert "a distance is biased away from 0" in metrics["earth_movers_distance"]["tested"]["undefined"]
    assert not [one for one in found["paired"]["contrasts"] if one["metric"] == "earth_movers_distance"]
    assert [e for e in found["estimates"] if e["metric"] == "earth_movers_distance"], "set side by side it is"


def test_applications_that_one_model_did_not_answer(tmp_path: Path) -> None:
    """Each model counts those that it answered; both together pair those that are in both."""
    rows = pooled("kind-1")
    for row in rows:
        if row["application_id"] in ("a003", "a004"):
            row["recorded_score"] = None
    sections = POOLS | {"measure": {"metrics": ["score_gap"]}, "checks": {"minimum_answered_share": 0.5}}
    runs = [
        sealed(tmp_path, "fair-1", pooled("fair-1"), **sections),
        sealed(tmp_path, "kind-1", rows, **sections),
    ]
    (pair,) = contrast(json.loads(compare(runs)["comparison.json"]), "score_gap")["pairs"]
    ours, theirs = (gaps(lambda frame: frame["recorded_score"], model) for model in ("fair-1", "kind-1"))
    kept = np.array([i not in (3, 4) for i in range(60)])
    moved = (ours - ours.mean()) / 60 - np.where(kept, (theirs - theirs[kept].mean()) / 58, 0)
    error = np.sqrt(60 / 59 * np.square(moved).sum())
    assert pair["units"] == 58
    assert pair["value"] == pytest.approx(ours.mean() - theirs[kept].mean(), abs=1e-12)
    assert pair["p_value"] == pytest.approx(2 * student.sf(abs(pair["value"]) / error, 59), rel=1e-9)


def test_models_that_agree_about_everybody_have_no_test(tmp_path: Path) -> None:
    same = [{**row, "recorded_model": "twin-1"} for row in pooled("fair-1")]
    runs: list[Run] = [
        sealed(tmp_path, "fair-1", pooled("fair-1"), **POOLS),
        sealed(tmp_path, "twin-1", same, **POOLS),
    ]
    document = json.loads(compare(runs)["comparison.json"])
    for one in document["paired"]["contrasts"]:
        (pair,) = one["pairs"]
        assert pair["value"] == 0 and pair["p_value"] is None and pair["p_holm"] is None
        assert "same difference" in pair["interval"]["undefined"]
    assert document["paired"]["family_size"] == 0


def gap(women: Any, men: Any) -> UnitSums:
    there = np.ones(len(women))
    return UnitSums(
        estimate=float(np.mean(women) - np.mean(men)),
        group=(women - np.mean(women)) / len(women),
        reference=(np.mean(men) - men) / len(men),
        group_rows=there,
        reference_rows=there,
    )


def test_a_model_without_spread_is_paired_by_the_spread_of_the_other(tmp_path: Path) -> None:
    """One model puts every man before every woman: its own interval is undefined, the difference's is not."""
    rows = [{**row, "recorded_score": float(row["sex"] == "male")} for row in pooled("harsh-1")]
    runs = [
        sealed(tmp_path, "fair-1", pooled("fair-1"), **POOLS),
        sealed(tmp_path, "harsh-1", rows, **POOLS),
    ]
    document = json.loads(compare(runs)["comparison.json"])
    (pair,) = contrast(document, "demographic_parity_gap", k=3)["pairs"]
    known = ttest_rel(gaps(shares(3), "fair-1", "round"), np.full(30, -0.75))
    assert pair["p_value"] == pytest.approx(known.pvalue, rel=1e-9)
    (own,) = [
        e["interval"]
        for e in document["estimates"]
        if (e["run"], e["metric"], e["group"], e["stratum"])
        == (1, "demographic_parity_gap", {"sex": "female"}, {})
        and e["parameters"]["k"] == 4
    ]
    assert "undefined" in own


def test_one_applicant_of_a_group_is_a_row_with_the_reason(tmp_path: Path) -> None:
    rows = [{**row, "race": "Black" if i == 0 else "White"} for i, row in enumerate(versions("fair-1"))]
    runs = [
        sealed(
            tmp_path,
            model,
            [{**row, "recorded_model": model} for row in rows],
            measure={"metrics": ["score_gap"]},
        )
        for model in ("fair-1", "kind-1")
    ]
    made = compare(runs)
    (one,) = [
        one
        for one in json.loads(made["comparison.json"])["paired"]["contrasts"]
        if one["group"] == {"race": "Black"} and not one["stratum"]
    ]
    (pair,) = one["pairs"]
    assert pair["p_value"] is None and "fewer than two members" in pair["interval"]["undefined"]
    assert b"fewer than two members" in made["comparison.html"]


def test_nothing_in_common_is_no_pair() -> None:
    one = gap(np.arange(4.0), np.ones(4))
    nowhere = np.zeros(4)
    other = UnitSums(
        estimate=0.0, group=np.zeros(4), reference=np.zeros(4), group_rows=nowhere, reference_rows=nowhere
    )
    with pytest.raises(UndefinedMetricError, match="nothing pairs them"):
        paired_difference(one, other)


def test_the_test_keeps_its_level_and_pairing_finds_more() -> None:
    """Two models with the same gap: 5% are found. One with another gap: far more than without pairing."""
    rng = np.random.default_rng(5)
    false = true = alone = 0
    for _ in range(1000):
        merit = rng.normal(0, 1, 40)[:, None] * rng.normal(
            1, 0.5, (1, 2)
        )  # shared by the models, not by the sexes
        first, second = (merit + rng.normal(0, 0.3, (40, 2)) for _ in range(2))
        a, b, c = (
            gap(first[:, 0], first[:, 1]),
            gap(second[:, 0], second[:, 1]),
            gap(second[:, 0] + 0.25, second[:, 1]),
        )
        false += paired_difference(a, b)[2].p_value < 0.05  # type: ignore[operator]
        true += paired_difference(a, c)[2].p_value < 0.05  # type: ignore[operator]
        u, v = a.group + a.reference, c.group + c.reference
        alone += abs(a.estimate - c.estimate) > 2.02 * np.sqrt(40 / 39 * (np.square(u) + np.square(v)).sum())
    assert 30 <= false <= 72  # 50 expected, standard deviation 7
    assert true > 700 > 1.3 * alone
