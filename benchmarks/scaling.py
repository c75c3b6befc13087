"""What each stage costs at growing sizes: CPU seconds and peak memory, each stage in a process of its own.

::

    python -m benchmarks.scaling                          # 1e3, 1e4 and 1e5 rows, one run of each
    python -m benchmarks.scaling --rows 1000000 --shards 64 --runs 5

The rows are recorded decisions of 8 positions and 8 groups with a text of 2 KB each, so that no model's time is in it.
CPU seconds are of the process and its children, imports included; a range is the smallest and the largest of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

SPEC: Final = """
audit: scaling
title: Recorded decisions
seed: 7
source: {kind: files, paths: [decisions.jsonl], windowed: false, fields: [resume]}
groups:
  provenance: self_reported
  attributes: {sex: [female, male], race: [White, Black, Asian, Hispanic]}
  reference: {sex: male, race: White}
model: {backend: recorded, name: tool}
decision: {rule: above_median}
score: {shards: SHARDS}
measure: {metrics: [rabbi]}
report: {policy: generic}
"""

STEPS: Final = (
    "plan", "sample", "variants", "scores", "validation", "metrics", "report", "evidence", "verify", "export",
)  # fmt: skip

_STEP: Final = """
import sys
from pathlib import Path
from audit_lib.pipeline import open_run, run_stage, shards
from audit_lib.window import Window
folder, step = Path(sys.argv[1]), sys.argv[2]
run = open_run(folder / "audit.yaml", Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
if step == "scores":
    for shard in shards(run):
        run_stage(run, "scores", shard=shard)
elif step == "verify":
    from audit_lib.archive.verify import verify
    found = verify(run.uri)
    if found.findings:
        raise SystemExit(f"the run does not verify: {found.findings[0]}")
elif step == "export":
    from audit_lib.cli.main import main
    raise SystemExit(main(["export", run.uri, "--out", str(folder / "bag.zip")]))
else:
    run_stage(run, step)
"""


def write_inputs(folder: Path, rows: int, shards: int) -> None:
    """Write the recorded decisions and the spec."""
    draw = random.Random(5)
    words = [f"word{n}" for n in range(500)]
    with (folder / "decisions.jsonl").open("w", encoding="utf-8") as stream:
        for n in range(rows):
            line = {
                "prompt_id": f"p{n:08}",
                "application_id": f"a{n:08}",
                "position": f"position {n % 8}",
                "sex": draw.choice(["female", "male"]),
                "race": draw.choice(["White", "Black", "Asian", "Hispanic"]),
                "resume": " ".join(draw.choices(words, k=275)),
                "recorded_score": round(draw.random(), 4),
            }
            stream.write(json.dumps(line) + "\n")
    (folder / "audit.yaml").write_text(SPEC.replace("SHARDS", str(shards)), encoding="utf-8")


def measured(folder: Path, step: str) -> tuple[float, float]:
    """Return CPU seconds and peak memory in MB of one step in a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", _STEP, str(folder), step], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{step} failed with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print a table: rows, steps, CPU seconds and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, help="where the runs are written (default: a temporary folder)"
    )
    options = parser.parse_args()
    print("| step | " + " | ".join(f"{rows:,} rows" for rows in options.rows) + " |")
    cells: dict[str, list[str]] = {step: [] for step in STEPS}
    for rows in options.rows:
        taken: dict[str, list[tuple[float, float]]] = {step: [] for step in STEPS}
        for _ in range(options.runs):
            folder = Path(tempfile.mkdtemp(dir=options.folder))
            write_inputs(folder, rows, options.shards)
            for step in STEPS:
                taken[step].append(measured(folder, step))
                print(f"{rows} {step} {taken[step][-1]}", file=sys.stderr, flush=True)
            shutil.rmtree(folder)
        for step, pairs in taken.items():
            seconds, memory = [p[0] for p in pairs], max(p[1] for p in pairs)
            cells[step].append(f"{min(seconds):.1f} to {max(seconds):.1f} s, {memory:,.0f} MB")
    for step, told in cells.items():
        print(f"| {step} | " + " | ".join(told) + " |")


if __name__ == "__main__":
    main()
