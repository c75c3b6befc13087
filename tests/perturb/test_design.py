"""Designs: every group, and every pair of groups, equally often; what is not even is counted."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import SpecError
from audit_lib.perturb.design import allocate, balance, smallest_replicate
from audit_lib.pipeline import run_stage
from tests.perturb.cases import GROUPS, persona_run, prompts


def people(n: int, positions: int = 2) -> dict[str, str]:
    return {f"a{i:04d}": f"job{i % positions}" for i in range(n)}


@pytest.mark.parametrize(
    ("groups", "size", "blocks"),
    [
        (7, 3, 7),
        (13, 4, 13),
        (8, 4, 14),
        (6, 3, 10),
        (9, 3, 12),
        (4, 2, 6),
        (8, 2, 28),
        (8, 6, 28),
        (5, 4, 5),
    ],
)
def test_replicates_meet_every_pair_equally_often(groups: int, size: int, blocks: int) -> None:
    replicate = smallest_replicate(groups, size)
    assert len(replicate) == blocks  # the fewest possible where such a number is known
    pairs = Counter(pair for block in replicate for pair in combinations(block, 2))
    assert set(pairs.values()) == {blocks * size * (size - 1) // (groups * (groups - 1))}
    assert len(pairs) == groups * (groups - 1) // 2


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(1, 120), st.integers(1, 4), st.integers(0, 2**32), st.data())
def test_balance_of_any_allocation(groups: int, n: int, positions: int, seed: int, data: Any) -> None:
    applications = people(n, positions)
    dealt = allocate(applications, groups, "two_sample", None, seed)
    found = balance(dealt, applications, groups)
    assert all(len(block) == 1 for block in dealt.values())
    assert max(found.applications) - min(found.applications) <= 1
    for counts in found.by_position.values():
        assert max(counts) - min(counts) <= 1
    assert dealt == allocate(dict(reversed(applications.items())), groups, "two_sample", None, seed)
    if groups < 3:
        return
    size = data.draw(st.integers(2, groups - 1))
    dealt = allocate(applications, groups, "balanced_incomplete", size, seed)
    found = balance(dealt, applications, groups)
    assert all(len(set(block)) == size and list(block) == sorted(block) for block in dealt.values())
    pairs = [found.concurrence[i][j] for i, j in combinations(range(groups), 2)]
    whole = n % len(smallest_replicate(groups, size)) == 0
    assert found.exact == (len(set(pairs)) == 1 and len(set(found.applications)) == 1)
    assert found.exact or not whole
    assert max(found.applications) - min(found.applications) <= 1
    assert sum(found.applications) == n * size and sum(pairs) == n * size * (size - 1) // 2


def test_leftover_blocks_stay_as_even_as_can_be() -> None:
    applications = people(250)
    found = balance(allocate(applications, 8, "balanced_incomplete", 4, 7), applications, 8)
    assert set(found.applications) == {125} and not found.exact
    pairs = {found.concurrence[i][j] for i, j in combinations(range(8), 2)}
    assert max(pairs) - min(pairs) <= 1


def test_the_seed_deals() -> None:
    applications = people(40)
    one, same, other = (allocate(applications, 4, "two_sample", None, seed) for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(("size", "groups"), [(1, 4), (4, 4), (None, 4), (2, 2)])
def test_a_block_that_does_not_fit(size: int | None, groups: int) -> None:
    with pytest.raises(
        SpecError, match=r"perturb\.(block_size: a balanced incomplete design of|design: 2 groups)"
    ):
        allocate(people(8), groups, "balanced_incomplete", size, 1)


def test_more_blocks_than_can_be_listed() -> None:
    with pytest.raises(SpecError, match="choose a smaller block"):
        allocate(people(8), 40, "balanced_incomplete", 10, 1)


def made(run: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    run_stage(run, "variants")
    return run.stage("variants").read_table("variants.parquet"), run.stage("variants").read_json(
        "design.json"
    )


@pytest.mark.parametrize("each", [1, 2])
def test_two_sample_shows_each_application_once_to_one_group(tmp_path: Path, each: int) -> None:
    run = persona_run(tmp_path, perturb={"design": "two_sample", "names_per_cell": each})
    table, design = made(run)
    assert (
        len(table) == 12 * each
        and table.groupby("application_id")[["sex", "race"]].nunique().max().max() == 1
    )
    assert design["design"]["applications_by_group"] == [3, 3, 3, 3] and design["design"]["exactly_balanced"]
    matrix = run.stage("variants").read_table("design.parquet")
    shown = table.drop_duplicates("application_id")[["application_id", "sex", "race"]]
    assert matrix[["application_id", "sex", "race"]].values.tolist() == sorted(shown.values.tolist())


def test_blocks_show_each_application_to_some_groups(tmp_path: Path) -> None:
    table, design = made(persona_run(tmp_path, perturb={"design": "balanced_incomplete", "block_size": 2}))
    assert len(table) == 24 and set(table.groupby("application_id").size()) == {2}
    assert design["design"]["exactly_balanced"]  # twelve applications are two replicates of six blocks
    assert design["design"]["concurrence"] == [[6 if i == j else 2 for j in range(4)] for i in range(4)]
    assert [entry["variants"] for entry in design["groups"]] == [6] * 4


def test_all_prompts_of_one_person_share_a_group(tmp_path: Path) -> None:
    rows = [row | {"application_id": f"a{int(row['prompt_id'][1:]) // 3}"} for row in prompts()]
    table, design = made(persona_run(tmp_path, rows=rows, perturb={"design": "two_sample"}))
    assert len(table) == 12
    assert (table.groupby("application_id")[["sex", "race"]].nunique() == 1).all().all()
    assert sum(design["design"]["applications_by_group"]) == 4


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"perturb": {"design": "balanced_incomplete"}}, "block_size goes with design balanced_incomplete"),
        ({"perturb": {"block_size": 2}}, "block_size goes with design balanced_incomplete"),
        (
            {
                "perturb": {"design": "two_sample"},
                "decision": {"rule": "top_k", "k": 1, "round": "one_per_group"},
            },
            r"needs every prompt in every group; perturb\.design two_sample gives a pool of some groups only",
        ),
        (
            {"perturb": {"controls": True}, "model": {"backend": "recorded", "name": "people"}},
            r"perturb\.controls asks a live model again",
        ),
    ],
)
def test_designs_that_are_refused(tmp_path: Path, sections: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        persona_run(tmp_path, **sections)


def test_controls_and_formats_are_marked_and_compete_with_nobody(tmp_path: Path) -> None:
    resume = "{{name}} cooks.\n\n- soup\n- bread "
    run = persona_run(
        tmp_path,
        rows=prompts(resume=resume),
        perturb={"controls": True, "formats": ["bullets", "spaces"]},
        model={"backend": "transformers", "name": "none"},
        decision={"rule": "top_k", "k": 1, "round": "one_per_group"},
    )
    table, design = made(run)
    assert table["variant_id"].is_monotonic_increasing and table["variant_id"].is_unique
    kinds = table["variation"].fillna("none").value_counts().to_dict()
    assert kinds == {"none": 48, "control": 48, "format:bullets": 48}
    assert design["variations"] == {
        "control": 48, "format:bullets": 48, "format:bullets without effect": 0, "format:spaces": 0,
        "format:spaces without effect": 48,
    }  # fmt: skip
    assert [entry["variants"] for entry in design["groups"]] == [12] * len(GROUPS)
    assert table.loc[table["variation"].notna(), "round_id"].isna().all()
    own = table[table["variation"].isna()].set_index("variant_id")
    for row in table[table["variation"].notna()].itertuples():
        twin = own.loc[row.variant_id.removesuffix(f"/{row.variation}")]
        assert row.request_id == row.variant_id != twin.request_id
        assert (row.edits, row.prompt_id, row.sex, row.race) == (
            twin.edits,
            twin.prompt_id,
            twin.sex,
            twin.race,
        )
        assert (row.messages == twin.messages) == (row.variation == "control")
        assert row.messages.replace("* ", "- ") == twin.messages


def test_without_them_the_table_has_no_such_column(tmp_path: Path) -> None:
    table, design = made(persona_run(tmp_path))
    assert "variation" not in table and not {"variations", "names", "ftu"} & set(design)


def test_a_full_design_is_told_too(tmp_path: Path) -> None:
    run = persona_run(tmp_path)
    table, design = made(run)
    assert design["design"]["kind"] == "full" and design["design"]["exactly_balanced"]
    assert design["design"]["applications_by_group"] == [12] * 4
    matrix = run.stage("variants").read_table("design.parquet")
    columns = ["application_id", "position", "sex", "race"]
    assert matrix[columns].values.tolist() == sorted(
        table[columns].values.tolist(), key=lambda row: (row[0], row[2:])
    )


def test_a_run_s_allocation_follows_its_seed(tmp_path: Path) -> None:
    dealt = []
    for number, seed in enumerate((7, 7, 8)):
        (folder := tmp_path / str(number)).mkdir()
        table, _ = made(persona_run(folder, seed=seed, perturb={"design": "two_sample"}))
        dealt.append(table.groupby("application_id")["sex"].first().tolist() + table["race"].tolist())
    assert dealt[0] == dealt[1] != dealt[2]


@pytest.mark.parametrize(
    ("groups", "block", "applications"),
    [(6, 2, 24), (8, 2, 40), (8, 4, 24), (7, 3, 11), (5, 2, 13), (9, 4, 50)],
)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_of_whole_replicates_meets_pairs_as_evenly_as_can_be(
    groups: int, block: int, applications: int, seed: int
) -> None:
    positions = {f"a{i:03d}": "cook" for i in range(applications)}
    found = balance(allocate(positions, groups, "balanced_incomplete", block, seed), positions, groups)
    pairs = [n for i, row in enumerate(found.concurrence) for j, n in enumerate(row) if i < j]
    assert max(pairs) - min(pairs) <= 1, pairs
    assert max(found.applications) - min(found.applications) <= 1
    assert sum(pairs) == applications * block * (block - 1) // 2
