"""Layouts for workbooks and CSV files."""

from __future__ import annotations

from benchmarks.published_fifth import grids
from benchmarks.published_fifth.model import Block, Break, Doc, Draw, Heading, Pairs
from benchmarks.published_fifth.parts import after, changes, paras, sections
from benchmarks.published_fifth.words import Words


def workbook(draw: Draw) -> Doc:
    """A workbook with a sheet of facts and a sheet for each table."""
    w = Words(draw)
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.flat(draw, t, "Category", split=draw.chance("split", 50)),
    }
    title = "Bias Audit - Summary of Results"
    blocks: list[Block] = [
        Heading(1, title),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table"),
    ]
    blocks += paras(
        [
            w.intro(),
            *w.data(),
            w.audited_by(),
            *w.independence(),
            *w.use_sentence(),
            *w.claim(),
            *w.method(),
            w.rounding(),
        ]
    )
    many = len(draw.units) > 1
    for number, unit in enumerate(draw.units):
        for kind in ("sex", "race", "inter"):
            found = sections(draw, w, number, shapes, 2, (kind,))
            if found:
                name = {"sex": "Sex", "race": "Race-Ethnicity", "inter": "Intersectional"}[kind]
                blocks.append(Break(f"{name} {number + 1}" if many else name))
                if many:
                    blocks.append(Heading(2, unit.name))
                blocks += found
        blocks += paras(after(w, number))
    blocks += [Break("Versions"), Heading(2, "Release history of the tool"), changes(draw)]
    return Doc(title, blocks, "book", landscape=draw.chance("land", 50))


def sheet(draw: Draw) -> Doc:
    """One sheet with the facts above and the three tables below one another."""
    w = Words(draw)
    shapes = {
        kind: (
            lambda t: grids.flat(
                draw, t, {"sex": "Sex", "race": "Race/Ethnicity", "inter": "Intersectional"}[t.kind]
            )
        )
        for kind in ("sex", "race", "inter")
    }
    blocks: list[Block] = [
        Heading(1, "LL144 bias audit results"),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table"),
    ]
    blocks += sections(draw, w, 0, shapes, 2)
    blocks += paras(
        after(w, 0)
        + w.data()
        + [w.audited_by()]
        + w.independence()
        + w.use_sentence()
        + w.claim()
        + w.method()
        + [w.rounding()]
    )
    return Doc("LL144 bias audit results", blocks, "book")


def tidy(draw: Draw) -> Doc:
    """A tidy file: one long table, with the facts as lines above or below."""
    w = Words(draw)
    facts: list[Block] = [
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table")
    ]
    facts += paras(
        [
            *w.data(),
            w.audited_by(),
            *w.independence(),
            *w.use_sentence(),
            *w.claim(),
            *after(w, 0),
            *w.method(),
            w.rounding(),
        ]
    )
    found = [table for table in (draw.table(0, kind) for kind in ("sex", "race", "inter")) if table]
    grid = grids.long_table(draw, found)
    grid.notes = [note for table in found for note in w.exclusion(table)]
    tables: list[Block] = [grid]
    blocks = facts + tables if draw.chance("up", 60) else tables + facts
    return Doc("bias audit", [Heading(1, f"{draw.facts.tool} bias audit summary"), *blocks], "book")
