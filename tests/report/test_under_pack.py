"""One sealed run under several laws: the same scores, another page, and nothing in the run changed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import sha256
from audit_lib.cli.main import main
from audit_lib.errors import GateError, IncompleteRunError, SpecError
from audit_lib.large_file import bytes_of
from audit_lib.page_transcript import read_visible
from audit_lib.report.under_pack import under_pack
from audit_lib.run import Run
from tests.archive.cases import do, new_run


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("several-laws")
    return Run.load(do(new_run(folder, str(folder / "store"), report={"policy": "us_ugesp"})).uri)


def files(run: Run) -> dict[str, str]:
    folder = Path(run.uri.removeprefix("file://"))
    return {str(path): sha256(path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()}


def counts(report: bytes) -> list[tuple[str, int, int]]:
    """People and selected of each row of the tables by sex."""
    tables = json.loads(report)["metrics"]["tables"]
    return sorted(
        (table["kind"], row["n"], row["selected"])
        for table in tables
        if table["family"] == "sex"
        for row in table["rows"]
    )


def test_each_law_has_its_own_page_of_the_same_scores(sealed: Run) -> None:
    before = files(sealed)
    made = {name: under_pack(sealed, name).artefacts for name in ("new_jersey_13_16", "eu_ai_act_annex_iii")}
    assert files(sealed) == before and verify(sealed.uri).ok
    manifest = sha256(sealed.stage("evidence").read("manifest.json"))
    for name, artefacts in made.items():
        page, document = artefacts["report.html"].decode(), json.loads(artefacts["report.json"])
        assert document["policy"]["name"] == name and document["status"] == "not signed"
        assert document["planned_under"] == {"name": "us_ugesp", "version": "1.4.0"}
        for table in ("tables.csv", "estimates.csv", "answers.csv"):
            rows = list(csv.DictReader(io.StringIO(artefacts[table].decode())))
            packs = {(row["policy"].split()[0], row["planned_under"]) for row in rows}
            assert packs == {(name, "us_ugesp 1.4.0")}, table
        assert document["inputs"]["evidence/manifest.json"] == manifest
        assert not [path for path in document["inputs"] if path.startswith("metrics/")]
        assert document["spec_digest"] == sealed.key.spec_digest
        assert "Another law than the one that was planned" in page and "us_ugesp 1.4.0" in page
        assert f"--policy {name}" in page and manifest in page
        assert "when this audit was planned there was no earlier one" not in page.lower()
    own = sealed.stage("report")
    assert "planned_under" not in json.loads(own.read("report.json"))
    assert b"planned_under" not in own.read("tables.csv")
    here = counts(own.read("report.json"))
    assert len(here) > 2
    assert all(counts(one["report.json"]) == here for one in made.values()), "another order of rows at most"
    assert (
        "adverse impact"
        not in made["eu_ai_act_annex_iii"]["report.html"].decode().split("Sources")[0].lower()
    )


def test_again_gives_the_same_bytes(sealed: Run) -> None:
    one, two = (under_pack(sealed, "colorado_sb26_189").artefacts for _ in range(2))
    assert {name: sha256(content) for name, content in one.items()} == {
        name: sha256(content) for name, content in two.items()
    }


def test_what_cannot_be_read_so_is_refused(sealed: Run, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no policy is named 'texas'"):
        under_pack(sealed, "texas")
    with pytest.raises(SpecError, match="the pack that the run was planned under"):
        under_pack(sealed, "us_ugesp")
    open_run = do(new_run(tmp_path, str(tmp_path / "store")), until="metrics")
    with pytest.raises(IncompleteRunError, match="not sealed"):
        under_pack(open_run, "generic")
    folder = tmp_path / "inferred"
    folder.mkdir()
    guessed = do(
        new_run(
            folder, str(folder / "store"), report={"policy": "generic"}, groups={"provenance": "inferred"}
        )
    )
    with pytest.raises(GateError, match="FAQ III"):
        under_pack(guessed, "nyc_ll144")


def test_the_command_writes_a_folder_for_each_and_tells_of_longer_periods(
    sealed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", sealed.uri, "--policy", "california_crd", "--policy", "illinois_hb3773"]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "report-california_crd/report.html").is_file()
    assert (tmp_path / "report-illinois_hb3773/report.json").is_file()
    assert "california_crd keeps records until" in said and "audit store extend" in said
    assert "illinois_hb3773 keeps" not in said


def test_packs_are_listed_for_a_day_and_old_reviews_end_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "colorado_sb26_189", "--on", "2026-12-31", "--today", "2026-12-01"]) == 0
    assert "not in force yet on 2026-12-31: applies from 2027-01-01" in capsys.readouterr().out
    assert main(["policies", "--today", "2027-02-21"]) == 1
    said = capsys.readouterr().out
    assert said.count("warning:") == said.count(", as of ") and "91 days" in said
    assert main(["policies", "ohio"]) == 2


def test_its_parts_name_the_scores_that_were_measured_again(sealed: Run) -> None:
    named = read_visible(
        bytes_of(under_pack(sealed, "new_jersey_13_16").artefacts["report.html"]).decode()
    ).sources
    assert "scores/*/scores.parquet" in named["selection"]
    assert "metrics/metrics.json" not in {file for files in named.values() for file in files}
