"""Summaries of `check_report` as markup: a page of HTML, what Excel saves as a page, LaTeX, and WordprocessingML."""

from __future__ import annotations

import io
import zipfile
from html import escape
from typing import Final

from benchmarks.check_report_summaries import Printed, Summary

SHEETS: Final = {"A4": "A4", "letter": "letter", "landscape": "letter landscape"}
STYLES: Final = {
    "ruled": "td, th { border: 1px solid #444; padding: 3px 6px } table { border-collapse: collapse }",
    "lines": "td, th { border-bottom: 1px solid #444; padding: 3px 10px } table { border-collapse: collapse }",
    "plain": "td, th { padding: 3px 12px }",
    "striped": "td, th { padding: 4px 10px } table { border-collapse: collapse } "
    "tr:nth-child(even) { background: #e8e8e8 }",
}


def blocks(made: Summary) -> list[str | Printed]:
    """Return paragraphs and tables in their order on the page: words, text that fills, then the tables."""
    return [*made.words, *made.fill[: made.layout.fills], *made.tables]


def transposed(table: Printed) -> tuple[list[str], list[list[str]]]:
    """Return header and rows with categories as columns."""
    header = [table.header[0], *(" ".join(line.label) for line in table.lines)]
    labels = len(table.lines[0].label)
    rows = [[name, *(line.cells[i] for line in table.lines)] for i, name in enumerate(table.header[labels:])]
    return header, rows


def html(made: Summary) -> str:
    """A page as an author writes it, for a browser or another setter of pages."""
    layout = made.layout
    breaks = "" if layout.may_split else "tr { break-inside: avoid }"
    head = "" if layout.repeats_header else "thead { display: table-row-group }"
    body = [f"<h1>{escape(made.title)}</h1>"]
    for block in blocks(made):
        if isinstance(block, str):
            body.append(f"<p>{escape(block)}</p>")
            continue
        names = "".join(f"<th>{escape(text)}</th>" for text in block.header)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>\n" for row in block.rows
        )
        body.append(
            f"<h2>{escape(block.caption)}</h2>\n<table><thead><tr>{names}</tr></thead><tbody>\n{rows}</tbody></table>"
        )
    style = (
        f"@page {{ size: {SHEETS[layout.sheet]}; margin: 18mm }} body {{ font: {layout.size}pt '{layout.font}' }} "
        f"th {{ text-align: left }} {STYLES[layout.style]} {breaks} {head}"
    )
    return (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{escape(made.title)}</title>"
        f"<style>{style}</style></head><body>{''.join(body)}</body></html>"
    )


def excel_html(made: Summary) -> bytes:
    """A sheet saved as a web page: one table of a grid, with Excel's own attributes, in its own encoding."""
    columns = max(
        len(transposed(table)[0]) if made.layout.is_transposed else len(table.header) for table in made.tables
    )
    lines: list[str] = []

    def line(texts: list[str], across: int = 1) -> None:
        cells = []
        for text in texts:
            kind = " align=right class=xl66 x:num" if text[:1].isdigit() else " class=xl65"
            span = f" colspan={across}" if across > 1 else ""
            cells.append(f"  <td{kind}{span} style='height:15.0pt'>{escape(text)}</td>\n")
        blanks = columns - len(texts) * across
        cells += ["  <td class=xl65></td>\n"] * blanks
        lines.append(f" <tr height=20 style='height:15.0pt'>\n{''.join(cells)} </tr>\n")

    line([made.title], columns)
    for words in made.words:
        line([words], columns)
    for table in made.tables:
        line([])
        line([table.caption], columns)
        header, rows = transposed(table) if made.layout.is_transposed else (table.header, table.rows)
        for row in [header, *rows]:
            line(row)
    page = (
        '<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
        'xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns="http://www.w3.org/TR/REC-html40">\n<head>\n'
        '<meta http-equiv=Content-Type content="text/html; charset=windows-1252">\n'
        "<meta name=ProgId content=Excel.Sheet>\n"
        '<meta name=Generator content="Microsoft Excel 15">\n'
        '<style><!--table {mso-displayed-decimal-separator:"\\.";} .xl66 {mso-number-format:"0\\.0%";}--></style>\n'
        "<!--[if gte mso 9]><xml><x:ExcelWorkbook></x:ExcelWorkbook></xml><![endif]-->\n"
        f"</head>\n<body link=blue vlink=purple>\n<table border=0 cellpadding=0 cellspacing=0 width=640 "
        f"style='border-collapse:collapse;table-layout:fixed'>\n"
        f" <col width=64 span={columns} style='width:48pt'>\n{''.join(lines)}"
        " <![if supportMisalignedColumns]>\n <tr height=0 style='display:none'>\n"
        f"{'  <td width=64></td>' * columns}\n </tr>\n <![endif]>\n</table>\n</body>\n</html>\n"
    )
    return page.encode("cp1252")


TEX_MARKS: Final = str.maketrans({c: f"\\{c}" for c in "#$%&_{}"} | {"~": r"\textasciitilde{}"})


def latex(made: Summary) -> str:
    """A document with a long table for each table."""
    layout = made.layout
    paper = {"A4": "a4paper", "letter": "letterpaper", "landscape": "letterpaper,landscape"}[layout.sheet]
    size = {9: "10pt", 10: "10pt", 11: "11pt", 12: "12pt"}[layout.size]
    ruled, lined = layout.style == "ruled", layout.style in ("lines", "striped")
    font = r"\renewcommand{\familydefault}{\sfdefault}" if layout.font.endswith("Sans") else ""
    parts = []
    for block in blocks(made):
        if isinstance(block, str):
            parts.append(f"{block.translate(TEX_MARKS)}\n\n")
            continue
        numbers = len(block.lines[0].cells)
        widths = (
            ["p{0.42\\linewidth}"]
            if len(block.header) == numbers + 1
            else ["p{0.1\\linewidth}", "p{0.32\\linewidth}"]
        )
        line = "|" if ruled else ""
        columns = line + "".join(f"{width}{line}" for width in [*widths, *["r"] * numbers])
        rule, middle = (r"\hline", r"\hline") if ruled else (r"\toprule", r"\midrule")
        head = " & ".join(f"\\shortstack[l]{{{text.translate(TEX_MARKS)}}}" for text in block.header) + r" \\"
        again = r"\endhead" if layout.repeats_header else r"\endfirsthead"
        rows = [" & ".join(text.translate(TEX_MARKS) for text in row) + r" \\" for row in block.rows]
        between = r"\hline" if ruled else r"\midrule" if lined else ""
        body = f"\n{between}\n".join(rows)
        end = r"\hline" if ruled else r"\bottomrule"
        parts.append(
            f"\\section*{{{block.caption.translate(TEX_MARKS)}}}\n\\begin{{longtable}}[l]{{{columns}}}\n{rule}\n{head}\n"
            f"{middle}\n{again}\n{body}\n{end}\n\\end{{longtable}}\n"
        )
    return (
        f"\\documentclass[{size},{paper}]{{article}}\n\\usepackage[margin=22mm]{{geometry}}\n"
        f"\\usepackage[T1]{{fontenc}}\\usepackage{{longtable,booktabs}}\\setlength{{\\parindent}}{{0pt}}{font}\n"
        f"\\begin{{document}}\n\\section*{{{made.title.translate(TEX_MARKS)}}}\n{''.join(parts)}\\end{{document}}\n"
    )


_W: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PARTS: Final = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
}


def _runs(text: str, size: int, bold: bool = False) -> str:
    """Words as runs; Word cuts them in the middle of a word where somebody edited it."""
    style = f'<w:rPr>{"<w:b/>" if bold else ""}<w:sz w:val="{2 * size}"/></w:rPr>'
    at = len(text) // 2
    halves = (text[:at], text[at:]) if len(text) > 3 else (text,)
    runs = (f'<w:r>{style}<w:t xml:space="preserve">{escape(half)}</w:t></w:r>' for half in halves)
    return '<w:proofErr w:type="spellStart"/>'.join(runs)


def docx(made: Summary) -> bytes:
    """A document as Word writes it, from its parts."""
    layout, size = made.layout, made.layout.size
    edge = '<w:{0} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
    sides = {
        "ruled": ("top", "left", "bottom", "right", "insideH", "insideV"),
        "lines": ("top", "bottom", "insideH"),
    }.get(layout.style, ())
    borders = f"<w:tblBorders>{''.join(edge.format(side) for side in sides)}</w:tblBorders>" if sides else ""
    body = [f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{_runs(made.title, size + 4, True)}</w:p>']
    for block in blocks(made):
        if isinstance(block, str):
            body.append(f"<w:p>{_runs(block, size)}</w:p>")
            continue
        header, rows = transposed(block) if layout.is_transposed else (block.header, block.rows)
        width = 9000 // len(header)
        lines = []
        for number, row in enumerate([header, *rows]):
            facts = "" if layout.may_split else "<w:cantSplit/>"
            facts += "<w:tblHeader/>" if layout.repeats_header and number == 0 else ""
            cells = "".join(
                f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
                f"<w:p>{_runs(text, size, number == 0)}</w:p></w:tc>"
                for text in row
            )
            lines.append(f"<w:tr>{f'<w:trPr>{facts}</w:trPr>' if facts else ''}{cells}</w:tr>")
        grid = f'<w:gridCol w:w="{width}"/>' * len(header)
        body.append(
            f'<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr>{_runs(block.caption, size + 1, True)}</w:p>'
            f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/>{borders}</w:tblPr><w:tblGrid>{grid}</w:tblGrid>'
            f"{''.join(lines)}</w:tbl><w:p/>"
        )
    wide, high = {"A4": (11906, 16838), "letter": (12240, 15840), "landscape": (15840, 12240)}[layout.sheet]
    margins = " ".join(f'w:{side}="1100"' for side in ("top", "right", "bottom", "left"))
    page = f'<w:sectPr><w:pgSz w:w="{wide}" w:h="{high}"/><w:pgMar {margins}/></w:sectPr>'
    document = (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="{_W}"><w:body>'
        f"{''.join(body)}{page}</w:body></w:document>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in (_PARTS | {"word/document.xml": document}).items():
            package.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()
