"""Four fifths, significance, flip-flop and small numbers are read together, as 29 CFR 1607.4(D) asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit_lib.policies import load_policy
from audit_lib.policies.adverse_impact import adverse_finding
from tests.archive.cases import do, new_run

UGESP = load_policy("us_ugesp")


def people(women: tuple[int, int], men: tuple[int, int]) -> list[dict[str, Any]]:
    """Recorded decisions: (selected, assessed) of each sex."""
    rows = []
    for sex, (selected, n) in (("female", women), ("male", men)):
        rows += [
            {
                "prompt_id": f"{sex}{index}",
                "position": "cook",
                "resume": "text",
                "sex": sex,
                "race": "White",
                "recorded_selected": index < selected,
                "recorded_score": float(index < selected),
            }
            for index in range(n)
        ]
    return rows


@pytest.mark.parametrize(
    ("women", "men", "verdict"),
    [
        ((40, 200), (100, 200), "indicated"),
        ((7, 10), (9, 10), "too few to tell"),
        ((79, 100), (100, 100), "too few to tell"),
        ((850, 1000), (950, 1000), "look closer"),
        ((48, 100), (50, 100), "not indicated"),
        ((0, 100), (0, 100), "undefined"),
    ],
)
def test_verdicts_on_real_tables(
    women: tuple[int, int], men: tuple[int, int], verdict: str, tmp_path: Path
) -> None:
    run = new_run(
        tmp_path,
        str(tmp_path / "store"),
        rows=people(women, men),
        decision={"rule": "recorded"},
        report={"policy": "us_ugesp"},
        measure={"metrics": ["impact_ratio"], "strata": [[]]},
    )
    do(run, until="metrics")
    table = next(t for t in run.stage("metrics").read_json("metrics.json")["tables"] if t["family"] == "sex")
    row = next(row for row in table["rows"] if row["label"] == "Female")
    found = adverse_finding(UGESP, row, 0.05)
    assert found is not None
    assert found.verdict == verdict
    if verdict != "undefined":
        assert len(found.reasons) == len(UGESP.practical_tests)
        assert all("1607.4(D)" in reason for reason in found.reasons)
        top = next(row for row in table["rows"] if row["label"] == "Male")
        highest = adverse_finding(UGESP, top, 0.05)
        assert highest is not None and highest.verdict == "not indicated"
    assert adverse_finding(load_policy("nyc_ll144"), row, 0.05) is None, "New York's law knows no such test"
