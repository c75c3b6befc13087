"""Numbers of small tables computed by hand, under packs other than New York's and for its rarer duties."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import Run
from tests.archive.cases import do, new_run

SIXES = {  # sex, race: selected of assessed
    ("male", "White"): (50, 100), ("female", "White"): (40, 100),
    ("male", "Black"): (30, 100), ("female", "Black"): (35, 100),
}  # fmt: skip


def people(cells: Mapping[tuple[str, str], tuple[int, int]], **fields: Any) -> list[dict[str, Any]]:
    """Recorded decisions, so many selected of so many in each cell."""
    return [
        {
            "prompt_id": f"{sex}-{race}-{i}-{fields.get('style', '')}", "position": "cook", "resume": "text",
            "sex": sex, "race": race, "recorded_selected": i < selected, "recorded_score": float(i < selected),
            **fields,
        }
        for (sex, race), (selected, n) in cells.items()
        for i in range(n)
    ]  # fmt: skip


def measured(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Run:
    sections = {
        "decision": {"rule": "recorded"},
        "measure": {"metrics": ["impact_ratio"], "strata": [[]]},
    } | sections
    return do(new_run(folder, str(folder / "store"), rows=rows, **sections), until="report")


def tables(run: Run, family: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.stage("metrics").read_json("metrics.json")["tables"]
    return [table for table in found if table["family"] == family]


def numbers(table: Mapping[str, Any]) -> dict[str, tuple[int, int, float, object]]:
    """Assessed, selected, rate and ratio of every category with people."""
    return {
        row["label"].split(" (")[0]: (row["n"], row["selected"], row["rate"]["value"], row["impact_ratio"]["value"])
        for row in table["rows"]
        if row["n"]
    }  # fmt: skip


def exact_p(a: int, n: int, b: int, m: int) -> float:
    """Fisher's two-sided p: all tables with these margins that are no more likely than this one."""
    ways = [comb(n, x) * comb(m, a + b - x) for x in range(a + b + 1)]
    return sum(way for way in ways if way <= ways[a]) / comb(n + m, a + b)


@pytest.mark.parametrize("policy", ["us_ugesp", "generic"])
def test_packs_that_are_not_new_yorks(policy: str, tmp_path: Path) -> None:
    run = measured(tmp_path, people(SIXES), report={"policy": policy})
    (sexes,) = tables(run, "sex")
    assert numbers(sexes) == {"Male": (200, 80, 0.4, 1.0), "Female": (200, 75, 0.375, 0.9375)}
    (races,) = tables(run, "race_ethnicity" if policy == "us_ugesp" else "race")
    assert numbers(races) == {
        "White": (200, 90, 0.45, 1.0),
        "Black or African American": (200, 65, 0.325, pytest.approx(65 / 90)),
    }
    assert [table["comparator"].split(" (")[0] for table in (sexes, races)] == ["Male", "White"]
    row = next(row for row in races["rows"] if row["label"].startswith("Black"))
    picked, fisher, deviations = row["impact_ratio"]["tests"][:3]
    assert picked["p_value"] == pytest.approx(exact_p(65, 200, 90, 200)), (
        "of two, either could be the highest"
    )
    assert fisher["p_value"] == pytest.approx(exact_p(65, 200, 90, 200))
    together = 155 / 400
    assert deviations["statistic"] == pytest.approx(
        (65 / 200 - 90 / 200) / sqrt(together * (1 - together) * (1 / 200 + 1 / 200))
    )
    assert row["adverse_impact"]["shortfall"]["pooled"] == pytest.approx(200 * together - 65)
    z, n, rate = 1.959963984540054, 200, 65 / 200  # Wilson's interval of the rate
    middle, half = rate + z * z / (2 * n), z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    assert (row["rate"]["interval"]["low"], row["rate"]["interval"]["high"]) == pytest.approx(
        ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    )
    if policy == "generic":
        (both,) = tables(run, "intersectional")
        assert {label: ratio for label, (*_, ratio) in numbers(both).items()} == pytest.approx(
            {"Male, White": 1.0, "Female, White": 0.8, "Male, Black or African American": 0.6,
             "Female, Black or African American": 0.7}
        )  # fmt: skip
        assert [row["four_fifths_flag"] for row in both["rows"] if row["label"] == "Female, White"] == [False]


def test_the_page_of_the_guidelines_reads_all_tests_together(tmp_path: Path) -> None:
    run = measured(tmp_path, people(SIXES), report={"policy": "us_ugesp"})
    page = run.stage("report").read("report.html").decode()
    assert "Selection rates, race/ethnicity categories: adverse impact, all tests" in page
    # 65 of 90 expected at par: below four fifths, p 0.014, and 66 of them would not change either.
    black = page[page.index("adverse impact, all tests", page.index("race/ethnicity categories: adverse")) :]
    black = black[black.index("Black or African American") :][:900]
    assert ">indicated<" in black and "significant at 0.05" in black
    # Of women: 0.9375 and p 0.68.
    female = page[page.index("sex categories: adverse impact") :]
    assert ">not indicated<" in female[female.index("Female") :][:400]
    other = tmp_path / "other"
    other.mkdir()
    new_york = measured(other, people(SIXES)).stage("report").read("report.html").decode()
    assert "adverse impact, all tests" not in new_york, "its law knows no such test"


NATIVE = "Native American or Alaska Native (Not Hispanic or Latino)"


def test_an_excluded_category_by_hand(tmp_path: Path) -> None:
    """6 of 406 people are under 2%: no ratio of theirs, and theirs is no comparator, though its rate is highest."""
    rare = SIXES | {("male", "Native"): (3, 3), ("female", "Native"): (0, 3)}
    why = "six people applied"
    groups = {
        "provenance": "self_reported",
        "attributes": {"sex": ["female", "male"], "race": ["White", "Black", "Native"]},
        "categories": {
            "sex": {"female": "Female", "male": "Male"},
            "race": {"Black": "Black or African American", "Native": NATIVE.split(" (")[0]},
        },
    }
    run = measured(
        tmp_path,
        people(rare),
        groups=groups,
        use={"exclusions": {NATIVE: why}},
        report={"switches": {"exclude_small_share": "yes"}},
    )
    (races,) = tables(run, "race_ethnicity")
    found = numbers(races)
    assert found["White"] == (200, 90, 0.45, 1.0)
    assert found["Black or African American"] == (200, 65, 0.325, pytest.approx(65 / 90))
    assert found["Native American or Alaska Native"][:3] == (6, 3, 0.5)
    assert isinstance(found["Native American or Alaska Native"][3], Mapping)
    assert races["comparator"].startswith("White")
    (sexes,) = tables(run, "sex")
    assert {k: v[:2] for k, v in numbers(sexes).items()} == {"Male": (203, 83), "Female": (203, 75)}
    page = run.stage("report").read("report.html").decode()
    assert why in page and "1.5%" in page, "its justification and its share are printed"


def test_groups_that_a_tool_puts_people_into_by_hand(tmp_path: Path) -> None:
    """30 of 100 men and 20 of 100 women are Bold; the rest Calm: 20/30, and 70 of 80 percent."""
    rows = []
    for sex, bold in (("male", 30), ("female", 20)):
        rows += people({(sex, "White"): (0, bold)}, style="Bold")
        rows += people({(sex, "White"): (0, 100 - bold)}, style="Calm")
    run = measured(
        tmp_path,
        rows,
        source={
            "kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume", "style"], "windowed": False,
        },
        decision={"rule": "recorded", "classes": ["Bold", "Calm"], "class_field": "style"},
    )  # fmt: skip
    by_class = {table["stratum"].get("classification"): numbers(table) for table in tables(run, "sex")}
    assert by_class["Bold"] == {"Male": (100, 30, 0.3, 1.0), "Female": (100, 20, 0.2, pytest.approx(2 / 3))}
    assert by_class["Calm"] == {"Male": (100, 70, 0.7, 0.875), "Female": (100, 80, 0.8, 1.0)}
    page = run.stage("report").read("report.html").decode()
    assert "Class by class, and position by position" in page and "(5-301(b)(4))" in page
