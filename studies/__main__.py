"""Run the studies and write their pages: ``python -m studies [NAME ...]``; ``make studies`` does all of them."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from studies.pages import FOLDER, IMAGES, index_of, pages_of
from studies.results import StudyError, results_of
from studies.study import ROOT, find_studies


def main() -> int:
    """Run the studies that are named, all of them unless any is; return 1 if one failed."""
    there = find_studies()
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(there)}")
    parser.add_argument("--store", type=Path, default=ROOT / ".audit" / "studies" / "store")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder for the pages")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in there]:
        parser.error(f"no study is called {', '.join(unknown)}; there are {', '.join(there)}")
    chosen = options.names or list(there)
    failed = []
    for place, name in enumerate(chosen, start=1):
        study, started = there[name], time.monotonic()
        _say(
            f"study {place} of {len(chosen)}: {name}; its models take {study.takes}, unless they were asked before"
        )
        results = results_of(name, study, options.store)
        try:
            results.run()
            pages = pages_of(results)
        except StudyError as error:
            failed.append(name)
            _say(f"study {name} FAILED: {error}")
            continue
        _write(options.docs, name, pages)
        _say(f"study {name}: done in {time.monotonic() - started:,.0f} s; {options.docs / FOLDER / name}.md")
    (options.docs / FOLDER / "index.md").write_bytes(index_of(there))
    if failed:
        _say(
            f"failed: {', '.join(failed)}; what is complete is kept, so fix the cause and run the same command again"
        )
    return 1 if failed else 0


def _write(docs: Path, name: str, pages: dict[str, bytes]) -> None:
    """Write a page and its figures, and take away figures that it no longer shows."""
    for old in (docs / IMAGES).glob(f"{name}-*.svg"):
        old.unlink()
    for path, content in pages.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_bytes(content)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
