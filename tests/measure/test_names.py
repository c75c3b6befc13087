"""Names crossed with applications end to end: what holds for these names, and what for other names like them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib.canonical import canonical_json
from audit_lib.measure.experiment.names import NOT_TOLD, UNEVEN
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.stage import measure_rows, scored_shards
from audit_lib.policies import policy_of
from audit_lib.score.requests import Request
from tests.measure.test_experiments import RATING, found, uniform, who
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake


def rater(name_sd: float) -> Any:
    """Rate by chance around 3, more or less for each name, whatever its group."""

    def answer(request: Request) -> tuple[float, ...]:
        person = who(request)
        name = f"{person['first_name']} {person['last_name']}"
        own = uniform(name) + uniform(name + "b") - 1  # SD 0.408
        draw = uniform(request.request_id) + uniform(request.request_id + "b") - 1
        rating = 3 + 0.5 * draw + name_sd / 0.408 * own
        low = int(np.clip(np.floor(rating), 1, 4))
        shares = [0.0] * 5
        shares[low - 1], shares[low] = low + 1 - rating, rating - low
        return tuple(max(0.0, share) * 0.8 for share in shares)

    return answer


def audited(folder: Path, answer: Any, names: int, stage: str = "metrics", **sections: Any) -> Any:
    fake("rater", answer)
    run = open_audit(
        folder,
        "pointwise",
        **{
            "prompt": RATING,
            "model": {"backend": "rater", "name": "rater", "valid_judge": False},
            "perturb": {"names_per_group": names},
            "measure": {"metrics": ["standardised_effect"], "strata": [[], ["position"]]},
            "decision": {"rule": "threshold", "threshold": 3, "k": None, "round": None},
            "sample": {"size": 24},
        }
        | sections,
    )
    return up_to(run, stage)


def width(interval: dict[str, Any]) -> float:
    return float(interval["high"] - interval["low"])


def test_few_names_widen_what_is_said_of_a_group_and_not_what_is_said_of_them(tmp_path: Path) -> None:
    run = audited(tmp_path, rater(0.4), 3)
    document = run.stage("metrics").read_json("metrics.json")
    (women,) = found(document, "standardised_effect", sex="female")
    these = women["these_names"]
    assert these["names_group"] == these["names_reference"] == 12  # 3 in each of four races
    assert "(CR1), t(23)" in these["interval"]["method"]
    assert "names (crossed effects)" in women["interval"]["method"]
    assert width(women["interval"]) > 1.4 * width(these["interval"])
    assert women["parameters"]["degrees_of_freedom"] < 23
    assert women["tests"][0]["p_value"] > these["test"]["p_value"]
    assert women["multiplicity"]["test"] == women["tests"][0]["name"]
    middle = (these["interval"]["low"] + these["interval"]["high"]) / 2
    assert middle == pytest.approx(women["value"])
    explained, sd = document["names"], women["parameters"]["outcome_sd"]
    assert explained["names"] == 24 and explained["applications"] == 24 and explained["n"] == 192
    assert explained["sd"] * sd == pytest.approx(0.4, rel=0.35)
    low, high = (explained["sd_interval"][end] for end in ("low", "high"))
    assert low * sd < 0.4 < high * sd and low > 0
    share, ends = explained["share_of_variance"], explained["share_interval"]
    assert share == pytest.approx(explained["sd"] ** 2) and 0 < ends["low"] < share < ends["high"] < 1
    # Each name against its group: in the order of what the rater gives it.
    own = {e["name"]: e["value"] for e in explained["effects"]}
    planted, order = [], []
    for group in {canonical_json(e["group"]) for e in explained["effects"]}:
        inside = [e["name"] for e in explained["effects"] if canonical_json(e["group"]) == group]
        true = [uniform(name) + uniform(name + "b") for name in inside]
        assert len(inside) == 3
        planted += list(np.array(true) - np.mean(true))
        order += [own[name] for name in inside]
    assert (
        len(own) == 24 and np.corrcoef(order, planted)[0, 1] > 0.7
    )  # names dealt together share what each application takes up
    spread = [e for e in document["heterogeneity"] if e["metric"] == "standardised_effect"]
    assert spread and all(len(e["spread"]["effects"]) == 4 == e["spread"]["n"] for e in spread)


def test_one_name_a_group_leaves_nothing_to_say_of_others(tmp_path: Path) -> None:
    document = audited(tmp_path, rater(0.0), 1, sample={"size": 8}).stage("metrics").read_json("metrics.json")
    for e in found(document, "standardised_effect"):
        assert e["these_names"]["names_group"] == (4 if "sex" in e["group"] else 2)
        assert e["interval"] == {"undefined": NOT_TOLD} and isinstance(e["value"], float)
        assert e["tests"] == [] and e["these_names"]["test"]["p_value"] <= 1
    assert "undefined" in document["names"]


@pytest.mark.parametrize(("share", "said"), [(0.5, True), (0.97, False)])
def test_names_count_by_what_they_are_worth(tmp_path: Path, share: float, said: bool) -> None:
    """Of 96 women's rows under 12 names, a share goes to one name; the names of men stay as they were dealt."""
    run = audited(tmp_path, rater(0.4), 3)
    rows, _ = load_rows(run, scored_shards(run))
    column = rows.columns["candidate"]
    there = np.flatnonzero(rows.columns["sex"].codes == rows.columns["sex"].labels.index("female"))
    codes = column.codes.copy()
    codes[np.random.default_rng(1).permutation(there)[: int(share * there.size)]] = codes[there[0]]
    rows.columns["candidate"] = replace(column, codes=codes)  # type: ignore[index]
    after = measure_rows(rows, run.spec, policy_of(run.spec)).as_dict()
    (women,) = found(after, "standardised_effect", sex="female")
    if said:
        assert "names (crossed effects)" in women["interval"]["method"], "they are worth about four names"
    else:
        assert women["interval"] == {"undefined": UNEVEN}
        assert isinstance(women["these_names"]["interval"]["low"], float)


def test_a_name_in_each_application_changes_nothing(tmp_path: Path) -> None:
    run = audited(tmp_path, rater(0.4), 30)
    document = run.stage("metrics").read_json("metrics.json")
    for e in found(document, "standardised_effect"):
        these = e["these_names"]
        assert (these["interval"], these["test"]) == (e["interval"], e["tests"][0])
    # Without names in the rows it is the same, and says nothing of names.
    rows, _ = load_rows(run, scored_shards(run))
    rows.columns.pop("candidate")  # type: ignore[attr-defined]
    bare = measure_rows(rows, run.spec, policy_of(run.spec)).as_dict()
    for e, other in zip(bare["estimates"], document["estimates"], strict=True):
        assert e["interval"] == other["interval"] and "these_names" not in e
    assert "names" not in bare
