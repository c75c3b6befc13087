"""The command line, as a user calls it."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit_lib.cli.main import _parser, main
from audit_lib.spec import AuditSpec
from audit_lib.spec_schema import spec_schema
from tests.inputs import recorded_audit
from tests.installed import needs_torch

WINDOW = ["--window", "2026-01-05", "2026-01-12"]


def test_no_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out = capsys.readouterr().out
    for command in ("init", "validate", "run", "report", "verify"):
        assert command in out


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


def test_every_command_that_prints_json_has_the_same_option_for_it() -> None:
    found = 0
    for parser in parsers(_parser()):
        options = {name: action for action in parser._actions for name in action.option_strings}
        named = [name for name in ("--format", "--json") if name in options]
        if not named or parser.prog == "audit report":  # whose forms are files
            continue
        found += 1
        assert named == ["--format", "--json"], parser.prog
        assert tuple(options["--format"].choices or ()) == ("text", "json"), parser.prog
        assert options["--json"].help == argparse.SUPPRESS and options["--json"].dest == "format", parser.prog
        assert parser.get_default("format") == "text", parser.prog
    assert found == 13


@pytest.mark.parametrize(
    ("demo", "groups"),
    [([], 14), (["--demo", "recorded"], 14), pytest.param(["--demo", "model"], 8, marks=needs_torch)],
)
def test_init_writes_a_spec_that_is_valid_where_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: list[str], groups: int
) -> None:
    folder = tmp_path / "mine"
    assert main(["init", *demo, str(folder)]) == 0
    assert f"audit run {folder / 'audit.yaml'}" in capsys.readouterr().out
    assert main(["validate", str(folder / "audit.yaml")]) == 0
    assert f"{groups} groups" in capsys.readouterr().out
    spec = AuditSpec.load(folder / "audit.yaml")
    assert (folder / spec.source.paths[0]).is_file()
    assert json.loads((folder / "audit-spec.schema.json").read_text(encoding="utf-8")) == spec_schema()


@pytest.mark.parametrize("kept", [0, 1])
def test_an_export_without_a_row_is_not_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: int
) -> None:
    assert main(["init", str(tmp_path / "mine")]) == 0
    export = tmp_path / "mine" / AuditSpec.load(tmp_path / "mine" / "audit.yaml").source.paths[0]
    export.write_text(
        "".join(export.read_text(encoding="utf-8").splitlines(keepends=True)[:kept]), encoding="utf-8"
    )
    capsys.readouterr()
    assert main(["validate", str(tmp_path / "mine" / "audit.yaml")]) == 2
    assert f"{export.name}: there is no row to audit" in capsys.readouterr().err


def test_help_of_init_teaches_the_first_audit(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["init", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for part in (
        "audit run FOLDER/audit.yaml",
        "needs no extra",
        "needs the extra local",
        "--demo {recorded,model}",
    ):
        assert part in said


def test_without_a_window_the_latest_of_the_schedule_is_audited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded_audit(
        tmp_path,
        schedule={"cron": "0 0 1 1 *"},
        source={"windowed": False},
        checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
    )
    assert main(["run", str(path), "--store", str(tmp_path / "store"), "--dry-run"]) == 0
    now = datetime.now(UTC)
    ((window,),) = ([one.name for one in (tmp_path / "store" / "small").iterdir()],)
    assert window == f"{now.year - 1}0101T000000Z_{now.year}0101T000000Z"
    assert f"window {now.year - 1}-01-01 00:00 to {now.year}-01-01 00:00 UTC" in capsys.readouterr().err


def test_init_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "audit.yaml").write_text("mine", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 2
    assert "already there" in capsys.readouterr().err
    assert (tmp_path / "audit.yaml").read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / "audit.yaml"]


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == spec_schema()


def test_a_fault_is_one_message_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "broken.yaml"
    spec.write_text("audit: x\nmodle: {}\n", encoding="utf-8")
    assert main(["validate", str(spec)]) == 2
    err = capsys.readouterr().err
    assert "modle: unknown key; did you mean 'model'?" in err
    assert "Traceback" not in err


def test_a_zero_width_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = recorded_audit(tmp_path)
    assert (
        main(["run", str(spec), "--window", "2026-01-05", "2026-01-05", "--store", str(tmp_path / "s")]) == 2
    )
    assert "has no width" in capsys.readouterr().err


def test_run_show_report_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, store = recorded_audit(tmp_path), str(tmp_path / "store")
    assert main(["run", str(spec), *WINDOW, "--store", store]) == 0
    printed = capsys.readouterr()
    assert "Selection rates" in printed.out
    assert "scores/0: done" in printed.err, "progress goes to stderr"
    uri = printed.out.strip().splitlines()[-1].split()[-1]
    assert Path(uri, "report", "report.html").is_file()
    assert main(["show", "small", "--store", store]) == 0
    assert "Selection rates" in capsys.readouterr().out
    assert main(["report", uri, "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "report.html").read_bytes() == Path(
        uri, "report", "report.html"
    ).read_bytes()
    assert main(["verify", uri]) == 0
    capsys.readouterr()
    table = Path(uri, "report", "tables.csv")
    table.write_bytes(table.read_bytes().replace(b"cook", b"Cook"))
    assert main(["verify", uri]) == 1
    assert "tables.csv" in capsys.readouterr().out


def test_a_dry_run_asks_no_model_and_seals_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, store = recorded_audit(tmp_path), str(tmp_path / "store")
    assert main(["run", str(spec), *WINDOW, "--store", store, "--dry-run"]) == 0
    assert "would be scored" in capsys.readouterr().err
    assert not list(Path(store).rglob("scores*"))
    assert main(["show", "small", "--store", store]) == 2


def test_a_failed_audit_exits_with_1_and_says_where_it_is_archived(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = recorded_audit(tmp_path, checks={"minimum_answered_share": 0.999})
    assert main(["run", str(spec), *WINDOW, "--store", str(tmp_path / "store")]) == 1
    assert "the failed run is archived" in capsys.readouterr().err


def test_a_copy_is_shown_and_reported_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, store, copy = recorded_audit(tmp_path), str(tmp_path / "store"), tmp_path / "copy"
    assert main(["run", str(spec), *WINDOW, "--store", store]) == 0
    uri = capsys.readouterr().out.strip().splitlines()[-1].split()[-1]
    shutil.copytree(uri, copy)
    assert main(["show", f"{copy}/"]) == 0
    assert f"audit verify {copy}" in capsys.readouterr().out
    assert main(["report", str(copy), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "report.html").read_bytes() == (copy / "report" / "report.html").read_bytes()


@pytest.mark.parametrize("uri", ["x/y", "/", "./nothing", "a/b/c/d"])
def test_a_run_that_is_not_there(uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "report"):
        assert main([command, uri]) == 2
        assert "no run is here" in capsys.readouterr().err


def test_showing_a_failed_audit_says_that_it_failed_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = recorded_audit(tmp_path, checks={"minimum_answered_share": 0.999})
    store = ["--store", str(tmp_path / "store")]
    assert main(["run", str(spec), *WINDOW, *store]) == 1
    capsys.readouterr()
    assert main(["show", "small", *store]) == 1
    err = capsys.readouterr().err
    assert "the audit failed its validation" in err
    assert "validation/validation.json" in err


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    assert main(["init", str(tmp_path / "taken" / "below")]) == 2
    assert "audit: " in capsys.readouterr().err


@pytest.mark.parametrize("size", ["abc", "0", "-1", "1.5"])
def test_a_sample_size_that_is_no_number(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "x.yaml", *WINDOW, f"--sample-size={size}"])
    assert caught.value.code == 2
    assert f"{size} is not a positive whole number" in capsys.readouterr().err


def test_importing_audit_lib_is_light() -> None:
    code = (
        "import sys, audit_lib, audit_lib.cli.main, audit_lib.metrics\n"
        "heavy = {'airflow', 'torch', 'transformers', 'openai', 'boto3', 'great_expectations', 'matplotlib',"
        " 'sklearn', 'statsmodels', 'pandas', 'scipy.stats'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_audit_lib_never_imports_airflow() -> None:
    package = Path(__file__).parent.parent / "audit_lib"
    for path in sorted(package.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith(("import airflow", "from airflow")), path
