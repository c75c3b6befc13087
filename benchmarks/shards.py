"""What cutting a run into shards costs: the same recorded decisions scored and verified in 1, 16 and 64 shards.

::

    python -m benchmarks.shards             # 1,000, 3,000 and 10,000 rows, three runs each
    python -m benchmarks.shards --rows 10000 --runs 5

CPU seconds of this process, smallest and largest of the runs: listing the shards, scoring all of them, and
verifying the archived run. The answers are recorded, so that no model's time is in it.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit_lib.archive.verify import verify
from audit_lib.pipeline import open_run, run_stage, shards
from audit_lib.run import Run
from audit_lib.window import Window

SPEC = """
audit: cut_into_shards
title: Decisions cut into shards
seed: 7
source: {kind: files, paths: [decisions.jsonl], windowed: false, fields: [resume]}
groups:
  provenance: self_reported
  attributes: {sex: [female, male]}
  reference: {sex: male}
model: {backend: recorded, name: tool}
decision: {rule: above_median}
score: {shards: SHARDS}
measure: {metrics: [rabbi]}
report: {policy: generic}
"""


def main() -> None:
    """Print a table: rows, shards, and CPU seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 3_000, 10_000])
    parser.add_argument("--shards", type=int, nargs="*", default=[1, 16, 64])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("CPU seconds, smallest to largest of", options.runs, "runs")
    print(f"{'rows':>7} {'shards':>6} {'variants':>13} {'list':>13} {'score':>13} {'verify':>13}")
    for rows in options.rows:
        for count in options.shards:
            times = [measured(rows, count) for _ in range(options.runs)]
            told = [f"{min(t):.2f} to {max(t):.2f}" for t in zip(*times, strict=True)]
            print(f"{rows:>7} {count:>6} " + " ".join(f"{t:>13}" for t in told), flush=True)


def measured(rows: int, count: int) -> tuple[float, ...]:
    """Return the CPU seconds of making the variants, listing the shards, scoring and verifying one run."""
    with tempfile.TemporaryDirectory() as folder:
        run = _run(Path(folder), rows, count)
        for stage in ("plan", "sample"):
            run_stage(run, stage)
        variants = _cpu(lambda: run_stage(run, "variants"))
        parts: list[int] = []
        listed = _cpu(lambda: parts.extend(shards(run)))
        scored = _cpu(lambda: [run_stage(run, "scores", shard=shard) for shard in parts])
        for stage in ("validation", "metrics", "report", "evidence"):
            run_stage(run, stage)
        found: list[Any] = []
        verified = _cpu(lambda: found.append(verify(run.uri)))
        if found[0].findings:
            raise SystemExit(f"the run does not verify: {found[0].findings[0]}")
        return variants, listed, scored, verified


def _run(folder: Path, rows: int, count: int) -> Run:
    draw = random.Random(5)
    words = [f"word{n}" for n in range(500)]
    lines = [
        {
            "prompt_id": f"p{n:06}",
            "application_id": f"a{n:06}",
            "position": f"position {n % 7}",
            "sex": draw.choice(["female", "male"]),
            "resume": " ".join(draw.choices(words, k=150)),
            "recorded_score": round(draw.random(), 4),
        }
        for n in range(rows)
    ]
    (folder / "decisions.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "audit.yaml").write_text(SPEC.replace("SHARDS", str(count)), encoding="utf-8")
    window = Window.parse("2026-01-05", "2026-01-12")
    return open_run(folder / "audit.yaml", window, str(folder / "store"))


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
