"""The page in another language: made with the report, sealed, signed and verified with it, and taken from it later."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.report import report
from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.signoff.verification import verify_signed
from tests.archive.cases import do, new_run
from tests.report.runs import made

TAG = re.compile(r"<[^<>]*>")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made(tmp_path_factory.mktemp("both"), report={"tool": "Scores.", "languages": ["es"]})


def page(run: Run, name: str) -> str:
    return run.stage("report").read(name).decode()


def test_the_spanish_page_says_the_same_numbers(both: Run) -> None:
    english, spanish = page(both, "report.html"), page(both, "report.es.html")
    assert '<html lang="en">' in english and '<html lang="es">' in spanish
    # Of the texts, those in charts too: where a chart puts them depends on the length of its words.
    shown = [
        unescape(TAG.sub(" ", one[one.index("<main") : one.index("</main")])) for one in (english, spanish)
    ]
    numbers = [sorted(NUMBER.findall(one)) for one in shown]
    assert len(numbers[0]) > 200 and numbers[0] == numbers[1]


def test_each_page_leads_to_the_other(both: Run) -> None:
    assert '<a href="report.es.html" lang="es" hreflang="es">Español</a>' in page(both, "report.html")
    assert '<a href="report.html" lang="en" hreflang="en">English</a>' in page(both, "report.es.html")


def test_without_the_key_there_is_one_page_and_no_link(tmp_path: Path) -> None:
    run = made(tmp_path)
    assert "report.es.html" not in run.stage("report").success().artefacts
    assert "hreflang" not in page(run, "report.html")


def test_tables_and_json_stay_english(both: Run) -> None:
    again = report(both).artefacts
    assert again["report.es.html"] == both.stage("report").read("report.es.html")
    assert "Selection rates" not in page(both, "report.es.html")
    assert b"highest rate" in again["report.json"] and b"selection" in again["tables.csv"]


def test_a_language_that_the_run_has_not_is_set_from_it(sealed_run: Run, tmp_path: Path) -> None:
    out = tmp_path / "es.html"
    assert main(["report", sealed_run.uri, "--language", "es", "--output", str(out)]) == 0
    assert '<html lang="es">' in out.read_text(encoding="utf-8")
    assert verify(sealed_run.uri).ok


def test_a_table_has_no_languages(
    sealed_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "report",
        sealed_run.uri,
        "--language",
        "es",
        "--format",
        "csv",
        "--output",
        str(tmp_path / "x"),
    ]
    assert main(command) != 0
    assert "use html or pdf" in capsys.readouterr().err


def test_a_signed_run_has_a_signed_spanish_page(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store"), report={"tool": "Scores.", "languages": ["es"]}))
    generate_key(tmp_path / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    made = sign_off(run, who, load_private_key(tmp_path / "a.key"))
    assert "Ada Auditor" in made.folder.read("report.es.html").decode()
    assert verify_signed(run.uri).ok
