"""Impact ratios of categories between models, held against a bootstrap of clusters and the delta method in numpy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib.compare import compare
from tests.compare.cases import PLANTED, applicants, sealed, versions

MODELS = list(PLANTED)[:2]
MEASURE: dict[str, Any] = {"metrics": ["impact_ratio", "scoring_rate_impact_ratio"], "strata": [[]]}
PEOPLE: dict[str, Any] = {
    "groups": {"provenance": "self_reported"},
    "decision": {"rule": "threshold", "threshold": 3.0},
    "measure": MEASURE,
}


def pooled(model: str) -> list[dict[str, Any]]:
    """Two applications' versions for one position compete, eight candidates a round."""

    def pool(number: int) -> str:
        return f"r{number % 2}-{number // 4:02d}"

    return [{**row, "round_id": pool(int(row["application_id"][1:]))} for row in versions(model, 240)]


def found(runs: list[Any]) -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
    made = compare(runs)
    contrasts = json.loads(made["comparison.json"])["paired"]["contrasts"]
    return {(one["metric"], ", ".join(one["group"].values())): one for one in contrasts}, made[
        "comparison.html"
    ].decode()


def log_ratio(frame: pd.DataFrame, column: str) -> float:
    rates = frame.groupby("sex")[column].mean()
    return float(np.log(rates["female"] / rates["male"]))


def test_people_who_stand_alone_by_the_delta_method(tmp_path: Path) -> None:
    """Each is in one group: the variance of a log rate's difference is of the paired differences x/p - x'/p'."""
    runs = [sealed(tmp_path, model, applicants(model), **PEOPLE) for model in MODELS]
    contrasts, page = found(runs)
    ours, theirs = (pd.DataFrame(applicants(model)) for model in MODELS)
    cuts = {"impact_ratio": (lambda s: s >= 3), "scoring_rate_impact_ratio": (lambda s: s > s.median())}
    for metric, cut in cuts.items():
        (pair,) = contrasts[metric, "Female"]["pairs"]
        variance = value = 0.0
        for sex, sign in (("female", 1), ("male", -1)):
            a, b = (cut(one["recorded_score"])[one["sex"] == sex].to_numpy(float) for one in (ours, theirs))
            value += sign * (np.log(a.mean()) - np.log(b.mean()))
            variance += np.var(a / a.mean() - b / b.mean(), ddof=1) / a.size
        assert pair["value"] == pytest.approx(np.exp(value), rel=1e-12)
        low, high = (np.log(pair["interval"][end]) for end in ("low", "high"))
        assert (low + high) / 2 == pytest.approx(value, abs=1e-9)
        assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(variance), rel=0.01)
        assert pair["units"] == 400 and pair["p_value"] < 0.001
        one = contrasts[metric, "Female"]
        assert (one["scale"], one["reference"]) == ("ratio", {"sex": "Male"})
    assert "The comparator is Male; White" in page and "Impact ratio, pairs of models" in page


def test_rounds_in_which_candidates_compete_by_a_bootstrap_of_rounds(tmp_path: Path) -> None:
    sections = {
        "decision": {"rule": "top_k", "k": 3, "round": "round_id"},
        "measure": {**MEASURE, "metrics": ["impact_ratio"]},
    }
    runs = [sealed(tmp_path, model, pooled(model), **sections) for model in MODELS]
    one = found(runs)[0]["impact_ratio", "Female"]
    (pair,) = one["pairs"]
    assert one["unit"] == "round" and pair["units"] == 120
    counts = []
    for model in MODELS:
        frame = pd.DataFrame(pooled(model))
        frame["selected"] = frame.groupby("round_id")["recorded_score"].rank(ascending=False) <= 3
        own = frame.pivot_table(index="round_id", columns="sex", values="selected", aggfunc="sum")
        counts.append(own[["female", "male"]].to_numpy(float))  # four of each sex in every round
    drawn = np.random.default_rng(3).integers(0, 120, (20_000, 120))
    a, b = (own[drawn].sum(axis=1) for own in counts)
    logs = np.log(a[:, 0] / a[:, 1]) - np.log(b[:, 0] / b[:, 1])
    a, b = (own.sum(axis=0) for own in counts)
    assert np.log(pair["value"]) == pytest.approx(np.log(a[0] / a[1]) - np.log(b[0] / b[1]), abs=1e-12)
    width = (np.log(pair["interval"]["high"]) - np.log(pair["interval"]["low"])) / 2
    assert width == pytest.approx(1.98 * logs.std(), rel=0.05)


def test_a_category_of_few_people_or_few_selected_has_no_test_and_says_why(tmp_path: Path) -> None:
    def rows(model: str) -> list[dict[str, Any]]:
        """Nobody of Black applicants reaches the threshold, in either model."""
        return [
            {**row, "recorded_score": 1.0 if row["race"] == "Black" else row["recorded_score"]}
            for row in applicants(model)
        ]

    runs = [sealed(tmp_path, model, rows(model), **PEOPLE) for model in MODELS]
    contrasts, page = found(runs)
    black = next(
        one for (metric, group), one in contrasts.items() if metric == "impact_ratio" and "Black" in group
    )
    (pair,) = black["pairs"]
    assert pair["p_value"] is None and pair["interval"]["undefined"].startswith("Black")
    assert "at least 5 have to be" in pair["interval"]["undefined"] and "at least 5 have to be" in page


def test_models_that_decide_alike_have_no_test(tmp_path: Path) -> None:
    rows = [{**row, "recorded_model": model} for model in MODELS[:1] for row in applicants(model)]
    twin = [{**row, "recorded_model": "twin-1"} for row in rows]
    runs = [sealed(tmp_path, "fair-1", rows, **PEOPLE), sealed(tmp_path, "twin-1", twin, **PEOPLE)]
    (pair,) = found(runs)[0]["impact_ratio", "Female"]["pairs"]
    assert (
        pair["value"] == 1 and pair["p_value"] is None and "same difference" in pair["interval"]["undefined"]
    )
