"""Recorded decisions become variants a column at a time: the same bytes as prompt by prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.large_file import Content
from audit_lib.perturb import perturb, variants_stage
from audit_lib.pipeline import run_stage
from tests.archive.cases import applicants, new_run

CASES: dict[str, Any] = {
    "plain": ({}, {}),
    "names": ({"name": ["Ana Ruiz", None, 'say "name":', "Élodie"]}, {}),
    "a_text_that_looks_like_a_name": ({"resume": ['he wrote "name": "x"', "b", "c", "d"]}, {}),
    "unknown_levels": ({"sex": ["female", "male", "Martian", None]}, {}),
    "rounds": (
        {"round_id": ["r1", "r2", "r1", "r3"], "position": ["a"] * 4, "order_shown": [1, 2, 3, 4]},
        {"decision": {"rule": "top_k", "k": 1, "round": "round_id"}},
    ),
    "applications": (
        {"application_id": ["a1", "a2", "a1", "a2"], "position": ["a"] * 4},
        {"decision": {"rule": "top_k", "k": 1, "round": "application_id"}},
    ),
    "answers": (
        {"recorded_response": ["Yes", None, "", "No"], "outcome": [1.5, None, -0.0, 3], "qualified": [True, None] * 2},
        {},
    ),
    "ids_that_sort_by_what_follows": ({"prompt_id": ["a", "a!", "a/b", "b"]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("rows_at_a_time", [1, 3, 4096])
@pytest.mark.parametrize("name", CASES)
def test_columns_and_prompts_make_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows_at_a_time: int
) -> None:
    values, sections = CASES[name]
    rows = []
    for number, row in enumerate(applicants(24)):
        new = {key: own[number % 4] for key, own in values.items()}
        if "prompt_id" in new:
            new["prompt_id"] += str(number // 4)
        rows.append({key: value for key, value in (row | new).items() if key != "name" or value is not None})
    run = new_run(tmp_path, str(tmp_path / "store"), rows=rows, **sections)
    for stage in ("plan", "sample"):
        run_stage(run, stage)
    monkeypatch.setattr(variants_stage, "ROW_GROUP", rows_at_a_time)

    def made() -> tuple[dict[str, Content], dict[str, int]]:
        output = perturb(run)
        return dict(output.artefacts), dict(output.counts)

    by_column = made()
    with monkeypatch.context() as patched:
        patched.setattr(variants_stage, "are_recorded", lambda spec: False)
        assert made() == by_column
    design = json.loads(by_column[0]["design.json"])  # type: ignore[arg-type]
    assert design["rounds"] == {"rounds": 3, "applications": 2}.get(name, 0)
