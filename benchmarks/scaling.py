"""What each stage costs at growing sizes and cut into shards: CPU seconds, wall seconds and peak memory.

::

    python -m benchmarks.scaling                            # 1e3, 1e4 and 1e5 rows; 1e5 in 1 and in 64 shards
    python -m benchmarks.scaling --rows 1000000 --cuts 64   # one size
    python -m benchmarks.scaling --check                    # ends with 1 where a cost grows faster than it may
    python -m benchmarks.scaling --rows 10000000 --cuts 64 --keep /tmp/kept --steps plan sample   # and later others

The rows are recorded decisions of 8 positions and 8 groups with a text of 2 KB each, so that no model's time is in it.
Each step has a process of its own; its CPU seconds are those of the process and its children, imports included, and
its memory is that of the largest of them. A range is the smallest and the largest of the runs. With `--check` the
smallest CPU seconds of the runs are compared: ten times the rows cost at most `GROWTH` times as much, the largest size
takes at most `MEMORY` times the memory of the one before, and the most shards at most `CUT` times what one costs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

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

GROWTH: Final = 11.0
MEMORY: Final = 2.0
CUT: Final = {"scores": 1.2, "verify": 1.3}

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
    write_rows(folder / "decisions.jsonl", np.arange(rows))
    (folder / "audit.yaml").write_text(SPEC.replace("SHARDS", str(shards)), encoding="utf-8")


def write_rows(path: Path, numbers: NDArray[np.int64], words: int = 275) -> None:
    """Write recorded decisions with these numbers, in their order, each with a text of so many words."""
    draw = np.random.default_rng(5)
    known = [f"word{n}" for n in range(500)]
    inner, last = (np.array([word + end for word in known], "S8") for end in (" ", "\n"))
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, len(numbers), 8192):
            own = numbers[start : start + 8192].tolist()
            drawn = draw.integers(0, len(known), (len(own), words))
            texts = np.concatenate([inner[drawn[:, :-1]], last[drawn[:, -1:]]], axis=1).tobytes()
            rows = zip(
                own,
                texts.translate(None, b"\0").decode().split("\n"),
                draw.choice(["female", "male"], len(own)).tolist(),
                draw.choice(["White", "Black", "Asian", "Hispanic"], len(own)).tolist(),
                draw.random(len(own)).round(4).tolist(),
                strict=False,
            )
            stream.writelines(
                f'{{"prompt_id": "p{n:08}", "application_id": "a{n:08}", "position": "position {n % 8}", '
                f'"sex": "{sex}", "race": "{race}", "resume": "{text}", "recorded_score": {score}}}\n'
                for n, text, sex, race, score in rows
            )


@dataclass(frozen=True, slots=True)
class Cost:
    """What one step took in a process of its own."""

    cpu_s: float
    wall_s: float
    peak_mib: float


Costs = dict[str, list[Cost]]
"""Step -> its cost in each run."""


def measured(folder: Path, step: str, rows: int) -> Cost:
    """Run one step in a process of its own."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", _STEP, str(folder), step], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{step} of {rows:,} rows failed with status {status}")
    cost = Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1024)
    print(f"{rows:,} rows, {step}: {cost}", file=sys.stderr, flush=True)
    return cost


def costs(rows: int, shards: int, options: argparse.Namespace) -> Costs:
    """Make runs of one size and measure steps of them."""
    taken: Costs = {step: [] for step in options.steps}
    for _ in range(options.runs):
        if options.keep is None:
            folder = Path(tempfile.mkdtemp(dir=options.folder))
        else:
            folder = options.keep / f"{rows}-rows-{shards}-shards"
            folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "audit.yaml").exists():
            write_inputs(folder, rows, shards)
        for step in options.steps:
            taken[step].append(measured(folder, step, rows))
        if options.keep is None:
            shutil.rmtree(folder)
    return taken


def print_table(title: str, columns: Mapping[str, Costs]) -> None:
    """Print one row a step."""
    print(f"| {title} | " + " | ".join(columns) + " |")
    print("| --- " * (1 + len(columns)) + "|")
    for step in next(iter(columns.values())):
        cells = []
        for taken in columns.values():
            cpu, wall = ([getattr(one, name) for one in taken[step]] for name in ("cpu_s", "wall_s"))
            memory = max(one.peak_mib for one in taken[step])
            cells.append(f"{_range(cpu)} s CPU, {_range(wall)} s, {memory:,.0f} MiB")
        print(f"| {step} | " + " | ".join(cells) + " |")
    print()


def _range(seconds: Sequence[float]) -> str:
    low, high = f"{min(seconds):.1f}", f"{max(seconds):.1f}"
    return low if low == high else f"{low} to {high}"


def too_much(sizes: Mapping[int, Costs], cuts: Mapping[int, Costs]) -> list[str]:
    """Return what costs more than it may."""
    found = []
    for fewer, more in pairwise(sorted(sizes)):
        bound = GROWTH * (more / fewer) / 10
        for step in sizes[more]:
            ratio = _least(sizes[more], step, "cpu_s") / _least(sizes[fewer], step, "cpu_s")
            if ratio > bound:
                found.append(
                    f"{step}: {more:,} rows take {ratio:.1f} times the CPU of {fewer:,}, at most {bound:.1f}"
                )
    for fewer, more in list(pairwise(sorted(sizes)))[-1:]:
        for step in sizes[more]:
            ratio = _least(sizes[more], step, "peak_mib") / _least(sizes[fewer], step, "peak_mib")
            if ratio > MEMORY:
                found.append(
                    f"{step}: {more:,} rows take {ratio:.1f} times the memory of {fewer:,}, at most {MEMORY}"
                )
    for few, many in list(pairwise(sorted(cuts)))[-1:]:
        for step, bound in CUT.items():
            if step not in cuts[many]:
                continue
            ratio = _least(cuts[many], step, "cpu_s") / _least(cuts[few], step, "cpu_s")
            if ratio > bound:
                found.append(
                    f"{step}: {many} shards take {ratio:.2f} times the CPU of {few}, at most {bound}"
                )
    return found


def _least(taken: Costs, step: str, name: str) -> float:
    return float(min(getattr(one, name) for one in taken[step]))


def main() -> None:
    """Print a table of sizes and one of shards."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--shards", type=int, default=4, help="of the sizes but the largest (default: %(default)s)"
    )
    parser.add_argument(
        "--cuts", type=int, nargs="+", default=[1, 64], help="shards of the largest size (default: 1 64)"
    )
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument(
        "--check", action="store_true", help="end with 1 where a cost grows faster than it may"
    )
    parser.add_argument(
        "--folder", type=Path, help="where the runs are written (default: a temporary folder)"
    )
    parser.add_argument(
        "--steps",
        nargs="+",
        choices=STEPS,
        default=STEPS,
        help="those to measure; what they need must be there",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder whose runs are kept, and gone on with where they are there (one run each)",
    )
    options = parser.parse_args()
    options.steps = [step for step in STEPS if step in options.steps]
    if options.keep is not None and options.runs > 1:
        parser.error("--keep: a step is done once in a run that is kept; leave --runs out")
    *smaller, largest = sorted(set(options.rows))
    sizes = {rows: costs(rows, options.shards, options) for rows in smaller}
    cuts = {cut: costs(largest, cut, options) for cut in sorted(set(options.cuts))}
    sizes[largest] = cuts[min(cuts)]
    print_table("step", {f"{rows:,} rows": taken for rows, taken in sizes.items()})
    print_table(f"{largest:,} rows", {f"{cut} shard{'s' * (cut != 1)}": taken for cut, taken in cuts.items()})
    found = too_much(sizes, cuts)
    for one in found:
        print(one)
    if options.check and found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
