"""How `audit check-report` reads files of eight producers: errors on clean ones, and single faults found.

    python -m benchmarks.check_report                           # the fresh part: 100 clean files, 300 faults
    python -m benchmarks.check_report --part tuning --producers LaTeX scan --show
    python -m benchmarks.check_report --part employers          # the half to learn from of the fourth part
    python -m benchmarks.check_report --part employers --first 500000      # its other half, not looked at yet
    python -m benchmarks.check_report --files FOLDER --make     # make the files alone, or those that lack

Needs Chromium, LibreOffice, pdfLaTeX and pdftoppm, and the packages weasyprint, reportlab, python-docx,
openpyxl, xlsxwriter and Pillow.
Seeds, wordings and layouts were parted into two halves before anything was tuned; the fresh part was written when
both had been looked at. A fault counts as found where a
finding of its kind, heavier than a note and about its row, is there; an unreadable table finds nothing.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from audit_lib.check import CheckResult, SummaryFinding, check_report
from audit_lib.errors import AuditError
from benchmarks.check_report_documents import documented
from benchmarks.check_report_employers import PART, employer
from benchmarks.check_report_faults import DROPPED, FAULTS, Expected
from benchmarks.check_report_producers import PRODUCERS, produced
from benchmarks.check_report_summaries import make
from benchmarks.check_report_wordings import PARTS

CLEAN, FAULTY = 100, 300


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file to make and to check: clean, or with one fault."""

    seed: int
    part: int
    fault: str = ""

    @property
    def producer(self) -> str:
        """Producers take turns; faults do so with another step, so that each meets each."""
        return list(PRODUCERS)[(self.seed + self.seed // 240) % len(PRODUCERS)]


@dataclass(kw_only=True)
class Outcome:
    """What checking a file gave."""

    case: Case
    errors: int = 0
    warnings: int = 0
    found: bool = False
    refused: str = ""
    lines: list[str] = field(default_factory=list)


def cases(part: int, clean: int, faulty: int, first: int = 0) -> Iterator[Case]:
    """Yield clean cases, then faults in turn."""
    yield from (Case(seed=first + seed, part=part) for seed in range(clean))
    names = list(FAULTS)
    yield from (
        Case(seed=first + 10_000 + i, part=part, fault=names[i * 7 % len(names)]) for i in range(faulty)
    )


def run(case: Case, files: Path | None, make_alone: bool) -> Outcome:
    """Make a file, where it is not there yet, and check it."""
    given = employer(case.seed) if case.part == PART else None
    made = given.made if given else make(case.seed, case.part)
    expected = Expected(kinds=())
    if case.fault:
        expected = FAULTS[case.fault](made, random.Random(case.seed))
    with TemporaryDirectory() as scratch:
        name = f"{PARTS[case.part]}-{case.seed:05}-{case.producer}-{case.fault or 'clean'}"
        name = name.replace(" ", "_").replace(",", "").replace("/", "-")
        out = (files or Path(scratch)) / name
        path = documented(given, case.producer, out) if given else produced(made, case.producer, out)
        if make_alone:
            return Outcome(case=case)
        try:
            report = check_report(path, as_of=expected.as_of)
        except AuditError as error:
            return Outcome(case=case, refused=str(error).replace(str(path), name))
    return _outcome(case, report, expected)


def _outcome(case: Case, report: CheckResult, expected: Expected) -> Outcome:
    weights = Counter(finding.severity for finding in report.findings)
    return Outcome(
        case=case,
        errors=weights["error"],
        warnings=weights["warning"],
        found=any(_is_found(finding, expected) for finding in report.findings),
        lines=[
            f"{f.severity}: {f.id} {f.column} | {f.table} | {f.row} | {f.printed} | {f.recomputed} | {f.message}"
            for f in report.findings
            if f.severity != "note"
        ],
    )


def _is_found(finding: SummaryFinding, expected: Expected) -> bool:
    kind = f"{finding.id} {finding.column}" if finding.id == "field_not_found" else finding.id
    if finding.severity == "note" or kind not in expected.kinds:
        return False
    there = _plain(finding.row)
    return _plain(expected.row) in there and expected.printed in ("", finding.printed)


def _plain(text: str) -> str:
    """Bare of spaces and of what only says who is not in a category, which a finding leaves out."""
    return "".join(re.sub(r"\([^)]*\)|\bother\b", "", text.lower()).split())


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """Yield the results by producer, then by fault."""
    yield "| producer | clean files | with an error | a warning | not read | faults | found | of dropped categories |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in (*PRODUCERS, "all"):
        own = [o for o in outcomes if name in (o.case.producer, "all")]
        clean, faulty = [o for o in own if not o.case.fault], [o for o in own if o.case.fault]
        gone = [o for o in faulty if o.case.fault in DROPPED]
        yield (
            f"| {name} | {len(clean)} | {sum(o.errors > 0 for o in clean)} | {sum(o.warnings > 0 for o in clean)} | "
            f"{sum(bool(o.refused) for o in own)} | {len(faulty)} | {sum(o.found for o in faulty)} | "
            f"{sum(o.found for o in gone)} of {len(gone)} |"
        )
    missed = Counter(o.case.fault for o in outcomes if o.case.fault and not o.found)
    yield ""
    yield "Not found: " + ("; ".join(f"{name}: {n}" for name, n in missed.most_common()) or "none")


def main() -> int:
    """Make, check, print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--part", choices=PARTS, default="fresh")
    options.add_argument("--clean", type=int, default=CLEAN)
    options.add_argument("--faults", type=int, default=FAULTY)
    options.add_argument("--first", type=int, default=0, help="first seed; the held-out half has 500000")
    options.add_argument("--producers", nargs="*", choices=list(PRODUCERS), default=list(PRODUCERS))
    options.add_argument(
        "--show", action="store_true", help="what was said of clean files, and of faults not found"
    )
    options.add_argument(
        "--files", type=Path, help="folder of the files; those that are there are not made again"
    )
    options.add_argument("--make", action="store_true", help="make the files, check none")
    options.add_argument("--processes", type=int, default=1)
    given = options.parse_args()
    if given.files:
        given.files.mkdir(parents=True, exist_ok=True)
    part = PARTS.index(given.part)
    chosen = [c for c in cases(part, given.clean, given.faults, given.first) if c.producer in given.producers]
    with ProcessPoolExecutor(given.processes) as pool:
        outcomes = list(pool.map(partial(run, files=given.files, make_alone=given.make), chosen))
    if given.make:
        print(f"{len(outcomes)} files of the part {given.part} are there")
        return 0
    if given.show:
        for outcome in outcomes:
            wrong = (
                not outcome.found
                if outcome.case.fault
                else bool(outcome.errors or outcome.warnings or outcome.refused)
            )
            if wrong:
                print(outcome.case, outcome.refused, *outcome.lines, sep="\n    ")
    print(f"part: {given.part}")
    print("\n".join(table(outcomes)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
