"""A whole audit of 8,000 recorded rankings, compared with numbers computed here in another way.

The log is not part of this repository: see the head of ``bloomberg.yaml``. The other way reads the
first of each ranking as the candidate whose name stands first in the text, counts with pandas, and
divides fractions.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.archive.verify import verify
from audit_lib.pipeline import run_all
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.window import Window

SHARED = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[3] / "shared")
LOG = SHARED / "data" / "bloomberg" / "production_log.jsonl.gz"
SPEC = Path(__file__).with_name("bloomberg.yaml")
WINDOW = Window.parse("2023-11-21", "2023-12-02")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LOG.exists(), reason=f"no recorded rankings at {LOG}; set AUDIT_SHARED_DATA"),
]

FAMILIES = {"sex": ["sex"], "race_ethnicity": ["race"], "intersectional": ["sex", "race"]}
CATEGORIES = {
    "sex": {"female": "Female", "male": "Male"},
    "race": {"Black": "Black or African American", "Hispanic": "Hispanic or Latino"},
}
# First places among 4,000 rankings of each model, as published in docs/replication.md.
FIRST_PLACES = {
    "gpt-3.5-turbo": {
        ("female", "Asian"): 589,
        ("female", "Black"): 461,
        ("female", "Hispanic"): 570,
        ("female", "White"): 547,
        ("male", "Asian"): 490,
        ("male", "Black"): 428,
        ("male", "Hispanic"): 475,
        ("male", "White"): 440,
    },
    "gpt-4": {
        ("female", "Asian"): 501,
        ("female", "Black"): 475,
        ("female", "Hispanic"): 544,
        ("female", "White"): 525,
        ("male", "Asian"): 521,
        ("male", "Black"): 446,
        ("male", "Hispanic"): 489,
        ("male", "White"): 499,
    },
}


# One says that it is difficult to rank them, one names the most qualified alone, one puts two in fourth place.
UNREAD = {
    ("gpt-3.5-turbo", "HR specialist", "run_348"),
    ("gpt-3.5-turbo", "software engineer", "run_426"),
    ("gpt-3.5-turbo", "financial analyst", "run_524"),
}


# Two of them give the first place alone, which decides who is selected where k is 1.
UNDECIDED = {("gpt-3.5-turbo", "HR specialist", "run_348")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The audit, all stages done."""
    spec = AuditSpec.load_text(SPEC.read_text(encoding="utf-8"), LOG.parent / SPEC.name)
    run = Run.open(spec, WINDOW, str(tmp_path_factory.mktemp("replication")))
    run_all(run)
    return run


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    """One row a candidate: who, whether the answer names them, and whether they are the first it names."""
    rows: list[dict[str, Any]] = []
    with gzip.open(LOG, "rt", encoding="utf-8") as log:
        for line in log:
            answer = json.loads(line)
            text = answer["response"].lower()
            places = [text.find(shown["name"].lower()) for shown in answer["candidates"]]
            first = min(place for place in places if place >= 0)
            rows += [
                {
                    "round": (answer["model"], answer["job"], answer["run_id"]),
                    "model": answer["model"],
                    "position": answer["job"],
                    "sex": shown["sex"],
                    "race": shown["race"],
                    "named": place >= 0,
                    "selected": place == first,
                }
                for shown, place in zip(answer["candidates"], places, strict=True)
            ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def metrics(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = run.stage("metrics").read_json("metrics.json")
    return document


def test_the_file_is_the_one_that_was_described(run: Run) -> None:
    source = run.stage("sample").read_json("sample.json")["sources"][0]
    assert source["sha256"] == hashlib.sha256(LOG.read_bytes()).hexdigest()
    assert (source["rows_read"], source["rows_in_window"]) == (64_000, 64_000)
    assert run.stage("sample").counts() == {"prompts": 64_000, "applications": 64_000, "rounds": 8_000}


def test_the_published_counts(candidates: pd.DataFrame) -> None:
    counted = candidates.groupby(["model", "sex", "race"])["selected"].sum()
    for model, places in FIRST_PLACES.items():
        assert counted[model].to_dict() == places


@pytest.fixture(scope="module")
def read(candidates: pd.DataFrame) -> pd.DataFrame:
    """The candidates of the answers that give a clear ranking."""
    return candidates[~candidates["round"].isin(UNREAD)]


def test_names_left_out_are_kept_and_counted(
    run: Run, metrics: dict[str, Any], candidates: pd.DataFrame, read: pd.DataFrame
) -> None:
    assert candidates[~candidates["named"]]["round"].nunique() == 530
    left_out = read[~read["named"]]
    assert left_out["round"].nunique() == 528
    assert (metrics["rows"]["total"], metrics["rows"]["answered"]) == (64_000, 64_000 - 24)
    assert metrics["rows"]["by_status"] == {
        "ok": 64_000 - 24 - len(left_out),
        "unranked": len(left_out),
        "refused": 0,
        "unparsed": 24,
        "error": 0,
    }
    expected = left_out.groupby(["sex", "race"]).size().to_dict()
    counted = {
        (group["group"]["sex"], group["group"]["race"]): group["unranked"]
        for group in run.stage("validation").read_json("validation.json")["completeness"]
    }
    assert counted == expected


def test_the_tables_pass_validation(run: Run) -> None:
    assert run.stage("validation").counts()["errors"] == 0
    assert run.stage("validation").counts()["warnings"] == 0


@pytest.mark.parametrize("strata", [["model"], ["model", "position"]], ids="-".join)
@pytest.mark.parametrize("family", FAMILIES)
def test_rates_and_impact_ratios(
    metrics: dict[str, Any], candidates: pd.DataFrame, family: str, strata: list[str]
) -> None:
    read = candidates[~candidates["round"].isin(UNDECIDED)]
    axes = FAMILIES[family]
    tables = [
        table
        for table in metrics["tables"]
        if table["kind"] == "selection" and table["family"] == family and list(table["stratum"]) == strata
    ]
    assert len(tables) == {1: 2, 2: 8}[len(strata)]
    renamed = read.replace({axis: CATEGORIES[axis] for axis in axes})
    for table in tables:
        mask = pd.Series(True, index=renamed.index)
        for column, value in table["stratum"].items():
            mask &= renamed[column] == value
        # A list of one key still makes the group's name a tuple.
        chosen = {key: group["selected"] for key, group in renamed[mask].groupby(axes)}
        assert sum(int(flags.sum()) for flags in chosen.values()) == renamed[mask]["round"].nunique()
        rates = {key: Fraction(int(flags.sum()), len(flags)) for key, flags in chosen.items()}
        best = max(rates.values())
        assert (
            len(table["rows"]) == len(rates) == {"sex": 2, "race_ethnicity": 4, "intersectional": 8}[family]
        )
        for row in table["rows"]:
            key = tuple(row["category"][axis] for axis in axes)
            ratio = rates[key] / best
            assert (row["n"], row["selected"]) == (len(chosen[key]), int(chosen[key].sum()))
            assert row["rate"]["value"] == float(rates[key])
            assert row["impact_ratio"]["value"] == float(ratio)
            assert row["four_fifths_flag"] is (ratio < Fraction(4, 5))


def test_the_experiment_is_called_one(run: Run, metrics: dict[str, Any]) -> None:
    assert metrics["experiment"] is True
    assert "not a bias audit" in run.stage("report").read("report.html").decode()


def test_the_evidence_verifies(run: Run) -> None:
    result = verify(run.uri)
    assert result.ok, result.summary()
    assert "metrics" in result.recomputed
