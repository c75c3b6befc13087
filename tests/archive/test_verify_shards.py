"""The plan of the shards follows from the evidence; runs of versions that had none verify as well."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, sha256
from audit_lib.perturb import perturb
from audit_lib.pipeline import run_stage, shards
from audit_lib.run import Run
from tests.archive.cases import applicants, do, new_run

MANY = 200


def finished(folder: Path, monkeypatch, *, planned: bool) -> Run:
    """Return an archived run of several shards, of this version or of one that did not plan them."""
    if not planned:
        stages = {
            name: dataclasses.replace(stage, function="audit_lib.perturb:perturb")
            if name == "variants"
            else stage
            for name, stage in pipeline._BY_FOLDER.items()
        }
        monkeypatch.setattr(pipeline, "_BY_FOLDER", stages)
    rows = applicants(MANY)
    for number, row in enumerate(rows):
        row["position"] = f"job {number % 5}"
    return do(new_run(folder, str(folder / "store"), rows=rows), until="evidence")


def test_runs_with_and_without_a_plan_verify_and_score_the_same(tmp_path, monkeypatch):
    found = {}
    for name, planned in (("with", True), ("without", False)):
        (tmp_path / name).mkdir()
        run = finished(tmp_path / name, monkeypatch, planned=planned)
        assert ("shards.json" in run.stage("variants").success().artefacts) is planned
        result = verify(run.uri)
        assert result.findings == () and "variants" in result.recomputed and len(shards(run)) == 3
        found[name] = [run.stage(f"scores/{n}").read("scores.parquet") for n in shards(run)]
    assert found["with"] == found["without"]


def test_a_shard_s_rows_that_do_not_follow_from_the_variants_are_found(tmp_path, monkeypatch):
    run = finished(tmp_path, monkeypatch, planned=True)
    folder = Path(run.uri.removeprefix("file://"))
    other = (folder / "variants" / "shards" / "1.parquet").read_bytes()
    forged = folder / "variants" / "shards" / "0.parquet"
    forged.write_bytes(other)
    # sealed again, as one who owns the store could
    success = json.loads((folder / "variants" / "_SUCCESS").read_text())
    success["artefacts"]["shards/0.parquet"] = {"sha256": sha256(other), "bytes": len(other)}
    (folder / "variants" / "_SUCCESS").write_text(json.dumps(success))
    manifest = json.loads((folder / "evidence" / "manifest.json").read_text())
    for artefact in manifest["artefacts"]:
        if artefact["path"] == "variants/shards/0.parquet":
            artefact |= {"sha256": sha256(other), "bytes": len(other)}
    (folder / "evidence" / "manifest.json").write_bytes(canonical_json(manifest))
    found = verify(run.uri).findings
    assert "variants/shards/0.parquet" in {
        finding.path for finding in found if finding.kind == "recomputation"
    }


def test_the_stage_makes_the_same_plan_twice(tmp_path):
    run = new_run(tmp_path, str(tmp_path / "store"))
    for name in ("plan", "sample"):
        run_stage(run, name)
    from audit_lib.score.shard_plan import variants

    first, second = variants(run), variants(run)
    assert dict(first.artefacts) == dict(second.artefacts)
    assert perturb(run).artefacts["variants.parquet"] == first.artefacts["variants.parquet"]
    assert first.counts == perturb(run).counts
