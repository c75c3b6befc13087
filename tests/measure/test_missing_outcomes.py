"""Gaps whose true outcomes are missing: bounds by trying every outcome, and weights by hand and by the bootstrap."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib.errors import SpecError
from audit_lib.measure.requirements import check_metrics
from tests.measure.tables import measured, table
from tests.specs import load

RATES = [
    "false_negative_rate_gap",
    "false_positive_rate_gap",
    "false_discovery_rate_gap",
    "false_omission_rate_gap",
]
METRICS = [*RATES, "average_odds_gap", "equalised_odds_gap", "calibration_gap"]


def by_hand(
    name: str, made: np.ndarray, true: np.ndarray, score: np.ndarray, women: np.ndarray
) -> float | None:
    """The gap by its definition; None where a rate is of nobody."""

    def of(side: np.ndarray) -> tuple[float, ...] | None:
        y, d, s = true[side], made[side], score[side]
        among = {
            "false_negative_rate_gap": [(d == 0, y == 1)], "false_positive_rate_gap": [(d == 1, y == 0)],
            "false_discovery_rate_gap": [(y == 0, d == 1)], "false_omission_rate_gap": [(y == 1, d == 0)],
            "average_odds_gap": [(d == 1, y == 1), (d == 1, y == 0)],
            "equalised_odds_gap": [(d == 1, y == 1), (d == 1, y == 0)],
            "calibration_gap": [(s - y, np.ones(y.size, bool))],
        }[name]  # fmt: skip
        return (
            None
            if any(not own.any() for _, own in among)
            else tuple(float(e[own].mean()) for e, own in among)
        )

    ours, theirs = of(women), of(~women)
    if ours is None or theirs is None:
        return None
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    return max(map(abs, gaps)) if name == "equalised_odds_gap" else float(np.mean(gaps))


def shown(score: Any) -> np.ndarray:
    """Scores as the helper of these tests gives them to a metric of probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.asarray(score, dtype=float))))


def people(seed: int, missing: int) -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = table()
    rows["score"] = rng.random(len(rows))
    rows["selected"] = pd.array(rng.random(len(rows)) < 0.5, dtype="boolean")
    true = pd.array(rng.random(len(rows)) < 0.5, dtype="boolean")
    true[rng.choice(len(rows), missing, replace=False)] = pd.NA
    rows["qualified"] = true
    return rows


def found(name: str, rows: pd.DataFrame, **measure: Any) -> dict[str, Any]:
    spec = load(decision={"rule": "recorded"}, measure={"metrics": [name], **measure})
    estimates = measured(name, rows, spec=spec)[0]["estimates"]
    return next(e for e in estimates if e["group"] == {"sex": "female"})


@pytest.mark.parametrize("name", METRICS)
def test_bounds_are_the_ends_of_all_outcomes(name: str) -> None:
    rows = people(3, missing=7)
    got = found(name, rows)["missing_outcomes"]
    made, women = rows["selected"].to_numpy(bool).astype(int), (rows["sex"] == "female").to_numpy()
    gone = rows["qualified"].isna().to_numpy()
    assert (got["group"], got["reference"]) == (int((gone & women).sum()), int((gone & ~women).sum()))
    true, gaps = rows["qualified"].fillna(False).to_numpy(bool).astype(int), []
    for outcomes in product((0, 1), repeat=7):
        true[gone] = outcomes
        gaps.append(by_hand(name, made, true, shown(rows["score"]), women))
    ends = [gap for gap in gaps if gap is not None]
    if name == "average_odds_gap":  # both rates at their ends at once: no narrower than what is possible
        assert got["bounds"][0] <= min(ends) + 1e-12 and got["bounds"][1] >= max(ends) - 1e-12
    elif name == "equalised_odds_gap":
        assert got["bounds"][0] <= min(ends) + 1e-12 and got["bounds"][1] == pytest.approx(max(ends))
    else:
        assert got["bounds"] == pytest.approx([min(ends), max(ends)])
    assert got["interval"]["low"] <= got["bounds"][0] and got["interval"]["high"] >= got["bounds"][1]
    assert "at_random" not in got


@pytest.mark.parametrize("name", METRICS)
def test_nothing_is_said_where_nothing_is_missing(name: str) -> None:
    assert "missing_outcomes" not in found(name, people(3, missing=0))


@pytest.mark.parametrize("name", METRICS)
def test_missing_at_random_is_each_kind_s_known_outcomes_weighed_up(name: str) -> None:
    rows = people(5, missing=12)
    got = found(name, rows, outcomes_at_random=["position"])["missing_outcomes"]
    frame = rows.assign(made=rows["selected"].astype(bool), known=rows["qualified"].notna())
    # Each known row as often as there are rows of its kind for each known one, by hand: a common multiple of copies.
    kind = ["sex", "position", "made"]
    weight = frame.groupby(kind)["known"].transform("size") / frame.groupby(kind)["known"].transform("sum")
    known = frame["known"].to_numpy()
    own = frame[known]
    copies = (weight[known] * 27720).round().astype(int).to_numpy()
    index = np.repeat(np.arange(len(own)), copies)
    columns = [own[c].to_numpy()[index] for c in ("made", "qualified", "score")]
    women = (own["sex"] == "female").to_numpy()[index]
    made, true, score = columns[0].astype(int), columns[1].astype(bool).astype(int), shown(columns[2])
    expected = by_hand(name, made, true, score, women)
    assert got["at_random"] == pytest.approx(expected, abs=1e-4)
    distance = name == "equalised_odds_gap"
    assert ("undefined" in got["at_random_interval"]) == distance
    if not distance:
        assert got["at_random_interval"]["low"] < got["at_random"] < got["at_random_interval"]["high"]


def test_a_kind_without_any_known_outcome_is_refused() -> None:
    rows = people(5, missing=0)
    rows.loc[(rows["sex"] == "female") & rows["selected"].astype(bool), "qualified"] = pd.NA
    got = found("false_negative_rate_gap", rows, outcomes_at_random=[])["missing_outcomes"]
    count = int(rows["qualified"].isna().sum())
    assert got["at_random"] == {
        "undefined": f"{count} people without an outcome are like nobody whose outcome is known"
    }


def test_a_column_that_is_not_there_is_refused_before_the_model_is_asked() -> None:
    spec = load(measure={"metrics": ["rabbi"], "outcomes_at_random": ["positon"]})
    with pytest.raises(SpecError, match=r"outcomes_at_random: 'positon' is neither.*did you mean 'position'"):
        check_metrics(spec, {})
