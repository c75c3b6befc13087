"""Write a page as HTML, as a hand, a site builder or a React app would."""

from __future__ import annotations

import hashlib
from html import escape

from benchmarks.published_fifth.css import edges, page_css
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


class Html:
    """One page; the way says who wrote it: hand, builder, react or print."""

    def __init__(self, doc: Doc, way: str, tight: bool = False) -> None:
        self.doc = doc
        self.way = way
        self.tight = tight
        self.grid_divs = doc.theme == "react"

    def hashed(self, name: str) -> str:
        """A class name as a bundler makes it."""
        mark = hashlib.sha256((name + self.doc.title).encode()).hexdigest()[:5]
        return f"{name}_{mark}"

    def cell(self, cell: Cell, tag: str) -> str:
        """One cell."""
        extra = (f' colspan="{cell.span}"' if cell.span > 1 else "") + (
            f' rowspan="{cell.down}"' if cell.down > 1 else ""
        )
        return f"<{tag}{extra}>{escape(cell.text)}</{tag}>"

    def table(self, grid: Grid) -> str:
        """A table as such."""
        head = "".join(
            "<tr>" + "".join(self.cell(cell, "th") for cell in row) + "</tr>\n" for row in grid.head
        )
        body = "".join(
            "<tr>"
            + "".join(self.cell(cell, "th" if cell.head and self.way != "builder" else "td") for cell in row)
            + "</tr>\n"
            for row in grid.body
        )
        caption = f"<caption>{escape(grid.caption)}</caption>" if grid.caption else ""
        if self.way == "hand":
            return f'<table border="1" cellspacing="0">{caption}\n{head}{body}</table>'
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def divs(self, grid: Grid) -> str:
        """A table made of a CSS grid."""
        width = grid.columns()
        out = [
            f'<div class="{self.hashed("Grid")} g" role="table" style="grid-template-columns:2fr '
            f'repeat({width - 1},1fr)">'
        ]
        for row, role in [(row, "columnheader") for row in grid.head] + [(row, "cell") for row in grid.body]:
            out.append('<div role="row" style="display:contents">' if self.way == "react" else "")
            for cell in row:
                style = f' style="grid-column:span {cell.span}"' if cell.span > 1 else ""
                mark = " h" if role == "columnheader" else ""
                out.append(
                    f'<div role="{role}" class="{self.hashed("cell")}{mark}"{style}>{escape(cell.text)}</div>'
                )
            out.append("</div>" if self.way == "react" else "")
        text = "".join(out) + "</div>"
        if self.way != "react":
            text = (
                text.replace(' role="cell"', "")
                .replace(' role="columnheader"', "")
                .replace(' role="table"', "")
            )
        return text

    def pairs(self, pairs: Pairs) -> str:
        """Facts as a table, a list of terms or lines."""
        items = [(escape(key), escape(text)) for key, text in pairs.items]
        if pairs.shape == "list":
            return "<dl>" + "".join(f"<dt>{key}</dt><dd>{text}</dd>" for key, text in items) + "</dl>"
        if pairs.shape == "lines":
            return "<p>" + "<br>\n".join(f"<strong>{key}:</strong> {text}" for key, text in items) + "</p>"
        return (
            '<table class="facts">'
            + "".join(f"<tr><td>{key}</td><td>{text}</td></tr>" for key, text in items)
            + "</table>"
        )

    def fold(self, fold: Fold) -> str:
        """An accordion or tabs; on paper all parts are open."""
        if self.way == "print":
            return "".join(
                f"<h2>{escape(name)}</h2>" * (not fold.tabs) + self.blocks(blocks)
                for name, blocks in fold.parts
            )
        if fold.tabs:
            buttons = "".join(
                f'<button role="tab" aria-selected="{"true" if i == 0 else "false"}">{escape(name)}</button>'
                for i, (name, _) in enumerate(fold.parts)
            )
            panels = "".join(
                f'<div role="tabpanel"{" hidden" if i else ""}>{self.blocks(blocks)}</div>'
                for i, (_, blocks) in enumerate(fold.parts)
            )
            return (
                f'<div class="tabs {self.hashed("Tabs")}"><div role="tablist">{buttons}</div>{panels}</div>'
            )
        if self.way == "builder":
            return "".join(
                '<div class="w-dropdown panel">'
                '<div class="w-dropdown-toggle" role="button" aria-expanded="false">'
                f'<div class="text-block-{i}">{escape(name)}</div>'
                '<div class="icon w-icon-dropdown-toggle"></div></div><div class="w-dropdown-list">'
                f"{self.blocks(blocks)}</div></div>"
                for i, (name, blocks) in enumerate(fold.parts)
            )
        return "".join(
            f"<details><summary>{escape(name)}</summary>{self.blocks(blocks)}</details>"
            for name, blocks in fold.parts
        )

    def block(self, block: Block) -> str:
        """One block."""
        if isinstance(block, Heading):
            if self.doc.theme == "wix" and block.level > 1:
                return (
                    f'<div class="wixui-rich-text"><h{block.level} class="font_{block.level}">'
                    f'<span style="font-weight:bold">{escape(block.text)}</span></h{block.level}></div>'
                )
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        if isinstance(block, Para):
            text = escape(block.text)
            if self.doc.theme == "wix":
                return (
                    '<div class="wixui-rich-text" data-testid="richTextElement"><p class="font_8">'
                    f'<span class="color_15">{text}</span></p></div>'
                )
            return f'<p class="small">{text}</p>' if block.small else f"<p>{text}</p>"
        if isinstance(block, Bullets):
            return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>"
        if isinstance(block, Pairs):
            return self.pairs(block)
        if isinstance(block, Fold):
            return self.fold(block)
        if isinstance(block, Break):
            return '<div style="page-break-before:always"></div>'
        plain = not any(cell.down > 1 for row in block.head + block.body for cell in row)
        text = self.divs(block) if self.grid_divs and plain else self.table(block)
        return text + "".join(f'<p class="note">{escape(note)}</p>' for note in block.notes)

    def blocks(self, blocks: list[Block]) -> str:
        """Blocks one after the other."""
        return "\n".join(self.block(block) for block in blocks)

    def around(self, body: str) -> str:
        """Navigation, cookie banner, links and footer."""
        doc = self.doc
        top = (
            "<header><nav>"
            + "".join(f'<a href="#{i}">{escape(name)}</a>' for i, name in enumerate(doc.nav))
            + "</nav></header>"
            if doc.nav
            else ""
        )
        cookie = (
            f'<div class="cookie-banner" role="dialog"><p>{escape(doc.cookie)}</p></div>'
            if doc.cookie
            else ""
        )
        links = (
            "<aside><h3>Related links</h3><ul>"
            + "".join(f'<li><a href="#">{escape(name)}</a></li>' for name in doc.related)
            + "</ul></aside>"
            if doc.related
            else ""
        )
        foot = f"<footer><p>{escape(doc.footer)}</p></footer>" if doc.footer else ""
        main = (
            f'<div id="__next"><main class="{self.hashed("Page")}">{body}</main></div>'
            if self.way == "react"
            else f"<main>{body}</main>"
        )
        return top + cookie * (self.way != "builder") + main + links + foot + cookie * (self.way == "builder")

    def text(self) -> str:
        """The whole file."""
        css = page_css(self.doc.theme, self.doc.landscape, self.doc.paper, self.tight)
        if self.way == "print" and self.doc.theme in ("careers", "react"):
            css += edges(self.doc.title)
        saved = {
            "react": "<!-- saved from url=(0037)https://careers.example.com/ai-hiring -->\n",
            "builder": "",
            "hand": "",
            "print": "",
        }[self.way]
        script = {
            "react": '<script id="__NEXT_DATA__" type="application/json">{"props":{}'
            ',"page":"/ai-hiring","buildId":"k3Jd0"}</script>',
            "builder": "<script>window.Webflow=window.Webflow||[];</script>",
            "hand": "",
            "print": "",
        }[self.way]
        meta = '<meta name="generator" content="Wix.com Website Builder">' if self.doc.theme == "wix" else ""
        return (
            f'<!DOCTYPE html>\n{saved}<html lang="en"><head><meta charset="utf-8">{meta}<title>'
            f"{escape(self.doc.title)}</title>"
            f"<style>{css}</style></head>\n<body>{self.around(self.blocks(self.doc.blocks))}{script}</body></html>\n"
        )


def html_text(doc: Doc, way: str, tight: bool = False) -> str:
    """The page as HTML."""
    return Html(doc, way, tight).text()
