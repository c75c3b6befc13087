"""Pages as PDF: ReportLab, LaTeX source, and the programs that print: Chromium, WeasyPrint, LibreOffice; scans."""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy
import weasyprint
from PIL import Image, ImageFilter
from reportlab.lib import colors
from reportlab.lib.pagesizes import landscape, letter
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import KeepTogether, PageBreak, Paragraph, SimpleDocTemplate, Spacer
from reportlab.platypus import Table as Drawn

from benchmarks.published import tex, web
from benchmarks.published.pages import Break, Cards, Cell, Facts, Heading, Newspaper, Page, Para, Side, Table

FONT = Path("/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf")
BOLD = Path("/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf")
RULES = (
    [("GRID", (0, 0), (-1, -1), 0.5, colors.grey)],
    [
        ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
        ("LINEBELOW", (0, 0), (-1, 0), 0.7, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
    ],
    [
        ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.whitesmoke]),
        ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#cfd8e3")),
    ],
    [],
)


def escape(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"\^(\w+)\^", r"<super>\1</super>", text)


def styles() -> dict:
    if "Sans" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("Sans", str(FONT)))
        pdfmetrics.registerFont(TTFont("Sans-Bold", str(BOLD)))
        pdfmetrics.registerFontFamily(
            "Sans", normal="Sans", bold="Sans-Bold", italic="Sans", boldItalic="Sans-Bold"
        )
    sheet = getSampleStyleSheet()
    for name in ("Normal", "Heading1", "Heading2", "Heading3"):
        sheet[name].fontName = "Sans" if name == "Normal" else "Sans-Bold"
    sheet["Normal"].fontSize, sheet["Normal"].leading = 9.5, 12.5
    return sheet


def drawn(t: Table, look: int, width: float, sheet) -> list:
    rows = t.head + t.body
    wide = len(t.widths)
    size = 6.8 if wide > 8 else 8 if width < 300 else 9
    small = sheet["Normal"].clone("cell", fontSize=size, leading=size * 1.25)
    right = small.clone("right", alignment=2)
    grid = [[""] * wide for _ in rows]
    rules = [
        *RULES[look % 4],
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ]
    taken: set[tuple[int, int]] = set()
    for r, row in enumerate(rows):
        c = 0
        for item in row:
            while (r, c) in taken:
                c += 1
            taken |= {(r + i, c + j) for i in range(item.rows) for j in range(item.columns)}
            words = escape(item.text)
            bold = item.bold or (item.head and r < len(t.head))
            grid[r][c] = Paragraph(f"<b>{words}</b>" if bold else words, right if item.number else small)
            if item.rows > 1 or item.columns > 1:
                rules.append(("SPAN", (c, r), (c + item.columns - 1, r + item.rows - 1)))
            c += item.columns
    made = Drawn(
        grid,
        colWidths=[width * share / sum(t.widths) for share in t.widths],
        repeatRows=len(t.head),
        style=rules,
        hAlign="LEFT",
    )
    caption = [Paragraph(f"<b>{escape(t.caption)}</b>", sheet["Normal"])] if t.caption else []
    parts = [made, *caption] if t.below else [*caption, made]
    return [*([KeepTogether(parts)] if len(rows) < 12 and width > 400 else parts), Spacer(1, 9)]


def flow(blocks: list, look: int, width: float, sheet) -> list:
    story: list = []
    for b in blocks:
        if isinstance(b, Heading):
            story.append(Paragraph(escape(b.text), sheet[f"Heading{min(b.level, 3)}"]))
        elif isinstance(b, Para):
            style = sheet["Normal"].clone("s", fontSize=7.5, leading=9.5) if b.small else sheet["Normal"]
            story += [Paragraph(escape(b.text), style), Spacer(1, 4)]
        elif isinstance(b, Break):
            story.append(PageBreak())
        elif isinstance(b, Facts):
            if b.style in ("table", "strip"):
                pairs = b.pairs if b.style == "table" else list(zip(*b.pairs, strict=True))
                story += drawn(
                    Table([], [[Cell(text) for text in pair] for pair in pairs], [1] * len(pairs[0])),
                    0,
                    width,
                    sheet,
                )
            else:
                mark = "• " if b.style == "bullets" else ""
                story += [
                    Paragraph(
                        f"{mark}<b>{escape(k)}{'' if k.endswith('?') else ':'}</b> {escape(v)}",
                        sheet["Normal"],
                    )
                    for k, v in b.pairs
                ]
        elif isinstance(b, Table):
            story += drawn(b, look, width, sheet)
        elif isinstance(b, Side):
            each = (width - 16 * (len(b.parts) - 1)) / len(b.parts)
            row = [flow(part, look, each - 12, sheet) for part in b.parts]
            story += [
                Drawn(
                    [row],
                    colWidths=[each + 8] * len(row),
                    style=[("VALIGN", (0, 0), (-1, -1), "TOP")],
                    hAlign="LEFT",
                ),
                Spacer(1, 6),
            ]
        elif isinstance(b, Cards):
            made = [
                drawn(
                    Table(
                        [[Cell(title, columns=2, head=True)]],
                        [[Cell(k), Cell(v, number=True)] for k, v in pairs],
                        [2, 1],
                    ),
                    0,
                    width / 3 - 14,
                    sheet,
                )
                for title, pairs in b.items
            ]
            rows = [made[at : at + 3] + [""] * (3 - len(made[at : at + 3])) for at in range(0, len(made), 3)]
            story.append(
                Drawn(
                    rows,
                    colWidths=[width / 3] * 3,
                    style=[("VALIGN", (0, 0), (-1, -1), "TOP")],
                    hAlign="LEFT",
                )
            )
        elif isinstance(b, Newspaper):  # the last table in the second column
            last = max((at for at, part in enumerate(b.blocks) if isinstance(part, Heading)), default=0)
            story += flow([Side([b.blocks[:last], b.blocks[last:]])], look, width, sheet)
    return story


def reportlab(page: Page, path: Path) -> None:
    sheet = styles()
    size = landscape(letter) if page.landscape else letter
    document = SimpleDocTemplate(
        str(path),
        pagesize=size,
        leftMargin=48,
        rightMargin=48,
        topMargin=48,
        bottomMargin=48,
        title=page.title,
        invariant=1,
    )
    document.build(flow(page.blocks, page.look, size[0] - 100, sheet))


def run(command: list[str], cwd: Path, limit: int = 300) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, timeout=limit, check=False)
    if done.returncode:
        said = (done.stdout[-1500:] + done.stderr[-500:]).decode(errors="replace")
        msg = f"{command[0]}: {said}"
        raise RuntimeError(msg)


def pdf(producer: str, page: Page, path: Path, *, tagged: bool = False) -> None:
    """The page as a PDF of one of the programs that make one."""
    if producer == "reportlab":
        reportlab(page, path)
    elif producer == "weasyprint":
        markup = weasyprint.HTML(string=web.render(page))
        markup.write_pdf(str(path), pdf_variant="pdf/ua-1" if tagged else None)
    elif producer == "latex":
        latex(page, path)
    else:
        chromium(page, path)


def latex(page: Page, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.tex"
        source.write_text(tex.latex(page))
        for _ in range(2 if "longtable}[" in source.read_text() else 1):
            run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name], Path(folder))
        shutil.move(str(source.with_suffix(".pdf")), path)


def chromium(page: Page, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(web.render(page))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        run(
            [
                "chromium",
                *flags,
                f"--user-data-dir={folder}/profile",
                f"--print-to-pdf={path}",
                source.as_uri(),
            ],
            Path(folder),
        )


def office(sources: list[Path], target: Path, via: str) -> None:
    """PDFs of Word documents by LibreOffice, by way of its own format where `via` is odt; the documents go."""
    given = [source.with_suffix(f".{via}") for source in sources]
    steps = [("odt", sources), ("pdf", given)] if via == "odt" else [("pdf", given)]
    with tempfile.TemporaryDirectory() as folder:
        for form, paths in steps:
            profile = f"-env:UserInstallation=file://{folder}/profile"
            command = ["soffice", profile, "--headless", "--convert-to", form, "--outdir", str(target)]
            run([*command, *map(str, paths)], Path(folder), 60 + 20 * len(paths))
    for path in {*sources, *given}:
        path.unlink()


def scan(pdf: Path, path: Path, seed: int) -> None:
    """A picture of the pages at 200 dots per inch: slightly turned, with noise, as JPEG in a PDF."""
    rng = random.Random(seed)
    noise = numpy.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        run(["pdftoppm", "-r", "200", "-gray", str(pdf), f"{folder}/page"], Path(folder))
        sheets = []
        turn, spread, quality = rng.uniform(-0.5, 0.5), rng.uniform(3, 9), rng.randrange(60, 85)
        for file in sorted(Path(folder).glob("page*")):
            picture = (
                Image.open(file).convert("L").rotate(turn, resample=Image.Resampling.BICUBIC, fillcolor=252)
            )
            picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.6)))
            values = numpy.asarray(picture, dtype=float) + noise.normal(
                0, spread, (picture.height, picture.width)
            )
            held = io.BytesIO()
            Image.fromarray(values.clip(0, 255).astype("uint8")).save(
                held, "JPEG", quality=quality, dpi=(200, 200)
            )
            sheets.append(Image.open(held))
        sheets[0].save(path, "PDF", resolution=200, save_all=True, append_images=sheets[1:])
