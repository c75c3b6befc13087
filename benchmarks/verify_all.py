"""A store of many sealed runs: how long `audit verify --all` takes where nothing changed.

    python -m benchmarks.verify_all build STORE --runs 10000
    python -m benchmarks.verify_all measure STORE

One small audit is run and sealed, and its folder copied: each audit has 100 windows, whose runs are byte for byte the
first one, each in files of its own, and a journal in which every run is entered. A copy in another folder verifies as
copies do. `build` verifies every hundredth in full; for the others it keeps what a verification of the first found.
The store is a folder or ``s3://bucket``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from audit_lib import __version__
from audit_lib.documents.journal import JournalEntry, entry_bytes, entry_digest
from audit_lib.documents.verified_runs import VerifiedRun
from audit_lib.pipeline import open_run, run_all
from audit_lib.signoff import verify_signed
from audit_lib.store import Store, open_store
from audit_lib.store.versions import as_first_written
from audit_lib.verify_all import KeptVerifications, list_store
from audit_lib.window import Window

WINDOWS = 100
SPEC = """
audit: small
title: A small tool
task: pointwise
seed: 1
source: {kind: files, paths: [rows.jsonl], windowed: false, reason: benchmark}
groups:
  provenance: self_reported
  attributes: {sex: [female, male]}
  reference: {sex: male}
  categories: {sex: {female: Female, male: Male}}
model: {backend: recorded, name: tool}
decision: {rule: threshold, threshold: 0.5}
"""


def template(folder: Path) -> Path:
    """Run one audit; return the folder of its run."""
    draw = random.Random(1)
    rows = [
        {
            "prompt_id": f"p{number}",
            "application_id": f"a{number}",
            "position": "cook",
            "sex": "female" if number % 2 else "male",
            "recorded_score": round(draw.random(), 3),
            "resume": "kept",
        }
        for number in range(60)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "small.yaml").write_text(SPEC)
    run = open_run(folder / "small.yaml", Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    run_all(run)
    return Path(run.uri)


def build(root: str, runs: int) -> None:
    """Write the store."""
    store = open_store(root)
    with tempfile.TemporaryDirectory() as folder:
        made = template(Path(folder))
        files = {
            path.relative_to(made).as_posix(): path.read_bytes() for path in made.rglob("*") if path.is_file()
        }
        first = verify_signed(str(made))
    assert first.ok, first.summary()
    print(f"a run: {first.files} files, {first.bytes:,} bytes")
    names = [
        f"audit_{number // WINDOWS:03d}/{_window(number % WINDOWS)}/{first.spec_digest[:16]}"
        for number in range(runs)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: _copy(store, name, files), names))
        audits = sorted({name.split("/")[0] for name in names})
        list(pool.map(lambda audit: _journal(store, audit, names, files), audits))
    for name in names[::100]:
        found = verify_signed(store.uri(name))
        assert found.ok and found.bundle_sha256 == first.bundle_sha256, found.summary()
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    kept = KeptVerifications.of_environment(root)
    kept.read()
    blank = VerifiedRun(
        run="",
        verdict="verified",
        sealed=True,
        sha256=first.bundle_sha256,
        files=first.files,
        bytes=first.bytes,
        listing=None,
        verified_at=now,
        looked_at=now,
        version=__version__,
        trust=None,
    )
    kept.runs = {
        one.run: replace(blank, run=one.run, listing=one.listing)
        for one in list_store(as_first_written(root)[0]).runs
    }
    kept.write()


def _window(number: int) -> str:
    start = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(weeks=number)
    return Window(start, start + timedelta(weeks=1)).label


def _copy(store: Store, name: str, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        _write(store, f"{name}/{path}", content)


def _journal(store: Store, audit: str, names: Sequence[str], files: dict[str, bytes]) -> None:
    from audit_lib.canonical import sha256

    sealed = {"planned": sha256(files["plan/_SUCCESS"]), "completed": sha256(files["evidence/manifest.json"])}
    before, number = None, 0
    for name in (one for one in names if one.startswith(f"{audit}/")):
        for event, digest in sealed.items():
            number += 1
            entry = JournalEntry(
                number=number,
                previous=before,
                audit=audit,
                window=name.split("/")[1],
                run=name.split("/")[2],
                attempt=1,
                event="planned" if event == "planned" else "completed",
                outcome=None if event == "planned" else "complete",
                sealed_sha256=digest,
                at="2026-01-12T00:00:00.000+00:00",
            )
            _write(store, f"{audit}/journal/{number:06d}.json", entry_bytes(entry))
            before = entry_digest(entry)


def _write(store: Store, key: str, content: bytes) -> None:
    """Write without a sync to disk, which nobody needs here."""
    if "://" in store.root:
        store.replace(key, content)
        return
    path = Path(store.uri(key))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def measure(root: str, runs: int, options: Sequence[str]) -> None:
    """Print how long a verification takes of a store in which nothing changed, as a whole process."""
    command = [sys.executable, "-m", "audit_lib.cli", "verify", "--all", root, *options]
    for number in range(runs):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        load = os.getloadavg()[0]
        print(f"run {number + 1}: {wall:.1f} s, CPU {cpu:.1f} s, load {load:.0f}, largest process "
              f"{after.ru_maxrss >> 10} MiB, exit code {done.returncode}", flush=True)  # fmt: skip
    print(done.stdout)


def main() -> None:
    """Build a store, or measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "measure"))
    parser.add_argument("store")
    parser.add_argument("--runs", type=int, default=10_000, help="sealed runs that are built")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument(
        "--options", nargs="*", default=[], help="of `audit verify --all`, without their dashes"
    )
    options = parser.parse_args()
    if options.what == "build":
        start = time.perf_counter()
        build(options.store, options.runs)
        print(f"built in {time.perf_counter() - start:.0f} s")
    else:
        measure(options.store, options.times, [f"--{one}" for one in options.options])


if __name__ == "__main__":
    main()
