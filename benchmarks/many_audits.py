"""A store of many audits over many windows: how long `audit status`, a trend and the pages take.

    python -m benchmarks.many_audits build FOLDER --audits 1000
    python -m benchmarks.many_audits measure FOLDER

The folders are those of a real store. One small audit is run; of each audit the latest run has its plan and report, and
every run the records that say it is sealed (links, to spare the disk). Of 100 windows some were
missed and some failed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import numpy as np

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.evidence import StageRecord, WrittenFile, record_bytes
from audit_lib.documents.sequences import Baseline, MonitorSettings, NamedSums, WindowSumsDocument
from audit_lib.monitor import follow_audit
from audit_lib.pipeline import open_run, run_all
from audit_lib.run import SUCCESS
from audit_lib.stats.sequential_pairs import PairSums
from audit_lib.store import Store, open_store
from audit_lib.window import Window

SPEC = Path(__file__).parent.parent / "include/examples/recorded_decisions.yaml"
DESIGN = "0123456789abcdef"
WINDOWS = 100
QUANTITIES: Final[tuple[Literal["selection_rate", "score"], ...]] = ("selection_rate", "score")


def template(folder: Path) -> Path:
    """Run one audit; return the folder of its run."""
    run = open_run(SPEC, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    run_all(run)
    return Path(run.uri)


def schedules(run: Path, folder: Path) -> Iterator[Path]:
    """Make plans of the run's design with 28 schedules: each weekday at four hours."""
    for day, hour in itertools.product(range(7), (0, 6, 12, 18)):
        plan = folder / f"plan_{day}_{hour}"
        shutil.copytree(run / "plan", plan)
        spec = json.loads((plan / "spec.json").read_bytes())
        spec["schedule"] = {"cron": f"0 {hour} * * {day}", "timezone": "UTC"}
        spec["title"] = f"Screening, weekday {day} at {hour}"
        content = canonical_json(spec)
        (plan / "spec.json").write_bytes(content)
        record = json.loads((plan / SUCCESS).read_bytes())
        record["artefacts"]["spec.json"] = {"sha256": sha256(content), "bytes": len(content)}
        (plan / SUCCESS).write_bytes(canonical_json(record))
        yield plan


def build(root: Path, audits: int, now: datetime) -> None:
    """Write the store: an audit for each schedule, and the others as links to its files."""
    root.mkdir(parents=True)
    inputs = root.with_name(f"{root.name}-template")
    run = template(inputs)
    made = [one_audit(inputs / "audits" / plan.name, run, plan, now) for plan in schedules(run, inputs)]
    for number in range(audits):
        command = ["cp", "-al", str(made[number % len(made)]), f"{root}/audit_{number:05d}"]
        subprocess.run(command, check=True)


def one_audit(audit: Path, run: Path, plan: Path, now: datetime) -> Path:
    """Write an audit of many windows."""
    day, hour = (int(part) for part in plan.name.split("_")[1:])
    end, first = last_tick(now, day, hour), 4 * day + hour // 6
    latest = 1 if first % 25 == 1 else 0
    for back in range(WINDOWS):
        if (first + back) % 25 == 1:
            continue  # nobody audited it
        window = Window(end - timedelta(weeks=back + 1), end - timedelta(weeks=back))
        folder = audit / window.label / DESIGN
        stages = ["evidence"]
        if (first + back) % 25 != 2 or back == latest:  # else it failed its validation
            stages.append("report")
        for stage in stages:
            (folder / stage).mkdir(parents=True)
            shutil.copy(run / stage / SUCCESS, folder / stage)
        if back == latest:
            shutil.copytree(plan, folder / "plan")
            shutil.copy(run / "report/report.json", folder / "report")
    return audit


def last_tick(now: datetime, day: int, hour: int) -> datetime:
    """Return the last instant of a weekday (0 is Sunday, as cron has it) and hour."""
    tick = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    while tick > now or tick.isoweekday() % 7 != day:
        tick -= timedelta(days=1)
    return tick


def seconds(done: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    done()
    return time.perf_counter() - start


def of_process(command: Sequence[str]) -> tuple[float, float]:
    """Return how long a process takes, and its CPU time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spread(values: Sequence[float]) -> str:
    """Return the range of some times."""
    return f"{min(values):.2f} to {max(values):.2f} s (median {statistics.median(values):.2f})"


def measure(root: Path, runs: int, now: datetime) -> None:
    """Print how long each thing takes."""
    from audit_lib.site.audits_pages import audits_pages
    from audit_lib.windows.audit_states import KEPT, read_states

    store = open_store(str(root))

    if not store.exists(KEPT):
        print(f"from nothing: {seconds(lambda: read_states(store, now)):.1f} s")
    later = now + timedelta(days=8)
    read_states(store, now)
    for arguments in ([], ["audit_00000"]):
        command = [sys.executable, "-m", "audit_lib.cli", "status", *arguments, "--store", str(root)]
        wall, cpu = zip(*(of_process(command) for _ in range(runs)), strict=True)
        said = "`audit status NAME`" if arguments else "`audit status`"
        print(f"{said}, whole process: {spread(wall)}; CPU {spread(cpu)}")
    print(f"states, in a process: {spread([seconds(lambda: read_states(store, now)) for _ in range(runs)])}")
    states = read_states(store, now).states
    pages = [seconds(lambda: audits_pages(states, [])) for _ in range(runs)]
    made = audits_pages(states, [])
    largest = max(map(len, made.values()))
    print(f"pages of all audits ({len(made)}, the largest {largest:,} bytes): {spread(pages)}")
    print(
        f"states after a week in which every schedule ticked: {seconds(lambda: read_states(store, later)):.1f} s"
    )
    read_states(store, now)


def followed_audit(root: Path, now: datetime) -> None:
    """Write an audit of 100 sealed windows whose sums are kept: seven groups, rates and scores, 200 units each."""
    store, rng = open_store(str(root)), np.random.default_rng(1)
    end = last_tick(now, 1, 0)
    groups = [f"group {number}" for number in range(7)]
    documents = []
    for back in reversed(range(WINDOWS)):
        window = Window(end - timedelta(weeks=back + 1), end - timedelta(weeks=back))
        folder = f"followed/{window.label}/{DESIGN}"
        manifest = json.dumps({"window": window.label}).encode()
        commit(store, f"{folder}/evidence", {"manifest.json": manifest})
        commit(store, f"{folder}/report", {})
        run = RunIdentity(window=window.label, spec_digest=DESIGN * 4, manifest_sha256=sha256(manifest))
        sums = [named_sums(rng, quantity, group) for quantity in QUANTITIES for group in groups]
        document = WindowSumsDocument(
            audit="followed", run=run, question={"task": "1"}, version={"model": "1"}, unit="application",
            score_range=(0.0, 1.0), sums=tuple(sums), left_out=(),
        )  # fmt: skip
        store.put(f"followed/monitor/sums/{window.label}_{DESIGN}.json", pretty_json(document.as_dict()))
        documents.append(document)
    baseline = Baseline(
        audit="followed", number=1, name="first", runs=tuple(one.run for one in documents[:10]),
        question={"task": "1"}, settings=MonitorSettings(false_alarms=0.05, floor=0.01, minimum=50, line=0.8),
        decided_by="Ada Byron", reason="accepted", decided_at="2026-01-05T00:00:00+00:00",
    )  # fmt: skip
    store.put("followed/baselines/0001.json", pretty_json(baseline.as_dict()))


def named_sums(
    rng: np.random.Generator, quantity: Literal["selection_rate", "score"], group: str
) -> NamedSums:
    """Return the sums of 200 units in which both rates are one half."""
    pairs = PairSums.of([(rng.random(200) < 0.5, rng.random(200) < 0.5)])
    return NamedSums(
        quantity=quantity, group={"group": group}, reference={"group": "reference"}, rows=200, reference_rows=200,
        units=200, group_sum=float(pairs.group[0]), reference_sum=float(pairs.comparator[0]),
        group_squares=float(pairs.group_squares[0]), reference_squares=float(pairs.comparator_squares[0]),
        products=float(pairs.products[0]),
    )  # fmt: skip


def commit(store: Store, folder: str, files: Mapping[str, bytes]) -> None:
    """Write a complete stage."""
    for name, content in files.items():
        store.put(f"{folder}/{name}", content)
    written = {
        name: WrittenFile(sha256=sha256(content), bytes=len(content)) for name, content in files.items()
    }
    instant = datetime(2026, 1, 5, tzinfo=UTC).isoformat(timespec="milliseconds")
    record = StageRecord(artefacts=written, counts={}, started_at=instant, finished_at=instant)
    store.put(f"{folder}/{SUCCESS}", record_bytes(record))


def trend(folder: Path, runs: int, now: datetime) -> None:
    """Print how long the sequences of 100 windows take, of sums that are kept."""
    if not folder.exists():
        followed_audit(folder, now)
    store = open_store(str(folder))
    found = follow_audit(store, "followed")
    assert not found.not_read, found.not_read[:1]
    looks = len(found.sequences.sequences[0].looks)
    print(f"a trend of {len(found.sequences.sequences)} sequences over {looks} windows: "
          f"{spread([seconds(lambda: follow_audit(store, 'followed')) for _ in range(runs)])}")  # fmt: skip


def main() -> None:
    """Build a store, or measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    now = datetime.now(UTC)
    if options.what == "build":
        print(f"built in {seconds(lambda: build(options.folder, options.audits, now)):.0f} s")
    else:
        measure(options.folder, options.runs, now)
        trend(options.folder.with_name(f"{options.folder.name}-followed"), options.runs, now)


if __name__ == "__main__":
    main()
