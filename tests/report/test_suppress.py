"""Small cells: not printed anywhere, and not to be worked out from what is printed."""

from __future__ import annotations

import csv
import io
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.policies import Policy, load_policy
from audit_lib.report import content as content_module
from audit_lib.report import report
from audit_lib.report.suppress import HIDDEN, _equations, hidden_cells
from audit_lib.run import Run
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.runs import reported
from tests.specs import load

SEXES, RACES = ("Female", "Male"), ("White", "Black or African American")


def suppressing(small: int = 5) -> Policy:
    policy = load_policy("nyc_ll144")
    cells = policy.cells.model_copy(update={"display": "suppress", "small": small})
    return policy.model_copy(update={"cells": cells})


def metrics(counts: dict[str, dict[tuple[str, str], int]]) -> dict[str, Any]:
    """Tables of people by position, sex and race, and of all positions together."""
    tables = []
    whole = {cell: sum(part[cell] for part in counts.values()) for cell in itertools.product(SEXES, RACES)}
    for stratum, part in [({}, whole), *(({"position": name}, part) for name, part in counts.items())]:
        rows: dict[str, dict[tuple[tuple[str, str], ...], int]] = {
            "sex": {},
            "race_ethnicity": {},
            "intersectional": {},
        }
        for (sex, race), n in part.items():
            for family, key in (
                ("sex", (("sex", sex),)), ("race_ethnicity", (("race", race),)),
                ("intersectional", (("sex", sex), ("race", race))),
            ):  # fmt: skip
                rows[family][key] = rows[family].get(key, 0) + n
        for family, found in rows.items():
            listed = [{"category": dict(key), "label": str(key), "n": n} for key, n in found.items()]
            tables.append({"kind": "selection", "family": family, "stratum": stratum, "rows": listed})
    return {"tables": tables, "missingness": [], "label_mass": [], "scores": [], "estimates": []}


CELLS = st.dictionaries(
    st.tuples(st.sampled_from(SEXES), st.sampled_from(RACES)), st.integers(0, 30), min_size=4, max_size=4
)


@settings(max_examples=150, deadline=None)
@given(counts=st.dictionaries(st.sampled_from(["cook", "driver", "clerk"]), CELLS, min_size=1))
def test_no_hidden_number_follows_from_the_printed_ones(
    counts: dict[str, dict[tuple[str, str], int]],
) -> None:
    """The oracle solves all equations exactly, by the rank of the matrix with and without each unit vector."""
    document, spec = metrics(counts), load()
    hidden = hidden_cells(document, spec, suppressing())
    sizes = {}
    for table in document["tables"]:
        for row in table["rows"]:
            key = (tuple(sorted(table["stratum"].items())), tuple(sorted(row["category"].items())))
            sizes[key] = row["n"]
    assert {cell for cell, n in sizes.items() if 0 < n < 5} <= hidden
    order = sorted(hidden)
    equations = _equations(sizes, [frozenset(), frozenset({"position"})])
    matrix = np.array([[eq.get(cell, 0) for cell in order] for eq in equations] or [[0] * len(order)], float)
    for number, cell in enumerate(order):
        unit = np.eye(len(order))[number]
        exposed = np.linalg.matrix_rank(np.vstack([matrix, unit])) == np.linalg.matrix_rank(matrix)
        alone = all(c in hidden for eq in equations if cell in eq for c in eq)
        assert not exposed or alone, f"{cell} follows from what is printed"


def test_nothing_is_hidden_without_a_small_cell() -> None:
    counts = {"cook": dict.fromkeys(itertools.product(SEXES, RACES), 7)}
    assert hidden_cells(metrics(counts), load(), suppressing()) == frozenset()


def test_one_small_cell_takes_others_with_it() -> None:
    counts = {"cook": dict(zip(itertools.product(SEXES, RACES), (2, 9, 20, 30), strict=True))}
    hidden = {
        levels for stratum, levels in hidden_cells(metrics(counts), load(), suppressing()) if not stratum
    }
    assert (("race", "White"), ("sex", "Female")) in hidden
    assert len([levels for levels in hidden if len(levels) == 2]) == 4, (
        "a 2 x 2 table has no other protection"
    )


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three black women among 320; nobody else is few."""
    folder = tmp_path_factory.mktemp("small")
    path = recorded_audit(folder, groups={"provenance": "self_reported"})
    rows, left = recorded_rows(320), 3
    for row in rows:
        if row["sex"] == "female" and row["race"] == "Black":
            row["race"], left = ("Black", left - 1) if left else ("White", 0)
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


@pytest.fixture
def hidden(small_run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.setattr(content_module, "policy_of", lambda spec: suppressing())
    return dict(report(small_run).artefacts)


def test_page_json_and_csv_hide_the_same_rows(hidden: dict[str, bytes]) -> None:
    document = json.loads(hidden["report.json"])
    gone = {
        (t["kind"], t["family"], tuple(t["stratum"].values()), row["label"])
        for t in document["metrics"]["tables"] for row in t["rows"] if row.get("suppressed")
    }  # fmt: skip
    assert ("selection", "intersectional", (), "Female, Black or African American") in gone
    lines = list(csv.DictReader(io.StringIO(hidden["tables.csv"].decode())))
    in_csv = {
        (x["kind"], x["family"], tuple(p.split("=")[1] for p in x["stratum"].split(";") if p), x["category"])
        for x in lines if x["undefined"] == HIDDEN and not x["n"]
    }  # fmt: skip
    assert in_csv == gone
    assert all(not x["selected"] and not x["rate"] and not x["impact_ratio"] for x in lines if not x["n"])
    page = hidden["report.html"].decode()
    assert "Hidden rows: too few people" in page
    assert '<th scope="row">Female, Black or African American</th><td class="number">hidden</td>' in page


def test_no_number_of_a_hidden_group_is_anywhere(hidden: dict[str, bytes]) -> None:
    """Every entry of the document that names a hidden group holds no number."""
    document = json.loads(hidden["report.json"])["metrics"]
    few = {"sex": "female", "race": "Black"}
    named = [
        entry
        for part in ("missingness", "scores", "label_mass", "estimates")
        for entry in document[part]
        if few in (entry.get("group"), entry.get("reference"))
    ]
    assert named
    for entry in named:
        numbers = {k: v for k, v in entry.items() if k not in ("parameters", "stratum", "group", "reference")}
        assert not any(isinstance(v, int | float) for v in numbers.values()), entry
    for entry in document["heterogeneity"]:
        if few in (entry.get("group"), entry.get("reference")):
            assert not entry["strata"]


def test_where_the_comparator_is_hidden_no_ratio_gives_its_rate_away(hidden: dict[str, bytes]) -> None:
    for table in json.loads(hidden["report.json"])["metrics"]["tables"]:
        top = next((row for row in table["rows"] if row["label"] == table["comparator"]), None)
        if top is not None and top.get("suppressed"):
            assert all(isinstance(row["impact_ratio"]["value"], dict) for row in table["rows"])


def test_a_policy_that_marks_hides_nothing(small_run: Run) -> None:
    made = report(small_run).artefacts
    assert b"suppressed" not in made["report.json"]
    assert HIDDEN.encode() not in made["tables.csv"]


def test_the_evidence_keeps_what_the_report_hides(small_run: Run, hidden: dict[str, bytes]) -> None:
    stored = json.loads(small_run.stage("metrics").read("metrics.json"))
    assert any(0 < row["n"] < 5 for table in stored["tables"] for row in table["rows"])
    assert Path(small_run.uri.removeprefix("file://"), "metrics", "metrics.json").is_file()
