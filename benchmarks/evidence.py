"""Measure what verification finds, and write the tables into docs/reference/evidence.md.

    python -m benchmarks.evidence clean attacks structured random readers whole --results FOLDER
    python -m benchmarks.evidence page --results FOLDER

Each part keeps what it measured in the folder as it goes, and `--seconds` bounds all but `attacks`. `clean`: bundles
that nobody touched, verified by both programs; it goes on from what it kept. `structured` and `random`: changes of
single files. `attacks`: named ones, without and with trust. `readers` and `whole`: fuzzing
(`benchmarks.evidence_fuzz`). `page` writes what was measured, and nothing else.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PARTS = ("clean", "attacks", "structured", "random", "readers", "whole", "page")


def clean(results: Path, options: argparse.Namespace) -> None:
    """Verify bundles that nobody touched, after those that were verified already."""
    from benchmarks.evidence_clean import measured

    kept = results / "clean.json"
    document = json.loads(kept.read_bytes()) if kept.exists() else {"kinds": {}, "said": []}
    kinds = {kind: Counter(one) for kind, one in document["kinds"].items()}
    before = sum(one["bundles"] for one in kinds.values())
    start = time.monotonic()
    began = (start - document.get("wall_s", 0), time.process_time() - document.get("cpu_s", 0))
    for one in measured(_fresh(results / "clean"), options.bundles - before, before):
        count = kinds.setdefault(one.bundle.kind, Counter())
        count.update(["bundles", f"copy: {one.bundle.copy}", f"here: {one.here}", f"there: {one.there}"])
        if one.findings:
            document["said"].append(f"{one.bundle.kind}, {one.bundle.copy}: {'; '.join(one.findings[:3])}")
        _keep(results, "clean", document | {"kinds": kinds}, began)
        if time.monotonic() - start > options.seconds:
            break


def attacks(results: Path, options: argparse.Namespace) -> None:
    """Try the named attacks; with `--only` some of them again."""
    from benchmarks import evidence_attacks

    kept = results / "attacks.json"
    document = json.loads(kept.read_bytes()) if options.only and kept.exists() else {"rows": []}
    began = (
        time.monotonic() - document.get("wall_s", 0),
        time.process_time() - document.get("cpu_s", 0),
    )
    rows = {one["attack"]: one for one in document["rows"]}
    for one in evidence_attacks.attacks(_fresh(results / "attacked"), options.only):
        rows[one.attack] = asdict(one)
        _keep(results, "attacks", {"rows": list(rows.values())}, began)


def structured(results: Path, options: argparse.Namespace) -> None:
    """Make every structured change."""
    _mutate(results, options, "structured")


def at_random(results: Path, options: argparse.Namespace) -> None:
    """Make random changes."""
    _mutate(results, options, "random")


def _mutate(results: Path, options: argparse.Namespace, part: str) -> None:
    from benchmarks.evidence_mutations import Tally, by_chance, structured, try_each, two_runs
    from benchmarks.evidence_runs import failed_and_sealed

    folder = _fresh(results / part)
    began = (time.monotonic(), time.process_time())
    tallies = {}
    changes: list[Iterable[Tally]] = []
    for run in two_runs(failed_and_sealed(folder / "made"), folder):
        tally = tallies[run.name] = Tally()
        made = (
            structured(run)
            if part == "structured"
            else by_chance(run, options.random, f"{run.name} {options.number}")
        )
        changes.append(
            itertools.islice(try_each(run, made, tally), options.random // 2 if part == "random" else None)
        )
    turns = itertools.zip_longest(*changes)
    for number, _ in enumerate(turns):
        over = time.monotonic() - began[0] > options.seconds
        if number % 20 == 0 or over:
            _keep(results, part, {"runs": {k: asdict(v) for k, v in tallies.items()}, "whole": False}, began)
        if over:
            return
    _keep(results, part, {"runs": {k: asdict(v) for k, v in tallies.items()}, "whole": True}, began)


def fuzz(which: str) -> Any:
    """Return what feeds some readers in a process of its own."""

    def call(results: Path, options: argparse.Namespace) -> None:
        seeds = results / "seeds"
        if not seeds.is_dir():
            from benchmarks.evidence_runs import write_seeds

            write_seeds(seeds)
        command = [
            sys.executable, "-m", "benchmarks.evidence_fuzz", which, "--seeds", str(seeds), "--seconds",
            str(options.seconds), "--out", str(results / f"{which}.json"), "--number", str(options.number),
        ]  # fmt: skip
        hung = options.seconds + 900  # an input that never ends
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=hung)
        (results / f"{which}.log").write_text(done.stdout[-20_000:] + done.stderr[-20_000:])
        print(f"{which}: ended with {done.returncode}")

    return call


def page(results: Path, options: argparse.Namespace) -> None:
    """Write what was measured into the page."""
    from benchmarks.evidence_page import write_page

    write_page(results)


def _keep(results: Path, part: str, document: dict[str, Any], began: tuple[float, float]) -> None:
    wall, cpu = time.monotonic() - began[0], time.process_time() - began[1]
    document |= {"wall_s": round(wall), "cpu_s": round(cpu), "day": datetime.now(UTC).date().isoformat()}
    (results / f"{part}.json").write_text(json.dumps(document, indent=1))


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


DO = {
    "clean": clean,
    "attacks": attacks,
    "structured": structured,
    "random": at_random,
    "readers": fuzz("readers"),
    "whole": fuzz("whole"),
    "page": page,
}


def main() -> None:
    """Do the parts that are named, one after another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--results", type=Path, required=True, help="folder for what is measured")
    parser.add_argument(
        "--seconds", type=float, default=1800, help="bound of each part (default: %(default)s)"
    )
    parser.add_argument("--only", default="", metavar="WORDS", help="attacks whose name has these words")
    parser.add_argument("--bundles", type=int, default=200)
    parser.add_argument("--random", type=int, default=1000, help="random changes (default: %(default)s)")
    parser.add_argument("--number", type=int, default=1, help="seed of the draws")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.fsync = lambda _: None  # type: ignore[assignment]  # runs that are thrown away need not survive a power cut
    for part in options.parts:
        DO[part](options.results, options)


if __name__ == "__main__":
    main()
