"""Dossiers in a table become prompts, row by row; what could not be read is counted."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from tests.specs import INCLUDE

ROWS: list[Any] = [
    {"id": "a", "position": "cook", "applicant": "Ana Ruiz", "mail": "ana@mail.example",
     "resume": "Ana Ruiz\nana@mail.example\nMs. Ruiz cooked for two years.", "essay": "I am Ana. I like soup."},
    {"id": "b", "position": "cook", "applicant": "Tom Lee", "mail": "", "resume": "Tom Lee\nHe baked.", "essay": ""},
    "no object",
    {"id": "d", "position": "cook", "applicant": "", "mail": None,
     "resume": "Maria Lopez\nShe grilled for a year.", "essay": "My name is Maria Lopez."},
]  # fmt: skip
OPTIONS = [
    "--columns", "resume", "essay", "--known", "name=applicant", "email=mail", "--keep", "position", "--check",
]  # fmt: skip


def redacted(path: Path, *options: str) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    out = path.parent / "out"
    code = main(["redact", "--jsonl", str(path), "--out", str(out), *options])
    prompts = [json.loads(line) for line in (out / "prompts.jsonl").read_text().splitlines()]
    return code, prompts, json.loads((out / "coverage.json").read_text())["dossiers"]


def test_rows_become_prompts_and_the_others_have_their_reason(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "dossiers.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in ROWS))
    code, prompts, told = redacted(path, *OPTIONS)
    assert code == 2, "some were refused"
    assert [row["prompt_id"] for row in prompts] == ["dossier-0001", "dossier-0004"]
    assert list(prompts[0]) == [
        "prompt_id", "application_id", "position", "resume", "essay", "redaction",
    ]  # fmt: skip
    assert prompts[0]["resume"] == "{{name}}\n{{email}}\n{{title}} {{last_name}} cooked for two years."
    assert prompts[0]["essay"] == "I am {{first_name}}. I like soup."
    assert "Maria" not in json.dumps(prompts[1]) and "Lopez" not in json.dumps(prompts[1])
    assert [row["status"] for row in told] == ["review", "refused", "refused", "review"]
    assert told[1]["message"] == "column 'essay' has no text"
    assert told[2]["message"] == "the line is no JSON object"
    assert "4 dossiers: 0 ok, 2 to review, 2 refused" in capsys.readouterr().out
    public = (tmp_path / "out" / "coverage.json").read_text() + (
        tmp_path / "out" / "prompts.jsonl"
    ).read_text()
    assert not [name for name in ("Ana", "Ruiz", "Lee", "Maria", "ana@") if name in public]
    private = json.loads((tmp_path / "out" / "review" / "files.json").read_text())["files"]
    assert [row["line"] for row in private] == [1, 2, 3, 4]


def test_a_csv_is_read_alike_and_a_short_line_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "dossiers.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "position", "applicant", "mail", "resume", "essay"])
        writer.writerow(list(ROWS[0].values()))
        writer.writerow(["x", "cook"])
    _, prompts, told = redacted(path, *OPTIONS)
    assert prompts[0]["essay"] == "I am {{first_name}}. I like soup."
    assert told[1]["message"] == "the line has more or fewer cells than the header"


def test_what_is_known_may_lie_inside_a_column(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "dossiers.jsonl"
    person = {"given": "Ana", "names": [{"family": "Ruiz"}], "other_forms": ["Anita"]}
    row = {
        "id": "a",
        "applicant": person,
        "text": "To whom it may concern: Anita, Ms. Ruiz to her pupils, is Ana.",
    }
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"applicant": "Ana Ruiz"}) + "\n")
    known = ("first_name=applicant.given", "last_name=applicant.names[0].family")
    options = (
        "--columns",
        "text",
        "--known",
        *known,
        "other_names=applicant.other_forms",
        "--check",
        "--keep",
    )
    _, prompts, told = redacted(path, *options, "id")
    assert [row["prompt_id"] for row in prompts] == ["dossier-0001"]
    assert prompts[0]["text"] == (
        "To whom it may concern: {{nickname}}, {{title}} {{last_name}} to {{pronoun.possessive}} pupils, is "
        "{{first_name}}."
    )
    assert told[1]["error"] == "NoApplicantError", "a row that holds no such place shows no name either"
    for wrong, message in (("applicant", "names or describes"), ("aplicant", "is in no row; did you mean")):
        rest = ("redact", "--jsonl", str(path), "--out", str(tmp_path / "no"), *options, wrong)
        assert main(list(rest)) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "resum"], "column 'resum' is in no row; did you mean 'resume'"),
        ([], "--columns: name the columns"),
        (["--columns", "resume", "--keep", "resume"], "--keep: column 'resume' names or describes"),
        (["--columns", "resume", "--known", "nam=applicant"], "write FIELD=COLUMN"),
        (["--columns", "resume", "--name", "Ana Ruiz"], "by --known FIELD=COLUMN"),
        (["letter.txt", "--columns", "resume"], "and not both"),
    ],
)
def test_columns_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: Any, options: list[str], message: str
) -> None:
    path = tmp_path / "dossiers.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n")
    files = [x for x in options if x.endswith(".txt")]
    rest = [x for x in options if not x.endswith(".txt")]
    assert main(["redact", *files, "--jsonl", str(path), "--out", str(tmp_path / "out"), *rest]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("teacher_redacted", ["sex=sex", "--keep"]),
        ("teacher_blind", ["--keep", "sex", "race"]),
    ],
)
def test_the_studies_prompts_are_what_the_command_makes(
    tmp_path: Path, name: str, options: list[str]
) -> None:
    """No script of one's own is between the applicants and the experiment."""
    kept = "prompt_id application_id position level qualified synthetic job_title district other_district requirements"
    slots = (
        "name first_name last_name title pronoun college college_place" if name == "teacher_redacted" else ""
    )
    source = [
        "--jsonl",
        str(INCLUDE / "demo" / "teacher_applicants.jsonl"),
        "--columns",
        "resume",
        "transcript",
    ]
    known = ["--known", "name=name", "colleges=college", *options, *kept.split()]
    end = ["--slots", *slots.split(), "--check", "--out", str(tmp_path / "out")]
    code = main(["redact", *source, *known, *end])
    assert code == 1, "all are to review, and none is refused"

    def told(path: Path) -> list[dict[str, Any]]:
        return [
            dict(sorted(json.loads(line).items())) for line in path.read_text(encoding="utf-8").splitlines()
        ]

    assert told(tmp_path / "out" / "prompts.jsonl") == told(INCLUDE / "demo" / f"{name}.jsonl")
