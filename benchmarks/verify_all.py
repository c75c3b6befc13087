"""A store of many sealed runs: how long `audit verify --all` takes where nothing changed.

    python -m benchmarks.verify_all build STORE --runs 10000
    python -m benchmarks.verify_all measure STORE

One small audit is run and sealed. Every other run is the one that its audit and window would have made, without making
it: names, days and every digest that follows from them are written anew. Each audit has 100 windows, and a journal in
which every run is entered. `build` verifies one of each audit in full, each time of another window; for the others it
keeps that they verify. The store is a folder or ``s3://bucket``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from audit_lib import __version__
from audit_lib.archive.bundle_digest import BundleDigest, digest_over
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.journal import JournalEntry, entry_bytes, entry_digest
from audit_lib.documents.verified_runs import VerifiedRun
from audit_lib.pipeline import open_run, run_all
from audit_lib.signoff import verify_signed
from audit_lib.store import Store, open_store
from audit_lib.store.versions import as_first_written
from audit_lib.verify_all import KeptVerifications, list_store
from audit_lib.window import Window

WINDOWS = 100
FIRST = Window.parse("2026-01-05", "2026-01-12")
AUDIT = "audit_000"
SPEC = """
audit: audit_000
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
    run = open_run(folder / "small.yaml", FIRST, str(folder / "store"))
    run_all(run)
    return Path(run.uri)


def write_runs(root: str, runs: int) -> dict[str, BundleDigest]:
    """Write audits of 100 runs each, and return each run's digest."""
    with tempfile.TemporaryDirectory() as folder:
        made = template(Path(folder))
        files = {
            path.relative_to(made).as_posix(): path.read_bytes() for path in made.rglob("*") if path.is_file()
        }
        first = verify_signed(str(made))
        assert first.ok, first.summary()
        print(f"a run: {first.files} files, {first.bytes:,} bytes")
        designs = [_design(Path(folder), number) for number in range(-(-runs // WINDOWS))]
    places = [
        (design, number % WINDOWS) for number in range(runs) for design in (designs[number // WINDOWS],)
    ]
    with ProcessPoolExecutor() as pool:
        audits = [[one for one in places if one[0] == design] for design in designs]
        parts = pool.map(
            _audit, *zip(*((root, files, first.spec_digest, own) for own in audits), strict=True)
        )
        return {name: whole for part in parts for name, whole in part.items()}


def build(root: str, runs: int) -> None:
    """Write the store, and what is kept of its runs."""
    store = open_store(root)
    written = write_runs(root, runs)
    names = list(written)[:: WINDOWS + 1]  # of each audit another window
    with ProcessPoolExecutor() as pool:
        for name, found in zip(names, pool.map(verify_signed, map(store.uri, names)), strict=True):
            assert found.ok and found.bundle_sha256 == written[name].sha256, found.summary()
    print(f"verified in full: {len(names)} of {len(written)}")
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    kept = KeptVerifications.of_environment(root)
    kept.read()
    kept.runs = {
        one.run: VerifiedRun(
            run=one.run,
            verdict="verified",
            sealed=True,
            sha256=written[one.run].sha256,
            files=written[one.run].files,
            bytes=written[one.run].bytes,
            listing=one.listing,
            verified_at=now,
            looked_at=now,
            version=__version__,
            trust=None,
        )
        for one in list_store(as_first_written(root)[0]).runs
    }
    kept.write()


def _design(folder: Path, number: int) -> tuple[str, str]:
    """Return the name of an audit, and the digest of its design."""
    name = f"audit_{number:03d}"
    (folder / "small.yaml").write_text(SPEC.replace(AUDIT, name))
    return name, open_run(folder / "small.yaml", FIRST, str(folder / "store")).key.spec_digest


def _window(number: int) -> Window:
    start = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(weeks=number)
    return Window(start, start + timedelta(weeks=1))


def _audit(
    root: str, files: dict[str, bytes], digest: str, places: Sequence[tuple[tuple[str, str], int]]
) -> dict[str, BundleDigest]:
    """Write an audit: its runs, and the journal in which they are entered."""
    store = open_store(root)
    runs = {}
    for (audit, own), number in places:
        window = _window(number)
        words = {AUDIT: audit, digest: own, digest[:16]: own[:16], **_days(FIRST, window)}
        runs[f"{audit}/{window.label}/{own[:16]}"] = moved(files, words)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: _copy(store, *one), runs.items()))
    _journal(store, places[0][0][0], runs)
    return {name: _whole(content) for name, content in runs.items()}


def _days(before: Window, after: Window) -> dict[str, str]:
    """Return how each day of a window is written, and what is to be written for it."""
    day = timedelta(days=1)
    found = {before.label: after.label}
    for old, new in (
        (before.start, after.start),
        (before.end - day, after.end - day),
        (before.end, after.end),
    ):
        found |= {f"{old:%Y-%m-%d}": f"{new:%Y-%m-%d}"}
        found |= {f"{old.day} {old:%B %Y}": f"{new.day} {new:%B %Y}"}
    return found


def moved(files: dict[str, bytes], words: dict[str, str]) -> dict[str, bytes]:
    """Return the files of a run as they are in another place: names, days, and all digests that follow from them."""
    known = {old.encode(): new.encode() for old, new in words.items()}
    longest = sorted(known, key=len, reverse=True)
    pattern = re.compile(b"|".join([rb"\b[0-9a-f]{64}\b", *(rb"\b" + re.escape(one) for one in longest)]))
    made: dict[str, bytes] = {}
    for path in sorted(files, key=_order):
        content = files[path]
        if not path.endswith(".parquet"):
            content = pattern.sub(lambda match: known.get(match[0], match[0]), content)
            if path.endswith("/_SUCCESS"):
                content = pretty_json(_sized(json.loads(content), made, path.removesuffix("_SUCCESS")))
            elif path == "evidence/manifest.json":
                content = canonical_json(_sized(json.loads(content), made, ""))
        made[path] = content
        known[sha256(files[path]).encode()] = sha256(content).encode()
    return made


def _order(path: str) -> tuple[int, bool, bool]:
    """Stages one after another, the record of each after its files, and the manifest after all that it lists."""
    stage = ("plan", "sample", "variants", "scores", "validation", "metrics", "report", "evidence")
    first = path.split("/")[0]
    place = stage.index(first) if first in stage else -1
    return place, path.endswith("/_SUCCESS"), path == "evidence/manifest.json"


def _sized(record: dict[str, Any], made: dict[str, bytes], folder: str) -> dict[str, Any]:
    """Return a record or the manifest with the sizes of the files that it lists."""
    listed = record["artefacts"]
    entries = listed.items() if isinstance(listed, dict) else ((one["path"], one) for one in listed)
    more = [one for key in ("records", "redacted") for one in record.get(key) or ()]
    for path, entry in (*entries, *((one["path"], one) for one in more)):
        entry["bytes"] = len(made[f"{folder}{path}"])
    if folder == "evidence/":
        sealed = json.loads(made["evidence/manifest.json"])["artefacts"]
        record["counts"]["bytes"] = sum(one["bytes"] for one in sealed)
    return record


def _whole(files: dict[str, bytes]) -> BundleDigest:
    digests = {path: sha256(content) for path, content in files.items()}
    return digest_over(digests, {path: len(content) for path, content in files.items()})


def _copy(store: Store, name: str, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        _write(store, f"{name}/{path}", content)


def _journal(store: Store, audit: str, runs: dict[str, dict[str, bytes]]) -> None:
    before, number = None, 0
    for name, files in runs.items():
        at = json.loads(files["evidence/_SUCCESS"])["finished_at"]
        sealed = {
            "planned": sha256(files["plan/_SUCCESS"]),
            "completed": sha256(files["evidence/manifest.json"]),
        }
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
                at=at,
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
