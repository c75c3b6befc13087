"""Sealing a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.archive import archive
from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import EvidenceError, IncompleteRunError
from audit_lib.pipeline import STAGES, run_stage, shards
from tests.archive.cases import do, new_run


def test_the_manifest_lists_every_artefact_with_its_digest(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")
    content = run.stage("evidence").read("manifest.json")
    manifest = json.loads(content)
    assert content == canonical_json(manifest)
    folder = Path(run.uri)
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert [entry["path"] for entry in manifest["records"]] == sorted(
        f for f in files if f.endswith("_SUCCESS") and not f.startswith("evidence/")
    )
    for entry in (*manifest["records"], manifest["environment"], manifest["store"]):
        assert entry["sha256"] == sha256((folder / entry["path"]).read_bytes())
    record = json.loads((folder / "evidence/_SUCCESS").read_bytes())
    assert record["started_at"] == record["finished_at"] == manifest["sealed_at"]
    assert manifest["store"]["path"] == "store/lock.json"
    sealed = sorted(
        f for f in files if not f.endswith("_SUCCESS") and not f.startswith(("evidence/", "store/"))
    )
    assert [entry["path"] for entry in manifest["artefacts"]] == sealed
    for entry in manifest["artefacts"]:
        on_disk = (folder / entry["path"]).read_bytes()
        assert (entry["sha256"], entry["bytes"]) == (sha256(on_disk), len(on_disk))
    assert (manifest["audit"], manifest["window"]) == ("small", run.key.window.label)
    assert (manifest["spec_digest"], manifest["outcome"]) == (run.spec.digest(), "complete")
    assert manifest["status"] == "not signed"
    assert manifest["software"].keys() >= {"python", "numpy", "pandas", "pyarrow", "scipy", "audit-lib"}
    scores = [f"scores/{shard}" for shard in shards(run)]
    assert manifest["stages"] == ["plan", "sample", "variants", *scores, "validation", "metrics", "report"]
    assert len(scores) > 1


def test_an_equal_run_has_an_equal_manifest_but_for_times(tmp_path: Path) -> None:
    manifests = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        run = do(new_run(tmp_path / name, str(tmp_path / name / "store")), until="evidence")
        manifests.append(run.stage("evidence").read_json("manifest.json"))
    for manifest in manifests:
        # The page's status strip prints when the stages were done.
        entries = manifest["artefacts"]
        manifest["artefacts"] = [e for e in entries if not e["path"].startswith("report/report.")]
        assert len(entries) == len(manifest["artefacts"]) + 2
        # The stages' records and the sealing have times, and those of the first run are earlier.
        manifest["records"] = [entry["path"] for entry in manifest["records"]]
        manifest["sealed_at"] = ""
    assert manifests[0] == manifests[1]


def test_an_incomplete_run_is_not_sealed(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"))
    for stage in STAGES:
        if stage.folder == "evidence":
            break
        # `shards` needs the variants; before them the stage is named as a whole.
        with pytest.raises(IncompleteRunError, match=f"not complete: .*{stage.folder}"):
            archive(run)
        if stage.folder == "scores":
            first, *others = shards(run)
            assert others
            run_stage(run, "scores", shard=first)
            with pytest.raises(IncompleteRunError, match=f"not complete: scores/{others[0]}"):
                archive(run)
            for shard in others:
                run_stage(run, "scores", shard=shard)
        else:
            run_stage(run, stage.folder)
    assert archive(run).counts["artefacts"] > 10


def test_a_failed_validation_is_sealed_as_such(tmp_path: Path) -> None:
    run = do(
        new_run(tmp_path, str(tmp_path / "store"), checks={"minimum_answered_share": 1.0}, rows=unanswered())
    )
    manifest = run.stage("evidence").read_json("manifest.json")
    assert manifest["outcome"] == "validation_failed"
    assert not run.stage("metrics").is_complete()
    assert manifest["stages"][-1] == "validation"


def unanswered() -> list[dict[str, object]]:
    """Applicants of whom every other woman has no score."""
    from tests.archive.cases import applicants

    rows = applicants()
    for index, row in enumerate(rows):
        if index % 4 == 1:
            row["recorded_score"] = None
    return rows


def test_an_artefact_changed_before_sealing_is_refused(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store")), until="report")
    path = Path(run.uri, "metrics/metrics.json")
    path.write_bytes(path.read_bytes().replace(b"48", b"49", 1))
    with pytest.raises(EvidenceError, match=r"metrics/metrics\.json"):
        archive(run)


def test_a_shard_that_the_run_cannot_have_is_refused(tmp_path: Path) -> None:
    import shutil

    run = do(new_run(tmp_path, str(tmp_path / "store")), until="report")
    shutil.copytree(Path(run.uri, "scores/0"), Path(run.uri, "scores/9"))
    with pytest.raises(EvidenceError, match="scores/9 does not belong to this run"):
        archive(run)
