"""Verdicts: the law written down a second time, one answer to one question, and nothing from a few people."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import audit_lib
from audit_lib.archive.verify import verify
from audit_lib.measure.multiplicity import Hypotheses
from audit_lib.measure.questions import Doubts, compares, with_verdicts
from audit_lib.measure.verdicts import Evidence, verdict_of
from audit_lib.policies import policy_of
from audit_lib.results import Estimate, HeldToMargin, Interval, Undefined
from tests.archive.cases import do, new_run, reseal
from tests.specs import load

FOUND = ("difference", "below_the_line")
ASKED = {
    "impact_ratio": "who", "decision_rate_gap": "who", "score_gap": "how", "rabbi": "how",
    "scoring_rate_impact_ratio": "how",
}  # fmt: skip
"""Metrics of these frames that share a question."""


def people(seed: int, *, n: int = 0) -> pd.DataFrame:
    """Groups of many sizes, with differences of many sizes, some of one or two people."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.choice([60, 400, 2_000]))
    race = rng.choice(["White", "Black", "Asian"], n, p=[0.6, 0.39, 0.01])
    sex = rng.choice(["female", "male"], n)
    shift = rng.choice([0.0, 0.05, 0.3, 1.0]) * (sex == "female")
    score = rng.normal(size=n) * np.where(race == "Black", rng.choice([1.0, 2.5]), 1.0) - shift
    hired = rng.random(n) < 0.5 * np.where(race == "Black", rng.choice([1.0, 0.95, 0.4]), 1.0)
    return pd.DataFrame({"sex": sex, "race": race, "score": score, "hired": hired})


@cache
def measured(seed: int) -> Any:
    return audit_lib.frame(
        people(seed), decision="hired", score="score", groups=["sex", "race"],
        reference={"sex": "male", "race": "White"},
        metrics=list(ASKED),
        measure={"margins": {"score_gap": 0.5, "rabbi": 0.25, "decision_rate_gap": 0.2}},
    )  # fmt: skip


def by_hand(one: dict[str, Any], fewest: int, alpha: float = 0.05) -> str:
    """The law as docs/explanation/verdicts.md has it, of one number by itself."""
    if not isinstance(one["value"], float) or fewest < 5:
        return "undecided"
    p = one.get("multiplicity", {}).get("holm")
    held = one.get("held")
    low = high = None
    if held is not None and "undefined" not in held["interval"]:
        low, high = (held["interval"][end] for end in ("low", "high"))
        low, high = -np.inf if low is None else low, np.inf if high is None else high
    ratio = "ratio" in one["metric"]
    if p is not None and p < alpha:
        return "below_the_line" if ratio and high is not None and high < held["margin"] else "difference"
    if low is not None:
        least, most = (held["margin"], 1 / held["margin"]) if ratio else (-held["margin"], held["margin"])
        if least < low and high < most:
            return "equivalent"
    return "undecided"


@pytest.mark.parametrize("seed", range(8))
def test_every_verdict_is_what_the_law_gives_and_none_contradicts_another(seed: int) -> None:
    found = measured(seed)
    document = found.metrics.as_dict()
    said: dict[tuple[Any, ...], list[tuple[dict[str, Any], str]]] = {}
    for table in document["tables"]:
        top = next((row for row in table["rows"] if row["label"] == table["comparator"]), None)
        for row in table["rows"]:
            if row is top or top is None:
                continue
            one, pair = row["impact_ratio"], [row["category"], top["category"]]
            key = (ASKED[one["metric"]], json.dumps(sorted(json.dumps(x, sort_keys=True) for x in pair)))
            said.setdefault(key, []).append((one, by_hand(one, min(row["n"], top["n"]))))
    for one in document["estimates"]:
        assert ("verdict" in one) == bool(one["reference"])
        if one["reference"]:
            pair = [one["group"], one["reference"]]
            key = (ASKED[one["metric"]], json.dumps(sorted(json.dumps(x, sort_keys=True) for x in pair)))
            said.setdefault(key, []).append((one, by_hand(one, min(one["n_group"], one["n_reference"]))))
    claims = sum(one.held is not None for one in found.gaps if isinstance(one.interval, Interval)) + sum(
        any(row.impact_ratio.held is not None for row in table.rows) for table in found.metrics.tables
    )
    levels = {one["held"]["level"] for own in said.values() for one, _ in own if "held" in one}
    assert all(level == pytest.approx(1 - 0.1 / claims) for level in levels)
    for own in said.values():
        for one, kind in own:
            others = {k for other, k in own if other["metric"] != one["metric"]}
            if kind == "equivalent" and others & {*FOUND}:
                kind = "undecided"
                assert "of the same question, finds a difference" in one["verdict"]["reason"]
            assert one["verdict"]["kind"] == kind, one
            if kind == "undecided":
                assert one["verdict"]["reason"]
        kinds = {one["verdict"]["kind"] for one, _ in own}
        assert not ("equivalent" in kinds and kinds & {*FOUND})


def test_the_frames_above_have_every_kind() -> None:
    kinds = set()
    for seed in range(8):
        kinds |= {one.estimate.verdict.kind for one in measured(seed).numbers if one.estimate.verdict}
    assert kinds == {"below_the_line", "difference", "equivalent", "undecided"}


def test_a_difference_of_spread_keeps_equal_means_from_being_called_equivalent() -> None:
    rng = np.random.default_rng(3)
    sex = np.repeat(["female", "male"], 3_000)
    frame = pd.DataFrame({"sex": sex, "score": rng.normal(size=6_000) * np.where(sex == "female", 3.0, 1.0)})
    settings: dict[str, Any] = {
        "score": "score", "groups": ["sex"], "reference": "male", "measure": {"margins": {"score_gap": 0.5}},
    }  # fmt: skip
    alone = audit_lib.frame(frame, metrics=["score_gap"], **settings).gaps[0]
    both = audit_lib.frame(frame, metrics=["score_gap", "earth_movers_distance"], **settings)
    gap, distance = both.gaps
    assert alone.verdict is not None and alone.verdict.kind == "equivalent"
    assert distance.verdict is not None and distance.verdict.found
    assert gap.verdict is not None and gap.verdict.kind == "undecided"
    assert "Earth mover's distance, of the same question" in str(gap.verdict.reason)


def test_two_differences_in_opposite_directions_name_each_other() -> None:
    rng = np.random.default_rng(4)
    # Most women are a little lower, a few very much higher: their mean is above, their ranks below.
    women = np.where(rng.random(2_000) < 0.1, 30.0, -0.5) + rng.normal(size=2_000)
    frame = pd.DataFrame(
        {"sex": np.repeat(["female", "male"], 2_000), "score": [*women, *rng.normal(size=2_000)]}
    )
    found = audit_lib.frame(
        frame, score="score", groups=["sex"], reference="male", metrics=["score_gap", "rabbi"]
    )
    gap, rank = found.gaps
    assert isinstance(gap.value, float) and isinstance(rank.value, float) and gap.value * rank.value < 0
    for one, other in ((gap, "RABBI"), (rank, "Score gap")):
        assert one.verdict is not None and one.verdict.kind == "difference"
        assert (
            one.verdict.reason == f"{other}, of the same question, finds a difference in the other direction"
        )


def test_a_few_people_are_no_finding_whatever_their_p() -> None:
    sex = ["female"] * 4 + ["male"] * 2_000
    frame = pd.DataFrame({"sex": sex, "hired": [1] * 4 + [1] * 20 + [0] * 1_980})
    found = audit_lib.frame(
        frame, decision="hired", groups=["sex"], metrics=["impact_ratio", "decision_rate_gap"]
    )
    ratio = next(one for one in found.ratios if one.verdict is not None)
    assert ratio.multiplicity is not None and isinstance(ratio.multiplicity.holm, float)
    assert ratio.multiplicity.holm < 1e-6
    for one in (ratio, found.gaps[0]):
        assert one.verdict is not None and one.verdict.kind == "undecided"
        assert "4 people, fewer than the 5" in str(one.verdict.reason)


def test_what_large_data_show_of_the_size() -> None:
    n = 40_000
    frame = pd.DataFrame({"sex": np.repeat(["female", "male"], n)})
    for rate, kind, size in ((0.48, "difference", "within"), (0.35, "below_the_line", "beyond")):
        frame["hired"] = np.concatenate([np.arange(n) < rate * n, np.arange(n) < 0.5 * n])
        found = audit_lib.frame(frame, decision="hired", groups=["sex"], metrics=["impact_ratio"])
        (verdict,) = [one.verdict for one in found.ratios if one.verdict is not None]
        assert (verdict.kind, verdict.size) == (kind, size)


def test_the_number_of_people_that_would_tell_would_tell() -> None:
    rng = np.random.default_rng(8)
    draw = rng.normal(size=200)
    frame = pd.DataFrame({"sex": np.repeat(["female", "male"], 100), "score": draw})
    settings: dict[str, Any] = {
        "score": "score", "groups": ["sex"], "metrics": ["score_gap"], "measure": {"margins": {"score_gap": 0.2}},
    }  # fmt: skip
    (before,) = audit_lib.frame(frame, **settings).gaps
    assert before.verdict is not None and "with at most about" in str(before.verdict.reason)
    times = int(str(before.verdict.reason).split("with at most about ")[1].split()[0])
    (after,) = audit_lib.frame(pd.concat([frame] * times, ignore_index=True), **settings).gaps
    assert after.held is not None and isinstance(after.held.interval, Interval)
    assert after.held.interval.high - after.held.interval.low < 0.2


def held(low: float, high: float, margin: float = 0.2) -> HeldToMargin:
    return HeldToMargin(
        margin=margin, level=0.9, interval=Interval(low=low, high=high, method="-", level=0.9)
    )


@pytest.mark.parametrize(
    ("fields", "kind", "reason"),
    [
        ({"p": 0.01}, "difference", None),
        ({"p": 0.01, "told_apart": False}, "difference", None),
        ({"p": 0.4, "held": held(-0.1, 0.1)}, "equivalent", None),
        ({"p": 0.4, "held": held(-0.1, 0.1), "told_apart": False}, "uninterpretable", "did not tell"),
        ({"p": 0.4, "told_apart": False}, "uninterpretable", "did not tell these groups apart"),
        ({"p": 0.4}, "undecided", "without a margin"),
        ({"p": 0.4, "held": held(-0.1, 0.2)}, "undecided", "too little data"),
        ({"p": 0.4, "held": held(0.3, 0.5)}, "undecided", "beyond the margin, and the test"),
        ({"tested": False, "p": None, "held": held(0.3, 0.5)}, "difference", None),
        ({"tested": False, "p": None}, "undecided", "no test of this number"),
        ({"p": None, "held": held(0.3, 0.5)}, "undecided", "test of this number is undefined"),
        ({"p": 0.4, "held": HeldToMargin(margin=0.2, level=0.9, interval=Undefined("no spread"))}, "undecided",
         "no spread"),
        ({"value": Undefined("nobody"), "p": None, "told_apart": False}, "undecided", "nobody"),
        ({"p": 1e-9, "fewest": 4}, "undecided", "4 people, fewer than the 5"),
    ],
)  # fmt: skip
def test_the_law_case_by_case(fields: dict[str, Any], kind: str, reason: str | None) -> None:
    whole: dict[str, Any] = {
        "metric": "score_gap", "value": 0.1, "tested": True, "held": None, "fewest": 9, "least": 5
    }  # fmt: skip
    found = verdict_of(Evidence(**(whole | fields)), 0.05)
    assert found.kind == kind
    assert found.reason is None if reason is None else reason in str(found.reason)


@pytest.mark.parametrize(
    ("doubts", "kind"), [({}, "equivalent"), ({(): frozenset({("sex", "female")})}, "uninterpretable")]
)
def test_the_largest_gap_of_all_groups_is_doubted_where_one_of_them_is(doubts: Doubts, kind: str) -> None:
    spec = load()
    largest = Estimate(
        metric="auc_gap", value=0.02, interval=Undefined("-"), n=400, method="-", held=held(-0.05, 0.1)
    )
    found = with_verdicts(
        Hypotheses(tables=(), estimates=(largest,), heterogeneity=()), spec, policy_of(spec), doubts
    )
    (one,) = found.estimates
    assert one.verdict is not None and one.verdict.kind == kind


def test_what_compares_nothing_has_no_verdict() -> None:
    found = measured(1)
    assert all(one.verdict is None for one in found.rates)
    assert all(compares(one) for one in found.gaps)


@pytest.mark.slow  # a run is made again twice
def test_a_changed_verdict_does_not_verify(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [
        {"prompt_id": f"p{i}", "position": "cook", "resume": "x", "sex": ["female", "male"][i % 2],
         "recorded_selected": bool(rng.random() < (0.3, 0.6)[i % 2])}
        for i in range(400)
    ]  # fmt: skip
    sections = {
        "groups": {"attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"},
                   "categories": {"sex": {"female": "Female", "male": "Male"}}, "provenance": "self_reported"},
        "decision": {"rule": "recorded"}, "report": {"policy": "generic"},
        "measure": {"metrics": ["impact_ratio"]},
    }  # fmt: skip
    run = do(new_run(tmp_path, str(tmp_path / "store"), rows=rows, **sections), until="evidence")
    assert verify(run.uri).ok
    path = Path(run.uri) / "metrics" / "metrics.json"
    text = path.read_text(encoding="utf-8")
    changed = text.replace('"below_the_line"', '"equivalent"')
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    reseal(Path(run.uri))
    assert any("metrics.json" in str(one) for one in verify(run.uri).findings)
