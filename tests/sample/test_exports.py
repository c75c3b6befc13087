"""Files as people export them from a spreadsheet or an HR system."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import ColumnTypeError, CorruptFileError, InputError, MissingColumnError, SpecError
from tests.sample.cases import document, prompts, run
from tests.specs import load

COLUMNS = {
    "prompt_id": "Req. ID", "application_id": "Candidate ID", "position": "Job Title", "occurred_at": "Decision Date",
    "recorded_selected": "Decision", "sex": "Gender", "race": "Race/Ethnicity",
}  # fmt: skip
HEADER = ["Req. ID", "Candidate ID", "Job Title", "Decision Date", "Decision", "Gender", "Race/Ethnicity"]
ROWS = [
    ["R1", "C1", "Cook", "01/06/2026", "Advance", "Female", "White (Not Hispanic or Latino)"],
    [
        "R2",
        "C2",
        "Cook",
        "1/7/2026",
        "advance ",
        "Male",
        "Black or African American (Not Hispanic or Latino)",
    ],
    ["R3", "C3", "Cook", "01/08/2026", "Reject", "female", "Black or African American"],
    ["R4", "C4", "Cook", "01/09/2026", "", "MALE", "White"],
]
WORDS = {"selected_values": ["Advance", "Hired"], "rejected_values": ["Reject", "Withdrawn"]}


def export(
    folder: Path,
    rows: list[list[str]] | None = None,
    header: list[str] | None = None,
    *,
    separator: str = ",",
    text: str | None = None,
    **source: Any,
) -> Any:
    """Write an export and sample it."""
    lines = [header or HEADER, *(ROWS if rows is None else rows)]
    made = "".join(separator.join(cells) + "\r\n" for cells in lines) if text is None else text
    (folder / "export.csv").write_bytes(made.encode("utf-8-sig"))
    given = {
        "paths": ["export.csv"],
        "columns": COLUMNS,
        "fields": [],
        "time_format": "%m/%d/%Y",
        **WORDS,
    } | source
    return run(folder, source=given, groups={"provenance": "self_reported"})


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("trailing", ["", "{s}{s}"])
@pytest.mark.parametrize("first", ["", "sep={s}\r\n", "\r\n"])
def test_a_spreadsheet_s_csv_is_read(tmp_path: Path, separator: str, trailing: str, first: str) -> None:
    """A byte order mark, semicolons, blank lines, unnamed columns at the end, dates with the month first."""
    end = trailing.format(s=separator) + "\r\n"
    lines = [separator.join(cells) + end for cells in [HEADER, *ROWS[:2]]]
    lines += ["\r\n", separator * 6 + end, *[separator.join(cells) + end for cells in ROWS[2:]]]
    text = first.format(s=separator) + "".join(lines)
    table = prompts(export(tmp_path, text=text)).set_index("prompt_id")
    assert table["recorded_selected"].astype(object).where(table["recorded_selected"].notna(), None).to_dict() == {
        "R1": True, "R2": True, "R3": False, "R4": None,
    }  # fmt: skip
    assert table["occurred_at"]["R2"].to_pydatetime() == datetime(2026, 1, 7, tzinfo=UTC)
    assert table["sex"].to_dict() == {"R1": "female", "R2": "male", "R3": "female", "R4": "male"}
    assert table["race"].to_dict() == {"R1": "White", "R2": "Black", "R3": "Black", "R4": "White"}


def test_the_way_labels_were_read_is_in_the_record(tmp_path: Path) -> None:
    read = document(export(tmp_path))["demographics"]["read_as"]
    assert read["sex"] == {"Female": "female", "MALE": "male", "Male": "male"}
    assert read["race"]["Black or African American (Not Hispanic or Latino)"] == "Black"


LEVELS = ["Hispanic", "White", "Black", "Pacific", "Asian", "Native", "Two"]
CATEGORIES = {
    "Hispanic": "Hispanic or Latino", "Black": "Black or African American",
    "Native": "Native American or Alaska Native", "Pacific": "Native Hawaiian or Pacific Islander",
    "Two": "Two or More Races",
}  # fmt: skip


@pytest.mark.parametrize(
    ("label", "level"),
    [
        ("Hispanic or Latino", "Hispanic"),
        ("HISPANIC OR LATINO", "Hispanic"),
        ("White", "White"),
        ("White (Not Hispanic or Latino)", "White"),
        ("White, not Hispanic or Latino", "White"),
        ("Black or African American", "Black"),
        ("Black/African American (Non-Hispanic)", "Black"),
        ("Native Hawaiian or Pacific Islander", "Pacific"),
        ("Native Hawaiian or Other Pacific Islander (Not Hispanic or Latino)", "Pacific"),
        ("Asian  (Not Hispanic or Latino)", "Asian"),
        ("Native American or Alaska Native", "Native"),
        ("American Indian or Alaska Native (Not Hispanic or Latino)", "Native"),
        ("American Indian/Alaska Native", "Native"),
        ("Two or More Races (Not Hispanic or Latino)", "Two"),
        ("Two or more races", "Two"),
        ("Not Hispanic or Latino", None),
        ("Middle Eastern or North African", None),
        ("Caucasian", None),
        ("Asian or Pacific Islander", None),
    ],
)
@pytest.mark.parametrize("unknown", [None, ["Not Hispanic or Latino", "Middle Eastern or North African", "Caucasian",
                                            "Asian or Pacific Islander"]])  # fmt: skip
def test_labels_as_reports_and_forms_print_them(
    tmp_path: Path, label: str, level: str | None, unknown: list[str] | None
) -> None:
    groups = {
        "provenance": "self_reported", "attributes": {"sex": ["female", "male"], "race": LEVELS},
        "categories": {"sex": {"female": "Female", "male": "Male"}, "race": CATEGORIES}, "unknown_values": unknown,
    }  # fmt: skip
    row = f'R1,C1,Cook,01/06/2026,Advance,Female,"{label}"\n'
    (tmp_path / "export.csv").write_text(",".join(HEADER) + "\n" + row)
    source = {"paths": ["export.csv"], "columns": COLUMNS, "fields": [], "time_format": "%m/%d/%Y", **WORDS}
    (race,) = prompts(run(tmp_path, source=source, groups=groups))["race"]
    assert race == level if level is not None else race is None or race != race


def test_a_decision_in_a_word_that_nobody_listed_is_refused_with_its_count(tmp_path: Path) -> None:
    rows = [
        [*row[:4], word, *row[5:]]
        for row, word in zip(ROWS, ["Advance", "On hold", "On hold", "Offer"], strict=True)
    ]
    with pytest.raises(InputError, match=r"column 'Decision' .*: 'On hold' \(2\), 'Offer' \(1\); list each"):
        export(tmp_path, rows)
    with pytest.raises(InputError, match=r"'Reject' \(1\)"):
        export(tmp_path, rejected_values=[])


def test_a_note_in_the_column_is_not_quoted(tmp_path: Path) -> None:
    rows = [[*ROWS[0][:4], "call Ana Ruiz at 555-12345 first", *ROWS[0][5:]]]
    with pytest.raises(InputError) as refused:
        export(tmp_path, rows)
    assert "Ruiz" not in str(refused.value) and "(1)" in str(refused.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"rejected_values": ["No"]}, "without selected_values"),
        ({"selected_values": ["Hired"], "rejected_values": ["hired "]}, "'hired' is listed twice"),
        ({"selected_values": [" "], "rejected_values": ["No"]}, "no empty word"),
        ({"selected_values": [True]}, "put it in quotes"),
        ({"time_format": "%m/%d"}, "does not tell day, month and year"),
        ({"time_format": "MM/DD/YYYY"}, "does not tell day, month and year"),
        ({"time_format": "%Q/%d/%Y"}, "does not tell day, month and year"),
    ],
)
def test_words_and_formats_that_say_nothing_are_refused(source: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(source=source)


@pytest.mark.parametrize(
    ("value", "how", "shown"),
    [
        ("13/04/2026", "%m/%d/%Y", "'13/04/2026'"),
        ("2026-01-06", "%m/%d/%Y", "'2026-01-06'"),
        ("01/06/2026", "iso8601", "'01/06/2026'; declare how dates are written in source.time_format"),
        ("6 Jan 2026", "iso8601", "'6 Jan 2026'"),
        ("January 6, 2026", "iso8601", "'January 6, 2026'"),
        ("01/06/2026 9:05 AM", "%m/%d/%Y", "'01/06/2026 9:05 AM'"),
        ("Ana Ruiz", "%m/%d/%Y", "is text"),
        ("123-45-6789", "%m/%d/%Y", "is text"),
        ("555-123-4567", "iso8601", "is text"),
        ("46028", "iso8601", "is text"),
    ],
)
def test_a_date_that_is_not_as_declared_is_shown_and_nothing_else(
    tmp_path: Path, value: str, how: str, shown: str
) -> None:
    good = "2026-01-06" if how == "iso8601" else "01/06/2026"
    rows = [[*ROWS[0][:3], good, *ROWS[0][4:]], [*ROWS[1][:3], f'"{value}"', *ROWS[1][4:]]]
    with pytest.raises(ColumnTypeError) as refused:
        export(tmp_path, rows, time_format=how)
    message = str(refused.value)
    assert (
        "export.csv, line 3: column 'Decision Date' (occurred_at) should be" in message and shown in message
    )
    assert value in message or shown == "is text"


def test_day_first_dates(tmp_path: Path) -> None:
    rows = [[*ROWS[0][:3], "07.01.2026 14:30", *ROWS[0][4:]]]
    table = prompts(export(tmp_path, rows, time_format="%d.%m.%Y %H:%M"))
    assert table["occurred_at"][0].to_pydatetime() == datetime(2026, 1, 7, 14, 30, tzinfo=UTC)


def test_all_missing_columns_are_named_at_once(tmp_path: Path) -> None:
    header = ["ID", "Candidate ID", "Job", "Date", "Decision", "Gender", "Race"]
    with pytest.raises(MissingColumnError) as refused:
        export(tmp_path, header=header, fields=["resume"])
    for name in ("'Req. ID' (prompt_id)", "'Job Title' (position)", "'Decision Date' (occurred_at)",
                 "'Race/Ethnicity' (race)", "'resume'", "5 columns are missing",
                 "the file has Candidate ID"):  # fmt: skip
        assert name in str(refused.value)


def test_all_missing_columns_of_the_demographics_too(tmp_path: Path) -> None:
    (tmp_path / "hr.csv").write_text("id,gender\nC1,Female\n")
    columns = {k: v for k, v in COLUMNS.items() if k not in ("sex", "race")}
    (tmp_path / "export.csv").write_text(",".join(HEADER[:5]) + "\n" + ",".join(ROWS[0][:5]) + "\n")
    source = {"paths": ["export.csv"], "columns": columns, "fields": [], "time_format": "%m/%d/%Y", **WORDS}
    people = {"path": "hr.csv", "id_column": "person", "columns": {"sex": "gender", "race": "ethnicity"}}
    with pytest.raises(
        MissingColumnError, match="2 columns: 'person', 'ethnicity' are missing; the file has gender, id"
    ):
        run(tmp_path, source=source, demographics=people, groups={"provenance": "self_reported"})


def test_yes_and_no_need_no_words(tmp_path: Path) -> None:
    rows = [[*row[:4], word, *row[5:]] for row, word in zip(ROWS, ["Yes", "No", "Y", "n"], strict=True)]
    table = prompts(export(tmp_path, rows, selected_values=[], rejected_values=[])).set_index("prompt_id")
    assert table["recorded_selected"].to_dict() == {"R1": True, "R2": False, "R3": True, "R4": False}
    with pytest.raises(
        ColumnTypeError, match=r"should be true or false, is text; list the words .*selected_values"
    ):
        export(tmp_path, selected_values=[], rejected_values=[])


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    header, rows = [*HEADER, "Score"], [[*ROWS[0], "0,85"]]
    columns = COLUMNS | {"recorded_score": "Score"}
    with pytest.raises(
        ColumnTypeError, match="column 'Score' .* should be a number, is text; write the decimal point"
    ):
        export(tmp_path, rows, header, separator=";", columns=columns)


def test_cells_beyond_the_header_are_refused_unless_they_are_empty(tmp_path: Path) -> None:
    assert len(prompts(export(tmp_path, [[*ROWS[0], "", " "]]))) == 1
    with pytest.raises(CorruptFileError, match=r"line 2: 9 cells, but the header has 7"):
        export(tmp_path, [[*ROWS[0], "", "note"]])
    with pytest.raises(CorruptFileError, match=r"line 2: 6 cells"):
        export(tmp_path, [ROWS[0][:6]])


@pytest.mark.parametrize("column", ["position", "occurred_at", "recorded_model"])
def test_one_value_for_all_rows(tmp_path: Path, column: str) -> None:
    value = {"position": "Cook", "occurred_at": "01/06/2026", "recorded_model": "recorded"}[column]
    columns = {k: v for k, v in COLUMNS.items() if k != column}
    table = prompts(export(tmp_path, columns=columns | {column: {"value": value}}))
    assert table[column].nunique() == 1 and table[column].notna().all()


@pytest.mark.parametrize("column", ["prompt_id", "application_id", "sex", "recorded_selected", "positon"])
def test_what_tells_people_apart_is_never_one_value(tmp_path: Path, column: str) -> None:
    columns = {k: v for k, v in COLUMNS.items() if k != column}
    with pytest.raises(SpecError, match=f"source.columns.{column}: cannot be one value for all rows"):
        export(tmp_path, columns=columns | {column: {"value": "Advance"}})
