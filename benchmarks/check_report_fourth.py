"""`audit check-report` on published summaries by a fourth author, who had seen nothing of its rules.

``python -m benchmarks.check_report_fourth --part learn|held|all``: for each of two parts 35 clean files and 70 with one
fault, each of these with its clean twin, in seven layouts: pages of employers and vendors, what Excel, Word, Google
Docs and Notion save as web pages, DOCX, XLSX, and PDF by Chromium, WeasyPrint, ReportLab and fpdf2. Needs Chromium and
the packages fpdf2, openpyxl, python-docx, reportlab, weasyprint and xlsxwriter. The same seed gives the same words and
numbers. What is rendered is kept in the folder of ``--to``; with ``--only-render`` it is left there for another
environment to check. Both parts have been looked at since they were first read: figures of today are not those of
files unseen.

Files are checked as of 20 November 2026. A clean page's own date is often of an earlier year, at which its audit was
fresh, so the finding `audit_too_old` isn't counted on clean files. It is what finds the fault `stale_audit`, where it
shows that the date was read and no more. A fault is found by an error or a warning of the right name, whatever table,
row or field it names; those that say something which is not said of the clean twin are counted as well.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.check_report_twins import Corpus, arguments, compare
from benchmarks.published_fourth.draw import AS_OF
from benchmarks.published_fourth.judge import RIGHT


def write(folder: Path, args: argparse.Namespace) -> list[dict]:
    from benchmarks.published_fourth import corpus

    seed = corpus.SEED if args.seed is None else args.seed
    return corpus.write(folder, args.part, seed, args.processes)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seed", type=int)
    compare(Corpus(AS_OF, RIGHT, write, not_counted="audit_too_old"), parser.parse_args())


if __name__ == "__main__":
    main()
