"""Whole audits over recorded decisions: every stage, twice, killed, and refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.errors import IncompleteRunError, NotFoundError, SpecError, ValidationFailedError
from audit_lib.run import Run
from audit_lib.window import Window
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.installed import needs_torch

WINDOW = Window.parse("2026-01-05", "2026-01-12")


def digests(run: Run) -> dict[str, str]:
    """SHA-256 of every artefact of the run, by its path."""
    found: dict[str, str] = {}
    for key in run.store.list(run.key.prefix):
        if key.endswith("/_SUCCESS"):
            stage = key.removeprefix(f"{run.key.prefix}/").removesuffix("/_SUCCESS")
            for name, entry in json.loads(run.store.get(key))["artefacts"].items():
                found[f"{stage}/{name}"] = entry["sha256"]
    return found


def test_every_stage_is_done_once(tmp_path: Path) -> None:
    told: list[str] = []
    run = pipeline.open_run(recorded_audit(tmp_path), WINDOW, str(tmp_path / "store"), notify=told.append)
    pipeline.run_all(run)
    first = digests(run)
    for stage in pipeline.STAGES:
        assert any(name.startswith(stage.folder) for name in first), stage
    told.clear()
    pipeline.run_all(run)
    assert all(message.endswith("complete, skipped") for message in told)
    assert digests(run) == first


def test_the_same_spec_and_inputs_give_the_same_bytes_elsewhere(tmp_path: Path) -> None:
    runs = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        runs.append(
            pipeline.open_run(recorded_audit(tmp_path / name), WINDOW, str(tmp_path / name / "store"))
        )
        pipeline.run_all(runs[-1])
    here, there = digests(runs[0]), digests(runs[1])
    # The page prints when the stages were done, which a second run cannot repeat.
    timed = {"report/report.html", "report/report.json", "evidence/manifest.json"}
    assert {k: v for k, v in here.items() if k not in timed} == {
        k: v for k, v in there.items() if k not in timed
    }


def test_shards_never_change_a_number(tmp_path: Path) -> None:
    metrics = []
    for shards in (1, 7):
        folder = tmp_path / str(shards)
        folder.mkdir()
        run = pipeline.open_run(
            recorded_audit(folder, score={"shards": shards}), WINDOW, str(folder / "store")
        )
        pipeline.run_all(run)
        metrics.append(run.stage("metrics").read("metrics.json"))
    assert metrics[0] == metrics[1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    run = pipeline.open_run(recorded_audit(folder, n=1600), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


@pytest.mark.parametrize(
    "seen",
    [
        *(pytest.param(seen, marks=pytest.mark.slow) for seen in ("sample/_SUCCESS", "scores/0/_SUCCESS")),
        "scores/2/scores.parquet",
        "metrics/metrics.json",
    ],
)
def test_a_killed_run_goes_on_and_loses_nothing(tmp_path: Path, whole: Run, seen: str) -> None:
    spec = recorded_audit(tmp_path, n=1600)
    run = pipeline.open_run(spec, WINDOW, str(tmp_path / "killed"))
    command = [
        sys.executable,
        "-m",
        "audit_lib.cli",
        "run",
        str(spec),
        "--window",
        "2026-01-05",
        "2026-01-12",
    ]
    with subprocess.Popen(
        [*command, "--store", str(tmp_path / "killed")], stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 600
        while not run.store.exists(f"{run.key.prefix}/{seen}") and process.poll() is None:
            assert time.monotonic() < deadline, "the run made no progress"
        process.send_signal(signal.SIGKILL)
    assert not run.stage("evidence").is_complete()
    pipeline.run_all(run)
    rows = [run.stage(f"scores/{shard}").read_table("scores.parquet") for shard in pipeline.shards(run)]
    ids = [variant for table in rows for variant in table["variant_id"]]
    assert sorted(ids) == sorted(run.stage("variants").read_table("variants.parquet")["variant_id"])
    for name in ("variants/variants.parquet", "metrics/metrics.json", "metrics/decisions.parquet"):
        assert digests(run)[name] == digests(whole)[name]


def test_a_failed_validation_stops_before_measure_and_is_archived(tmp_path: Path) -> None:
    spec = recorded_audit(tmp_path, checks={"minimum_answered_share": 0.99})
    run = pipeline.open_run(spec, WINDOW, str(tmp_path / "store"))
    with pytest.raises(ValidationFailedError):
        pipeline.run_all(run)
    assert not run.stage("metrics").is_complete()
    assert run.stage("evidence").read_json("manifest.json")["outcome"] == "validation_failed"


def test_a_stage_before_its_inputs(tmp_path: Path) -> None:
    run = pipeline.open_run(recorded_audit(tmp_path), WINDOW, str(tmp_path / "store"))
    with pytest.raises(IncompleteRunError, match="plan"):
        pipeline.run_stage(run, "sample")


def test_an_override_is_another_run(tmp_path: Path) -> None:
    spec = recorded_audit(tmp_path)
    whole = pipeline.open_run(spec, WINDOW, str(tmp_path / "store"))
    small = pipeline.open_run(spec, WINDOW, str(tmp_path / "store"), sample_size=16)
    assert whole.uri != small.uri
    pipeline.run_all(small)
    assert small.stage("sample").counts()["rounds"] == 16


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"source": {"kind": "fils"}}, "no source is named 'fils'; did you mean 'files'"),
        ({"task": "pontwise"}, "did you mean 'pointwise'"),
        ({"measure": {"metrics": ["raby"]}}, "no metric is named 'raby'"),
        ({"report": {"policy": "nyc_l144"}}, "did you mean 'nyc_ll144'"),
        ({"measure": {"strata": [[], ["postion"]]}}, "measure.strata: 'postion'.*did you mean 'position'"),
        ({"sample": {"strata": ["postion"]}}, "sample.strata: 'postion'.*did you mean 'position'"),
        (
            {"groups": {"attributes": {"score": ["a", "b"]}, "reference": {"score": "a"}, "categories": {}}},
            "groups.attributes: 'score' is the name of a column of ours",
        ),
        ({"source": {"paths": ["nope.jsonl"]}}, "source.paths: nope.jsonl is not a file"),
        (
            {
                "groups": {"provenance": "self_reported"},
                "demographics": {"path": "d.csv", "id_column": "id", "columns": {"sex": "s", "race": "r"}},
            },
            "demographics.path: d.csv is not a file",
        ),
        (
            {"task": "listwise", "model": {"backend": "openai"}, "prompt": {"template": "t.yaml"}},
            "prompt.template: task listwise needs the slot {{candidates}}",
        ),
        (
            {"task": "listwise", "model": {"backend": "embedding"}, "prompt": {"template": "t.yaml"}},
            "the task listwise asks for text",
        ),
        pytest.param(
            {
                "model": {"backend": "transformers", "name": "smollm2-135m-instruct"},
                "prompt": {"template": "t.yaml"},
            },
            "slot {{resumee}} is not in source.fields; did you mean 'resume'",
            marks=needs_torch,
        ),
        (
            {"groups": {"categories": {"race": {"Black": "Blak or African American"}}}},
            "is not a category of nyc_ll144",
        ),
    ],
)
def test_a_part_that_does_not_exist(tmp_path: Path, sections: dict[str, object], message: str) -> None:
    (tmp_path / "t.yaml").write_text(
        "messages:\n- {role: user, content: 'x {{resumee}}'}\n", encoding="utf-8"
    )
    with pytest.raises(SpecError, match=message):
        pipeline.open_run(recorded_audit(tmp_path, **sections), WINDOW, str(tmp_path / "store"))


def test_the_latest_archived_run_is_found(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    with pytest.raises(NotFoundError, match="no archived run"):
        pipeline.latest_run("small", store)
    spec = recorded_audit(tmp_path, source={"windowed": True})
    for start, end in (("2026-01-09", "2026-01-12"), ("2026-01-05", "2026-01-09")):
        pipeline.run_all(pipeline.open_run(spec, Window.parse(start, end), store))
    assert pipeline.latest_run("small", store).key.window.label.startswith("20260109")


def test_logs_and_errors_hold_no_text_of_an_applicant(tmp_path: Path) -> None:
    secret = "Zebediah Quux"
    rows = recorded_rows(32)
    for row in rows:
        row["resume"] = f"{secret} {{{{nmae}}}}"
    spec = recorded_audit(tmp_path, n=32, source={"fields": ["resume"]})
    write_jsonl(tmp_path / "prompts.jsonl", rows)
    environment = os.environ | {"AUDIT_STORE": str(tmp_path / "store")}
    done = subprocess.run(
        [sys.executable, "-m", "audit_lib.cli", "run", str(spec), "--window", "2026-01-05", "2026-01-12"],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert secret not in done.stdout + done.stderr
    run = pipeline.latest_run("small", str(tmp_path / "store"))
    for stage in ("metrics", "report", "evidence"):
        for name in run.stage(stage).success().artefacts:
            assert secret.encode() not in run.stage(stage).read(name)
