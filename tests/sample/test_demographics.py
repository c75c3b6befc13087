from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import ColumnTypeError, DuplicateIdError, MissingColumnError, SpecError
from audit_lib.run import Run
from audit_lib.sample import sample
from audit_lib.sample.labels import FEWEST_NAMED, bounded
from tests.sample.cases import WEEK, document, people, prompts, run, write
from tests.specs import LIVE, load

SECTION: dict[str, Any] = {
    "path": "people.csv",
    "id_column": "applicant",
    "columns": {"sex": "gender", "race": "race_ethnicity"},
    "values": {"sex": {"F": "female", "M": "male"}, "race": {"Black or African American": "Black"}},
}
GROUPS = {"provenance": "self_reported"}


def demographics() -> list[dict[str, Any]]:
    rows = [{"applicant": f"a{index:03d}", "gender": "F", "race_ethnicity": "White"} for index in range(5)]
    rows[0]["race_ethnicity"] = "Black or African American"
    rows[1]["race_ethnicity"] = "Declined"
    rows[2]["race_ethnicity"] = "Declined"
    rows[3]["gender"] = ""
    rows[4]["applicant"] = "somebody of another week"
    return rows


def applicants() -> list[dict[str, Any]]:
    """Seven prompts of five people, one of whom is not in the demographics; a004 applied three times."""
    rows = [{key: value for key, value in row.items() if key not in ("sex", "race")} for row in people(7)]
    rows[5]["application_id"] = rows[6]["application_id"] = "a004"
    return rows


def test_values_become_levels_and_nobody_is_dropped(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    write(tmp_path, "people.csv", demographics())
    output = run(tmp_path, demographics=SECTION, groups=GROUPS)
    table = prompts(output).astype(object).where(lambda frame: frame.notna(), None)
    assert table["sex"].tolist() == ["female", "female", "female", None, None, None, None]
    assert table["race"].tolist() == ["Black", None, None, "White", None, None, None]
    assert set(table["provenance"]) == {"self_reported"}
    record = document(output)["demographics"]
    assert record.pop("sha256")
    assert record == {
        "path": "people.csv",
        "people": 5,
        "matched": 4,
        "unmatched": 1,
        "unknown": {"sex": 2, "race": 3},
        "unknown_values": {"sex": {"(blank)": 1}, "race": {"(values of fewer than 5 each)": 2}},
        "provenance": "self_reported",
    }


def test_an_applicant_twice_in_the_demographics(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    write(tmp_path, "people.csv", [*demographics(), demographics()[4]])
    with pytest.raises(DuplicateIdError) as caught:
        run(tmp_path, demographics=SECTION, groups=GROUPS)
    assert "people.csv, line 7: its applicant was already used at" in str(caught.value)
    assert "people.csv, line 6; an applicant has one row" in str(caught.value)
    assert "somebody" not in str(caught.value)


def test_ids_that_are_numbers_in_one_file_match(tmp_path: Path) -> None:
    write(tmp_path, "prompts.csv", [{**row, "application_id": 4} for row in applicants()[:1]])
    write(tmp_path, "people.jsonl", [{"applicant": 4, "gender": "M", "race_ethnicity": "White"}])
    section = SECTION | {"path": "people.jsonl"}
    output = run(tmp_path, demographics=section, groups=GROUPS, source={"paths": ["prompts.csv"]})
    assert prompts(output)["sex"].tolist() == ["male"]


@pytest.mark.parametrize(
    ("change", "error", "expected"),
    [
        (
            {"id_column": "aplicant"},
            MissingColumnError,
            r"people\.csv, line 2: column 'aplicant' is missing; did you",
        ),
        (
            {"columns": {"sex": "gender", "race": "rase"}},
            MissingColumnError,
            "line 2: column 'rase' is missing",
        ),
        ({"columns": {"sex": "gender"}}, SpecError, "no column for the attribute 'race'"),
        (
            {"columns": SECTION["columns"] | {"age": "age"}},
            SpecError,
            "demographics.columns.age: not an attribute",
        ),
        ({"values": {"sexe": {"F": "female"}}}, SpecError, "demographics.values.sexe: .* did you mean 'sex'"),
        (
            {"values": {"sex": {"F": "femal"}}},
            SpecError,
            "'femal' is not a level of it; did you mean 'female'",
        ),
    ],
)
def test_a_wrong_section(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], expected: str
) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    write(tmp_path, "people.csv", demographics())
    with pytest.raises(error, match=expected):
        run(tmp_path, demographics=SECTION | change, groups=GROUPS)


def test_an_empty_id(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    write(
        tmp_path, "people.csv", [*demographics(), {"applicant": "", "gender": "F", "race_ethnicity": "White"}]
    )
    with pytest.raises(ColumnTypeError, match=r"people\.csv, line 7: column 'applicant' is empty"):
        run(tmp_path, demographics=SECTION, groups=GROUPS)


def test_an_attribute_is_named_once(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    with pytest.raises(
        SpecError, match=r"source\.columns\.sex: the demographics section gives this attribute"
    ):
        run(tmp_path, demographics=SECTION, groups=GROUPS, source={"columns": {"sex": "gender"}})


def test_a_column_that_is_no_demographic_is_not_quoted(tmp_path: Path) -> None:
    rows = [
        {**people(1)[0], "prompt_id": f"p{i}", "application_id": f"a{i}", "race": f"Ann Lee {i}"}
        for i in range(60)
    ]
    write(tmp_path, "prompts.jsonl", rows)
    output = run(tmp_path)
    assert document(output)["demographics"]["unknown_values"]["race"] == {
        "(more than 50 different values)": 60
    }
    assert b"Ann" not in output.artefacts["sample.json"]


def test_assigned_attributes_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    (tmp_path / "names.csv").write_text("first_name,last_name,sex,race\n")
    (tmp_path / "t.yaml").write_text("messages: []\n")
    output = run(tmp_path, perturb={"names": "names.csv"}, prompt={"template": "t.yaml"}, model=LIVE)
    assert prompts(output)["sex"].isna().all()
    assert document(output)["demographics"] is None


def told(folder: Path, **sections: Any) -> tuple[dict[str, Any], list[str], Any]:
    """Run the stage and keep what it says."""
    said: list[str] = []
    spec = load(folder, source={"windowed": True}, **sections)
    output = sample(Run.open(spec, WEEK, str(folder / "store"), said.append))
    return document(output)["demographics"], said, output.counts


def test_mostly_unknown_and_values_without_a_level_are_told(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", applicants())
    write(tmp_path, "people.csv", demographics())
    account, said, counts = told(tmp_path, demographics=SECTION, groups=GROUPS)
    assert account["unknown"] == {"sex": 2, "race": 3}
    assert (counts["unknown_sex"], counts["unknown_race"]) == (2, 3)
    assert len(said) == 2
    assert said[0].startswith("WARNING: race is unknown for 3 of 5 people")
    assert said[1].startswith(
        "WARNING: race: 2 people have a value that is no level of the spec: '(values of fewer than 5 each)'"
    )


def test_nothing_is_told_where_everybody_is_known(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(7))
    account, said, counts = told(tmp_path, groups=GROUPS)
    assert said == []
    assert account["unknown"] == {"sex": 0, "race": 0}
    assert set(counts) == {"prompts", "applications"}


@pytest.mark.parametrize("value", ["ann@example.org", "0123456789", "C:\\ann", "x" * 60])
def test_what_does_not_look_like_a_category_is_counted_and_not_quoted(tmp_path: Path, value: str) -> None:
    rows = [{**row, "race": value} for row in people(7)]
    write(tmp_path, "prompts.jsonl", rows)
    account, said, _ = told(tmp_path)
    assert account["unknown_values"]["race"] == {"(not the look of a category)": 7}
    assert value not in " ".join(said)


def test_what_is_declared_as_unknown_is_named_and_nobody_is_told_to_map_it(tmp_path: Path) -> None:
    declared = ["Prefers not to say", "0000099999 (old code)", "Refused: not stated"]
    rows = [{**row, "race": declared[i % 3]} for i, row in enumerate(people(9))]
    write(tmp_path, "prompts.jsonl", rows)
    groups = {**GROUPS, "unknown_values": declared}
    account, said, _ = told(tmp_path, groups=groups)
    assert set(account["unknown_values"]["race"]) == set(declared)
    assert not [words for words in said if "no level of the spec" in words]


EEO_1 = [
    "Hispanic or Latino",
    "White (Not Hispanic or Latino)",
    "Black or African American (Not Hispanic or Latino)",
    "Native Hawaiian or Other Pacific Islander (Not Hispanic or Latino)",
    "Asian (Not Hispanic or Latino)",
    "American Indian or Alaska Native (Not Hispanic or Latino)",
    "Two or More Races (Not Hispanic or Latino)",
]


@pytest.mark.parametrize("label", [one for one in EEO_1 if not one.startswith(("White", "Black"))])
def test_a_label_of_the_eeo_1_form_looks_like_a_category(tmp_path: Path, label: str) -> None:
    write(tmp_path, "prompts.jsonl", [{**row, "race": label} for row in people(7)])
    account, said, _ = told(tmp_path)
    assert account["unknown_values"]["race"] == {label: 7} and repr(label) in " ".join(said)


def test_values_that_hardly_repeat_are_not_quoted(tmp_path: Path) -> None:
    rows = [
        {**people(1)[0], "prompt_id": f"p{i}", "application_id": f"a{i}", "race": f"Ann {chr(65 + i)}. Lee"}
        for i in range(12)
    ]
    write(tmp_path, "prompts.jsonl", rows)
    account, said, _ = told(tmp_path)
    assert account["unknown_values"]["race"] == {"(not the look of a category)": 12}
    assert "Ann" not in " ".join(said)


def test_a_value_that_few_people_have_is_not_named() -> None:
    """What one person wrote of themselves may be their name."""
    found = Counter({"Declined": 5, "Ottilie": 4, "Prefer not to say": 1})
    known = frozenset({"Prefer not to say"})
    assert bounded(found, known, fewest=FEWEST_NAMED) == {
        "(values of fewer than 5 each)": 4,
        "Declined": 5,
        "Prefer not to say": 1,
    }
