"""Which names are used: thresholds, uniqueness, and groups alike in how long and how common their names are."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import LexiconError
from audit_lib.perturb.names import choose_names
from audit_lib.perturb.persona import Persona
from audit_lib.perturb.tables import read_lexicon
from audit_lib.pipeline import run_stage
from audit_lib.spec import Perturb
from tests.perturb.cases import GROUPS, persona_run, table
from tests.specs import INCLUDE

SHIPPED = (INCLUDE / "lexicons" / "names.csv").read_bytes()
AXES = ("sex", "race")
EIGHT = [(sex, race) for sex in ("female", "male") for race in ("White", "Black", "Asian", "Hispanic")]


def chosen(rows: Any = None, groups: Any = EIGHT, seed: int = 7, **rules: Any) -> Any:
    rows = read_lexicon(SHIPPED, "perturb.names", ()) if rows is None else rows
    return choose_names(rows, AXES, groups, Perturb(names="n.csv", **rules), seed)


def rows_of(names: dict[tuple[str, str], list[tuple[str, float]]]) -> list[dict[str, str]]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["first_name", "last_name", "sex", "race", "first_name_share", "last_name_share"])
    for group, members in names.items():
        writer.writerows(
            [first, f"Family{n}", *group, share, 0.5 + n / 10] for n, (first, share) in enumerate(members)
        )
    return read_lexicon(text.getvalue().encode(), "perturb.names", ())


def firsts(names: Any, group: tuple[str, str]) -> list[str]:
    return [row["first_name"] for row in names[group]]


def test_thresholds_keep_names_at_or_above_them() -> None:
    rows = rows_of({GROUPS[0]: [("Ann", 0.9), ("Bea", 0.8), ("Cleo", 0.7)]})
    assert firsts(chosen(rows, GROUPS[:1], minimum_first_share=0.8)[0], GROUPS[0]) == ["Ann", "Bea"]
    assert firsts(chosen(rows, GROUPS[:1], minimum_last_share=0.6)[0], GROUPS[0]) == ["Bea", "Cleo"]
    with pytest.raises(LexiconError, match=r"0 names for female White, and names_per_cell is 1"):
        chosen(rows, GROUPS[:1], minimum_first_share=0.95)


def test_first_names_that_repeat_or_are_shared() -> None:
    rows = rows_of({
        GROUPS[0]: [("Ann", 0.9), ("ANN", 0.8), ("Jo", 0.7)],
        GROUPS[1]: [("Jo", 0.9), ("Zoe", 0.7)],
    })  # fmt: skip
    two = GROUPS[:2]
    assert firsts(chosen(rows, two)[0], two[0]) == ["Ann", "ANN", "Jo"]
    within, _ = chosen(rows, two, unique_first_names="within_group")
    assert (firsts(within, two[0]), firsts(within, two[1])) == (["Ann", "Jo"], ["Jo", "Zoe"])
    across, _ = chosen(rows, two, unique_first_names="across_groups")
    assert (firsts(across, two[0]), firsts(across, two[1])) == (["Ann"], ["Zoe"])


@pytest.mark.parametrize(("size", "most"), [(10, 0.75), (20, 0.85)])
def test_chosen_names_are_more_alike_between_groups_than_all_are(size: int, most: float) -> None:
    names, account = chosen(names_per_group=size)
    assert {len(members) for members in names.values()} == {size}
    gap = account.largest_difference_in_sd
    assert gap is not None and gap.chosen < most * gap.all_eligible
    for entry, group in zip(account.groups, EIGHT, strict=True):
        members = names[group]
        assert entry.group == dict(zip(AXES, group, strict=True)) and entry.eligible == 30
        bearers = [float(row["first_name_bearers"]) for row in members]
        assert entry.mean_first_name_bearers == pytest.approx(sum(bearers) / size, abs=1e-3)
        assert entry.mean_first_name_letters == pytest.approx(
            sum(len(row["first_name"]) for row in members) / size, abs=1e-3
        )


def test_the_choice_follows_the_seed_and_ignores_no_group() -> None:
    one, same, other = (chosen(names_per_group=10, seed=seed)[0] for seed in (1, 1, 2))
    assert one == same
    assert any(one[group] != other[group] for group in EIGHT)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"names_per_group": 31}, "30 names for female White, and names_per_group is 31"),
        ({"names_per_cell": 31}, "names_per_cell is 31"),
    ],
)
def test_too_few_names(rules: dict[str, int], message: str) -> None:
    with pytest.raises(LexiconError, match=message):
        chosen(**rules)


def test_a_share_that_is_missing_or_no_number() -> None:
    rows = read_lexicon(b"first_name,last_name,sex,race\nA,B,female,White\n", "perturb.names", ())
    with pytest.raises(LexiconError, match="no column 'first_name_share'"):
        chosen(rows, GROUPS[:1], minimum_first_share=0.5)
    rows = rows_of({GROUPS[0]: [("Ann", 0.9)]})
    rows[0]["first_name_share"] = "high"
    with pytest.raises(LexiconError, match="line 2: first_name_share is not a number"):
        chosen(rows, GROUPS[:1], minimum_first_share=0.5)


@pytest.mark.parametrize("share", ["nan", "inf", "-0.1", "90"])
def test_a_share_that_is_none_is_refused_and_never_dropped(share: str) -> None:
    rows = rows_of({GROUPS[0]: [("Ann", 0.9), ("Bea", 0.9)]})
    rows[1]["first_name_share"] = share
    for rules in ({"minimum_first_share": 0.5}, {}):
        with pytest.raises(
            LexiconError, match=f"line 3: first_name_share is {share}, not a share from 0 to 1"
        ):
            chosen(rows, GROUPS[:1], **rules)


def test_the_account_stands_in_the_design(tmp_path: Path) -> None:
    run = persona_run(tmp_path, perturb={"unique_first_names": "across_groups"})
    run_stage(run, "variants")
    account = run.stage("variants").read_json("design.json")["names"]
    assert [(entry["names"], entry["eligible"]) for entry in account["groups"]] == [(5, 5)] * 4


AGE = {
    "attributes": {"sex": ["female", "male"], "age": ["younger", "older"]},
    "reference": {"sex": "male", "age": "older"},
}
SIGNALLED = {
    "groups": {"provenance": "assigned", "categories": {}, **AGE},
    "lexicons": {
        "names": table(["first_name", "last_name", "sex"], [[f"F{n}", "X", "female"] for n in range(4)]
                       + [[f"M{n}", "Y", "male"] for n in range(4)]),
        "years": table(["age", "graduation_year"], [["younger", "2020"], ["younger", "2022"], ["older", "1985"]]),
        "colleges": table(["college"], [["North"], ["South"], ["West"]]),
    },
}  # fmt: skip


def signalled(folder: Path, **changes: Any) -> Persona:
    lexicons = SIGNALLED["lexicons"] | changes.pop("lexicons", {})
    perturb = {"signals": ["years.csv", "colleges.csv"]} | changes
    return Persona.from_run(
        persona_run(folder, groups=SIGNALLED["groups"], lexicons=lexicons, perturb=perturb)
    )


def test_an_attribute_is_a_file_and_names_need_not_signal_it(tmp_path: Path) -> None:
    persona = signalled(tmp_path)
    colleges = []
    for index in range(12):
        edits = {tuple(edit.cell.values()): edit.values for edit in persona.edits(index)}
        assert len(edits) == 4
        assert {edits[sex, "older"]["graduation_year"] for sex in ("female", "male")} == {"1985"}
        assert {edits[sex, "younger"]["graduation_year"] for sex in ("female", "male")} <= {"2020", "2022"}
        for sex in ("female", "male"):  # groups that names cannot tell apart bear the same name
            assert edits[sex, "younger"]["name"] == edits[sex, "older"]["name"]
        colleges.append({values["college"] for values in edits.values()})
    assert all(len(found) == 1 for found in colleges)  # drawn without regard to group
    assert sorted(map(min, colleges)) == ["North"] * 4 + ["South"] * 4 + ["West"] * 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lexicons": {"years": table(["age", "graduation_year"], [["younger", "2020"]])}},
         r"perturb\.signals\.0: no row for age 'older'"),
        ({"signals": ["colleges.csv"]}, r"perturb\.names: no column 'age'; .*nor does another lexicon signal it"),
        ({"lexicons": {"colleges": table(["name"], [["N"]])}}, "the slot 'name' is filled by the table of names too"),
        ({"lexicons": {"colleges": table(["age"], [["older"], ["younger"]])}}, "no column for a slot beside age"),
        ({"lexicons": {"colleges": table(["alma mater"], [["x"]])}}, "'alma mater' cannot be a slot's name"),
        ({"names": None, "signals": ["years.csv"], "pronouns": None, "titles": None}, "no lexicon signals 'sex'"),
    ],
)  # fmt: skip
def test_signals_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LexiconError, match=message):
        signalled(tmp_path, **changes)


@pytest.mark.parametrize(
    "path", sorted((INCLUDE / "lexicons" / "signals").glob("*.csv")), ids=lambda p: p.stem
)
def test_every_shipped_signal_is_listed_with_its_source(path: Path) -> None:
    rows = read_lexicon(path.read_bytes(), "perturb.signals", ())
    assert len(rows) >= 2 and all(all(row.values()) for row in rows)
    assert f"signals/{path.name}" in (INCLUDE / "lexicons" / "SOURCES.md").read_text(encoding="utf-8")
