"""Small whole audits for the report's tests."""

from __future__ import annotations

from pathlib import Path

from audit_lib import pipeline
from audit_lib.run import Run, Window
from tests.inputs import recorded_audit

WINDOW = Window.parse("2026-01-05", "2026-01-12")


def reported(spec: Path) -> Run:
    """Run every stage up to the report."""
    run = pipeline.open_run(spec, WINDOW, str(spec.parent / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics", "report"):
        pipeline.run_stage(run, name)
    return run


def made(folder: Path, **sections: object) -> Run:
    """Run a small audit of recorded scores up to the report."""
    return reported(recorded_audit(folder, **sections))
