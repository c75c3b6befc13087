"""What one shard of a large run reads: its own part of the plan, or the whole table, as a run without a plan does.

::

    python -m benchmarks.shard_reading                       # 10,000, 100,000 and 300,000 variants in 64 shards
    python -m benchmarks.shard_reading --rows 30000 --runs 3

Each reading is in a fresh process, the two in turn: CPU seconds, and by how much the process's peak memory rose, once
everything is imported; smallest and largest of the runs. A prompt holds 150 words. Both must give the same packs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from audit_lib.canonical import canonical_json, sha256
from audit_lib.pipeline import open_run, run_stage
from audit_lib.run import Run
from audit_lib.score import materials, shard_plan
from audit_lib.score.materials import embed_materials
from audit_lib.window import Window

SHARD = 31
"""One from the middle."""

SPEC = """
audit: large
title: Many applicants
seed: 7
source: {kind: files, paths: [applicants.jsonl], windowed: false, fields: [resume]}
groups:
  provenance: self_reported
  attributes: {sex: [female, male]}
  reference: {sex: male}
prompt: {template: prompt.yaml}
model: {backend: http, name: a tool, options: {url: "http://127.0.0.1:9/", body: {text: "{{user}}"}, score_path: score}}
decision: {rule: above_median}
score: {shards: 64}
measure: {metrics: [rabbi]}
leakage: {embedding: words, materials: {resume: {unredacted: [resume]}}}
report: {policy: generic}
"""
PROMPT = """
messages:
  - {role: system, content: You screen applicants.}
  - {role: user, content: "{{resume}}"}
"""


def main() -> None:
    """Print a table: variants, and what their reading takes one way and the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 300_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--read", nargs=2, metavar=("RUN", "WAY"), help="read once, in this process")
    options = parser.parse_args()
    if options.read:
        print(json.dumps(measured(*options.read)))
        return
    print("a shard of 64: CPU seconds and megabytes above the imports, smallest to largest of", options.runs)
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            run = _run(Path(folder), rows)
            found: dict[str, list[tuple[float, float, str]]] = {way: [] for way in WAYS}
            for _ in range(options.runs):
                for way, results in found.items():
                    results.append(_elsewhere(run.uri, way))
        for way, results in found.items():
            cpu, peak = [one[0] for one in results], [one[1] for one in results]
            print(
                f"{rows:>8,} variants, {WAYS[way]:48} {min(cpu):6.2f} to {max(cpu):6.2f} s  "
                f"{min(peak):7.1f} to {max(peak):7.1f} MB",
                flush=True,
            )
        if len({digest for way in ("own", "whole") for _, _, digest in found[way]}) > 1:
            raise SystemExit("the two do not read the same requests")


WAYS = {
    "own": "its own part of the plan",
    "whole": "the whole table, as without a plan",
    "materials": "the texts that leakage is measured from",
}


def measured(uri: str, way: str) -> tuple[float, float, str]:
    """Return CPU seconds, megabytes above what was in memory before, and a digest of what was read."""
    run = Run.load(uri)
    shard_plan.elicitation.get(run.spec.task)
    read: Callable[[], object]
    if way == "materials":
        names = [r.request_id for r in shard_plan.requests_in(shard_plan.read_shard(run, SHARD).packs)]
        with patch.object(materials, "embedded", lambda judge, text: ([0.0], 1)):
            return _taken(lambda: sorted(embed_materials(run, SHARD, names)))
    planned = way == "own"
    with patch.object(shard_plan, "is_planned", lambda run: planned and PLANNED(run)):
        read = lambda: [r.digest() for r in shard_plan.requests_in(shard_plan.read_shard(run, SHARD).packs)]  # noqa: E731
        return _taken(read)


PLANNED = shard_plan.is_planned


def _taken(read: Callable[[], object]) -> tuple[float, float, str]:
    peak, begun = _peak_mb(), time.process_time()
    found = read()
    return time.process_time() - begun, _peak_mb() - peak, sha256(canonical_json(found))


def _peak_mb() -> float:
    # Not getrusage: its peak is handed down by the process that started this one.
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def _elsewhere(uri: str, way: str) -> tuple[float, float, str]:
    command = [sys.executable, "-m", "benchmarks.shard_reading", "--read", uri, way]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cpu, peak, digest = json.loads(told)
    return cpu, peak, digest


def _run(folder: Path, rows: int) -> Run:
    draw = random.Random(5)
    words = [f"word{n}" for n in range(500)]
    with (folder / "applicants.jsonl").open("w", encoding="utf-8") as file:
        for n in range(rows):
            applicant = {
                "prompt_id": f"p{n:06}",
                "application_id": f"a{n:06}",
                "position": f"position {n % 7}",
                "sex": draw.choice(["female", "male"]),
                "resume": " ".join(draw.choices(words, k=150)),
            }
            file.write(json.dumps(applicant) + "\n")
    (folder / "audit.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "prompt.yaml").write_text(PROMPT, encoding="utf-8")
    run = open_run(folder / "audit.yaml", Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    for stage in ("plan", "sample", "variants"):
        run_stage(run, stage)
    return run


if __name__ == "__main__":
    main()
