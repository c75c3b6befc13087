"""`audit check-report` on published summaries by a fifth author, who had seen nothing of its rules or of earlier files.

``python -m benchmarks.check_report_fifth --part learn|held|all``: 100 clean files, and 300 with one fault, each with
its clean twin, in eighteen layouts: pages by hand, by site builders and by React, PDF by Chromium, WeasyPrint,
LibreOffice, LaTeX and ReportLab, DOCX, XLSX, pages saved by Excel, CSV, and scans at 200 dpi. Needs the programs
chromium, soffice, pdflatex (longtable, booktabs, caption, lmodern) and pdftoppm, the Liberation and DejaVu fonts, and
the packages numpy, openpyxl, pillow, python-docx, reportlab and weasyprint. The same seed gives the same words and
numbers. What is rendered is kept in the folder of ``--to``.

Files are checked as of 20 November 2026. Before a file is written, `benchmarks.published_fifth.check` counts its people
again and works out its rates and ratios in decimals, apart from the code that prints them.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

from benchmarks.check_report_twins import Corpus, arguments, compare
from benchmarks.published_fifth.judge import RIGHT

AS_OF = dt.date(2026, 11, 20)


def write(folder: Path, args: argparse.Namespace) -> list[dict]:
    from benchmarks.published_fifth import corpus

    return corpus.write(folder, args.seed, args.layouts or (), args.each)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--seed", default="fifth", help="another text gives other files (default: %(default)s)"
    )
    parser.add_argument(
        "--each", type=int, default=0, help="at most so many files of each layout and producer"
    )
    compare(Corpus(AS_OF, RIGHT, write), parser.parse_args())


if __name__ == "__main__":
    main()
