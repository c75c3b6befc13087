"""Personas: which name each prompt gets, and lexicons that cannot be used."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.canonical import sha256
from audit_lib.errors import LexiconError
from audit_lib.perturb.persona import Persona, read_lexicon
from audit_lib.pipeline import run_stage
from tests.perturb.cases import GROUPS, NAMES, persona_run, prompts, table


def sequences(persona: Persona, prompts: int) -> dict[tuple[str, ...], list[tuple[str, str]]]:
    """The names that each group gets, prompt after prompt."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {group: [] for group in GROUPS}
    for index in range(prompts):
        for edit in persona.edits(index):
            found[tuple(edit.cell.values())].append((edit.values["first_name"], edit.values["last_name"]))
    return found


@pytest.mark.parametrize("each", [1, 2, 3])
def test_names_rotate_and_none_returns_before_all_were_used(tmp_path: Path, each: int) -> None:
    persona = Persona.from_run(persona_run(tmp_path, perturb={"names_per_cell": each}))
    positions = ["cook" if i % 3 else "driver" for i in range(12)]
    for group, dealt in sequences(persona, 12).items():
        assert len(dealt) == 12 * each
        by_prompt = [dealt[i * each : (i + 1) * each] for i in range(12)]
        names = [name for _, own in sorted(zip(positions, by_prompt, strict=True), key=first) for name in own]
        for start in range(0, len(names) - 4, 5):
            assert sorted(names[start : start + 5]) == sorted(NAMES[group])
            assert names[start : start + 5] == names[:5]


def first(pair: tuple[str, Any]) -> str:
    return pair[0]


@pytest.mark.parametrize("each", [1, 2])
def test_names_signals_and_positions_do_not_come_in_step(tmp_path: Path, each: int) -> None:
    names = [[f"F{n}", f"L{n}{sex}{race}", sex, race] for sex, race in GROUPS for n in range(4)]
    years = table(["sex", "year"], [["female", "1"], ["female", "2"], ["male", "1"], ["male", "2"]])
    (tmp_path / "years.csv").write_text(years)
    (tmp_path / "colleges.csv").write_text(table(["college"], [["North"], ["South"]]))
    rows = [row | {"position": ("cook", "driver")[int(row["prompt_id"][1:]) % 2]} for row in prompts(40)]
    run = persona_run(
        tmp_path,
        rows=rows,
        lexicons={"names": table(HEADER, names)},
        perturb={"signals": ["years.csv", "colleges.csv"], "names_per_cell": each},
    )
    run_stage(run, "variants")
    made = run.stage("variants").read_table("variants.parquet")
    slots = ["first_name", "year", "college"]
    made[slots] = [[json.loads(edits)[slot] for slot in slots] for edits in made["edits"]]
    for _, group in made.groupby(["sex", "race"]):
        for one in slots:
            counts = pd.crosstab(group[one], group["position"])
            assert (
                counts.to_numpy().max() - counts.to_numpy().min() == 0
            )  # 20 prompts a position, 4 and 2 rows
            assert one != "first_name" or group.groupby("prompt_id")[one].nunique().eq(each).all()
        for one, other in combinations(slots, 2):
            assert pd.crosstab(group[one], group[other]).to_numpy().min() > 0


@pytest.mark.parametrize("each", [1, 2])
def test_all_prompts_of_an_application_show_the_same_people(tmp_path: Path, each: int) -> None:
    (tmp_path / "colleges.csv").write_text(table(["college"], [["North"], ["South"], ["East"]]))
    asked = [row | {"application_id": f"a{int(row['prompt_id'][1:]) % 8}"} for row in prompts(24)]
    run = persona_run(tmp_path, rows=asked, perturb={"names_per_cell": each, "signals": ["colleges.csv"]})
    run_stage(run, "variants")
    made = run.stage("variants").read_table("variants.parquet")
    made["replicate"] = made["variant_id"].str.split("/").str[-1]
    people = made.groupby(["application_id", "sex", "race", "replicate"])
    assert (people.size() == 3).all() and (people["edits"].nunique() == 1).all()
    assert (made.groupby(["prompt_id", "sex", "race"])["candidate"].nunique() == each).all()
    for _, group in made.groupby(["sex", "race"]):
        shown = group.drop_duplicates(["application_id", "replicate"])["candidate"].value_counts()
        assert shown.max() - shown.min() <= 1  # names take turns over applications


def test_one_prompt_an_application_deals_as_before(tmp_path: Path) -> None:
    run = persona_run(tmp_path, perturb={"names_per_cell": 2})
    run_stage(run, "variants")
    dealt = run.stage("variants").read_table("variants.parquet")["edits"].tolist()
    assert (
        sha256("".join(dealt).encode()) == "f98388ee0158308f8c9f6b49f4f796c1e3a459363aa2e3ddf2e9bdeb529bc0b7"
    )


def test_the_seed_and_nothing_else_sets_the_order(tmp_path: Path) -> None:
    orders = []
    for number, seed in enumerate((7, 7, 8, 9)):
        folder = tmp_path / str(number)
        folder.mkdir()
        orders.append(sequences(Persona.from_run(persona_run(folder, seed=seed)), 5))
    assert orders[0] == orders[1]
    for group in GROUPS:
        assert len({tuple(order[group]) for order in orders[1:]} - {tuple(NAMES[group])}) >= 2


def test_a_name_comes_with_its_own_family_name_and_the_signals_of_its_sex(tmp_path: Path) -> None:
    signals = {"female": ("Ms.", "she", "her"), "male": ("Mr.", "he", "his")}
    persona = Persona.from_run(persona_run(tmp_path))
    for edit in persona.edits(3):
        values = edit.values
        sex, race = edit.cell["sex"], edit.cell["race"]
        assert (values["first_name"], values["last_name"]) in NAMES[sex, race]
        assert values["name"] == f"{values['first_name']} {values['last_name']}"
        assert (values["title"], values["pronoun.subject"], values["pronoun.possessive"]) == signals[sex]
    assert [tuple(edit.cell.values()) for edit in persona.edits(3)] == GROUPS


HEADER = ["first_name", "last_name", "sex", "race"]


@pytest.mark.parametrize(
    ("lexicons", "message"),
    [
        ({"names": table(HEADER, [])}, r"perturb\.names: the lexicon has no row"),
        (
            {"names": table(["first_name", "lastname", "sex", "race"], [["A", "B", "male", "White"]])},
            r"perturb\.names: no column 'last_name'; did you mean 'lastname'",
        ),
        (
            {"names": table(["first_name", "last_name", "sex"], [["A", "B", "male"]])},
            r"perturb\.names: no column 'race'",
        ),
        (
            {"names": table(HEADER, [["A", "B", *group] for group in GROUPS[:-1]])},
            "perturb.names: 0 names for male Black, and names_per_cell is 1",
        ),
        ({"names": table(HEADER, [["A", "B", "male"]])}, "line 2 has another number of cells"),
        (
            {"names": table(HEADER, [*(["A", "B", *group] for group in GROUPS), [" ", "B", *GROUPS[0]]])},
            r"perturb\.names: line 6: first_name is empty",
        ),
        (
            {"names": table(HEADER, [*(["A", "B", *group] for group in GROUPS), ["A", "B", "male", ""]])},
            r"perturb\.names: line 6: race is empty",
        ),
        (
            {"names": table(["first_name", *HEADER], [["A", "A", "B", *group] for group in GROUPS])},
            r"perturb\.names: the column 'first_name' stands twice",
        ),
        ({"titles": table(["sex", "title"], [["male", "Mr."], ["female", ""]])}, "line 3: title is empty"),
        ({"pronouns": table(["sex", "subject"], [])}, r"perturb\.pronouns: the lexicon has no row"),
        ({"pronouns": table(["gender", "subject"], [["male", "he"]])}, "none of its columns is an attribute"),
        ({"titles": table(["sex", "title"], [["male", "Mr."]])}, r"perturb\.titles: no row for sex 'female'"),
    ],
)
def test_a_lexicon_that_cannot_be_used(tmp_path: Path, lexicons: dict[str, str], message: str) -> None:
    run = persona_run(tmp_path, lexicons=lexicons)
    with pytest.raises(LexiconError, match=message):
        Persona.from_run(run)


def test_more_names_asked_for_than_there_are(tmp_path: Path) -> None:
    run = persona_run(tmp_path, perturb={"names_per_cell": 6})
    with pytest.raises(LexiconError, match="5 names for female White, and names_per_cell is 6"):
        Persona.from_run(run)


def test_a_lexicon_in_another_encoding_names_file_and_byte(tmp_path: Path) -> None:
    rows = "first_name,last_name,sex,race\nZo\u00eb,Lee,female,White\n".encode("latin-1")
    with pytest.raises(LexiconError, match=r"perturb\.names: names\.csv is not UTF-8 text \(byte 32\)"):
        read_lexicon(rows, "perturb.names", (), "names.csv")
    run = persona_run(tmp_path)
    plan = Path(run.uri) / "plan"
    (plan / "inputs/perturb.names").write_bytes(rows)
    record = json.loads((plan / "_SUCCESS").read_bytes())
    record["artefacts"]["inputs/perturb.names"]["sha256"] = sha256(rows)
    (plan / "_SUCCESS").write_text(json.dumps(record))
    with pytest.raises(LexiconError, match=r"names.* is not UTF-8 text \(byte 32\); save the CSV as UTF-8"):
        Persona.from_run(run)


def test_rows_of_levels_that_the_audit_lacks_are_counted(tmp_path: Path) -> None:
    rows = [["A", "B", *group] for group in GROUPS]
    names = table(
        HEADER,
        [*rows, ["C", "D", "femal", "Black"], ["C", "D", "male", "Asian"], ["C", "E", "male", "Asian"]],
    )
    titles = table(["sex", "title"], [["female", "Ms."], ["male", "Mr."], ["other", "Mx."]])
    run = persona_run(tmp_path, lexicons={"names": names, "titles": titles})
    run_stage(run, "variants")
    assert run.stage("variants").read_json("design.json")["personas"]["lexicon_rows_not_used"] == {
        "perturb.names": {"race Asian": 2, "sex femal": 1},
        "perturb.titles": {"sex other": 1},
    }


def test_prompts_that_read_the_same_in_every_group_are_counted(tmp_path: Path) -> None:
    rows = [
        *prompts(3),
        *(row | {"prompt_id": f"z{row['prompt_id']}"} for row in prompts(2, resume="No slot.")),
    ]
    run = persona_run(tmp_path, rows=rows)
    run_stage(run, "variants")
    design = run.stage("variants").read_json("design.json")
    assert design["personas"] == {"prompts": 5, "prompts_alike_in_all_groups": 2}
    frame = run.stage("variants").read_table("variants.parquet")
    texts = frame.groupby("prompt_id")["messages"].nunique()
    assert (texts == 1).sum() == 2, "the count is that of the texts themselves"


@pytest.mark.parametrize("resume", ["No slot.", "{{college}} and nothing else"])
def test_prompts_without_a_slot_that_tells_a_group_are_refused(tmp_path: Path, resume: str) -> None:
    (tmp_path / "colleges.csv").write_text("college\nState\nCity\n")
    run = persona_run(tmp_path, rows=prompts(4, resume=resume), perturb={"signals": ["colleges.csv"]})
    with pytest.raises(LexiconError, match="every variant would be the same text"):
        run_stage(run, "variants")
