"""What a verification finds, and in which order, does not depend on how many processes compute again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit_lib.archive import check_worker, checks, recompute
from audit_lib.archive.verify import Verification, verify
from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import StoreUnreachableError
from audit_lib.worker_processes import WorkerProcess, answer_to, free_memory, processes_for, processors
from tests.archive.cases import do, new_run, reseal
from tests.archive.changes import edit_json, edit_table


class InThisProcess(WorkerProcess):
    """Does what a process of its own would, where its being one is not what is tested."""

    def __init__(self, module: str, settings: Mapping[str, Any]) -> None:
        self._open = ExitStack()
        told = json.loads(json.dumps(settings))
        self._jobs = self._open.enter_context(check_worker._opened(told))

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(json.dumps(answer_to(self._jobs, json.loads(json.dumps(job)))))
        return answer

    def end(self) -> None:
        self._open.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    return Path(do(new_run(folder, str(folder / "store"), score={"shards": 3})).uri)


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "copy"))


def higher(rows: list[dict[str, Any]]) -> None:
    rows[0]["score"] = 0.5 + (rows[0]["score"] or 0)


def other_question(rows: list[dict[str, Any]]) -> None:
    rows[0]["request_digest"] = "0" * 64


def a_score(bundle: Path) -> None:
    edit_table(bundle / "scores/1/scores.parquet", higher)


def a_question(bundle: Path) -> None:
    edit_table(bundle / "scores/0/scores.parquet", other_question)


def a_count(bundle: Path) -> None:
    edit_json(bundle / "scores/0/_SUCCESS", lambda record: record["counts"].update(rows=1))


def a_model(bundle: Path) -> None:
    edit_json(bundle / "scores/0/model.json", lambda model: model.update(revision="2"))


def no_table(bundle: Path) -> None:
    (bundle / "scores/1/scores.parquet").write_bytes(b"PAR1")


def a_metric(bundle: Path) -> None:
    edit_json(bundle / "metrics/metrics.json", lambda metrics: metrics["rows"].update(answered=1))


def a_check(bundle: Path) -> None:
    edit_json(bundle / "validation/validation.json", lambda said: said.update(success=False))


def a_page(bundle: Path) -> None:
    page = bundle / "report/report.html"
    page.write_bytes(page.read_bytes().replace(b"0", b"1"))


def a_person(bundle: Path) -> None:
    edit_table(bundle / "sample/prompts.parquet", lambda rows: rows[0].update(sex="male", race="Black"))


def a_root(bundle: Path) -> None:
    path = bundle / "evidence/manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["record_tree"]["root"] = "0" * 64
    path.write_bytes(canonical_json(manifest))


def a_redacted_row(bundle: Path) -> None:
    path = bundle / "evidence/redacted/metrics/scores.csv"
    path.write_bytes(path.read_bytes().replace(b"ok", b"no", 1))


def a_stray_file(bundle: Path) -> None:
    (bundle / "approved.html").write_bytes(b"x")


def a_sample_count(bundle: Path) -> None:
    edit_json(bundle / "sample/_SUCCESS", lambda record: record["counts"].update(prompts=1))


def everything(bundle: Path) -> None:
    for change in (
        a_score,
        a_question,
        a_count,
        a_metric,
        a_page,
        a_person,
        a_root,
        a_redacted_row,
        a_stray_file,
    ):
        change(bundle)


CHANGES = (
    a_score, a_question, a_count, a_model, no_table, a_metric, a_check, a_page, a_person, a_root, a_redacted_row,
    a_stray_file, a_sample_count, everything,
)  # fmt: skip


@pytest.mark.parametrize("sealed_again", [True, False], ids=["resealed", "as_it_is"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("processes", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_what_is_found_is_the_same(
    bundle: Path,
    change: Callable[[Path], None],
    sealed_again: bool,
    processes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change(bundle)
    if sealed_again:
        reseal(bundle)
    alone = verify(str(bundle), processes=1)
    monkeypatch.setattr(checks, "WorkerProcess", InThisProcess)
    assert verify(str(bundle), processes=processes) == alone
    assert alone.findings


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 5])
def test_real_processes_find_the_same(bundle: Path, processes: int) -> None:
    assert verify(str(bundle), processes=processes) == verify(str(bundle), processes=1)
    everything(bundle)
    reseal(bundle)
    alone = verify(str(bundle), processes=1)
    assert verify(str(bundle), processes=processes) == alone
    assert len(alone.findings) > 5


@pytest.mark.slow
def test_a_process_that_is_killed_is_no_silent_pass(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[WorkerProcess] = []

    class Watched(WorkerProcess):
        def __init__(self, module: str, settings: Mapping[str, Any]) -> None:
            super().__init__(module, settings)
            begun.append(self)

    monkeypatch.setattr(checks, "WorkerProcess", Watched)
    found: list[Verification] = []
    verifying = Thread(target=lambda: found.append(verify(str(bundle), processes=2)))
    verifying.start()
    until = time.monotonic() + 60
    while not (begun and begun[0]._process) and time.monotonic() < until:
        time.sleep(0.01)
    assert begun[0]._process is not None
    os.kill(begun[0]._process.pid, signal.SIGKILL)
    verifying.join()
    (one,) = found[0].findings
    assert one.kind == "stopped"
    assert one.detail == "was not checked: the process that did it ended its process (SIGKILL)"
    assert not found[0].ok and found[0].unchecked
    assert found[0].summary().startswith("COULD NOT BE CHECKED: a check did not end")


@pytest.mark.parametrize("answer", [{"stopped": "ended its process (SIGKILL)"}, {"unchecked": "OSError"}])
@pytest.mark.parametrize("name", ["scores/1", "metrics", checks.TREE])
def test_a_check_that_did_not_end_is_named_beside_what_others_found(
    bundle: Path, answer: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(InThisProcess):
        def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
            return answer if job["name"] == name else super().ask(job)

    monkeypatch.setattr(checks, "WorkerProcess", Stopped)
    clean = verify(str(bundle), processes=2)
    assert [(one.kind, one.path) for one in clean.findings] == [("stopped", name)] and clean.unchecked
    assert "scores" in clean.recomputed or name.startswith("scores/")
    a_page(bundle)
    changed = verify(str(bundle), processes=2)
    assert not changed.unchecked and {one.kind for one in changed.findings} == {
        "changed",
        "record",
        "recomputation",
        "stopped",
    }


def test_a_store_that_is_gone_is_no_finding(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(InThisProcess):
        def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
            return {"unreachable": "no answer"}

    monkeypatch.setattr(checks, "WorkerProcess", Gone)
    with pytest.raises(StoreUnreachableError, match="no answer"):
        verify(str(bundle), processes=2)


def test_how_many_work_is_bounded_by_processors_and_memory() -> None:
    assert processes_for(1000) == 1
    assert 1 <= processes_for(1 << 40) <= processors()
    assert free_memory() > 0


class TestCommand:
    def test_what_costs_little_is_told_first(self, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verify", str(bundle), "--processes", "1"]) == 0
        said = capsys.readouterr()
        assert said.out.startswith("VERIFIED, no sign-off")
        first = "verify: files, digests, manifest, records, signatures and journal: nothing was found"
        assert said.err.index(first) < said.err.index("verify: metrics is computed again")
        a_page(bundle)
        assert main(["verify", str(bundle), "--processes", "1"]) == 1
        said = capsys.readouterr()
        told = said.err.index(
            "2 found, and this run will not verify\n  finding: report/report.html: SHA-256 is"
        )
        assert told < said.err.index("verify: metrics is computed again")

    def test_what_is_not_computed_again_is_not_verified(
        self, bundle: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["verify", str(bundle), "--no-recompute"]) == 3
        said = capsys.readouterr().out
        assert said.startswith("NOTHING COMPUTED AGAIN") and "VERIFIED" not in said
        assert main(["verify", str(bundle), "--no-recompute", "--json"]) == 3
        document = json.loads(capsys.readouterr().out)
        assert document["verdict"] == "not computed again" and document["computed_again"] == []
        assert document["not_checked"][0] == "every number: nothing was computed again"
        a_metric(bundle)
        reseal(bundle)
        assert main(["verify", str(bundle), "--no-recompute"]) == 3, "a consistent rewrite takes recomputing"
        capsys.readouterr()
        assert main(["verify", str(bundle)]) == 1
        (bundle / "metrics/metrics.json").write_bytes(pretty_json({}))
        assert main(["verify", str(bundle), "--no-recompute"]) == 1

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            (["--interval-days", "30", "--run-minutes", "15"], "--interval-days, --run-minutes: for --all"),
            (["--run-gb", "4"], "--run-gb: for --all"),
            (["--all", "--no-recompute"], "--no-recompute: for a run"),
            (["--all", "--table-gb", "1"], "--table-gb: for a run"),
        ],
    )
    def test_what_would_do_nothing_is_refused(
        self, original: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
    ) -> None:
        assert main(["verify", str(original), *arguments]) == 2
        assert why in capsys.readouterr().err


def test_processes_run_no_code_that_lies_in_the_working_folder(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who verifies a stranger's run in its folder must not run what the stranger put there."""
    for name in ("audit_lib", "pyarrow", "json"):
        (bundle / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    monkeypatch.chdir(bundle)
    found = verify(".", processes=2)
    assert not (tmp_path / "ran").exists()
    assert {one.kind for one in found.findings} <= {"extra"}


@pytest.mark.parametrize("error", [MemoryError(), np.exceptions.AxisError("x"), pa.ArrowMemoryError("x")])
def test_memory_that_runs_out_is_no_accusation(
    bundle: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: Any) -> Any:
        raise error

    monkeypatch.setattr(recompute, "_resolve", lambda name: fail)
    checked = verify(str(bundle))
    kinds = {one.kind for one in checked.findings}
    ran_out = not isinstance(error, np.exceptions.AxisError)
    assert checked.unchecked is ran_out and kinds == ({"stopped"} if ran_out else {"recomputation"})
