"""The stage `metrics` of a large run, its time and peak of memory: a part of ``python -m benchmarks measure``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import RUNS, spread

_STAGE = """
import io, json, resource, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from benchmarks.synthetic_run import opened
from audit_lib.large_file import bytes_of
from audit_lib.measure.stage import measure
run = opened(Path(sys.argv[2]))
wall, cpu = time.perf_counter(), time.process_time()
output = measure(run)
spent = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# One comparison again, by pandas and scipy.
import pandas as pd
from scipy.stats import mannwhitneyu
content = run.stage("variants").read("variants.parquet")
variants = pd.read_parquet(io.BytesIO(content), columns=["variant_id", "sex", "race"])
decided = io.BytesIO(bytes_of(output.artefacts["decisions.parquet"]))
decisions = pd.read_parquet(decided, columns=["variant_id", "score"])
assert (variants["variant_id"] == decisions["variant_id"]).all()
pairs = ("female", "Black"), ("male", "White")
a, b = (decisions["score"][(variants["sex"] == sex) & (variants["race"] == race)] for sex, race in pairs)
found = {e["metric"]: e["value"] for e in json.loads(bytes_of(output.artefacts["metrics.json"]))["estimates"]
         if e["group"] == {"sex": "female", "race": "Black"} and not e["stratum"]}
rank = abs(2 * mannwhitneyu(a, b).statistic / (a.size * b.size) - 1 - found["rabbi"])
print(*spent, peak, output.counts["rows"], output.counts["tests"], rank, abs(a.mean() - b.mean() - found["score_gap"]))
"""
_MAKE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from benchmarks.synthetic_run import synthetic_run
synthetic_run(Path(sys.argv[2]), int(sys.argv[3]), 64)
"""


def stage(options: argparse.Namespace) -> None:
    """The whole stage `metrics` in a process of its own: 64 shards, 8 groups, 4 positions, the default metrics."""
    root = str(Path(__file__).resolve().parent.parent)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", _MAKE, root, folder, str(options.stage_rows // 8)], check=True)
        for _ in range(RUNS):
            done = subprocess.run(
                [sys.executable, "-c", _STAGE, root, folder], check=True, capture_output=True, text=True
            )
            runs.append([float(text) for text in done.stdout.split()])
    wall, cpu, peak, rows, tests, rank, gap = (list(column) for column in zip(*runs, strict=True))
    print(
        f"| stage `metrics`, {rows[0]:,.0f} score rows in 64 shards, {tests[0]:.0f} tests | | | "
        f"{spread(cpu)} CPU, {spread(wall)} wall, peak {max(peak) / 2**20:.2f} GiB | | 60 s, 4 GB | "
        f"one comparison again by scipy and pandas: RABBI differs by {max(rank):.1e}, "
        f"score gap by {max(gap):.1e} |"
    )
