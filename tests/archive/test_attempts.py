"""Attempts that fail leave evidence: sealed with their error, listed by later ones, and none goes without a trace."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.archive import attempts
from audit_lib.archive.attempts import attempts_of, fault_of, read_attempts, start
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import AuditError, BackendError
from audit_lib.run import SUCCESS, Run
from audit_lib.store import open_store
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit, recorded_rows, write_jsonl


def breaking(monkeypatch: pytest.MonkeyPatch, stage: str, error: BaseException) -> None:
    """Let a stage fail where `pipeline` calls it."""
    real = pipeline.run_stage

    def fails(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
        if stage in (name, f"{name}/{shard}"):
            raise error
        return real(run, name, shard=shard)

    monkeypatch.setattr(pipeline, "run_stage", fails)
    score = pipeline.ShardScorer.score

    def fails_to_score(scorer: pipeline.ShardScorer, shard: int) -> dict[str, int]:
        if stage in ("scores", f"scores/{shard}"):
            raise error
        return score(scorer, shard)

    monkeypatch.setattr(pipeline.ShardScorer, "score", fails_to_score)


def attempt(folder: Path, **sections: object) -> Run:
    run = pipeline.open_run(recorded_audit(folder, **sections), WEEK, str(folder / "store"))
    pipeline.run_all(run)
    return run


def the_run(folder: Path) -> Run:
    return pipeline.open_run(folder / "small.yaml", WEEK, str(folder / "store"))


@pytest.mark.parametrize(
    "stage", ["plan", "sample", "variants", "scores/2", "validation", "report", "evidence"]
)
def test_a_failure_is_sealed_with_its_stage_and_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    breaking(monkeypatch, stage, BackendError("the endpoint did not answer"))
    with pytest.raises(BackendError):
        attempt(tmp_path)
    run = the_run(tmp_path)
    (one,) = read_attempts(run.store, run.prefix)
    assert (one.number, one.by, one.outcome) == (1, "audit run", "failed")
    assert [fault.as_dict() for fault in one.faults] == [
        {"stage": stage, "type": "BackendError", "message": "the endpoint did not answer"}
    ]
    assert one.started_at is not None and one.finished_at is not None
    record = run.stage("attempts/1").read_json("manifest.json")
    there = [path for path in run.list() if not path.startswith("attempts/")]
    assert [entry["path"] for entry in record["artefacts"]] == there
    assert not run.stage("evidence").is_complete()
    assert json.dumps(record).count("_at") == 1, "it has the one time, by which its envelope is determined"
    envelope = run.stage("attempts/1").success()
    assert envelope.started_at == envelope.finished_at == record["ended_at"]
    assert [entry["path"] for entry in record["earlier"]] == ["attempts/1/_STARTED"]


def test_a_later_success_lists_the_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with monkeypatch.context() as patch:
            breaking(patch, "scores/2", BackendError("no answer"))
            with pytest.raises(BackendError):
                attempt(tmp_path)
    run = attempt(tmp_path)
    listed = [entry["path"] for entry in run.stage("evidence").read_json("manifest.json")["attempts"]]
    assert listed == [
        *(f"attempts/{n}/{name}" for n in (1, 2) for name in ("_STARTED", SUCCESS, "manifest.json")),
        "attempts/3/_STARTED",
    ]
    assert [one.outcome for one in read_attempts(run.store, run.prefix)] == ["failed", "failed", None]
    second = run.stage("attempts/2").read_json("manifest.json")
    assert [entry["path"] for entry in second["earlier"]] == listed[:4]
    assert attempts_of(run.store, "small") == {run.prefix: read_attempts(run.store, run.prefix)}
    before = run.list("attempts")
    pipeline.run_all(run)
    assert run.list("attempts") == before, "what is sealed is not attempted again"


def test_a_first_success_lists_its_own_start(tmp_path: Path) -> None:
    manifest = attempt(tmp_path).stage("evidence").read_json("manifest.json")
    assert [entry["path"] for entry in manifest["attempts"]] == ["attempts/1/_STARTED"]


def test_a_killed_attempt_shows_and_is_listed(tmp_path: Path) -> None:
    recorded_audit(tmp_path)
    run = the_run(tmp_path)
    start(run, "audit run")  # and then the machine went down
    run = attempt(tmp_path)
    assert [entry["path"] for entry in run.stage("evidence").read_json("manifest.json")["attempts"]] == [
        "attempts/1/_STARTED",
        "attempts/2/_STARTED",
    ]


def test_a_sealing_that_was_killed_goes_on(tmp_path: Path) -> None:
    run = attempt(tmp_path)
    Path(run.uri, f"evidence/{SUCCESS}").unlink()
    content = Path(run.uri, "evidence/manifest.json").read_bytes()
    pipeline.run_all(run)
    assert run.stage("evidence").read("manifest.json") == content


def test_a_failed_validation_is_sealed_by_its_evidence_alone(tmp_path: Path) -> None:
    with pytest.raises(AuditError):
        attempt(tmp_path, checks={"minimum_answered_share": 0.99})
    run = the_run(tmp_path)
    assert [one.outcome for one in read_attempts(run.store, run.prefix)] == [None]
    assert run.stage("evidence").is_complete()


def test_a_strange_attempt_stops_no_audit(tmp_path: Path) -> None:
    recorded_audit(tmp_path)
    run = the_run(tmp_path)
    for name in ("_STARTED", "manifest.json", SUCCESS):
        run.store.put(f"{run.prefix}/attempts/1/{name}", b"[" * 100_000)
    run = attempt(tmp_path)
    assert run.stage("evidence").is_complete()
    assert {f.path.rsplit("/", 1)[0] for f in verify(run.uri, recompute={}).findings} == {"attempts/1"}


def test_ctrl_c_is_stopped_and_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "scores/0", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        attempt(tmp_path)
    run = the_run(tmp_path)
    (one,) = read_attempts(run.store, run.prefix)
    assert (one.outcome, one.faults[0].message) == ("stopped", "stopped by hand")


def test_a_message_holds_no_secret_and_nobody_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_API_KEY", "word-of-1234")
    for message in (
        "refused word-of-1234",
        "refused sk-proj-abcdefghijklmnop",
        "refused Bearer abc123def456",
    ):
        assert fault_of("scores/0", BackendError(message)).message == "refused [key]"
    assert "Jane" not in fault_of("sample", RuntimeError("Jane Doe, 12 Elm Street")).message
    assert (
        fault_of("sample", OSError(28, "No space left on device", "Jane")).message
        == "No space left on device"
    )
    assert len(fault_of("plan", BackendError("x" * 10_000)).message) <= 2000


def test_a_run_that_cannot_be_opened_leaves_its_attempt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = recorded_audit(tmp_path)
    (tmp_path / "prompts.jsonl").unlink()
    command = ["run", str(spec), "--window", "2026-01-05", "2026-01-12", "--store", str(tmp_path / "store")]
    assert main(command) == 2
    assert "attempts/1" in capsys.readouterr().err
    ((prefix, (one,)),) = attempts_of(open_store(str(tmp_path / "store")), "small").items()
    assert one.faults[0].type == "PreflightError" and "prompts.jsonl is not a file" in one.faults[0].message
    assert one.faults[0].message.count("prompts.jsonl is") == 1
    write_jsonl(tmp_path / "prompts.jsonl", recorded_rows(320))
    assert main(command) == 0
    run = the_run(tmp_path)
    assert run.prefix == prefix, "the same run, done at last"
    assert len(run.stage("evidence").read_json("manifest.json")["attempts"]) == 4
    assert main([*command, "--dry-run"]) == 0


def test_a_store_that_does_not_take_the_record_hides_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    breaking(monkeypatch, "sample", BackendError("the first fault"))

    def refuses(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(attempts, "software", refuses)
    run = pipeline.open_run(recorded_audit(tmp_path), WEEK, str(tmp_path / "store"), notify=told.append)
    with pytest.raises(BackendError, match="the first fault"):
        pipeline.run_all(run)
    assert any("could not be sealed" in message for message in told)


def test_attempts_are_read_from_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "scores/0", BackendError("x"))
    with pytest.raises(BackendError):
        attempt(tmp_path)
    copy = shutil.copytree(the_run(tmp_path).uri, tmp_path / "copy")
    (one,) = read_attempts(open_store(str(copy)), "")
    assert one.started_at is not None and one.started_at.tzinfo is not None
    assert isinstance(one.finished_at, datetime)
