"""A run's folder: windows, write-once stages, digests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.errors import (
    ConflictError,
    EmptyWindowError,
    EvidenceError,
    IncompleteRunError,
    InputError,
    NotFoundError,
)
from audit_lib.run import Run, StageOutput
from audit_lib.window import Window
from tests.specs import load

NOW = datetime(2026, 1, 12, tzinfo=UTC)
WINDOW = Window.parse("2026-01-05", "2026-01-12")


def test_a_window_is_named_in_utc_and_read_back() -> None:
    window = Window.parse("2026-01-05T01:00:00+01:00", "2026-01-12T00:00:00-05:00")
    assert window.label == "20260105T000000Z_20260112T050000Z"
    assert Window.from_label(window.label).label == window.label


@pytest.mark.parametrize("end", ["2026-01-05", "2026-01-04T23:59:59"])
def test_a_window_without_width_is_refused(end: str) -> None:
    with pytest.raises(EmptyWindowError, match="has no width"):
        Window.parse("2026-01-05", end)


def test_a_window_that_is_no_date() -> None:
    with pytest.raises(EmptyWindowError, match="'monday' is not an ISO 8601"):
        Window.parse("monday", "2026-01-05")


def test_a_window_of_parts_of_seconds_is_refused() -> None:
    with pytest.raises(InputError, match="whole seconds"):
        Window.parse("2026-01-05T00:00:00.5", "2026-01-12")
    with pytest.raises(InputError, match="whole seconds"):
        Window.parse("2026-01-05", "2026-01-12T00:00:00.000001")


@pytest.mark.parametrize("uri", ["x/y", "/", "a/b/c/d", "/a/small/20260112T000000Z_20260105T000000Z/ab"])
def test_what_is_no_runs_uri(uri: str) -> None:
    with pytest.raises(NotFoundError, match="no run"):
        Run.load(uri)


def test_numbers_that_yaml_reads_as_text_survive_the_archive(tmp_path: Path) -> None:
    spec = load(title="a\x7fb", model={"backend": "recorded", "options": {"x": 1e-05}})
    run = Run.open(spec, WINDOW, str(tmp_path))
    plan = {"audit": "small", "window": WINDOW.label, "spec_digest": spec.digest()}
    artefacts = {"spec.json": spec.canonical(), "plan.json": pretty_json(plan)}
    run.stage("plan").commit(StageOutput(artefacts), NOW)
    for again in (Run.load(run.uri), Run.from_bundle(run.uri)):
        # Where the plan is read from is no part of what a spec says.
        assert (type(again.spec), again.spec.model_dump()) == (type(spec), spec.model_dump())
        assert again.key == run.key


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.open(load(), WINDOW, str(tmp_path))


def test_a_stage_is_complete_only_after_its_record(run: Run) -> None:
    folder = run.stage("sample")
    assert not folder.is_complete()
    with pytest.raises(IncompleteRunError):
        folder.read("a.json")
    folder.commit(StageOutput({"a.json": b"{}"}, {"rows": 2}), NOW)
    assert folder.is_complete()
    assert folder.read_json("a.json") == {}
    assert folder.counts() == {"rows": 2}


def test_leftovers_of_a_killed_attempt_with_equal_bytes_are_kept(run: Run) -> None:
    run.store.put(f"{run.key.prefix}/sample/a.json", b"{}")
    run.stage("sample").commit(StageOutput({"a.json": b"{}"}), NOW)
    assert run.stage("sample").read("a.json") == b"{}"


def test_other_bytes_are_a_conflict_or_stand(run: Run) -> None:
    run.store.put(f"{run.key.prefix}/sample/a.json", b"{}")
    with pytest.raises(ConflictError, match="write-once"):
        run.stage("sample").commit(StageOutput({"a.json": b"[]"}), NOW)
    assert not run.stage("sample").is_complete()
    run.stage("sample").commit(StageOutput({"a.json": b"[]"}), NOW, keep_existing=True)
    assert run.stage("sample").read("a.json") == b"{}"


def test_changed_bytes_are_found_on_reading(run: Run) -> None:
    folder = run.stage("sample")
    folder.commit(StageOutput({"a.json": b"{}"}), NOW)
    run.store.replace(f"{run.key.prefix}/sample/a.json", b"[]")
    with pytest.raises(EvidenceError, match="SHA-256 differs"):
        folder.read("a.json")
    with pytest.raises(EvidenceError, match="not an artefact"):
        folder.read("b.json")


def test_a_changed_spec_is_another_run(tmp_path: Path) -> None:
    assert Run.open(load(), WINDOW, str(tmp_path)).uri != Run.open(load(seed=8), WINDOW, str(tmp_path)).uri
