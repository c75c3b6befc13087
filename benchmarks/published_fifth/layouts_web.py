"""Layouts for web pages of employers."""

from __future__ import annotations

from benchmarks.published_fifth import grids
from benchmarks.published_fifth.model import Block, Bullets, Doc, Draw, Fold, Heading, Pairs, Para
from benchmarks.published_fifth.parts import (
    after,
    changes,
    glossary,
    offices,
    paras,
    pricing,
    sections,
    titles,
    volume,
    web,
)
from benchmarks.published_fifth.words import Words


def _page(
    draw: Draw, title: str, blocks: list[Block], theme: str, bare: bool = False, landscape: bool = False
) -> Doc:
    """A page with or without what stands around it."""
    doc = Doc(title, blocks, theme, landscape=landscape)
    if not bare:
        around = web(draw)
        doc.nav, doc.cookie = list(around["nav"]), str(around["cookie"])  # type: ignore[call-overload]
        doc.related, doc.footer = list(around["related"]), str(around["footer"])  # type: ignore[call-overload]
    return doc


def rule_page(draw: Draw) -> Doc:
    """A plain page by hand with the three tables as the rule prints them."""
    w = Words(draw)
    shapes = {
        "sex": lambda t: grids.flat(draw, t, ""),
        "race": lambda t: grids.flat(draw, t, ""),
        "inter": lambda t: grids.rule_nested(draw, t),
    }
    title = draw.pick(
        "title",
        [
            "NYC Local Law 144 Bias Audit Summary",
            "AEDT Bias Audit Results",
            f"Bias Audit of {draw.facts.tool}: Summary of Results",
        ],
    )
    blocks: list[Block] = [Heading(1, title), Para(w.intro())]
    blocks.append(Pairs(w.audit_pairs() + w.use_pairs(), "lines"))
    blocks.append(Para(" ".join(w.data())))
    blocks += sections(draw, w, 0, shapes, 2)
    blocks += paras(after(w, 0))
    blocks.append(Para(" ".join([*w.method(), w.rounding()]), small=True))
    blocks.append(Para(" ".join([w.audited_by(), *w.independence(), *w.use_sentence(), *w.claim()])))
    blocks.append(Para(w.notice()))
    return _page(
        draw,
        title,
        [block for block in blocks if not (isinstance(block, Para) and not block.text)],
        "plain",
        bare=draw.producer.startswith("scan"),
    )


def accordion(draw: Draw) -> Doc:
    """A site builder's page whose parts open on a click."""
    w = Words(draw)
    by = draw.pick("by", ["sex", "race"])
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/Ethnicity"),
        "inter": lambda t: grids.nested(draw, t, by, stub=False),
    }
    about: list[Block] = [Para(w.intro()), Pairs(w.audit_pairs() + w.use_pairs() + w.unknown_pairs(), "list")]
    parts: list[tuple[str, list[Block]]] = [("About the bias audit", about + paras(w.claim()))]
    data = w.data()
    if data:
        parts.append(
            (draw.pick("dp", ["Where does the data come from?", "Data used in the audit"]), paras(data))
        )
    names = titles(draw)
    for kind in ("sex", "race", "inter"):
        found = sections(draw, w, 0, shapes, 3, (kind,))
        if found:
            parts.append((names[kind], found[1:]))
    parts.append(("Notes on the calculations", paras([*w.method(), w.rounding(), *after(w, 0)])))
    parts.append(("Who conducted the audit?", paras([w.audited_by(), *w.independence(), *w.use_sentence()])))
    parts.append(("Your rights as an applicant", [Para(w.notice())]))
    title = "Automated Employment Decision Tools"
    return _page(draw, title, [Heading(1, title), Fold(parts)], "builder")


def react_tabs(draw: Draw) -> Doc:
    """A React page with tabs whose tables are CSS grids."""
    w = Words(draw)
    shapes = {kind: (lambda t: grids.flat(draw, t, "Category")) for kind in ("sex", "race", "inter")}
    blocks: list[Block] = [
        Heading(1, f"{draw.facts.tool} bias audit"),
        Para(w.intro()),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "list"),
    ]
    names = titles(draw)
    many = len(draw.units) > 1
    for number, unit in enumerate(draw.units):
        if many:
            blocks.append(Heading(2, unit.name))
        parts: list[tuple[str, list[Block]]] = []
        for kind in ("race", "sex", "inter"):
            found = sections(draw, w, number, shapes, 3, (kind,))
            if found:
                parts.append((names[kind], found))
        blocks.append(Fold(parts, tabs=True))
        blocks += paras(after(w, number))
    blocks.append(Heading(2, "About the data" if w.data() else "About the audit"))
    blocks += paras([*w.data(), w.audited_by(), *w.independence(), *w.use_sentence()])
    blocks.append(Heading(2, "How to read the numbers"))
    blocks += paras([*w.method(), w.rounding(), *w.claim()])
    blocks += [Heading(2, "Our offices"), offices(draw), Para(w.notice())]
    return _page(draw, f"{draw.facts.tool} bias audit | {draw.facts.employer}", blocks, "react")


def faq_prose(draw: Draw) -> Doc:
    """Questions and answers with much prose around the tables."""
    w = Words(draw)
    split = draw.chance("split", 50)
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race / Ethnicity"),
        "inter": lambda t: grids.flat(draw, t, "Intersectional category", split=split),
    }
    blocks: list[Block] = [
        Heading(1, "Hiring with AI: frequently asked questions"),
        Para(
            "We believe that people should know how technology is used when they apply for a job. "
            "Here are the answers to what we are asked most often."
        ),
        Heading(2, "What tool do you use?"),
        Para(w.intro()),
        Para(
            f"A recruiter at {draw.facts.employer} reads every application that is complete, and no "
            "one is hired by a computer. About 3 in 10 of our recruiters have been with us for more "
            "than five years."
        ),
        Heading(2, "Has it been audited?"),
        Para(" ".join([w.audited_by(), *w.independence()])),
    ]
    blocks += paras(w.claim())
    if w.data():
        blocks += [Heading(2, "Which data was looked at?"), Para(" ".join(w.data()))]
    blocks += [Heading(2, "What were the results?"), Para(" ".join([*w.method(), w.rounding()]))]
    blocks += sections(draw, w, 0, shapes, 3)
    blocks += paras(after(w, 0))
    blocks += [
        Heading(2, "Facts in short"),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs() + w.unknown_pairs(), "table"),
    ]
    if w.use_sentence():
        blocks += [Heading(2, "How long have you used it?"), Para(" ".join(w.use_sentence()))]
    blocks += [
        Heading(2, "Can I ask for another way to be assessed?"),
        Para(w.notice()),
        Bullets(
            [
                "Write to us before the assessment.",
                "Tell us the position and the location.",
                "We answer within 10 business days.",
            ]
        ),
    ]
    return _page(
        draw,
        "Hiring with AI: frequently asked questions",
        blocks,
        "wix",
        bare=draw.producer == "libreoffice_pdf",
    )


def careers_saved(draw: Draw) -> Doc:
    """A careers page with this year's results and those of the year before in full."""
    w = Words(draw)
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Sex"),
        "race": lambda t: grids.flat(draw, t, "Race/ethnicity"),
        "inter": lambda t: grids.nested(draw, t, "race"),
    }
    year = draw.facts.audit.year
    blocks: list[Block] = [
        Heading(1, "Bias audit results"),
        Para(w.intro()),
        Heading(
            2, f"Current audit {('(' + str(year) + ')') if 'audit' not in draw.facts.missing else ''}".strip()
        ),
        Pairs(w.audit_pairs() + w.use_pairs(), "table"),
    ]
    blocks += paras(w.data())
    blocks += sections(draw, w, 0, shapes, 3)
    blocks += paras(after(w, 0) + w.about_the_audit())
    if draw.old:
        last = draw.facts.earlier[-1]
        names = titles(draw)
        blocks += [
            Heading(2, f"Archive: results of the previous audit of {w.day(last)}"),
            Para("Kept on this page for reference. These results are superseded by those above."),
        ]
        for kind in ("sex", "race", "inter"):
            table = draw.table(0, kind, old=True)
            if table:
                grid = shapes[kind](table)
                grid.notes = w.exclusion(table)
                blocks += [Heading(3, f"{names[kind]} (previous audit)"), grid]
    blocks.append(Para(w.notice()))
    return _page(draw, f"Careers at {draw.facts.employer} - Bias audit results", blocks, "careers")


def trust_center(draw: Draw) -> Doc:
    """A vendor's page for one employer, with prices and a change log."""
    w = Words(draw)
    f = draw.facts
    shapes = {
        "sex": lambda t: grids.flat(draw, t, "Category"),
        "race": lambda t: grids.flat(draw, t, "Category"),
        "inter": lambda t: grids.flat(draw, t, "Category", split=True),
    }
    blocks: list[Block] = [
        Heading(1, f"{f.vendor} Trust Center"),
        Heading(2, "NYC Local Law 144 summary"),
        Para(f"{f.vendor} hosts this summary for {f.employer}. " + w.intro()),
        Pairs(w.audit_pairs() + w.use_pairs() + w.data_pairs(), "table"),
    ]
    blocks += paras([w.audited_by(), *w.independence(), *w.use_sentence(), *w.data()])
    blocks.append(
        volume(draw)
        if "data" not in f.missing and not f.made_up
        else Para("More about our products is in the help center.")
    )
    blocks += sections(draw, w, 0, shapes, 3)
    blocks += paras(after(w, 0) + w.method() + [w.rounding()] + w.claim())
    blocks += [
        Heading(2, "Terms"),
        glossary(),
        Heading(2, "Plans"),
        pricing(draw),
        Heading(2, "Release notes"),
        changes(draw),
        Para(w.notice()),
    ]
    doc = _page(draw, f"{f.vendor} Trust Center", blocks, "trust")
    doc.nav = ["Products", "Solutions", "Pricing", "Resources", "Company", "Log in"]
    doc.footer = f"© 2026 {f.vendor}. SOC 2 Type II. ISO 27001."
    return doc
