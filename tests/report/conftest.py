"""A whole small audit for the report's tests, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.run import Run, Window
from tests.inputs import recorded_audit

WINDOW = Window.parse("2026-01-05", "2026-01-12")
HOSTILE = '<script>alert(1)</script> & "quotes" {{ 7*7 }}'


def made(folder: Path, **sections: object) -> Run:
    """Run every stage up to the report."""
    run = pipeline.open_run(recorded_audit(folder, **sections), WINDOW, str(folder / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics", "report"):
        pipeline.run_stage(run, name)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made(tmp_path_factory.mktemp("report"), title=HOSTILE, description=HOSTILE)
