"""Rates of decisions and their errors: of two classes, of several, and of outcomes in words and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate
from scipy import stats
from sklearn.metrics import precision_score

from audit_lib import metrics, pipeline
from audit_lib.errors import ColumnTypeError, SpecError
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.split_columns import CLASSIFICATION, TRUE_CLASS
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.window import Window
from tests.inputs import write_jsonl
from tests.measure.tables import POLICY, scores, variants
from tests.measure.tables import table as small_table
from tests.specs import load, write

WINDOW = Window.parse("2026-01-05", "2026-01-12")
CLASSES = ["reject", "hold", "interview"]
METRIC_NAMES = [
    "decision_rate_gap",
    "false_negative_rate_gap",
    "false_positive_rate_gap",
    "false_discovery_rate_gap",
    "false_omission_rate_gap",
]
SECTIONS: dict[str, Any] = {
    "groups": {
        "attributes": {"sex": ["female", "male"]},
        "reference": {"sex": "male"},
        "categories": {"sex": {"female": "Female", "male": "Male"}},
        "provenance": "self_reported",
    },
    "source": {
        "kind": "files",
        "paths": ["prompts.jsonl"],
        "fields": ["resume", "decided"],
        "columns": {"recorded_selected": "decided", "outcome": "turned_out"},
        "selected_values": ["interview"],
        "rejected_values": ["reject", "hold"],
        "outcome": {"classes": CLASSES},
        "windowed": False,
    },
    "decision": {"rule": "recorded", "classes": CLASSES, "class_field": "decided"},
    "measure": {"metrics": METRIC_NAMES, "strata": [[]]},
    "checks": {"minimum_answered_share": 0.9, "maximum_answered_gap": 0.5},
    "report": {"policy": "generic"},
}
PEERS = {
    "decision_rate_gap": selection_rate,
    "false_negative_rate_gap": false_negative_rate,
    "false_positive_rate_gap": false_positive_rate,
    "false_discovery_rate_gap": lambda true, made: 1 - precision_score(true, made),
    "false_omission_rate_gap": lambda true, made: 1 - precision_score(true, made, pos_label=0),
}


def people(n: int = 400, seed: int = 5) -> pd.DataFrame:
    """Decisions into three classes; a few without a decision, a few whose true class is not known."""
    rng = np.random.default_rng(seed)
    true = rng.choice(CLASSES, n, p=[0.5, 0.3, 0.2])
    made = np.where(rng.random(n) < 0.7, true, rng.choice(CLASSES, n))
    return pd.DataFrame(
        {
            "prompt_id": [f"p{i:04d}" for i in range(n)],
            "position": "cook",
            "resume": "text",
            "sex": rng.choice(["female", "male"], n),
            "decided": np.where(rng.random(n) < 0.05, None, made),
            "turned_out": np.where(rng.random(n) < 0.1, None, true),
        }
    )


def measured(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Run:
    clean = [{key: None if pd.isna(value) else value for key, value in row.items()} for row in rows]
    write_jsonl(folder / "prompts.jsonl", clean)
    run = pipeline.open_run(write(folder, **(SECTIONS | sections)), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


def estimates(run: Run, **parameters: Any) -> dict[str, dict[str, Any]]:
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    return {
        one["metric"]: one
        for one in found
        if all(one["parameters"].get(key) == value for key, value in parameters.items())
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return measured(tmp_path_factory.mktemp("classes"), people().to_dict("records"))


@pytest.mark.parametrize("name", METRIC_NAMES)
@pytest.mark.parametrize("one", CLASSES)
def test_each_class_against_the_others_is_the_peers(run: Run, name: str, one: str) -> None:
    found, table = estimates(run, **{"class": one})[name], people().dropna(subset=["decided"])
    if name != "decision_rate_gap":
        table = table.dropna(subset=["turned_out"])
    true, made = table["turned_out"] == one, table["decided"] == one
    peer = MetricFrame(metrics=PEERS[name], y_true=true, y_pred=made, sensitive_features=table["sex"])
    assert found["value"] == pytest.approx(peer.by_group["female"] - peer.by_group["male"], abs=1e-12)
    among = {
        "decision_rate_gap": made | True,
        "false_negative_rate_gap": true,
        "false_positive_rate_gap": ~true,
        "false_discovery_rate_gap": made,
        "false_omission_rate_gap": ~made,
    }[name]
    sizes = table.loc[among, "sex"].value_counts()
    assert (found["n_group"], found["n_reference"]) == (sizes["female"], sizes["male"])
    whole = people()
    assert found["parameters"]["without_decision"] == whole["decided"].isna().sum() > 0
    if name != "decision_rate_gap":
        lost = whole["decided"].notna() & whole["turned_out"].isna()
        assert found["parameters"]["without_outcome"] == lost.sum() > 0


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_each_class_against_the_others_is_the_kernel_s_to_the_last_bit(run: Run, name: str) -> None:
    table = people().dropna(subset=["decided"])
    if name != "decision_rate_gap":
        table = table.dropna(subset=["turned_out"])
    ours = (table["sex"] == "female").to_numpy()
    for one in CLASSES:
        true, made = ((table[column] == one).to_numpy() for column in ("turned_out", "decided"))
        assert estimates(run, **{"class": one})[name]["value"] == getattr(metrics, name)(
            true, made, ours, ~ours
        )


def test_the_interval_by_hand(run: Run) -> None:
    found, table = (
        estimates(run, **{"class": "hold"})["decision_rate_gap"],
        people().dropna(subset=["decided"]),
    )
    flags = table["decided"] == "hold"
    ours, theirs = flags[table["sex"] == "female"], flags[table["sex"] == "male"]
    n = len(table)
    spread = n / (n - 1) * (ours.var(ddof=0) / len(ours) + theirs.var(ddof=0) / len(theirs))
    half = (found["interval"]["high"] - found["interval"]["low"]) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, n - 1) * np.sqrt(spread), rel=2e-3)
    assert found["interval"]["low"] < found["value"] < found["interval"]["high"]
    assert found["clusters"] == n


def test_where_nobody_is_known_to_be_qualified_only_classes_are_compared(run: Run) -> None:
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    whole = [one["metric"] for one in found if "class" not in one["parameters"]]
    assert whole == ["decision_rate_gap"], "who is selected is known, who is qualified is not"
    page = run.stage("report").read("report.html").decode()
    assert all(f"class {one}" in page for one in CLASSES)


def test_two_classes_are_two_sides_of_one_number(tmp_path: Path) -> None:
    table = people().replace({"hold": "reject"})
    two = {"classes": ["reject", "interview"], "class_field": "decided", "rule": "recorded"}
    source = SECTIONS["source"] | {
        "outcome": {"classes": ["reject", "interview"]},
        "rejected_values": ["reject"],
    }
    run = measured(tmp_path, table.to_dict("records"), decision=two, source=source)
    yes, no = estimates(run, **{"class": "interview"}), estimates(run, **{"class": "reject"})
    for name, other in (
        ("decision_rate_gap", "decision_rate_gap"),
        ("false_negative_rate_gap", "false_positive_rate_gap"),
        ("false_discovery_rate_gap", "false_omission_rate_gap"),
    ):
        sign = -1 if name == other else 1
        assert yes[name]["value"] == pytest.approx(sign * no[other]["value"], abs=1e-12)


@pytest.mark.parametrize(
    ("values", "how"),
    [
        (["Retained", "left ", None], {"positive": ["retained"], "negative": ["Left"]}),
        ([4.5, 2.0, None], {"threshold": 4.0}),
        ([1, 0, None], None),
    ],
)
def test_outcomes_of_any_kind_say_who_is_qualified(tmp_path: Path, values: list[Any], how: Any) -> None:
    rng = np.random.default_rng(3)
    true = rng.choice([0, 1, 2], 300, p=[0.5, 0.4, 0.1])
    rows = people(300).assign(turned_out=[values[i] for i in true]).astype(object).to_dict("records")
    source = {key: value for key, value in SECTIONS["source"].items() if key != "outcome"}
    source |= {} if how is None else {"outcome": how}
    run = measured(tmp_path, rows, source=source, decision={"rule": "recorded"})
    found = estimates(run)["false_negative_rate_gap"]
    table = people(300).assign(true=true)
    table = table[table["decided"].notna() & (table["true"] == 0)]
    missed = (table["decided"] != "interview").groupby(table["sex"]).mean()
    assert found["value"] == pytest.approx(missed["female"] - missed["male"], abs=1e-12)
    assert found["parameters"]["without_outcome"] == int(((true == 2) & people(300)["decided"].notna()).sum())


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ({"classes": ["reject", "hold"]}, "list the same classes"),
        ({"threshold": 1.0, "classes": CLASSES}, "give one of"),
        ({"positive": ["yes"]}, "given together"),
        ({"positive": ["yes"], "negative": ["Yes "]}, "listed twice"),
        ({"positive": [" "], "negative": ["no"]}, "no empty word"),
        ({}, "give one of"),
    ],
)
def test_a_way_to_read_outcomes_that_says_two_things_is_refused(outcome: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        load(**(SECTIONS | {"source": SECTIONS["source"] | {"outcome": outcome}}))


def test_an_outcome_that_is_no_class_is_refused_with_its_place_and_not_its_text(tmp_path: Path) -> None:
    rows = people(3).astype(object).to_dict("records")
    rows[1]["turned_out"] = "a note about somebody"
    rows[0]["turned_out"] = rows[2]["turned_out"] = "hold"
    with pytest.raises(
        ColumnTypeError, match=r"line 2: column 'turned_out' \(outcome\) should be one of reject"
    ) as e:
        measured(tmp_path, rows)
    assert "note" not in str(e.value)


def test_small_and_empty_groups_of_a_class() -> None:
    """One class has two women among the decided, another none."""
    frame = small_table(12).assign(sex=["female", "male"] * 6, qualified=pd.NA)
    frame["qualified"] = frame["qualified"].astype("boolean")
    made = ["x", "y", "y", "y", "x", "y", "y", "x", "y", "x", "y", "y"]
    spec = load(
        groups=SECTIONS["groups"],
        decision={"rule": "recorded", "classes": ["x", "y", "z"], "class_field": "resume"},
        measure={"small_cell": 5},
    )
    own = variants(frame)
    for name, labels in ((CLASSIFICATION, made), (TRUE_CLASS, ["x", "y"] * 6)):
        own = own.append_column(name, pa.array(labels, pa.string()))
    rows, _ = make_rows(own, [scores(frame)], spec)
    found = METRICS.get("false_discovery_rate_gap")(rows, spec, POLICY).estimates
    by_class = {one.parameters["class"]: one for one in found}
    assert by_class["x"].n_group == 2 and "small_cell" in by_class["x"].flags
    assert isinstance(by_class["z"].value, Undefined), "nobody was put into z: no rate, and not a rate of 0"
    assert isinstance(by_class["z"].interval, Undefined)


def test_where_every_round_goes_the_same_way_there_is_an_interval(tmp_path: Path) -> None:
    rows = [
        {
            "prompt_id": f"p{r:02d}{sex}", "position": "cook", "resume": "text", "sex": sex, "round_id": f"r{r}",
            "recorded_score": float(sex == "male") + r / 100,
        }
        for r in range(24)
        for sex in ("female", "male")
    ]  # fmt: skip
    source = {"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume"], "windowed": False}
    run = measured(
        tmp_path, rows, source=source, decision={"rule": "top_k", "k": 1, "round": "round_id"},
        measure={"metrics": ["decision_rate_gap"], "strata": [[]], "margins": {"decision_rate_gap": 0.1}},
    )  # fmt: skip
    found = estimates(run)["decision_rate_gap"]
    assert found["value"] == -1.0 and found["interval"]["low"] == -1.0 - 0
    limit = stats.beta.ppf(0.975, 1, 24)
    assert found["interval"]["high"] == pytest.approx(-1 + 2 * limit)
    assert "added up" in found["interval"]["method"]
    assert found["verdict"] == {"kind": "difference", "size": "beyond"}
