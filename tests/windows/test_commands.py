"""`audit status` and `audit changes` on whole runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.documents.report import Report
from audit_lib.run import Run
from audit_lib.store import open_store
from audit_lib.window import Window
from audit_lib.windows import read_index
from tests.archive.cases import applicants
from tests.archive.kept_runs import sealed

WEEKS = [Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 7:02d}") for day in (5, 12, 19)]
SCHEDULE = {"schedule": {"cron": "0 0 * * 1", "catchup": 1}}


def run(folder: Path, week: int, shift: float = 0.0) -> Run:
    rows = applicants(240, shift=shift)
    return sealed(folder, folder / f"inputs {week}", WEEKS[week], rows=rows, **SCHEDULE)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = main(list(arguments))
    return code, capsys.readouterr().out.splitlines()


def test_the_windows_of_an_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    run(tmp_path, 0)
    last = run(tmp_path, 2)
    code, lines = said(capsys, "status", "small", "--store", store, "--at", "2026-01-26")
    assert code == 0
    assert lines[0] == (
        "small: 3 windows of `0 0 * * 1` (UTC) are owed at 2026-01-26 00:00 UTC: 2 audited, 1 late; 1 before the "
        "latest are made up"
    )
    assert lines[3] == f"  2026-01-19 00:00 to 2026-01-26 00:00  audited  {last.key.prefix}"
    assert lines[4] == "  2026-01-26 00:00 to 2026-02-02 00:00  not due"
    latest = read_index(open_store(store), "small").latest
    assert latest is not None and (latest.run, latest.sign_offs) == (last.key.prefix, 0)
    assert latest.why_no_audit == "no independent auditor has signed it" and latest.audited is None
    report = last.stage("report").read_document(Report, "report.json")
    smallest = min(one.ratio for one in report.headline.values())
    assert latest.ratio == float(smallest) and str(latest.finding).startswith(f"{float(smallest):.3f} for ")
    code, lines = said(capsys, "status", "--store", store, "--at", "2026-01-26", "--json")
    (state,) = json.loads("".join(lines))
    assert code == 0 and state["strip"] == ["audited", "late", "audited"] and state["drift"] == "not followed"
    code, lines = said(capsys, "status", "--store", store, "--at", "2026-02-02", "--open")
    assert code == 1  # a week later the second one is too old to be made up
    assert [line.split("  ")[2] for line in lines[1:]] == ["missed", "due"]
    code, lines = said(capsys, "status", str(tmp_path / "inputs 0" / "none.yaml"), "--store", store)
    assert code == 2


def test_a_store_without_audits_and_an_audit_without_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", "--store", str(tmp_path)]) == 2
    assert main(["status", "none", "--store", str(tmp_path)]) == 2
    assert main(["changes", "none", "--store", str(tmp_path)]) == 2
    assert main(["status", "none", "--store", str(tmp_path), "--at", "soon"]) == 2
    assert "is not an ISO 8601 instant" in capsys.readouterr().err


def test_the_changes_of_an_audit_in_the_order_of_its_windows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "store")
    third, first = run(tmp_path, 2, shift=0.9), run(tmp_path, 0)
    code, lines = said(capsys, "changes", "small", "--store", store)
    assert code == 1
    assert lines[0].startswith("2026-01-05 00:00 to 2026-01-12 00:00: first run")
    assert lines[1].startswith("2026-01-19 00:00 to 2026-01-26 00:00, against 2026-01-05 00:00 to 2026-01-12")
    assert "by tests of these two windows alone" in lines[1]
    assert "windows before it that are owed were not audited: 1 missed" in lines[1]
    run(tmp_path, 1, shift=0.9)
    code, lines = said(capsys, "changes", "small", "--store", store, "--last", "1")
    assert code == 0
    (line,) = lines
    assert line.startswith(
        "2026-01-19 00:00 to 2026-01-26 00:00, against 2026-01-12 00:00 to 2026-01-19 00:00: nothing happened; by "
        "tests of these two windows alone 0 of"
    )
    metrics = Path(first.uri) / "metrics/metrics.json"
    metrics.write_bytes(metrics.read_bytes().replace(b"0", b"1", 1))
    code, lines = said(capsys, "changes", "small", "--store", store)
    assert code == 1 and len(lines) == 3
    assert lines[0].startswith(f"{first.key.prefix}: cannot be compared")
    assert ": nothing happened; by tests" in lines[2]
    assert third.stage("metrics").is_complete()
