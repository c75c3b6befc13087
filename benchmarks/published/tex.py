"""Pages as LaTeX: ruled cells or rules above and below, long tables over page ends, text in two columns."""

from __future__ import annotations

import re

from benchmarks.published.pages import Break, Cell, Facts, Heading, Newspaper, Page, Para, Side, Table

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "–": "--",
    "—": "---",
    "§": r"\S{}",
    "×": r"$\times$",
    "÷": r"$\div$",
    "█": r"\rule{0.4em}{1.3ex}",
} | {sign: "\\" + sign for sign in "&%$#_{}"}
PACKAGES = "array,longtable,multirow,booktabs,multicol,parskip"
LONG = 11  # rows above which a table may go over a page end


def put(name: str, *arguments: object) -> str:
    r"""``\name{argument}{argument}``."""
    return f"\\{name}" + "".join(f"{{{argument}}}" for argument in arguments)


def inside(name: str, options: str, text: str) -> str:
    return f"{put('begin', name)}{options}{text}{put('end', name)}"


def words(text: str) -> str:
    parts = ("".join(SPECIAL.get(ch, ch) for ch in part) for part in re.split(r"\^(\w+)\^", text))
    return "".join(put("textsuperscript", part) if at % 2 else part for at, part in enumerate(parts))


def lines_of(t: Table, bar: str) -> list[str]:
    """The rows of the table; `open_rows` counts how many more rows a cell above still covers."""
    wide = len(t.widths)
    open_rows, spans, made = [0] * wide, [1] * wide, []
    for r, row in enumerate(t.head + t.body):
        parts, c, items = [], 0, iter(row)
        while c < wide:
            edges = f"{bar if c == 0 else ''}l{bar}"
            if open_rows[c]:
                parts.append(put("multicolumn", spans[c], edges, "") if spans[c] > 1 else "")
                for covered in range(c, c + spans[c]):
                    open_rows[covered] -= 1
                c += spans[c]
                continue
            item = next(items)
            part = words(item.text)
            if item.bold or (item.head and r < len(t.head)):
                part = put("textbf", part)
            if item.rows > 1:
                part = put("multirow[t]", item.rows, "=", rf"\raggedright {part}")
                open_rows[c : c + item.columns] = [item.rows - 1] * item.columns
                spans[c] = item.columns
            if item.columns > 1:
                part = put("multicolumn", item.columns, edges, part)
            parts.append(part)
            c += item.columns
        made.append(
            " & ".join(parts) + r" \\" + rules(open_rows, ruled=bool(bar), last_head=r == len(t.head) - 1)
        )
    return made


def rules(open_rows: list[int], *, ruled: bool, last_head: bool) -> str:
    if not ruled:
        return r" \midrule" if last_head else ""
    if not any(open_rows):
        return r" \hline"
    return " " + "".join(put("cline", f"{c + 1}-{c + 1}") for c, rows in enumerate(open_rows) if not rows)


def table(t: Table, look: int, width: float) -> str:
    wide = len(t.widths)
    bar = "|" if look % 2 == 0 else ""
    shares = [width * share / sum(t.widths) for share in t.widths]
    spread = [part for item in (t.body[0] if t.body else []) for part in [item, *[None] * (item.columns - 1)]]
    numbers = {c for c, item in enumerate(spread) if item and item.number} if wide < 9 else set()
    kinds = []
    for c, share in enumerate(shares):
        ragged = r"\raggedleft" if c in numbers else r"\raggedright"
        kinds.append(rf">{{{ragged}\arraybackslash}}p{{{share:.3f}\linewidth}}")
    spec = bar + bar.join(kinds) + bar
    lines = lines_of(t, bar)
    top, bottom = (r"\hline", "") if bar else (r"\toprule", r"\bottomrule")
    above = rf"\noindent{put('textbf', words(t.caption))}\par\smallskip " if t.caption and not t.below else ""
    under = rf"\noindent{put('textit', words(t.caption))}\par\medskip " if t.caption and t.below else ""
    size = r"\scriptsize" if wide > 7 or (wide > 4 and width <= 0.8) else r"\small"
    head = len(t.head)
    if (
        len(lines) > LONG
        and width > 0.7
        and not any(item.rows > 1 for row in t.head + t.body for item in row)
    ):
        body = "\n".join([top, *lines[:head], r"\endhead" if head else "", *lines[head:], bottom])
        long = inside("longtable", f"[l]{{{spec}}}\n", body + "\n")
        return f"{above}{{{size}\\setlength{{\\tabcolsep}}{{4pt}}{long}}}\n{under}"
    body = inside("tabular", f"{{{spec}}}\n", "\n".join([top, *lines, bottom]) + "\n")
    return f"{above}{{{size}\\setlength{{\\tabcolsep}}{{3pt}}\\noindent{body}\\par}}\\medskip\n{under}"


def facts(f: Facts, width: float) -> list[str]:
    if f.style in ("table", "strip"):
        pairs = f.pairs if f.style == "table" else list(zip(*f.pairs, strict=True))
        return [
            table(Table([], [[Cell(text) for text in pair] for pair in pairs], [1] * len(pairs[0])), 0, width)
        ]
    pairs = [(words(k) + ("" if k.endswith("?") else ":"), words(v)) for k, v in f.pairs]
    if f.style == "bullets":
        return [inside("itemize", "", "\n".join(rf"\item {k} {v}" for k, v in pairs))]
    return [rf"\noindent{put('textbf', k)} {v}\par" for k, v in pairs]


def blocks(found: list, look: int, width: float = 0.86) -> str:
    made: list[str] = []
    for b in found:
        if isinstance(b, Heading):
            made.append(put({1: "section*", 2: "subsection*"}.get(b.level, "subsubsection*"), words(b.text)))
        elif isinstance(b, Para):
            made.append(rf"{{\footnotesize {words(b.text)}\par}}" if b.small else words(b.text) + "\n")
        elif isinstance(b, Break):
            made.append(r"\clearpage")
        elif isinstance(b, Facts):
            made += facts(b, width)
        elif isinstance(b, Table):
            made.append(table(b, look, width))
        elif isinstance(b, Side):
            each = rf"[t]{{{0.98 / len(b.parts) - 0.02:.2f}\linewidth}}"
            parts = [inside("minipage", each, blocks(part, look, 0.8)) for part in b.parts]
            made.append(r"\noindent" + r"\hfill".join(parts) + r"\par\medskip")
        elif isinstance(b, Newspaper):
            made.append(inside("multicols", "{2}", blocks(b.blocks, look, 0.69)))
    return "\n\n".join(made)


def latex(page: Page) -> str:
    font = ("lmodern", "helvet", "times", "lmodern")[page.look % 4]
    setup = [
        rf"\documentclass[10pt{',landscape' if page.landscape else ''}]{{article}}",
        r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage[letterpaper,margin=2cm]{geometry}",
        put("usepackage", font) + put("usepackage", PACKAGES) + r"\renewcommand{\arraystretch}{1.2}",
        r"\renewcommand{\familydefault}{\sfdefault}" if font == "helvet" else "",
    ]
    return "\n".join(setup) + "\n" + inside("document", "\n", blocks(page.blocks, page.look) + "\n") + "\n"
