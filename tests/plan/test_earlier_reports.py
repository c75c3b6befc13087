"""The headlines of earlier audits: which ones are kept, and how little is read for it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.plan.earlier_reports import EARLIER, earlier_reports
from audit_lib.run import Run, StageFolder, StageOutput
from audit_lib.window import Window
from tests.archive.cases import new_run

START = datetime(2020, 1, 6, tzinfo=UTC)
WEEK = timedelta(days=7)


def window(number: int) -> Window:
    return Window(START + number * WEEK, START + (number + 1) * WEEK)


def seal(
    run: Run, number: int, digest: str, sealed: datetime, *, report: bool = True, **changes: Any
) -> None:
    """Write what an earlier run leaves behind, as far as a plan looks at it."""
    prefix = f"{run.key.audit}/{window(number).label}/{digest}"
    document = {"measured_at": "then", "status": "not signed", "tool_version": "1", "spec_digest": digest}
    one = {"label": str(number), "selected": 1, "n": 2, "comparator_selected": 1, "comparator_n": 1}
    start, end = (instant.isoformat() for instant in (window(number).start, window(number).end))
    document |= {
        "window": {"start": start, "end": end},
        "headline": {"selection": one},
        "run": prefix,
    } | changes
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
    assert [int(entry["headline"]["selection"]["label"]) for entry in found] == list(range(20, 80))
    assert all("tables" not in entry for entry in found)
    reports = [key for key in read if key.endswith("report.json")]
    assert len(reports) == len(set(reports)) == 60


def test_of_one_window_the_run_sealed_last_that_has_a_report_counts(run: Run) -> None:
    seal(run, 1, "a" * 12, START)
    time.sleep(0.01)  # records tell times to the millisecond
    seal(run, 1, "b" * 12, START)  # committed later, so sealed later
    time.sleep(0.01)
    seal(run, 1, "c" * 12, START, report=False)
    (found,) = json.loads(earlier_reports(run))
    assert found["spec_digest"] == "b" * 12


def test_a_signed_one_says_so(run: Run) -> None:
    seal(run, 1, "a" * 12, START)
    seal(run, 2, "a" * 12, START)
    where = f"{run.key.audit}/{window(2).label}/{'a' * 12}/signoff/0001"
    StageFolder(run.store, where).commit(StageOutput({"statement.json": b"{}"}), START)
    assert [entry["status"] for entry in json.loads(earlier_reports(run))] == ["not signed", "signed"]


def test_a_report_that_the_later_one_could_not_read_is_left_out_now_and_told(run: Run) -> None:
    told: list[str] = []
    run = replace(run, notify=told.append)
    seal(run, 1, "a" * 12, START)
    seal(run, 2, "b" * 12, START, headline={"selection": {"label": "of another version"}})
    seal(run, 3, "c" * 12, START)
    (record,) = (Path(run.store.root) / run.key.audit).glob(f"{window(3).label}/*/report/report.json")
    record.write_bytes(b"{}")  # not what the stage wrote
    (found,) = json.loads(earlier_reports(run))
    assert found["spec_digest"] == "a" * 12
    assert [line.split(" is left out")[0][-12:] for line in told] == ["c" * 12, "b" * 12]
    assert "selected: is missing" in told[1]


def test_a_seal_without_a_time_is_the_oldest_of_its_window(run: Run) -> None:
    seal(run, 1, "a" * 12, START)
    seal(run, 1, "b" * 12, START)
    prefix = Path(run.store.root) / run.key.audit / window(1).label / ("b" * 12)
    (prefix / "evidence/_SUCCESS").write_text("{}")
    (found,) = json.loads(earlier_reports(run))
    assert found["spec_digest"] == "a" * 12


def plans(run: Run, number: int, digest: str, earlier: bytes) -> None:
    """Write the plan of an earlier run, as far as a later plan looks at it."""
    prefix = f"{run.key.audit}/{window(number).label}/{digest}"
    StageFolder(run.store, f"{prefix}/plan").commit(StageOutput({EARLIER: earlier}), START)


def test_what_the_plan_before_holds_is_not_read_again_and_nothing_else_is_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        seal(run, number, "a" * 16, START)
    by_reading_all = json.loads(earlier_reports(replace(run, key=replace(run.key, window=window(69)))))
    assert len(by_reading_all) == 60
    plans(run, 69, "a" * 16, json.dumps(by_reading_all).encode())
    time.sleep(0.01)
    seal(run, 66, "b" * 16, START)  # audited again since, under another design
    seal(run, 68, "c" * 16, START, report=False)  # and this one failed
    for number, digest in ((60, "a" * 16), (66, "b" * 16), (69, "a" * 16)):
        where = f"{run.key.audit}/{window(number).label}/{digest}/signoff/0001"
        StageFolder(run.store, where).commit(StageOutput({"statement.json": b"{}"}), START)
    read: list[str] = []
    get = type(run.store).get
    with monkeypatch.context() as patch:
        patch.setattr(type(run.store), "get", lambda store, key: read.append(key) or get(store, key))
        found = earlier_reports(run)
    reports = [key for key in read if key.endswith("report.json")]
    assert [key.split("/")[1] for key in reports] == [window(69).label, window(66).label]
    monkeypatch.setattr("audit_lib.plan.earlier_reports._known", lambda *_: {})
    assert found == earlier_reports(run)
    said = {entry["run"].split("/", 1)[1]: entry["status"] for entry in json.loads(found)}
    signed = {
        f"{window(60).label}/{'a' * 16}",
        f"{window(66).label}/{'b' * 16}",
        f"{window(69).label}/{'a' * 16}",
    }
    assert {name for name, status in said.items() if status == "signed"} == signed


def test_a_sign_off_that_is_gone_is_not_taken_from_the_plan_before(run: Run) -> None:
    for number in (1, 2):
        seal(run, number, "a" * 16, START)
    (entry,) = json.loads(earlier_reports(replace(run, key=replace(run.key, window=window(2)))))
    plans(run, 2, "a" * 16, json.dumps([entry | {"status": "signed"}]).encode())
    assert {one["status"] for one in json.loads(earlier_reports(run))} == {"not signed"}


@pytest.mark.parametrize("written", [b"", b"[1]", b"{}", b'[{"run": "x"}]', b"[" * 500])
def test_a_plan_before_that_cannot_be_read_is_told_and_the_reports_are_read(run: Run, written: bytes) -> None:
    told: list[str] = []
    seal(run, 1, "a" * 16, START)
    seal(run, 2, "a" * 16, START)
    expected = earlier_reports(run)
    plans(run, 2, "a" * 16, written)
    assert earlier_reports(replace(run, notify=told.append)) == expected
    assert written == b"{}" or "plan/earlier.json is not used, the reports are read" in told[0]


def test_a_changed_plan_before_is_not_believed(run: Run) -> None:
    seal(run, 1, "a" * 16, START)
    seal(run, 2, "a" * 16, START)
    expected = earlier_reports(run)
    plans(run, 2, "a" * 16, expected)
    (path,) = (Path(run.store.root) / run.key.audit).glob("*/*/plan/earlier.json")
    path.write_bytes(expected.replace(b'"selected": 1', b'"selected": 0'))
    told: list[str] = []
    assert earlier_reports(replace(run, notify=told.append)) == expected and "SHA-256 differs" in told[0]
