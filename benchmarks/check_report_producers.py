"""The eight producers of `check_report`: each writes a summary as a file, with software that the readers do not use."""

from __future__ import annotations

import io
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.check_report_markup import blocks, docx, excel_html, html, latex
from benchmarks.check_report_summaries import Summary

CHROMIUM: Final = "/usr/bin/chromium"
_DPI: Final = 200


def command(*words: str | Path, folder: Path) -> None:
    environment = os.environ | {"HOME": str(folder), "SOURCE_DATE_EPOCH": "0"}
    subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, check=True, capture_output=True, timeout=300
    )


def chromium(made: Summary, folder: Path) -> Path:
    """Printed by a browser, with tags or without."""
    source, out = folder / "page.html", folder / "page.pdf"
    source.write_text(html(made), encoding="utf-8")
    tags = [] if made.layout.is_tagged else ["--disable-pdf-tagging"]
    command(
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
        "--no-pdf-header-footer", *tags, f"--print-to-pdf={out}", source.as_uri(), folder=folder,
    )  # fmt: skip
    return out


def weasyprint(made: Summary, folder: Path) -> Path:
    """Set by WeasyPrint, with tags or without."""
    import weasyprint as setter

    out = folder / "page.pdf"
    setter.HTML(string=html(made)).write_pdf(out, pdf_tags=made.layout.is_tagged)
    return out


def libreoffice(made: Summary, folder: Path) -> Path:
    """A document opened and saved by LibreOffice: as PDF, and some as DOCX or as a page."""
    source = folder / "source.docx"
    upright = replace(made, layout=replace(made.layout, is_transposed=False))
    source.write_bytes(docx(upright))
    tagged = '{"UseTaggedPDF":{"type":"boolean","value":"true"}}'
    target = {0: "docx", 1: "html:HTML (StarWriter)"}.get(made.seed // 8 % 6, "pdf:writer_pdf_Export")
    if made.layout.is_tagged and target.startswith("pdf"):
        target += f":{tagged}"
    command(
        "soffice", f"-env:UserInstallation={(folder / 'office').as_uri()}", "--headless", "--convert-to", target,
        "--outdir", folder / "out", source, folder=folder,
    )  # fmt: skip
    return next((folder / "out").iterdir())


def tex(made: Summary, folder: Path) -> Path:
    """Set by pdfLaTeX."""
    (folder / "page.tex").write_text(latex(made), encoding="utf-8")
    for _ in range(2):
        command("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex", folder=folder)
    return folder / "page.pdf"


def word(made: Summary, folder: Path) -> Path:
    """A DOCX of the parts that Word writes."""
    out = folder / "summary.docx"
    out.write_bytes(docx(made))
    return out


def reportlab(made: Summary, folder: Path) -> Path:
    """Drawn by ReportLab's tables, which split between rows."""
    from reportlab.lib import colors, pagesizes
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    layout = made.layout
    sheet = {
        "A4": pagesizes.A4,
        "letter": pagesizes.letter,
        "landscape": pagesizes.landscape(pagesizes.letter),
    }
    styles = getSampleStyleSheet()
    styles["BodyText"].fontSize = layout.size
    drawn: dict[str, list[tuple[Any, ...]]] = {
        "ruled": [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        "lines": [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black)],
        "plain": [],
        "striped": [("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.white, colors.lightgrey])],
    }
    out = folder / "page.pdf"
    parts: list[Any] = [Paragraph(made.title, styles["Title"])]
    for block in blocks(made):
        if isinstance(block, str):
            parts.append(Paragraph(block.replace("&", "&amp;"), styles["BodyText"]))
            continue
        parts.append(Paragraph(block.caption, styles["Heading2"]))
        wrap = styles["BodyText"]
        rows = [[Paragraph(row[0], wrap), *row[1:]] for row in block.rows]
        widths = [150, *[None] * (len(block.header) - 1)]
        size = [("FONTSIZE", (0, 0), (-1, -1), layout.size)]
        parts.append(
            Table([block.header, *rows], colWidths=widths, repeatRows=int(layout.repeats_header),
                  splitInRow=int(layout.may_split), style=[*size, *drawn[layout.style]])
        )  # fmt: skip
        parts.append(Spacer(1, 12))
    SimpleDocTemplate(str(out), pagesize=sheet[layout.sheet], invariant=1).build(parts)
    return out


def excel(made: Summary, folder: Path) -> Path:
    """A sheet that Excel saved as a page; every third one as a workbook."""
    if made.seed // 8 % 3 == 2:
        return _workbook(made, folder / "summary.xlsx")
    out = folder / "summary.htm"
    out.write_bytes(excel_html(made))
    return out


def _workbook(made: Summary, out: Path) -> Path:
    """Numbers are numbers with a format, as people type them; each family has a sheet of its own, or all share one."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(out)) as book:
        sheet, line = book.add_worksheet("Summary"), 0
        for block in (made.title, *blocks(made)):
            if isinstance(block, str):
                sheet.write(line, 0, block)
                line += 1
                continue
            if made.layout.repeats_header:
                sheet, line = book.add_worksheet(block.family), -1
            sheet.write(line + 1, 0, block.caption)
            line += 2
            for row in [block.header, *block.rows]:
                for column, text in enumerate(row):
                    _write(book, sheet, line, column, text)
                line += 1
            line += 1
    return out


def _write(book: Any, sheet: Any, line: int, column: int, text: str) -> None:
    bare = text.replace(",", "").rstrip("%")
    if not bare.replace(".", "", 1).isdigit():
        sheet.write_string(line, column, text)
        return
    decimals = len(bare.partition(".")[2])
    percent = text.endswith("%")
    shape = (
        ("#,##0" if "," in text else "0")
        + ("." + "0" * decimals if decimals else "")
        + ("%" if percent else "")
    )
    sheet.write_number(
        line, column, float(bare) / (100 if percent else 1), book.add_format({"num_format": shape})
    )


def scan(made: Summary, folder: Path) -> Path:
    """Printed, put on a scanner at 200 dots per inch, and saved as a PDF of pictures."""
    return scanned(weasyprint(made, folder), random.Random(made.seed), folder)


def scanned(printed: Path, rng: random.Random, folder: Path) -> Path:
    """Put a printed PDF on a scanner: turned a little, grey, with noise."""
    from PIL import Image, ImageFilter

    command("pdftoppm", "-r", str(_DPI), "-gray", printed, folder / "sheet", folder=folder)
    sheets = []
    for path in sorted(folder.glob("sheet*.pgm")):
        with Image.open(path) as picture:
            turned = picture.rotate(rng.uniform(-0.4, 0.4), resample=Image.Resampling.BICUBIC, fillcolor=255)
        noise = Image.effect_noise(turned.size, rng.uniform(6, 14))
        spotted = Image.blend(
            turned.filter(ImageFilter.GaussianBlur(0.5)), noise.point(lambda v: min(255, v + 110)), 0.06
        )
        jpeg = io.BytesIO()
        spotted.save(jpeg, "JPEG", quality=rng.randrange(70, 90))
        sheets.append(Image.open(jpeg))
    out = folder / "scan.pdf"
    sheets[0].save(out, save_all=True, append_images=sheets[1:], resolution=_DPI)
    return out


PRODUCERS: Final[Mapping[str, Callable[[Summary, Path], Path]]] = {
    "Chromium": chromium,
    "WeasyPrint": weasyprint,
    "LibreOffice": libreoffice,
    "LaTeX": tex,
    "Word-like DOCX": word,
    "ReportLab": reportlab,
    "Excel": excel,
    "scan": scan,
}


def produced(made: Summary, producer: str, out: Path) -> Path:
    """Write a summary by a producer and return its file, named after what it is; one that is there is kept."""
    if there := sorted(out.parent.glob(f"{out.name}.*")):
        return there[0]
    with tempfile.TemporaryDirectory() as scratch:
        path = PRODUCERS[producer](made, Path(scratch))
        target = out.with_name(f"{out.name}{path.suffix}")
        target.write_bytes(path.read_bytes())
    return target
