"""Layouts for reports, letters and pages of tables."""

from __future__ import annotations

from benchmarks.published_fifth import grids
from benchmarks.published_fifth.model import Block, Break, Doc, Draw, Heading, Pairs, Para
from benchmarks.published_fifth.parts import after, control, glossary, paras, sections, web
from benchmarks.published_fifth.words import Words


def letter(draw: Draw) -> Doc:
    """An auditor's letter with long prose."""
    w, f = Words(draw), draw.facts
    by = draw.pick("by", ["sex", "race"])
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.nested(draw, t, by),
    }
    blocks: list[Block] = [Heading(1, f"Public Summary of Bias Audit: {f.tool}")]
    if "audit" not in f.missing:
        blocks.append(Para(f"Audit date: {w.day(f.audit)}"))
    blocks += [
        Para(f"Prepared for {f.employer}"),
        Para(f"To whom it may concern: {w.audited_by()} {' '.join(w.independence())}"),
        Para(w.intro()),
    ]
    if w.data():
        blocks += [Heading(2, "1. Data"), Para(" ".join(w.data()))]
    blocks += [
        Heading(2, ("2" if w.data() else "1") + ". Results"),
        Para(" ".join([*w.method(), w.rounding()])),
    ]
    blocks += sections(draw, w, 0, shapes, 3, captions=True, numbered=True)
    blocks += paras(after(w, 0))
    blocks += [
        Heading(2, "Other information"),
        Para(" ".join(w.use_sentence() + w.claim() + [w.notice()])),
        Para(f"Respectfully submitted, {w.who()}"),
    ]
    return Doc(
        f"Public Summary of Bias Audit: {f.tool}",
        blocks,
        "letter",
        paper=draw.pick("paper", ["letter", "a4"]),
    )


def consulting(draw: Draw) -> Doc:
    """A consultant's report with document control and nested rows, for one or more positions."""
    w, f = Words(draw), draw.facts
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.nested(draw, t, "race"),
    }
    title = draw.pick(
        "title",
        [
            "Independent Bias Audit Report - Public Summary",
            "Summary of Bias Audit Results",
            "LL144 Bias Audit: Executive Summary",
        ],
    )
    if f.own_auditor:
        title = "Summary of Bias Audit Results"
    blocks: list[Block] = [
        Heading(1, title),
        control(draw, w),
        Heading(2, "Background"),
        Para(w.intro()),
        Para(w.audited_by()),
    ]
    blocks += paras(w.independence() + w.use_sentence() + w.claim())
    blocks += [Heading(2, "Method and data"), *paras(w.data() + w.method() + [w.rounding()])]
    for number, unit in enumerate(draw.units):
        blocks.append(Heading(2, f"Results: {unit.name}"))
        blocks += sections(draw, w, number, shapes, 3)
        blocks += paras(after(w, number))
    blocks += [
        Heading(2, "Key facts"),
        Pairs(w.audit_pairs() + w.use_pairs() + w.unknown_pairs(), "table"),
        Heading(2, "Definitions"),
        glossary(),
    ]
    return Doc(
        title,
        blocks,
        "report",
        paper=draw.pick("paper", ["letter", "letter", "a4"]),
        footer=f"{f.tool} - public summary",
    )


def one_table(draw: Draw) -> Doc:
    """One long table with a column that tells the kind of category."""
    w = Words(draw)
    title = draw.pick(
        "title",
        ["Bias Audit Summary Statistics", "AEDT Audit: Impact Ratios", "Disclosure of Bias Audit Results"],
    )
    blocks: list[Block] = [
        Heading(1, title),
        Para(w.intro()),
        Pairs(
            w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(),
            draw.pick("ps", ["table", "lines"]),
        ),
    ]
    bands = draw.chance("bands", 40)
    for number, unit in enumerate(draw.units):
        if len(draw.units) > 1:
            blocks.append(Heading(2, unit.name))
        found = [table for table in (draw.table(number, kind) for kind in ("sex", "race", "inter")) if table]
        grid = grids.long_table(draw, found, bands=bands)
        grid.notes = [note for table in found for note in w.exclusion(table)]
        blocks.append(grid)
        blocks += paras(after(w, number))
    blocks += paras(w.data() + w.about_the_audit())
    doc = Doc(title, blocks, "long", landscape=draw.chance("land", 60))
    if draw.producer == "html_hand":
        doc.nav, doc.footer = ["Home", "Careers", "Search jobs"], str(web(draw)["footer"])
    return doc


def matrix(draw: Draw) -> Doc:
    """A report whose intersectional table is a matrix with two levels of headings."""
    w, f = Words(draw), draw.facts
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.matrix(draw, t),
    }
    title = f"{f.tool} - {w.year()}Bias Audit"
    blocks: list[Block] = [
        Heading(1, title),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table"),
        Para(w.intro()),
    ]
    blocks += paras(w.data())
    blocks += sections(
        draw,
        w,
        0,
        shapes,
        2,
        ("sex", "race", "inter") if draw.pick("o", ["sri", "rsi"]) == "sri" else ("race", "sex", "inter"),
        captions=draw.chance("cap", 50),
    )
    blocks += paras(after(w, 0) + w.about_the_audit() + [w.notice()])
    return Doc(title, blocks, "matrix", landscape=True, paper=draw.pick("paper", ["letter", "a4"]))


def year_on_year(draw: Draw) -> Doc:
    """This year's results with last year's ratios beside them."""
    w, f = Words(draw), draw.facts
    columns = draw.style.columns + (("before",) if draw.old else ())
    last = f.earlier[-1] if f.earlier else None
    draw.style.heads["before"] = (
        f"{last.year} impact ratio" if last and last.year != f.audit.year else "Previous impact ratio"
    )
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex", columns),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity", columns),
        "inter": lambda t: grids.flat(draw, t, "Sex and race/ethnicity", columns),
    }
    title = "Annual AEDT bias audit summary"
    blocks: list[Block] = [
        Heading(1, title),
        Para(w.intro()),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs(), "table"),
    ]
    blocks += paras(w.data())
    if last:
        blocks.append(
            Para(
                "The last column repeats the impact ratios of the audit before this one "
                f"({w.day(last)}), for comparison; they follow from that audit's own data"
                + (
                    f" ({draw.style.blank}: under 2% of it, left out by that audit)."
                    if draw.style.exclude == "row"
                    else "."
                )
            )
        )
    blocks += sections(draw, w, 0, shapes, 2)
    blocks += paras(after(w, 0) + w.about_the_audit() + [w.notice()])
    doc = Doc(title, blocks, "annual", paper=draw.pick("paper", ["letter", "a4"]))
    if draw.producer.startswith("html"):
        around = web(draw)
        doc.nav, doc.footer = ["Work with us", "Our teams", "Open jobs"], str(around["footer"])
    return doc


def families(draw: Draw) -> Doc:
    """Several job families, with tables that run over pages."""
    w, f = Words(draw), draw.facts
    shapes = {
        kind: (
            lambda t: grids.flat(
                draw,
                t,
                {"sex": "Sex", "race": "Race/Ethnicity", "inter": "Category"}[t.kind],
                split=draw.chance("split", 40),
            )
        )
        for kind in ("sex", "race", "inter")
    }
    title = f"Bias Audit Results by {draw.pick('jf', ['Job Family', 'Position', 'Job Group'])}"
    blocks: list[Block] = [
        Heading(1, title),
        Para(w.intro()),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "lines"),
    ]
    blocks += paras(w.data() + w.method() + [w.rounding()])
    for number, unit in enumerate(draw.units):
        blocks.append(Heading(2, unit.name))
        if number and draw.chance("brk", 30):
            blocks.insert(-1, Break())
        blocks += sections(draw, w, number, shapes, 3, captions=True, numbered=True)
        blocks += paras(after(w, number))
    blocks += [
        Heading(2, "Auditor and dates"),
        *paras([w.audited_by(), *w.independence(), *w.use_sentence(), *w.claim()]),
    ]
    return Doc(
        title,
        blocks,
        "families",
        footer=f"{f.employer} | {f.tool}",
        paper=draw.pick("paper", ["letter", "a4"]),
    )


def transposed(draw: Draw) -> Doc:
    """Categories across and numbers down."""
    w = Words(draw)
    shapes = {kind: (lambda t: grids.transposed(draw, t)) for kind in ("sex", "race", "inter")}
    title = draw.pick("title", ["Local Law 144 Disclosure", "Bias Audit at a Glance"])
    blocks: list[Block] = [
        Heading(1, title),
        Para(w.intro()),
        Pairs(w.audit_pairs() + w.use_pairs() + w.unknown_pairs(), "lines"),
    ]
    blocks += sections(draw, w, 0, shapes, 2)
    blocks += paras(after(w, 0) + w.data() + w.about_the_audit() + [w.notice()])
    return Doc(title, blocks, "across", landscape=True, paper="a4")


def minimal(draw: Draw) -> Doc:
    """A staffing agency's short page."""
    w = Words(draw)
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race"),
        "inter": lambda t: grids.flat(draw, t, "Race and sex"),
    }
    title = "Bias audit summary (NYC)"
    blocks: list[Block] = [Heading(1, title), Para(" ".join([w.intro(), w.audited_by(), *w.use_sentence()]))]
    blocks += paras([" ".join(w.data())] if w.data() else [])
    blocks += sections(draw, w, 0, shapes, 3)
    blocks += paras([" ".join(after(w, 0) + w.method() + [w.rounding()])])
    blocks += [
        Para(" ".join(w.independence() + w.claim() + [w.notice()])),
        Pairs(w.audit_pairs() + w.use_pairs() + w.unknown_pairs(), "lines"),
    ]
    return Doc(title, blocks, "minimal")


def scorecard(draw: Draw) -> Doc:
    """A one-page card for a tool that scores."""
    w, f = Words(draw), draw.facts
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.nested(draw, t, "race"),
    }
    title = f"AEDT Scorecard: {f.tool}"
    blocks: list[Block] = [
        Heading(1, title),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table"),
        Para(w.intro()),
    ]
    blocks += sections(draw, w, 0, shapes, 2)
    blocks += paras([" ".join(after(w, 0))] if after(w, 0) else [])
    blocks += [
        Para(" ".join(w.data() + w.method() + [w.rounding()]), small=True),
        Para(" ".join([w.audited_by(), *w.independence(), *w.use_sentence(), *w.claim()]), small=True),
    ]
    return Doc(title, blocks, "card")
