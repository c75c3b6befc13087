"""Write a page as LaTeX."""

from __future__ import annotations

from benchmarks.published_fifth.model import (
    Block,
    Break,
    Bullets,
    Cell,
    Doc,
    Fold,
    Grid,
    Heading,
    Pairs,
    Para,
)

SPECIAL = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "§": r"\S{}",
    "—": "---",
    "–": "--",
    "©": r"\copyright{}",
    "|": r"\textbar{}",
}


def tex(text: str) -> str:
    """Text with LaTeX's special signs written out."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _row(row: list[Cell], pending: list[int], stub: str) -> str:
    """A row; pending counts the rows that cells above still cover."""
    out: list[str] = []
    at = 0
    for cell in row:
        while at < len(pending) and pending[at] > 0:
            pending[at] -= 1
            out.append("")
            at += 1
        text = tex(cell.text)
        text = rf"\textbf{{{text}}}" if cell.head and stub == "head" else text
        if cell.span > 1:
            text = rf"\multicolumn{{{cell.span}}}{{{'c' if stub == 'head' else 'l'}}}{{{text}}}"
        out.append(text)
        for place in range(at, at + cell.span):
            pending[place] = cell.down - 1
        at += cell.span
    while at < len(pending) and pending[at] > 0:
        pending[at] -= 1
        out.append("")
        at += 1
    return " & ".join(out) + r" \\"


def grid_tex(grid: Grid, rules: bool, room: float) -> str:
    """A table that may run over pages, in so many centimetres."""
    width = grid.columns()
    stubs = 0
    for row in grid.body:
        heads = [cell for cell in row if cell.head and cell.span == 1]
        if len(heads) >= 1:
            stubs = max(stubs, 2 if len(heads) > 1 or (row[0].down > 1) else 1)
    stubs = max(stubs, 1)
    first = (4.4 if stubs == 1 else 3.0) if width < 8 else 3.6
    free = room - first * stubs - 0.45 * width
    one = min(2.6, free / (width - stubs))
    sizes = [rf">{{\raggedright\arraybackslash}}p{{{first}cm}}"] * stubs
    numbers = [rf">{{\raggedleft\arraybackslash}}p{{{one:.2f}cm}}"] * (width - stubs)
    sep = "|" if rules else ""
    spec = sep + sep.join(sizes + numbers) + sep
    line = r"\hline" if rules else ""
    top, mid, end = (r"\hline", r"\hline", r"\hline") if rules else (r"\toprule", r"\midrule", r"\bottomrule")
    pending = [0] * width
    head = "\n".join(_row(row, pending, "head") for row in grid.head)
    pending = [0] * width
    body = "\n".join(_row(row, pending, "body") + (line if not any(pending) else "") for row in grid.body)
    caption = rf"\caption*{{{tex(grid.caption)}}}\\" if grid.caption else ""
    notes = "".join(rf"\par\noindent{{\footnotesize {tex(note)}}}\par" for note in grid.notes)
    return (
        rf"\begin{{longtable}}{{{spec}}}{caption}{top}"
        + "\n"
        + head
        + mid
        + "\n"
        + r"\endhead"
        + "\n"
        + body
        + end
        + "\n"
        + r"\end{longtable}"
        + notes
    )


def block_tex(block: Block, rules: bool, room: float) -> str:
    """One block."""
    if isinstance(block, Heading):
        return (
            {1: r"\section*", 2: r"\subsection*"}.get(block.level, r"\subsubsection*")
            + "{"
            + tex(block.text)
            + "}"
        )
    if isinstance(block, Para):
        return (r"{\small " + tex(block.text) + r"\par}") if block.small else tex(block.text) + "\n"
    if isinstance(block, Bullets):
        return r"\begin{itemize}" + "".join(rf"\item {tex(item)}" for item in block.items) + r"\end{itemize}"
    if isinstance(block, Pairs):
        if block.shape == "lines":
            return (
                r"\noindent "
                + r"\\ ".join(rf"\textbf{{{tex(key)}:}} {tex(text)}" for key, text in block.items)
                + "\n"
            )
        rows = "".join(rf"{tex(key)} & {tex(text)} \\ " for key, text in block.items)
        return r"\noindent\begin{tabular}{p{6.2cm}p{9cm}}" + rows + r"\end{tabular}" + "\n"
    if isinstance(block, Fold):
        return "\n".join(
            "\n".join(block_tex(one, rules, room) for one in blocks) for _, blocks in block.parts
        )
    if isinstance(block, Break):
        return r"\clearpage"
    return grid_tex(block, rules, room)


def latex_text(doc: Doc, rules: bool, serif: bool) -> str:
    """The whole document."""
    paper = "a4paper" if doc.paper == "a4" else "letterpaper"
    room = {(False, False): 17.1, (True, False): 16.5, (False, True): 23.4, (True, True): 25.2}[
        (doc.paper == "a4", doc.landscape)
    ]
    shape = ",landscape" if doc.landscape else ""
    font = "" if serif else r"\renewcommand{\familydefault}{\sfdefault}"
    foot = rf"\fancyfoot[L]{{\footnotesize {tex(doc.footer)}}}" if doc.footer else ""
    size = "10pt" if doc.theme == "matrix" else "11pt"
    tight = r"\setlength{\tabcolsep}{4pt}\small" if doc.theme == "matrix" else ""
    return (
        rf"\documentclass[{size}]{{article}}\usepackage[{paper}{shape},margin=2.2cm]{{geometry}}"
        r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}"
        r"\usepackage{lmodern,longtable,booktabs,array,caption,fancyhdr}\pagestyle{fancy}\fancyhf{}"
        r"\renewcommand{\headrulewidth}{0pt}\fancyfoot[R]{\thepage}"
        + foot
        + font
        + r"\setlength{\parskip}{4pt}\captionsetup{justification=raggedright,singlelinecheck=false}\begin{document}"
        + tight
        + "\n"
        + "\n\n".join(block_tex(block, rules, room) for block in doc.blocks)
        + "\n"
        + r"\end{document}"
        + "\n"
    )
