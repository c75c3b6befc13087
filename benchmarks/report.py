"""How long a large report takes: 14 categories x 200 positions, rendered in a process of its own.

    python -m benchmarks.report                  with the statutory metrics
    python -m benchmarks.report --all-metrics    with every metric that a spec has by default

Everything is made up and run through the real stages first; only the stage ``report`` is timed. Bounds: 5 s
and 500 MB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from audit_lib import pipeline
from audit_lib.policies import load_policy
from audit_lib.run import Run
from audit_lib.window import Window

POSITIONS = 200
ROWS = 20
"""People of each category in each position, on average."""
SPEC = {
    "audit": "large",
    "title": "Two hundred positions",
    "seed": 7,
    "source": {"paths": ["people.jsonl"], "windowed": False, "reason": "All applications of a made-up year."},
    "model": {"backend": "recorded", "name": "recorded decisions"},
    "decision": {"rule": "recorded"},
    "measure": {"metrics": ["impact_ratio", "scoring_rate_impact_ratio"]},
    "report": {"tool": "Invites applicants, or does not.", "distribution_date": "2025-11-03"},
    "use": {"earlier_audits": ["2025-10-20"]},
}


def large_run(
    folder: Path, positions: int = POSITIONS, rows: int = ROWS, *, all_metrics: bool = False
) -> Run:
    """Make the run, complete through its metrics."""
    policy = load_policy("nyc_ll144")
    sexes, races = ([level.name for level in policy.attribute(name).categories] for name in ("sex", "race"))
    rng = np.random.Generator(np.random.PCG64(3))
    size = positions * rows * len(sexes) * len(races)
    with (folder / "people.jsonl").open("w", encoding="utf-8") as file:
        for i in range(size):
            position = f"position_{i % positions:03d}"
            row = {
                "prompt_id": f"p{i:06d}", "application_id": f"a{i:06d}", "position": position,
                "round_id": f"{position}-{i // positions // 28:03d}", "sex": str(rng.choice(sexes)),
                "race": str(rng.choice(races)), "recorded_score": round(float(rng.normal()), 4),
                "recorded_selected": bool(rng.random() < 0.3), "occurred_at": "2026-01-06T12:00:00+00:00",
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    groups = {
        "provenance": "self_reported",
        "attributes": {"sex": sexes, "race": races},
        "reference": {"sex": sexes[0], "race": races[1]},
    }
    path = folder / "large.yaml"
    spec = {key: value for key, value in SPEC.items() if not (all_metrics and key == "measure")}
    path.write_text(json.dumps(spec | {"groups": groups}), encoding="utf-8")
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics"):
        pipeline.run_stage(run, name)
    return run


def rendered(uri: str) -> dict[str, float]:
    """Render a run's report here; seconds, megabytes, and sizes of what was made."""
    from audit_lib.report import report

    run = Run.from_bundle(uri)
    before, worked = time.perf_counter(), time.process_time()
    artefacts = report(run).artefacts
    seconds, cpu = time.perf_counter() - before, time.process_time() - worked
    peak = _peak_mb()
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak} | {
        name: len(content) / 1e6 for name, content in artefacts.items()
    }


def _peak_mb() -> float:
    """Return this process's own peak: on Linux ru_maxrss also holds what its parent had when it was started."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def main() -> None:
    """Make the run, render it three times, each in a fresh process, and print the figures."""
    all_metrics = sys.argv[1:] == ["--all-metrics"]
    if len(sys.argv) == 2 and not all_metrics:
        print(json.dumps(rendered(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as name:
        before = time.perf_counter()
        run = large_run(Path(name), all_metrics=all_metrics)
        print(f"made the run in {time.perf_counter() - before:.0f} s")
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.report", run.uri.removeprefix("file://")],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            found = json.loads(done.stdout)
            sizes = ", ".join(f"{key} {value:.1f} MB" for key, value in found.items() if "." in key)
            print(
                f"{found['seconds']:.2f} s ({found['cpu']:.2f} s of CPU), peak {found['peak_mb']:.0f} MB; {sizes}"
            )


if __name__ == "__main__":
    main()
