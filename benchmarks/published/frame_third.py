"""What stands above the results and below them in the THIRD half."""

from __future__ import annotations

import random

from benchmarks.published.pages import Cell, Facts, Heading, Page, Para, Table, claim, fact
from benchmarks.published.shown import Shown

SLOTS = (
    "tool",
    "auditor",
    "audit_date",
    "distribution",
    "source",
    "population",
    "sample",
    "unknown",
    "median",
    "exclusion",
)


def frame(shown: Shown, rng: random.Random) -> tuple[list, list]:
    """Blocks above the results and below them."""
    words = shown.words.module
    posted = (
        fact(shown, "published") if shown.audit.data != "test" else []
    )  # test data are older than the use
    contact = [Para(text) for text in (shown.words.caveat, shown.words.notice) if text]
    kept = [
        Table(
            [[Cell(c, head=True) for c in words.RETENTION[0]]],
            [list(map(Cell, r)) for r in words.RETENTION[1:]],
            [2, 1],
        )
    ]
    contact += kept if rng.random() < 0.25 else []
    term = shown.words.define.partition(" = ")
    define: list = [Para(shown.words.define)]
    if term[1] and rng.random() < 0.3:
        means = term[2].partition(". ")[0]
        define = [
            Table(
                [[Cell(c, head=True) for c in words.GLOSSARY[:2]]],
                [[Cell(term[0]), Cell(means[0].upper() + means[1:])], list(map(Cell, words.GLOSSARY[2:]))],
                [1, 3],
            )
        ]
    data = claim(shown, "data")
    style = rng.choice(("glance", "chapters", "notes"))
    if style == "glance":
        short = [
            s
            for s in ("tool", "auditor", "audit_date", "distribution", "sample", "unknown")
            if s in shown.facts
        ]
        rest = [s for s in SLOTS if s in shown.facts and s not in short]
        kind = rng.choice(("table", "lines"))
        above = [
            Para(shown.intro),
            Heading(2, words.GLANCE),
            Facts(kind, [shown.facts[s][:2] for s in short]),
        ]
        prose = [part for s in rest for part in fact(shown, s)]
        return [*above, *define], [
            Heading(2, words.METHOD),
            *prose,
            *data,
            *claim(shown, "end"),
            *contact,
            *posted,
        ]
    if style == "chapters":
        about, material = SLOTS[:4], [s for s in SLOTS[4:] if s != "exclusion"]
        parts = [
            [part for s in group for part in fact(shown, s)] for group in (about, material, ["exclusion"])
        ]
        heads = [Heading(2, text) for text in words.CHAPTERS]
        above = [*posted, heads[0], Para(shown.intro), heads[1], *parts[0], heads[2], *parts[1], *data]
        last = [*claim(shown, "end"), *parts[2], *contact]
        return [*above, heads[3], *define], [heads[4], *last] if last else []
    first = [part for s in ("audit_date", "distribution") for part in fact(shown, s)]
    notes = [s for s in SLOTS if s in shown.facts and s not in ("audit_date", "distribution")]
    listed = Facts(rng.choice(("bullets", "dl")), [shown.facts[s][:2] for s in notes])
    below = [Heading(2, words.NOTES), *define, listed, *data, *claim(shown, "end"), *contact, *posted]
    return [Para(shown.intro), *first], below


def page(shown: Shown, rng: random.Random, blocks: list, *, landscape: bool = False) -> Page:
    above, below = frame(shown, rng)
    look = rng.choice((4, 5, 6, 7, 4, 5, 6, 7, 8, 9))
    return Page(
        shown.title, [Heading(1, shown.title), *above, *blocks, *below], landscape=landscape, look=look
    )
