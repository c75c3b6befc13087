"""What many positions cost: the stage ``metrics`` of 14 categories x 200 positions, and hiding small cells there.

::

    python -m benchmarks.wide                                  the stage, five runs
    python -m benchmarks.wide --small 15                       and the hiding of cells of fewer than 15
    python -m benchmarks.wide --positions 20 --runs 1

The run is made up (20 people of each category in each position, on average) and goes through the real stages first
(`benchmarks.report`); each measurement has a process of its own. Bounds: 10 s of CPU for the stage, 60 s for
the hiding.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit_lib.run import Run
from benchmarks.report import POSITIONS, large_run
from benchmarks.timing import RUNS, spread


def measured(uri: str) -> dict[str, Any]:
    """Run the stage here; seconds, and the digest of what it wrote."""
    import hashlib

    from audit_lib.large_file import bytes_of
    from audit_lib.measure.stage import measure

    run = Run.from_bundle(uri)
    before, worked = time.perf_counter(), time.process_time()
    output = measure(run)
    spent = time.perf_counter() - before, time.process_time() - worked
    digest = hashlib.sha256(bytes_of(output.artefacts["metrics.json"])).hexdigest()
    return {"seconds": spent[0], "cpu": spent[1], "sha256": digest, "tables": output.counts["tables"]}


def hidden(uri: str, small: int) -> dict[str, Any]:
    """Hide the small cells here; seconds, and how many cells are small and hidden."""
    from audit_lib.documents.metrics import Metrics
    from audit_lib.policies import policy_of
    from audit_lib.report.suppress import hidden_cells
    from audit_lib.report.suppress.cells import smallest_sizes

    run = Run.from_bundle(uri)
    metrics = run.stage("metrics").read_document(Metrics, "metrics.json")
    policy = policy_of(run.spec)
    policy = policy.model_copy(update={"cells": policy.cells.model_copy(update={"small": small})})
    before, worked = time.perf_counter(), time.process_time()
    found = hidden_cells(metrics, run.spec, policy)
    spent = time.perf_counter() - before, time.process_time() - worked
    sizes = smallest_sizes(metrics, run.spec, policy)
    few = sum(0 < n < small for n in sizes.values())
    return {"seconds": spent[0], "cpu": spent[1], "cells": len(sizes), "small": few, "hidden": len(found)}


def main() -> None:
    """Make the run, measure it in fresh processes, and print ranges."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=POSITIONS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--small", type=int, help="hide cells of fewer people than this too")
    parser.add_argument("--of", help="a run that is there, measured in this process; for the fresh processes")
    options = parser.parse_args()
    if options.of:
        print(json.dumps(hidden(options.of, options.small) if options.small else measured(options.of)))
        return
    with tempfile.TemporaryDirectory() as name:
        uri = large_run(Path(name), options.positions).uri.removeprefix("file://")
        for what in ([], ["--small", str(options.small)]) if options.small else ([],):
            found = [_again([*what, "--of", uri]) for _ in range(options.runs)]
            told = {key: value for key, value in found[0].items() if key not in ("seconds", "cpu")}
            if any(one[key] != value for one in found for key, value in told.items()):
                raise SystemExit("two runs do not agree")
            cpu, wall = ([one[key] for one in found] for key in ("cpu", "seconds"))
            print(
                f"{'hiding' if what else 'metrics'} of {options.positions} positions, {options.runs} runs: "
                f"{spread(cpu)} of CPU, {spread(wall)} of wall time; {told}",
                flush=True,
            )


def _again(arguments: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.wide", *arguments]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


if __name__ == "__main__":
    main()
