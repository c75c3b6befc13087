"""Small whole audits for the report's tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit_lib import pipeline
from audit_lib.policies import load_policy
from audit_lib.report import Signature
from audit_lib.run import Run
from audit_lib.window import Window
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


def signature(policy: str = "nyc_ll144", **changes: Any) -> Signature:
    """Return an independent auditor's signature as reports print it; no key made it."""
    given: dict[str, Any] = {
        "auditor": "Ada Auditor",
        "organisation": "Independent LLP",
        "signed_at": datetime.now(UTC).replace(microsecond=0),  # after the numbers, whenever these are made
        "number": 1,
        "key_id": "0" * 64,
        "by_service": False,
        "account": None,
        "attestations": tuple((one.text, one.cite) for one in load_policy(policy).attestations),
        "remarks": "",
        "supersedes": None,
    }
    return Signature(**given | changes)


def made(folder: Path, **sections: object) -> Run:
    """Run a small audit of recorded scores up to the report."""
    return reported(recorded_audit(folder, **sections))
