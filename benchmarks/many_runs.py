"""An audit of many earlier runs: what the stage `plan` of the next one reads, and how long it takes.

    python -m benchmarks.many_runs STORE --runs 1000

The runs are what a plan looks at of a real one: the record and the report of each, under its own window, the headlines
that the plan of the newest holds, and a journal with three entries a run. They are written where STORE is not there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from audit_lib.canonical import canonical_json
from audit_lib.documents.journal import JournalEntry, entry_bytes, entry_digest
from audit_lib.pipeline import open_run, run_all
from audit_lib.plan import plan
from audit_lib.plan.earlier_reports import EARLIER, earlier_reports
from audit_lib.run import Run, StageFolder, StageOutput
from audit_lib.store import LocalStore
from audit_lib.window import Window

SPEC = Path(__file__).parent.parent / "include/examples/recorded_decisions.yaml"
FIRST = datetime(2006, 1, 2, tzinfo=UTC)
READS = ("get", "open", "exists", "size", "list", "list_between", "folders", "listed", "newest")


def week(number: int) -> Window:
    """Return the window of a run."""
    return Window(FIRST + timedelta(weeks=number), FIRST + timedelta(weeks=number + 1))


def next_run(root: str, runs: int) -> Run:
    """Return the run that is planned after all others."""
    return open_run(SPEC, week(runs), root)


def build(root: str, runs: int) -> None:
    """Write the earlier runs."""
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(SPEC, Window.parse("2026-01-05", "2026-01-12"), folder)
        run_all(run)
        report, manifest = (
            run.stage(stage).read(name)
            for stage, name in (("report", "report.json"), ("evidence", "manifest.json"))
        )
    before = None
    store, key, document = LocalStore(root), run.key, json.loads(report)
    for number in range(runs):
        window = week(number)
        prefix = replace(key, window=window).prefix
        document["window"] = {"start": window.start.isoformat(), "end": window.end.isoformat()}
        document["run"] = prefix
        if number == runs - 1:
            earlier = earlier_reports(next_run(root, number))
            StageFolder(store, f"{prefix}/plan").commit(StageOutput({EARLIER: earlier}), window.end)
        content = canonical_json(document)
        StageFolder(store, f"{prefix}/report").commit(StageOutput({"report.json": content}), window.end)
        StageFolder(store, f"{prefix}/evidence").commit(StageOutput({"manifest.json": manifest}), window.end)
        for place, event in enumerate(("planned", "asked", "completed"), start=3 * number + 1):
            entry = JournalEntry(
                number=place,
                previous=None if before is None else entry_digest(before),
                audit=key.audit,
                window=window.label,
                run=key.spec_digest[:16],
                attempt=1,
                event=event,  # type: ignore[arg-type]
                sealed_sha256=None if event == "asked" else "0" * 64,
                at=window.end.isoformat(timespec="milliseconds"),
            )
            store.put(f"{key.audit}/journal/{place:06d}.json", entry_bytes(entry))
            before = entry


def counted(done: Callable[[], Any]) -> tuple[Counter[str], float, float]:
    """Return the reads of the store that something takes, its seconds and its CPU seconds."""
    reads: Counter[str] = Counter()
    originals = {name: getattr(LocalStore, name) for name in READS}
    inside = [False]

    def counting(name: str) -> Callable[..., Any]:
        def method(*arguments: Any) -> Any:
            if inside[0]:  # of one read that is made of others, one counts
                return originals[name](*arguments)
            reads[name] += 1
            inside[0] = True
            try:
                return originals[name](*arguments)
            finally:
                inside[0] = False

        return method

    for name in READS:
        setattr(LocalStore, name, counting(name))
    try:
        start, cpu = time.perf_counter(), time.process_time()
        done()
        return reads, time.perf_counter() - start, time.process_time() - cpu
    finally:
        for name, original in originals.items():
            setattr(LocalStore, name, original)


def main() -> None:
    """Measure the plan, and first write what it looks at where that is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    if not Path(options.store).exists():
        build(options.store, options.runs)
    run = next_run(options.store, options.runs)
    power = plan(run, earlier=b"[]", journal=b"{}")
    print(f"a plan without a look at the store: {len(power.artefacts)} files")
    for said, times in (("first, and makes the journal's copy", 1), ("then", 5)):
        found = [counted(lambda: plan(run)) for _ in range(times)]
        alone = [counted(lambda: plan(run, earlier=b"[]", journal=b"{}")) for _ in range(times)]
        walls, cpus = ([one[place] for one in found] for place in (1, 2))
        rest = statistics.median(one[2] for one in alone)
        print(
            f"{said}: {max(sum(one[0].values()) for one in found)} reads {dict(found[-1][0])}; "
            f"{min(walls):.2f} to {max(walls):.2f} s, CPU {min(cpus):.2f} to {max(cpus):.2f} s, "
            f"of which {rest:.2f} s are no reading"
        )


if __name__ == "__main__":
    main()
