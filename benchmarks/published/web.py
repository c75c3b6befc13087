"""Pages as HTML, as a web browser shows or prints them."""

from __future__ import annotations

import html
import re

from benchmarks.published.pages import (
    Bar,
    Break,
    Cards,
    Cell,
    Divs,
    Facts,
    Fold,
    Heading,
    Newspaper,
    Page,
    Para,
    Sheet,
    Side,
    Table,
)

FONTS = (
    "Arial, sans-serif",
    "Georgia, serif",
    "'Liberation Sans', Helvetica, sans-serif",
    "Carlito, Calibri, sans-serif",
)
LOOKS = (
    """table { border-collapse: collapse } th, td { border: 1px solid #888; padding: 4px 8px }
    th { background: #e8eef5; text-align: left }""",
    """table { border-collapse: collapse } th, td { border-bottom: 1px solid #ccc; padding: 6px 10px }
    thead th { border-bottom: 2px solid #333; text-align: left } tbody th { font-weight: normal; text-align: left }""",
    """table { border-collapse: collapse } td, th { padding: 5px 9px } tr:nth-child(even) { background: #f3f3f3 }
    thead th { background: #1f3b64; color: #fff } tbody th { text-align: left }""",
    """table { border-collapse: collapse } td, th { padding: 3px 12px; text-align: left }""",
)
BASE = """body { font-size: 14px; margin: 32px; line-height: 1.4 } .small { font-size: 11px } .x { color: #555 }
table { margin: 8px 0 14px; max-width: 100% } .n { text-align: right } .b { font-weight: bold }
caption { font-weight: bold; text-align: left; padding: 4px 0 } .strip th { text-align: left }
.below { caption-side: bottom; font-style: italic; font-weight: normal }
.side { display: flex; gap: 28px; align-items: flex-start } dl { margin: 0 }
.cards { display: flex; flex-wrap: wrap; gap: 12px } .card h4 { margin: 0 0 4px }
.card dd { margin: 0; text-align: right }
.card { border: 1px solid #bbb; border-radius: 6px; padding: 8px 12px; width: 210px; break-inside: avoid }
.card dl { display: grid; grid-template-columns: 1fr auto } [role=columnheader] { font-weight: bold }
[role=row] { display: flex; border-bottom: 1px solid #ccc } [role=row] > * { padding: 4px 8px; box-sizing: border-box }
.news { columns: 2; column-gap: 24px; font-size: 11px } .slide { break-after: page; min-height: 90vh }
@media print { body { margin: 0; font-size: 11px } .news { font-size: 9px } } tr { break-inside: avoid }
"""
SITE = """<header><nav><ul><li><a href='/'>Home</a></li><li><a href='/careers'>Careers</a></li>
<li><a href='/about'>About us</a></li></ul></nav></header><main>{}</main>
<footer><p>&copy; 2026 All rights reserved. <a href='/privacy'>Privacy</a> | <a href='/terms'>Terms</a></p></footer>"""


EXTRA = """.bar { display: inline-block; height: 11px; background: #4a7bb5; print-color-adjust: exact }
.gt { display: grid; border-top: 1px solid #999; max-width: 980px } .gt-row { display: contents }
.gt-row > * { padding: 5px 8px; border-bottom: 1px solid #ddd } .gt-head > * { font-weight: 600; background: #eef1f5 }
.fx-row { display: flex; border-bottom: 1px solid #ddd; max-width: 980px } .fx-row > div { flex: 1; padding: 5px 8px }
.fx-row > div:first-child { flex: 2.4 } .fx-head { font-weight: 600 }
details { border: 1px solid #ccc; border-radius: 4px; margin: 6px 0; padding: 6px 12px } summary { font-weight: 600 }
.acc button { width: 100%; text-align: left; padding: 10px; border: 0; background: #eef1f5; font: inherit }
.nav-tabs { display: flex; list-style: none; gap: 4px; padding: 0; border-bottom: 1px solid #bbb }
.nav-tabs a, [role=tab] { display: block; padding: 8px 14px; background: #eef1f5; border: 1px solid #bbb; color: #225 }
[role=tablist] { display: flex } .tab-pane { display: none } .tab-pane.active { display: block }
.wp-block-table { margin: 0 0 1em } td p, th p { margin: 0 }
"""
SHOW = """<script>document.querySelectorAll('[data-target]').forEach(b => b.addEventListener('click', e => {
e.preventDefault(); const p = document.getElementById(b.dataset.target), one = b.closest('.nav-tabs, [role=tablist]');
if (!one) { p.hidden = !p.hidden; b.setAttribute('aria-expanded', String(!p.hidden)); return }
one.querySelectorAll('[data-target]').forEach(o => {
const q = document.getElementById(o.dataset.target); q.hidden = q !== p; q.classList.toggle('active', q === p) }) }))
</script>"""


def text(raw: str) -> str:
    return re.sub(r"\^(\w+)\^", r"<sup>\1</sup>", html.escape(raw, quote=False))


def cell(c: Cell, in_head: bool) -> str:
    tag = "th" if c.head else "td"
    classes = " ".join(name for name, on in (("n", c.number), ("x", c.shade), ("b", c.bold)) if on)
    attributes = f' class="{classes}"' if classes else ""
    attributes += f' rowspan="{c.rows}"' if c.rows > 1 else ""
    attributes += f' colspan="{c.columns}"' if c.columns > 1 else ""
    if c.head:
        attributes += (
            ' scope="'
            + (("colgroup" if c.columns > 1 else "col") if in_head else ("rowgroup" if c.rows > 1 else "row"))
            + '"'
        )
    inner = (
        f'<div class="bar" style="width:{c.share * 80:.0f}px"></div>' if isinstance(c, Bar) else text(c.text)
    )
    return f"<{tag}{attributes}>{inner}</{tag}>"


def table(t: Table) -> str:
    if t.aria:
        return aria(t)
    if isinstance(t, Divs):
        return divisions(t)
    caption = f"<caption{' class=below' if t.below else ''}>{text(t.caption)}</caption>" if t.caption else ""
    head = "".join("<tr>" + "".join(cell(c, True) for c in row) + "</tr>" for row in t.head)
    body = "".join("<tr>" + "".join(cell(c, False) for c in row) + "</tr>\n" for row in t.body)
    return f"<table>{caption}{f'<thead>{head}</thead>' if head else ''}<tbody>\n{body}</tbody></table>"


def aria(t: Table) -> str:
    total = sum(t.widths)

    def line(row: list[Cell], role: str) -> str:
        parts = []
        for at, (c, width) in enumerate(zip(row, t.widths, strict=True)):
            kind = role if role == "columnheader" else "rowheader" if at == 0 else "cell"
            style = f'style="width:{100 * width / total:.1f}%"{" class=n" if c.number else ""}'
            parts.append(f'<span role="{kind}" {style}>{text(c.text)}</span>')
        return '<div role="row">' + "".join(parts) + "</div>"

    head = "".join(line(row, "columnheader") for row in t.head)
    body = "\n".join(line(row, "cell") for row in t.body)
    return f'<div role="table"><div role="rowgroup">{head}</div><div role="rowgroup">{body}</div></div>'


def divisions(t: Divs) -> str:
    """A grid whose rows have roles, or flexible boxes that have classes alone."""
    kind = "gt" if t.roles else "fx"

    def role(name: str) -> str:
        return f' role="{name}"' if t.roles else ""

    lines = []
    for row in t.head + t.body:
        head = row in t.head
        cells = []
        for at, (c, above) in enumerate(zip(row, t.head[-1], strict=True)):
            name = "columnheader" if head else "rowheader" if at == 0 else "cell"
            narrow = "" if head or at == 0 else f' data-label="{html.escape(above.text)}"'
            cells.append(f"<div{role(name)}{narrow}{' class=n' if c.number else ''}>{text(c.text)}</div>")
        lines.append(
            f'<div class="{kind}-row{f" {kind}-head" if head else ""}"{role("row")}>{"".join(cells)}</div>'
        )
    tracks = " ".join(f"{share:.1f}fr" for share in t.widths)
    style = f' style="grid-template-columns:{tracks}"' if t.roles else ""
    return f'<div class="{kind}"{role("table")}{style}>\n' + "\n".join(lines) + "</div>"


def fold(f: Fold) -> str:
    made, names = [], [f"{f.style}-{re.sub('[^a-z]+', '-', title.lower())}" for title, _ in f.panels]
    for at, ((title, found), name) in enumerate(zip(f.panels, names, strict=True)):
        inner, shut = blocks(found), " hidden" if at else ""
        if f.style == "details":
            made.append(f"<details{'' if at else ' open'}><summary>{text(title)}</summary>{inner}</details>")
        elif f.style == "accordion":
            button = f'<button data-target="{name}" aria-expanded="{"false" if at else "true"}" aria-controls="{name}">'
            made.append(
                f'<h3>{button}{text(title)}</button></h3><div id="{name}" role="region"{shut}>{inner}</div>'
            )
        elif f.style == "tabs":
            made.append(f'<div class="tab-pane{"" if at else " active"}" id="{name}">{inner}</div>')
        else:
            made.append(
                f'<div role="tabpanel" id="{name}" aria-labelledby="{name}-tab" tabindex="0"{shut}>{inner}</div>'
            )
    titles = [(text(title), name) for (title, _), name in zip(f.panels, names, strict=True)]
    if f.style == "tabs":
        bar = "".join(
            f'<li><a href="#{name}" data-target="{name}">{title}</a></li>' for title, name in titles
        )
        made.insert(0, f'<ul class="nav nav-tabs">{bar}</ul>')
    elif f.style == "tablist":
        bar = "".join(
            f'<button role="tab" id="{name}-tab" data-target="{name}" aria-controls="{name}">{title}</button>'
            for title, name in titles
        )
        made.insert(0, f'<div role="tablist">{bar}</div>')
    return f'<div class="{"acc" if f.style == "accordion" else f.style}">' + "\n".join(made) + "</div>"


def facts(f: Facts) -> str:
    pairs = [(text(label), text(value)) for label, value in f.pairs]
    if f.style == "lines":
        return "".join(
            f"<p><strong>{label}{'' if label.endswith('?') else ':'}</strong> {value}</p>"
            for label, value in pairs
        )
    if f.style == "table":
        return (
            "<table>"
            + "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in pairs)
            + "</table>"
        )
    if f.style == "dl":
        return (
            "<dl>" + "".join(f"<dt><b>{label}</b></dt><dd>{value}</dd>" for label, value in pairs) + "</dl>"
        )
    if f.style == "bullets":
        return (
            "<ul>"
            + "".join(
                f"<li>{label}{'' if label.endswith('?') else ':'} {value}</li>" for label, value in pairs
            )
            + "</ul>"
        )
    return (
        '<table class="strip"><tr>'
        + "".join(f"<th>{label}</th>" for label, _ in pairs)
        + "</tr><tr>"
        + "".join(f"<td>{value}</td>" for _, value in pairs)
        + "</tr></table>"
    )


def block(b: object) -> str:
    if isinstance(b, Heading):
        return f"<h{b.level}>{text(b.text)}</h{b.level}>"
    if isinstance(b, Para):
        return f"<p{' class=small' if b.small else ''}>{text(b.text)}</p>"
    if isinstance(b, Facts):
        return facts(b)
    if isinstance(b, Table):
        return table(b)
    if isinstance(b, Side):
        return (
            '<div class="side">' + "".join("<div>" + blocks(part) + "</div>" for part in b.parts) + "</div>"
        )
    if isinstance(b, Cards):
        made = ""
        for title, pairs in b.items:
            made += (
                f'<div class="card"><h4>{text(title)}</h4><dl>'
                + "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in pairs)
                + "</dl></div>\n"
            )
        return f'<div class="cards">{made}</div>'
    if isinstance(b, Newspaper):
        return f'<div class="news">{blocks(b.blocks)}</div>'
    if isinstance(b, Fold):
        return fold(b)
    if isinstance(b, Break):
        return '<div style="break-before:page"></div>'
    if isinstance(b, Sheet):
        return ""
    raise TypeError(b)


def blocks(found: list) -> str:
    return "\n".join(block(b) for b in found)


def render(page: Page, *, site: bool = False) -> str:
    """The page; `site` puts a web site's frame around it."""
    size = "@page{size:Letter%s;margin:18mm}" % (" landscape" if page.landscape else "")
    style = size + BASE + f"body{{font-family:{FONTS[page.look % 4]}}}" + LOOKS[page.look % 4]
    if page.slides:
        style += "body{font-size:15px} h1{font-size:30px}"
        parts: list[list] = [[]]
        for b in page.blocks:
            if isinstance(b, Break):
                parts.append([])
            else:
                parts[-1].append(b)
        inner = "".join(f'<section class="slide">{blocks(part)}</section>' for part in parts)
    else:
        inner = blocks(page.blocks)
    if page.look >= 4:
        style += EXTRA
    if page.look >= 8:  # as an editor of text pastes it
        inner = re.sub(r"<table", '<figure class="wp-block-table"><table', inner).replace(
            "</table>", "</table></figure>"
        )
        inner = re.sub(
            r"(<t[dh]\b[^>]*>)([^<]+)(?=</t[dh]>)",
            r'\1<p dir="ltr"><span style="font-size:11pt">\2</span></p>',
            inner,
        )
    if any(isinstance(b, Fold) for b in page.blocks):
        inner += SHOW
    if site:
        inner = SITE.format(inner)
    head = f'<meta charset="utf-8"><title>{text(page.title)}</title><style>{style}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{inner}</body></html>\n'
