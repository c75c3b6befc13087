"""Run the producer of each file. LibreOffice files are collected and converted together."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.published_fifth.model import Doc
from benchmarks.published_fifth.render_docx import write_docx
from benchmarks.published_fifth.render_html import html_text
from benchmarks.published_fifth.render_latex import latex_text
from benchmarks.published_fifth.render_reportlab import write_reportlab
from benchmarks.published_fifth.render_sheets import csv_text, excel_html, write_xlsx
from benchmarks.published_fifth.scan import scan_pdf, scan_png

ENDINGS = {
    "html_hand": "html",
    "html_builder": "html",
    "html_react": "html",
    "excel_html": "htm",
    "docx": "docx",
    "xlsx": "xlsx",
    "csv": "csv",
    "scan_png": "png",
}
ONE_PAGE = {"plain", "minimal", "card"}


class TooLongError(Exception):
    """The page does not fit on one sheet."""


def ending(producer: str) -> str:
    """The file ending of a producer."""
    return ENDINGS.get(producer, "pdf")


def chromium(html: Path, pdf: Path) -> None:
    """Print a page with Chromium."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={home}",
                "--no-pdf-header-footer",
                f"--print-to-pdf={pdf}",
                html.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def latex(text: str, folder: Path, pdf: Path) -> None:
    """Run pdflatex until the column widths are settled."""
    (folder / "page.tex").write_text(text, encoding="utf-8")
    for _ in range(3):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
            cwd=folder,
            capture_output=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000"},
            timeout=120,
        )
        if done.returncode:
            raise RuntimeError(f"pdflatex failed: {done.stdout.decode(errors='replace')[-1500:]}")
    shutil.copy(folder / "page.pdf", pdf)


class Producer:
    """Write files; LibreOffice's wait until the end."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Path, Path]] = []
        self._folder = tempfile.TemporaryDirectory()
        self.later = Path(self._folder.name)

    def office(self, source: Path, target: Path) -> None:
        """Put a file on the list of those to convert."""
        self.waiting.append((source, target))

    def finish(self) -> None:
        """Convert all files that wait for LibreOffice, which is the last thing that is done."""
        out = self.later / "out"
        for ending_ in ("docx", "odt", "xlsx"):
            todo = [source for source, _ in self.waiting if source.suffix == "." + ending_]
            for at in range(0, len(todo), 40):
                subprocess.run(
                    [
                        "soffice",
                        "--headless",
                        f"-env:UserInstallation={(self.later / 'profile').as_uri()}",
                        "--convert-to",
                        "pdf",
                        "--outdir",
                        str(out),
                        *map(str, todo[at : at + 40]),
                    ],
                    check=True,
                    capture_output=True,
                    timeout=900,
                )
        for source, target in self.waiting:
            shutil.move(str(out / (source.stem + ".pdf")), target)
        self._folder.cleanup()

    def write(self, doc: Doc, producer: str, target: Path, seed: str) -> None:
        """Write one file."""
        if producer in ("html_hand", "html_builder", "html_react"):
            target.write_text(html_text(doc, producer[5:]), encoding="utf-8")
        elif producer == "excel_html":
            target.write_text(excel_html(doc), encoding="utf-8")
        elif producer == "csv":
            target.write_text(csv_text(doc), encoding="utf-8", newline="")
        elif producer == "docx":
            write_docx(doc, target)
        elif producer == "xlsx":
            write_xlsx(doc, target)
        elif producer == "reportlab_pdf":
            write_reportlab(doc, target)
        elif producer == "libreoffice_pdf":
            self._for_office(doc, target)
        else:
            with tempfile.TemporaryDirectory() as folder:
                self._paper(doc, producer, target, seed, Path(folder))

    def _for_office(self, doc: Doc, target: Path) -> None:
        """A Word file or a workbook to be exported as PDF."""
        name = f"{target.parent.name}-{target.stem}"
        if doc.theme == "book":
            source = self.later / f"{name}.xlsx"
            write_xlsx(doc, source)
        else:
            source = self.later / f"{name}.docx"
            write_docx(doc, source)
        self.office(source, target)

    def _paper(self, doc: Doc, producer: str, target: Path, seed: str, folder: Path) -> None:
        """PDF by Chromium, WeasyPrint or LaTeX, and scans of such pages."""
        scan = producer.startswith("scan")
        pdf = folder / "made.pdf" if scan else target
        tight = scan and doc.theme in ONE_PAGE
        if producer == "latex_pdf" or (scan and doc.theme == "letter"):
            latex(latex_text(doc, rules=doc.theme == "families", serif=doc.theme != "matrix"), folder, pdf)
        elif scan and doc.theme == "card":
            write_reportlab(doc, pdf, tight=True)
        elif producer == "weasyprint_pdf" or (scan and doc.theme == "minimal"):
            from weasyprint import HTML  # loads slowly

            HTML(string=html_text(doc, "print", tight)).write_pdf(str(pdf))
        else:
            (folder / "page.html").write_text(html_text(doc, "print", tight), encoding="utf-8")
            chromium(folder / "page.html", pdf)
        if producer == "scan_png":
            if scan_png(pdf, folder, target) > 1:
                raise TooLongError("more than one page")
        elif producer == "scan_pdf":
            scan_pdf(pdf, folder, target, seed)
