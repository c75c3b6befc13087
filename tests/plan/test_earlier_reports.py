"""The headlines of earlier audits: which ones are kept, and how little is read for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audit_lib.plan.earlier_reports import earlier_reports
from audit_lib.run import Run, StageFolder, StageOutput, Window
from tests.archive.cases import new_run

START = datetime(2020, 1, 6, tzinfo=UTC)
WEEK = timedelta(days=7)


def window(number: int) -> Window:
    return Window(START + number * WEEK, START + (number + 1) * WEEK)


def seal(run: Run, number: int, digest: str, sealed: datetime, *, report: bool = True) -> None:
    """Write what an earlier run leaves behind, as far as a plan looks at it."""
    prefix = f"{run.key.audit}/{window(number).label}/{digest}"
    document = {"measured_at": "then", "status": "not signed", "tool_version": "1", "spec_digest": digest}
    document |= {"window": {"start": str(window(number).start)}, "headline": {"of": number}, "run": prefix}
    if report:
        content = json.dumps(document | {"tables": ["long"] * 9}).encode()
        StageFolder(run.store, f"{prefix}/report").commit(StageOutput({"report.json": content}), sealed)
    StageFolder(run.store, f"{prefix}/evidence").commit(StageOutput({"manifest.json": b"{}"}), sealed)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return new_run(tmp_path, str(tmp_path / "store"), window(100))


def test_the_latest_sixty_are_kept_and_no_other_report_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (*range(80), 120):
        seal(run, number, "a" * 12, START)
    read: list[str] = []
    get = type(run.store).get
    monkeypatch.setattr(type(run.store), "get", lambda store, key: read.append(key) or get(store, key))
    found = json.loads(earlier_reports(run))
    assert [entry["headline"]["of"] for entry in found] == list(range(20, 80))
    assert all("tables" not in entry for entry in found)
    reports = [key for key in read if key.endswith("report.json")]
    assert len(reports) == len(set(reports)) == 60


def test_of_one_window_the_run_sealed_last_that_has_a_report_counts(run: Run) -> None:
    seal(run, 1, "a" * 12, START)
    seal(run, 1, "b" * 12, START)  # committed later, so sealed later
    seal(run, 1, "c" * 12, START, report=False)
    (found,) = json.loads(earlier_reports(run))
    assert found["spec_digest"] == "b" * 12


def test_a_signed_one_says_so(run: Run) -> None:
    seal(run, 1, "a" * 12, START)
    seal(run, 2, "a" * 12, START)
    where = f"{run.key.audit}/{window(2).label}/{'a' * 12}/signoff/0001"
    StageFolder(run.store, where).commit(StageOutput({"statement.json": b"{}"}), START)
    assert [entry["status"] for entry in json.loads(earlier_reports(run))] == ["not signed", "signed"]
