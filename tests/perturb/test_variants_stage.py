"""The stage `variants`: every prompt in every group, nothing else changed, and fair pools."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.errors import LexiconError, UnknownSlotError
from audit_lib.pipeline import run_stage
from audit_lib.run import Run
from tests.perturb.cases import GROUPS, NAMES, persona_run, prompts

POOLS = {"rule": "top_k", "k": 1, "round": "one_per_group"}


def variants(run: Run) -> pd.DataFrame:
    run_stage(run, "variants")
    return run.stage("variants").read_table("variants.parquet")


def text_of(row: Any) -> str:
    return str(json.loads(row.messages)[0]["content"])


@pytest.mark.parametrize("each", [1, 3])
def test_every_prompt_gets_every_group_so_often(tmp_path: Path, each: int) -> None:
    run = persona_run(tmp_path, perturb={"names_per_cell": each})
    table = variants(run)
    counted = Counter(zip(table["prompt_id"], table["sex"], table["race"], strict=True))
    assert counted == {(f"p{i:02d}", *group): each for i in range(12) for group in GROUPS}
    assert table["variant_id"].is_unique
    for _, rows in table.groupby(["prompt_id", "sex", "race"]):
        assert rows["candidate"].nunique() == each
    design = run.stage("variants").read_json("design.json")
    assert [entry["variants"] for entry in design["groups"]] == [12 * each] * 4
    assert (design["requests"], design["unknown_group"]) == (48 * each, 0)


def test_over_the_prompts_no_name_is_left_out(tmp_path: Path) -> None:
    table = variants(persona_run(tmp_path)).sort_values(["position", "prompt_id"])
    for group, rows in table.groupby(["sex", "race"]):
        names = rows["candidate"].tolist()
        wanted = {" ".join(name) for name in NAMES[group]}
        assert set(names[:5]) == set(names[5:10]) == wanted


def test_everything_outside_the_slots_is_the_same_bytes(tmp_path: Path) -> None:
    signals = {"female": ("Ms.", "She", "her"), "male": ("Mr.", "He", "his")}
    for row in variants(persona_run(tmp_path)).itertuples():
        title, subject, possessive = signals[row.sex]
        first = row.candidate.split()[0]
        assert text_of(row).endswith(
            f"{title} {row.candidate} \t«é»  {subject} leads {possessive} team.\r\n{first} no. {int(row.prompt_id[1:])}"
        )


def test_no_name_of_another_variant_is_in_a_variant(tmp_path: Path) -> None:
    words = {word for names in NAMES.values() for name in names for word in name}
    for row in variants(persona_run(tmp_path)).itertuples():
        assert {word for word in words if word in text_of(row).split()} == set(row.candidate.split())


def pools(table: pd.DataFrame) -> dict[str, list[tuple[str, str, str, str]]]:
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    for row in table.itertuples():
        found.setdefault(row.round_id, []).append((row.position, row.sex, row.race, row.variant_id))
    return found


@pytest.mark.parametrize("each", [1, 2])
def test_every_pool_has_one_of_each_group_of_one_position(tmp_path: Path, each: int) -> None:
    table = variants(persona_run(tmp_path, decision=POOLS, perturb={"names_per_cell": each}))
    dealt = pools(table)
    assert len(dealt) == 12 * each
    for members in dealt.values():
        assert sorted(member[1:3] for member in members) == sorted(GROUPS)
        assert len({position for position, *_ in members}) == 1
    assert sum(map(len, dealt.values())) == table["variant_id"].nunique() == 48 * each


def test_pools_follow_the_seed(tmp_path: Path) -> None:
    dealt = []
    for number, seed in enumerate((7, 7, 8, 9)):
        folder = tmp_path / str(number)
        folder.mkdir()
        dealt.append(pools(variants(persona_run(folder, seed=seed, decision=POOLS))))
    assert dealt[0] == dealt[1]
    unordered = [{frozenset(m[3] for m in members) for members in one.values()} for one in dealt]
    assert unordered[1] != unordered[2] != unordered[3] != unordered[1]
    for one in unordered:  # groups are shuffled apart: not the versions of one resume against each other
        assert any(len({variant.split("/")[0] for variant in pool}) > 1 for pool in one)


def test_versions_of_one_application_compete(tmp_path: Path) -> None:
    table = variants(persona_run(tmp_path, decision=POOLS | {"round": "application_id"}))
    assert (table["round_id"] == table["application_id"]).all()
    assert table.groupby("round_id").size().tolist() == [4] * 12


def test_recorded_prompts_are_passed_on_with_unknown_groups_counted(tmp_path: Path) -> None:
    rows = [
        row | {"sex": "female", "race": None if i < 2 else "Black", "recorded_score": i / 10}
        for i, row in enumerate(prompts(resume="{{name}} stays "))
    ]
    run = persona_run(
        tmp_path,
        rows=rows,
        perturb=None,
        prompt=None,
        groups={"provenance": "self_reported"},
        model={"backend": "recorded", "name": "people"},
    )
    table = variants(run)
    assert table["variant_id"].tolist() == table["prompt_id"].tolist() == [f"p{i:02d}" for i in range(12)]
    assert set(table["perturbation"]) == {"none"} and set(table["edits"]) == {"{}"}
    assert table["recorded_score"].tolist() == [i / 10 for i in range(12)][::-1]
    design = run.stage("variants").read_json("design.json")
    assert design["unknown_group"] == 2
    assert {tuple(e["group"].values()): e["variants"] for e in design["groups"]} == {
        group: 10 if group == ("female", "Black") else 0 for group in GROUPS
    }


def test_a_slot_that_nothing_fills(tmp_path: Path) -> None:
    run = persona_run(tmp_path, rows=prompts(resume="{{nmae}} "))
    with pytest.raises(UnknownSlotError, match=r"prompt p00: slot \{\{nmae\}\} .*did you mean 'name'"):
        run_stage(run, "variants")


def test_a_slot_of_the_template_that_nothing_fills(tmp_path: Path) -> None:
    template = "messages:\n- {role: user, content: '{{resum}}'}\n"
    run = persona_run(tmp_path, lexicons={"template": template})
    with pytest.raises(UnknownSlotError, match=r"prompt p00: the template's slot \{\{resum\}\} .*'resume'"):
        run_stage(run, "variants")


def test_no_slot_anywhere(tmp_path: Path) -> None:
    run = persona_run(tmp_path, rows=prompts(resume="a resume without slots "))
    with pytest.raises(LexiconError, match=r"no prompt has a slot such as \{\{name\}\}"):
        run_stage(run, "variants")
