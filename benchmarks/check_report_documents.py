"""Eight producers of the fourth part of `check_report`: each writes headings, words and grids as a file."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.check_report_employers import Employer, Grid, Heading, Pair, arranged, spots
from benchmarks.check_report_markup import SHEETS, STYLES, TEX_MARKS
from benchmarks.check_report_producers import CHROMIUM, command, scanned
from benchmarks.check_report_workbooks import excel, workbook


def _flat(given: Employer) -> Iterator[str | Heading | Grid]:
    """Yield blocks with tables of a pair one after the other, and captions as words of their place."""
    for block in arranged(given):
        for one in (block.left, block.right) if isinstance(block, Pair) else (block,):
            if isinstance(one, Grid) and one.place in ("heading", "caption"):
                yield Heading(text=one.caption)
            elif isinstance(one, Grid) and one.place == "paragraph":
                yield one.caption
            yield one
            if isinstance(one, Grid) and one.place == "below":
                yield one.caption


def _html_grid(grid: Grid) -> str:
    caption = {"heading": "<h2>{}</h2>", "paragraph": "<p><b>{}</b></p>"}.get(grid.place, "").format(
        escape(grid.caption)
    )
    inner = f"<caption>{escape(grid.caption)}</caption>" if grid.place == "caption" else ""
    rows = []
    for number, row in enumerate(grid.rows):
        name = "th" if number < grid.headers else "td"
        texts = []
        for spot in row:
            if spot is not None:
                spans = (f" colspan={spot.across}" if spot.across > 1 else "") + (
                    f" rowspan={spot.down}" if spot.down > 1 else ""
                )
                texts.append(f"<{name}{spans}>{escape(spot.text).replace(chr(10), '<br>')}</{name}>")
        rows.append(f"<tr>{''.join(texts)}</tr>\n")
    head, body = "".join(rows[: grid.headers]), "".join(rows[grid.headers :])
    below = f"<p>{escape(grid.caption)}</p>" if grid.place == "below" else ""
    return f"{caption}<table>{inner}<thead>{head}</thead><tbody>{body}</tbody></table>{below}\n"


def html(given: Employer) -> str:
    """A page as somebody writes it for a browser."""
    layout = given.made.layout
    body = []
    for block in arranged(given):
        if isinstance(block, Heading):
            body.append(f"<h1>{escape(block.text)}</h1>")
        elif isinstance(block, str):
            body.append(f"<p>{escape(block)}</p>")
        elif isinstance(block, Grid):
            body.append(_html_grid(block))
        else:
            body.append(
                f"<div class=pair><div>{_html_grid(block.left)}</div><div>{_html_grid(block.right)}</div></div>"
            )
    breaks = "" if layout.may_split else "tr { break-inside: avoid }"
    sheet = (
        "letter landscape"
        if any(isinstance(b, Pair) or (isinstance(b, Grid) and b.width > 8) for b in arranged(given))
        else SHEETS[layout.sheet]
    )
    style = (
        f"@page {{ size: {sheet}; margin: 16mm }} body {{ font: {layout.size}pt '{layout.font}' }} "
        ".pair { display: flex; gap: 12mm } "
        f"th {{ text-align: left }} h1 {{ font-size: 140% }} h2 {{ font-size: 115% }} {STYLES[layout.style]} {breaks}"
    )
    return (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{escape(given.made.title)}</title>"
        f"<style>{style}</style></head><body>{''.join(body)}</body></html>"
    )


def _chromium(given: Employer, folder: Path) -> Path:
    source, out = folder / "page.html", folder / "page.pdf"
    source.write_text(html(given), encoding="utf-8")
    tags = [] if given.made.layout.is_tagged or given.made.seed % 2 else ["--disable-pdf-tagging"]
    command(
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
        *tags, f"--print-to-pdf={out}", source.as_uri(), folder=folder,
    )  # fmt: skip
    return out


def _weasyprint(given: Employer, folder: Path) -> Path:
    import weasyprint as setter

    out = folder / "page.pdf"
    setter.HTML(string=html(given)).write_pdf(out, pdf_tags=given.made.layout.is_tagged)
    return out


def _docx(given: Employer, folder: Path) -> Path:
    """A document by python-docx, with Word's own styles."""
    import docx
    from docx.enum.section import WD_ORIENT

    made = given.made
    document = docx.Document()
    if any(isinstance(block, Grid) and block.width > 8 for block in _flat(given)):
        section = document.sections[0]
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
    styles = {
        "ruled": "Table Grid",
        "lines": "Light List",
        "plain": "Normal Table",
        "striped": "Light Shading",
    }
    for block in _flat(given):
        if isinstance(block, Heading):
            document.add_heading(block.text, level=2)
        elif isinstance(block, str):
            document.add_paragraph(block)
        else:
            table = document.add_table(len(block.rows), block.width)
            table.style = styles[made.layout.style]
            for y, x, spot in spots(block):
                cell = table.cell(y, x)
                if spot.across > 1 or spot.down > 1:
                    cell = cell.merge(table.cell(y + spot.down - 1, x + spot.across - 1))
                cell.text = spot.text
            document.add_paragraph("")
    out = folder / "summary.docx"
    document.save(str(out))
    return out


def _libreoffice(given: Employer, folder: Path) -> Path:
    """A document or a workbook that LibreOffice exports as PDF, or a document that it saves as a page."""
    way = given.made.seed // 8 % 4
    source = workbook(given, folder) if way == 1 else _docx(given, folder)
    target = {1: "pdf:calc_pdf_Export", 2: "html:HTML (StarWriter)"}.get(way, "pdf:writer_pdf_Export")
    if way == 3:
        target += ':{"UseTaggedPDF":{"type":"boolean","value":"false"}}'
    command(
        "soffice", f"-env:UserInstallation={(folder / 'office').as_uri()}", "--headless", "--convert-to", target,
        "--outdir", folder / "out", source, folder=folder,
    )  # fmt: skip
    return next(p for p in (folder / "out").iterdir() if p.suffix in (".pdf", ".html"))


def _tex(text: str) -> str:
    return text.translate(TEX_MARKS).replace("¹", "$^1$").replace("—", "---").replace("\n", " ")


def _latex(given: Employer, folder: Path) -> Path:
    layout = given.made.layout
    wide = any(isinstance(block, Grid) and block.width > 8 for block in _flat(given))
    paper = "letterpaper,landscape" if wide else {"A4": "a4paper"}.get(layout.sheet, "letterpaper")
    ruled, lined = layout.style == "ruled", layout.style == "lines"
    parts = []
    for block in _flat(given):
        if isinstance(block, Heading):
            parts.append(f"\\subsection*{{{_tex(block.text)}}}\n")
            continue
        if isinstance(block, str):
            parts.append(f"{_tex(block)}\n\n")
            continue
        bar = "|" if ruled else ""
        first = 0.9 / (block.width + 1)
        columns = (
            bar
            + f"p{{{1.6 * first:.3f}\\linewidth}}{bar}"
            + f"p{{{0.82 * first:.3f}\\linewidth}}{bar}" * (block.width - 1)
        )
        lines = []
        for row in block.rows:
            texts, x = [], 0
            while x < len(row):
                spot = row[x]
                across = spot.across if spot else 1
                text = _tex(spot.text) if spot else ""
                texts.append(
                    f"\\multicolumn{{{across}}}{{{bar if x == 0 else ''}l{bar}}}{{{text}}}"
                    if across > 1
                    else text
                )
                x += across
            lines.append(" & ".join(texts) + r" \\")
        rule, middle = (r"\hline", r"\hline") if ruled else (r"\toprule", r"\midrule")
        between = r"\hline" if ruled else r"\midrule" if lined else ""
        head, body = "\n".join(lines[: block.headers]), f"\n{between}\n".join(lines[block.headers :])
        again = r"\endhead" if layout.repeats_header else r"\endfirsthead"
        end = r"\hline" if ruled else r"\bottomrule"
        parts.append(
            f"\\begin{{longtable}}[l]{{{columns}}}\n{rule}\n{head}\n{middle}\n{again}\n{body}\n{end}\n\\end{{longtable}}\n"
        )
    (folder / "page.tex").write_text(
        f"\\documentclass[10pt,{paper}]{{article}}\n\\usepackage[margin=20mm]{{geometry}}\\usepackage[utf8]{{inputenc}}\n"
        f"\\usepackage[T1]{{fontenc}}\\usepackage{{longtable,booktabs}}\\setlength{{\\parindent}}{{0pt}}\\raggedright\n"
        f"\\begin{{document}}\\small\n{''.join(parts)}\\end{{document}}\n", encoding="utf-8",
    )  # fmt: skip
    for _ in range(2):
        command("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex", folder=folder)
    return folder / "page.pdf"


def _reportlab(given: Employer, folder: Path) -> Path:
    from reportlab.lib import colors, pagesizes
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    layout, styles = given.made.layout, getSampleStyleSheet()
    styles["BodyText"].fontSize = 9
    drawn: dict[str, list[tuple[Any, ...]]] = {
        "ruled": [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        "lines": [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black)],
        "plain": [],
        "striped": [("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.white, colors.lightgrey])],
    }
    parts: list[Any] = []
    wide = False
    for block in _flat(given):
        if isinstance(block, Heading):
            parts.append(Paragraph(escape(block.text), styles["Heading2"]))
        elif isinstance(block, str):
            parts.append(Paragraph(escape(block), styles["BodyText"]))
        else:
            wide |= block.width > 7
            spans = [
                ("SPAN", (x, y), (x + spot.across - 1, y + spot.down - 1))
                for y, x, spot in spots(block)
                if spot.across * spot.down > 1
            ]
            rows = [
                [
                    (
                        ""
                        if spot is None
                        else Paragraph(escape(spot.text), styles["BodyText"])
                        if x == 0 and spot.across == 1
                        else spot.text
                    )
                    for x, spot in enumerate(row)
                ]
                for row in block.rows
            ]
            style = [
                ("FONTSIZE", (0, 0), (-1, -1), 9),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE" if given.made.seed % 2 else "TOP"),
                *spans,
                *drawn[layout.style],
            ]
            parts += [
                Table(
                    rows,
                    colWidths=[130, *[None] * (block.width - 1)],
                    repeatRows=block.headers if layout.repeats_header else 0,
                    style=style,
                ),
                Spacer(1, 10),
            ]
    out = folder / "page.pdf"
    sheet = pagesizes.landscape(pagesizes.letter) if wide else pagesizes.letter
    SimpleDocTemplate(str(out), pagesize=sheet, invariant=1).build(parts)
    return out


def _scan(given: Employer, folder: Path) -> Path:
    return scanned(_weasyprint(given, folder), random.Random(given.made.seed), folder)


PRODUCERS: Final[Mapping[str, Callable[[Employer, Path], Path]]] = {
    "Chromium": _chromium,
    "WeasyPrint": _weasyprint,
    "LibreOffice": _libreoffice,
    "LaTeX": _latex,
    "Word-like DOCX": _docx,
    "ReportLab": _reportlab,
    "Excel": excel,
    "scan": _scan,
}


def documented(given: Employer, producer: str, out: Path) -> Path:
    """Write a summary by a producer and return its file, named after what it is; one that is there is kept."""
    if there := sorted(out.parent.glob(f"{out.name}.*")):
        return there[0]
    with TemporaryDirectory() as scratch:
        path = PRODUCERS[producer](given, Path(scratch))
        target = out.with_name(f"{out.name}{path.suffix}")
        target.write_bytes(path.read_bytes())
    return target
