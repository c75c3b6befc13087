"""How `audit check-corpus` sees 500 pages and a week's changes: found, missed, invented, and how long it takes.

    python -m benchmarks.check_corpus                     # makes the pages, then five runs
    python -m benchmarks.check_corpus --files FOLDER      # keeps the pages; runs again on them
    python -m benchmarks.check_corpus --seed 2 --runs 1

Needs Chromium and the packages weasyprint, reportlab and xlsxwriter. The command runs as anybody runs it, in a process
of its own, and what it found is read from its tables alone. In 20 pages a change is planted (four more are twins of
others); the others are the same file, or made anew in another layout or with other words.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.check_corpus_pages import CorpusPage, corpus_pages, truth, twins, write_page
from benchmarks.timing import spread

AS_OF: Final = "2026-12-01"
TOLD: Final = frozenset(
    {
        "numbers_changed_silently",
        "numbers_changed_with_date",
        "date_moved_without_numbers",
        "taken_down",
        "no_longer_readable",
    }
)
"""Kinds of changes that are planted; any of them on a page without it is invented."""


def write_corpus(pages: list[CorpusPage], seed: int, home: Path) -> list[Path]:
    """Write both weeks, if they are not there."""
    weeks = [home / f"week{week}" for week in (0, 1)]
    for week, folder in enumerate(weeks):
        if not (folder / ".done").exists():
            folder.mkdir(parents=True, exist_ok=True)
            with ProcessPoolExecutor(2) as pool:
                list(pool.map(partial(write_page, seed=seed, week=week, folder=folder), pages, chunksize=5))
            (folder / ".done").touch()
    return weeks


def swept(source: Path, store: Path, out: Path, as_of: str) -> tuple[float, float]:
    """Run the command; return wall and CPU seconds, of all of its processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "audit_lib.cli",
            "check-corpus",
            source,
            "--store",
            store,
            "--name",
            "pages",
            "--out",
            out,
            "--as-of",
            as_of,
            "--processes",
            "2",
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    wall = time.perf_counter() - began
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def rows(path: Path) -> list[dict[str, str]]:
    """Read one of the tables."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Make, run, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--files", type=Path)
    options = parser.parse_args()
    pages = corpus_pages(options.pages, options.seed)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory()))
        weeks = write_corpus(pages, options.seed, options.files or scratch / "pages")
        took: list[list[float]] = [[], [], [], []]
        for run in range(options.runs):
            home = scratch / f"run{run}"
            home.mkdir()
            for week, folder in enumerate(weeks):
                (home / "pages").unlink(missing_ok=True)
                os.symlink(folder.resolve(), home / "pages")
                wall, used = swept(home / "pages", home / "store", home / f"out{week}", AS_OF)
                took[2 * week].append(wall)
                took[2 * week + 1].append(used)
                time.sleep(1.1)  # a sweep is named by its second
            _compare(pages, home, run)
    print(
        f"\n{len(pages)} pages ({', '.join(f'{n} {p}' for p, n in Counter(x.producer for x in pages).items())})"
    )
    print(f"first look, wall: {spread(took[0])}; CPU of all processes: {spread(took[1])}")
    print(f"a week later, wall: {spread(took[2])}; CPU: {spread(took[3])}  ({options.runs} runs)")


def _compare(pages: list[CorpusPage], home: Path, run: int) -> None:
    """Print what was found, missed and invented, by the tables that the command wrote."""
    expected = set(truth(pages))
    # One line a number: a page's change is one however many numbers it has.
    found = {
        (one["employer"], one["kind"]) for one in rows(home / "out1" / "changes.csv") if one["kind"] in TOLD
    }
    groups: dict[str, set[str]] = {}
    for one in rows(home / "out0" / "shared_counts.csv"):
        groups.setdefault(one["group"], set()).add(one["employer"])
    shared = {frozenset(one) for one in groups.values()}
    unread = [one["employer"] for one in rows(home / "out0" / "pages.csv") if one["unchecked"]]
    print(
        f"run {run + 1}: planted {len(expected)}, found {len(expected & found)}, invented {len(found - expected)}; "
        f"twins {len(twins(pages))}, found {len(twins(pages) & shared)}, invented {len(shared - twins(pages))}; "
        f"could not be checked {len(unread)}",
        flush=True,
    )
    by_name = {page.employer: page for page in pages}
    for what, some in (("missed", expected - found), ("invented", found - expected)):
        for employer, kind in sorted(some):
            print(f"  {what}: {employer} ({by_name[employer].producer}): {kind}")
    for employer in unread:
        print(f"  could not be checked: {employer} ({by_name[employer].producer})")


if __name__ == "__main__":
    main()
