"""Overlapping subgroups: the planted worst one is found, named, drawn and counted; small ones are hidden."""

from __future__ import annotations

import csv
import io
import re
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from audit_lib import pipeline
from audit_lib.errors import InputError, SpecError
from audit_lib.policies import load_policy
from audit_lib.report import content, report
from audit_lib.run import Run
from tests.archive.cases import do, new_run
from tests.specs import load

ATTRIBUTES = {"sex": ["female", "male"], "race": ["Black", "White"], "age": ["younger", "older"]}
GROUPS: dict[str, Any] = {
    "provenance": "self_reported",
    "attributes": ATTRIBUTES,
    "reference": {"sex": "male", "race": "White", "age": "younger"},
    "categories": {},
}
ALSO = [["sex", "race"], ["sex", "age"]]


def people(n: int = 1600, seed: int = 5) -> list[dict[str, Any]]:
    """The scores tell who is qualified among everybody but Black women, of whom they say nothing."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = []
    for index in range(n):
        levels = {name: str(rng.choice(own)) for name, own in ATTRIBUTES.items()}
        qualified = bool(rng.integers(2))
        tells = not (levels["sex"] == "female" and levels["race"] == "Black")
        rows.append(
            {
                "prompt_id": f"p{index:05d}", "application_id": f"a{index:05d}", "position": "cook", "resume": "r",
                "year": str(2024 + index % 2), "veteran": ["yes", "no", ""][index % 3], "qualified": qualified,
                "recorded_score": round(float(rng.normal(1.8 * qualified * tells)), 3), **levels,
            }
        )  # fmt: skip
    return rows


def made(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Run:
    given: dict[str, Any] = {
        "groups": GROUPS | {"also": ALSO, "masks": ["veteran"]},
        "source": {"fields": ["resume", "veteran", "year"]},
        "measure": {"metrics": ["auc_gap"], "strata": [[], ["year"]]},
        "report": {"policy": "generic"},
    }
    run = new_run(folder, str(folder / "store"), rows=rows, **(given | sections))
    pipeline.check(run.spec)
    return do(run, until="report")


def members(rows: pd.DataFrame) -> dict[tuple[tuple[str, str], ...], Any]:
    """Every subgroup that is compared, written out anew: levels, two pairs of attributes, all three, the mask."""
    sets = [*((axis,) for axis in ATTRIBUTES), *ALSO, tuple(ATTRIBUTES)]
    found: dict[tuple[tuple[str, str], ...], Any] = {}
    for axes in sets:
        for levels in product(*(ATTRIBUTES[axis] for axis in axes)):
            cell = tuple(zip(axes, levels, strict=True))
            found[cell] = np.logical_and.reduce([rows[axis] == level for axis, level in cell])
    return found | {(("veteran", side),): rows["veteran"] == side for side in ("yes", "no")}


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, pd.DataFrame]:
    rows = people()
    return made(tmp_path_factory.mktemp("aucs"), rows), pd.DataFrame(rows)


def estimates(run: Run, metric: str, **stratum: str) -> list[dict[str, Any]]:
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    return [e for e in found if e["metric"] == metric and e["stratum"] == stratum]


def test_every_subgroup_has_its_auc_with_its_numbers(audited: tuple[Run, pd.DataFrame]) -> None:
    run, rows = audited
    for stratum, own in (
        ({}, rows),
        *(({"year": year}, rows[rows["year"] == year]) for year in ("2024", "2025")),
    ):
        found = {tuple(e["group"].items()): e for e in estimates(run, "auc", **stratum)}
        expected = members(own) | {(): np.ones(len(own), dtype=bool)}
        assert set(found) == set(expected)
        for cell, mask in expected.items():
            e, part = found[cell], own[mask]
            assert e["value"] == pytest.approx(
                roc_auc_score(part["qualified"], part["recorded_score"]), abs=1e-12
            )
            assert e["n"] == len(part)
            assert e["parameters"] == {
                "positives": int(part["qualified"].sum()), "negatives": int((~part["qualified"]).sum())
            }  # fmt: skip
            assert e["interval"]["low"] < e["value"] < e["interval"]["high"]


def test_black_women_are_found_among_three_attributes(audited: tuple[Run, pd.DataFrame]) -> None:
    run, rows = audited
    cells = {
        cell: roc_auc_score(rows["qualified"][m], rows["recorded_score"][m])
        for cell, m in members(rows).items()
    }
    (gap,) = [e for e in estimates(run, "auc_gap") if not e["group"]]
    assert gap["value"] == pytest.approx(
        max(abs(a - b) for a, b in combinations(cells.values(), 2)), abs=1e-12
    )
    assert {"female", "Black"} <= {*gap["parameters"]["lowest"].split(", ")}
    planted = estimates(run, "auc_gap")
    (black_women,) = [e for e in planted if e["group"] == {"sex": "female", "race": "Black"}]
    assert black_women["intervals"][0]["high"] < -0.2, "also allowing for the choice among all pairs"
    assert gap["interval"]["kind"] == "simultaneous"
    assert 0.2 < gap["interval"]["low"] < gap["value"] < gap["interval"]["high"]


def test_the_page_names_the_pair_draws_the_years_and_prints_the_numbers(
    audited: tuple[Run, pd.DataFrame],
) -> None:
    run, rows = audited
    page = run.stage("report").read("report.html").decode()
    section = page[page.index('id="aucs"') :]
    section = section[: section.index("</section>")]
    (gap,) = [e for e in estimates(run, "auc_gap") if not e["group"]]
    said = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section))
    assert f"worst among {gap['parameters']['lowest']}: a gap of {gap['value']:.3f}" in said
    chart = section[section.index("<svg") : section.index("</svg>")]
    assert [panel in chart for panel in ("everybody", "2024", "2025")] == [True] * 3
    black_women = rows[(rows["sex"] == "female") & (rows["race"] == "Black")]
    auc = roc_auc_score(black_women["qualified"], black_women["recorded_score"])
    row = next(line for line in section.split("<tr") if "female, Black" in line and f"{auc:.3f}" in line)
    assert str(len(black_women)) in row and str(int(black_women["qualified"].sum())) in row
    assert "veteran: yes" in said
    lines = list(csv.DictReader(io.StringIO(run.stage("report").read("estimates.csv").decode())))
    (line,) = [
        e for e in lines if (e["metric"], e["stratum"], e["group"]) == ("auc", "", "sex=female;race=Black")
    ]
    assert float(line["value"]) == pytest.approx(auc)
    assert (
        line["parameters"]
        == f"positives={black_women['qualified'].sum()};negatives={(~black_women['qualified']).sum()}"
    )
    table = list(csv.DictReader(io.StringIO(run.stage("report").read("tables.csv").decode())))
    aucs = {(e["stratum"], e["category"]): e for e in table if e["kind"] == "auc"}
    assert len(aucs) == sum(e["metric"] == "auc" for e in lines)
    own = aucs["", "sex=female;race=Black"]
    assert float(own["auc"]) == pytest.approx(auc) and own["n"] == str(len(black_women))
    assert (own["auc_low"], own["auc_high"], own["family"]) == (line["low"], line["high"], "sex;race")
    assert not {e["auc"] for e in table if e["kind"] != "auc"} - {""}


def test_small_subgroups_are_not_compared_and_hidden_where_the_policy_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people(400)
    # Four Black women who are older are left.
    few = [r for r in rows if (r["sex"], r["race"], r["age"]) == ("female", "Black", "older")][4:]
    kept = [row for row in rows if row not in few]
    run = made(tmp_path, kept)
    cell = {"sex": "female", "race": "Black", "age": "older"}
    (own,) = [e for e in estimates(run, "auc") if e["group"] == cell]
    assert "left_out" in own["flags"] and own["n"] == 4
    (gap,) = [e for e in estimates(run, "auc_gap") if not e["group"]]
    assert gap["parameters"]["left_out"] == 1
    marked = dict(report(run).artefacts)
    policy = load_policy("generic")
    cells = policy.cells.model_copy(update={"display": "suppress"})
    monkeypatch.setattr(content, "policy_of", lambda spec: policy.model_copy(update={"cells": cells}))
    hidden = dict(report(run).artefacts)
    for name, printed in (
        ("estimates.csv", "sex=female;race=Black;age=older"),
        ("tables.csv", "sex=female;race=Black;age=older"),
        ("report.html", "female, Black, older"),
    ):
        assert printed in marked[name].decode(), name
        assert printed not in hidden[name].decode(), name
    assert "worst among" not in hidden["report.html"].decode(), "the pair and the gap are of everybody"


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"also": [["sex", "colour"]]}, r"groups\.also: 'colour' is not an attribute|also: 'colour'"),
        ({"also": [["sex"]]}, r"also: \[sex\] is compared already"),
        ({"also": [["sex", "race", "age"]]}, r"also: \[sex, race, age\] is compared already"),
        ({"also": [["sex", "race"], ["race", "sex"]]}, r"\[race, sex\] is listed twice"),
        ({"masks": ["sex"]}, "'sex' is an attribute"),
    ],
)
def test_what_cannot_be_compared_further_is_refused(groups: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(groups=GROUPS | groups)


def test_masks_are_fields_that_say_yes_or_no(tmp_path: Path) -> None:
    rows = people(40)
    with pytest.raises(SpecError, match=r"groups\.masks: 'veteran' is not in source\.fields"):
        made(tmp_path, rows, source={"fields": ["resume", "year"]})
    with pytest.raises(SpecError, match="measure.strata: 'veteran' is one of groups.masks"):
        made(tmp_path, rows, measure={"metrics": ["auc_gap"], "strata": [[], ["veteran"]]})
    with pytest.raises(SpecError, match="only the metric auc_gap compares them"):
        made(tmp_path, rows, measure={"metrics": ["rabbi"]})
    rows[3]["veteran"] = "Army"
    with pytest.raises(
        InputError, match="1 of 40 rows say neither yes nor no in the column 'veteran'"
    ) as caught:
        made(tmp_path, rows)
    assert "Army" not in str(caught.value)


def test_further_intersections_are_compared_by_every_metric(tmp_path: Path) -> None:
    run = made(tmp_path, people(200), groups=GROUPS | {"also": ALSO}, measure={"metrics": ["score_gap"]})
    found = [e["group"] for e in estimates(run, "score_gap")]
    assert (
        found.count({"sex": "female", "race": "Black"}) == found.count({"sex": "female", "age": "older"}) == 1
    )
    assert {"race": "Black", "age": "older"} not in found
