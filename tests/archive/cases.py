"""Small real runs: recorded scores of a few dozen applicants, through the library's own stages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import ValidationFailedError
from audit_lib.measure.rows.split_columns import further_fields
from audit_lib.pipeline import run_stage, shards
from audit_lib.privacy.redacted_tables import redacted_path, redacted_tables
from audit_lib.run import SUCCESS, Run
from audit_lib.window import Window
from tests.specs import load

WEEK = Window.parse("2026-01-05", "2026-01-12")


def applicants(count: int = 48, *, shift: float = 0.0) -> list[dict[str, Any]]:
    """Applicants of both sexes and two races, with scores that fall with `shift` for Black ones."""
    scores = np.random.Generator(np.random.PCG64(7)).random(count).round(6).tolist()
    return [
        {
            "prompt_id": f"p{index:03d}",
            "application_id": f"a{index:03d}",
            "position": "retail" if index % 3 else "finance",
            "resume": f"Resume no. {index}",
            "sex": "female" if index % 2 else "male",
            "race": "White" if index % 4 < 2 else "Black",
            "recorded_score": score - (shift if index % 4 >= 2 else 0.0),
        }
        for index, score in enumerate(scores)
    ]


def new_run(folder: Path, root: str, window: Window = WEEK, *, rows: Any = None, **sections: Any) -> Run:
    """Write the applicants into `folder` and open a run on them."""
    lines = "".join(json.dumps(row) + "\n" for row in (applicants() if rows is None else rows))
    (folder / "prompts.jsonl").write_text(lines)
    sections = {"groups": {"provenance": "self_reported"}, "score": {"shards": 3}} | sections
    return Run.open(load(folder, **sections), window, root)


def do(run: Run, *, until: str = "evidence") -> Run:
    """Do the stages up to and including `until`; a failed validation goes straight to the archive."""
    for name in (
        "plan",
        "sample",
        "variants",
        "scores",
        "validation",
        "metrics",
        "report",
        "evidence",
    ):
        if name == "scores":
            for shard in shards(run):
                run_stage(run, name, shard=shard)
        else:
            try:
                run_stage(run, name)
            except ValidationFailedError:
                run_stage(run, "evidence")
                return run
        if name == until:
            return run
    return run


def as_format_1(folder: Path) -> Path:
    """Seal a run as earlier versions did: without the stages' records, the environment and the time."""
    manifest = json.loads((folder / "evidence/manifest.json").read_bytes())
    for name in ("records", "record_tree", "environment", "sealed_at", "redacted"):
        del manifest[name]
    content = canonical_json(manifest | {"schema": "audit-manifest/1"})
    (folder / "evidence/manifest.json").write_bytes(content)
    (folder / "evidence/environment.json").unlink()
    shutil.rmtree(folder / "evidence/redacted")
    record = json.loads((folder / "evidence" / SUCCESS).read_bytes())
    record["artefacts"] = {"manifest.json": {"sha256": sha256(content), "bytes": len(content)}}
    (folder / "evidence" / SUCCESS).write_bytes(pretty_json(record))
    return folder


def with_old_monitor(folder: Path) -> Path:
    """Make of a sealed run what earlier versions left, with the folder ``monitor`` that they wrote into it."""
    as_format_1(folder)
    content = pretty_json({"schema": "audit-comparison/1", "previous": None})
    (folder / "monitor").mkdir()
    (folder / "monitor/comparison.json").write_bytes(content)
    entry = {"sha256": sha256(content), "bytes": len(content)}
    record = json.loads((folder / "evidence" / SUCCESS).read_bytes())
    record |= {"artefacts": {"comparison.json": entry}, "counts": {"compared": 0, "exceeding": 0}}
    (folder / "monitor" / SUCCESS).write_bytes(pretty_json(record))
    return folder


def redact_again(folder: Path) -> None:
    """Make the redacted tables of a run again, and list them."""
    manifest_path = folder / "evidence/manifest.json"
    run, listed = Run.from_bundle(str(folder)), []
    shutil.rmtree(folder / "evidence/redacted")
    for name, content in sorted(redacted_tables(run, further_fields(run.spec)).items()):
        path = redacted_path(name)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        listed.append({"path": path, "sha256": sha256(content), "bytes": len(content)})
    manifest = json.loads(manifest_path.read_bytes()) | {"redacted": listed}
    manifest_path.write_bytes(canonical_json(manifest))


def reseal(folder: Path) -> None:
    """What a careful forger does: make every record and the manifest agree with the files as they are now."""
    manifest_path = folder / "evidence/manifest.json"
    manifest = json.loads(manifest_path.read_bytes())
    artefacts = []
    for record_path in sorted(folder.rglob(SUCCESS)):
        stage = record_path.parent
        if stage.name == "evidence":
            continue
        record = json.loads(record_path.read_bytes())
        record["artefacts"] = {
            str(path.relative_to(stage)): {"sha256": sha256(path.read_bytes()), "bytes": path.stat().st_size}
            for path in sorted(stage.rglob("*"), key=lambda path: str(path.relative_to(stage)))
            if path.is_file() and path.name != SUCCESS
        }
        record_path.write_bytes(pretty_json(record))
        if stage.name != "monitor":
            where = stage.relative_to(folder)
            artefacts += [{"path": f"{where}/{name}", **entry} for name, entry in record["artefacts"].items()]
    manifest["artefacts"] = sorted(artefacts, key=lambda entry: entry["path"])
    manifest["stages"] = [stage for stage in manifest["stages"] if (folder / stage).is_dir()]
    redacted = [one["path"].removeprefix("evidence/") for one in manifest.get("redacted", ())]
    evidence = ["manifest.json"]
    if "records" in manifest:
        records = [
            (f"{stage}/{SUCCESS}", (folder / stage / SUCCESS).read_bytes()) for stage in manifest["stages"]
        ]
        manifest["records"] = [
            {"path": path, "sha256": sha256(content), "bytes": len(content)}
            for path, content in sorted(records)
        ]
        leaves = manifest.get("record_tree", {}).get("salted_leaves")
        listed = [] if leaves is None else [leaves["path"].removeprefix("evidence/")]
        evidence = ["environment.json", "manifest.json", *redacted, *listed]
    manifest_path.write_bytes(canonical_json(manifest))
    record_path = folder / "evidence" / SUCCESS
    record = json.loads(record_path.read_bytes())
    record["artefacts"] = {
        name: {"sha256": sha256(content), "bytes": len(content)}
        for name in evidence
        if (content := (folder / "evidence" / name).read_bytes()) is not None
    }
    record["counts"] = {"artefacts": len(artefacts), "bytes": sum(entry["bytes"] for entry in artefacts)}
    record_path.write_bytes(pretty_json(record))
