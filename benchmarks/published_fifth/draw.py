"""Draw everything for one file."""

from __future__ import annotations

from random import Random

from benchmarks.published_fifth.facts import draw_facts
from benchmarks.published_fifth.model import AuditTable, Draw, Layout, Style, Unit
from benchmarks.published_fifth.names import FAMILIES, ORDERS, UNITS
from benchmarks.published_fifth.people import draw_unit
from benchmarks.published_fifth.sentences import highest_sentence, label, lowest_sentence, top_row
from benchmarks.published_fifth.tables import clear_cut, make_tables

N_HEADS = [
    "# of Applicants",
    "Applicants",
    "Number of Applicants",
    "Candidates",
    "N",
    "Total Candidates",
    "Count",
]
K_HEADS = ["# Selected", "Selected", "Number Selected", "Advanced", "Moved Forward"]
KS_HEADS = ["# Above Median", "Scored Above Median", "Number Above Median", "Above Median"]
RATIO_HEADS = ["Impact Ratio", "Impact ratio", "Impact Ratio (IR)", "IMPACT RATIO"]

UNKNOWN_ROWS = ("accordion", "consulting", "workbook", "csv_sheet", "trust_center")


def draw_heads(rng: Random, scoring: bool, rate: str, ratio: str) -> dict[str, str]:
    """The headings of the columns."""
    word = "Scoring Rate" if scoring else "Selection Rate"
    if rate.startswith("bare"):
        word += " (%)"
    head = rng.choice(RATIO_HEADS)
    both = (
        rng.choice(["Above median / assessed", "Above Median / Total"])
        if scoring
        else rng.choice(["Selected / Applicants", "Selected / Total"])
    )
    return {
        "nk": both,
        "n": rng.choice(N_HEADS),
        "k": rng.choice(KS_HEADS if scoring else K_HEADS),
        "rate": rng.choice([word, word, word.replace(" R", " r")]),
        "ratio": head,
        "share": rng.choice(["% of Total", "Share of applicants", "Percent of data"]),
    }


def draw_style(rng: Random, layout: Layout, scoring: bool) -> Style:
    """How the file writes its numbers and names."""
    options = layout.options
    rate = rng.choice(options.rates)
    ratio = rng.choice(options.ratios)
    pair = rng.choice(options.pairs)
    by_axis = rng.randrange(100) < options.axis
    exclude = rng.choice(options.exclude)
    sexes = ["male", "male", "men", "upper"] + (["letter"] if pair in ("comma", "slash") else [])
    columns = rng.choice(options.columns)
    total = rng.randrange(100) < options.totals and exclude != "note"
    return Style(
        count=rng.choice(options.counts),
        rate=rate,
        ratio=ratio,
        races=rng.choice(options.races),
        sexes=rng.choice(sexes),
        pair=pair,
        order=rng.choice(ORDERS),
        sex_order=rng.choice([("m", "f"), ("f", "m")]),
        columns=columns,
        heads=draw_heads(rng, scoring, rate, ratio),
        dates=rng.choice(["us", "us", "us", "day", "slash", "iso", "short"]),
        total=total,
        same_people=not by_axis and exclude != "note" and rng.randrange(100) < 70,
        by_axis=by_axis,
        exclude=exclude,
        highest=rng.randrange(100) < options.highest,
        blank=rng.choice(["N/A", "n/a", "—", "N/A*", "Excluded"]),
        unknown_row=by_axis and not total and layout.name in UNKNOWN_ROWS,
    )


def _tables(
    rng: Random, style: Style, names: list[str], layout: Layout, scoring: bool
) -> tuple[list[Unit], list[AuditTable]]:
    """Draw people until every table is clear-cut."""
    units: list[Unit] = []
    tables: list[AuditTable] = []
    base = rng.uniform(0.22, 0.7)
    for number, name in enumerate(names):
        while True:
            total = int(rng.uniform(*layout.options.sizes))
            unit = draw_unit(rng, name, total, scoring, style.by_axis, base)
            made = make_tables(style, number, unit)
            if all(clear_cut(table) for table in made):
                break
        units.append(unit)
        tables += made
    return units, tables


def make_draw(layout: Layout, producer: str, seed: str) -> Draw:
    """The clean draw of this seed."""
    rng = Random(seed)
    scoring = rng.choice(layout.options.measures)
    style = draw_style(rng, layout, scoring)
    facts = draw_facts(rng, layout.options)
    count = rng.choice(layout.options.units)
    pool = FAMILIES if rng.random() < 0.5 else UNITS
    names = rng.sample(pool, count) if count > 1 else [rng.choice(UNITS)]
    if count == 2 and rng.random() < 0.3:
        names = ["First half of the period", "Second half of the period"]
    units, tables = _tables(rng, style, names, layout, scoring)
    if layout.name == "matrix":  # a matrix has no row of totals
        for table in tables:
            table.total = None if table.kind == "inter" else table.total
    old: list[AuditTable] = []
    if layout.options.old and facts.earlier:
        _, old = _tables(rng, style, names, layout, scoring)
        for table in tables:
            _add_before(table, next(one for one in old if (one.kind, one.unit) == (table.kind, table.unit)))
    draw = Draw(seed, layout.name, producer, scoring, facts, units, tables, old, style, {}, layout.options)
    if style.highest:
        for table in tables:
            row = top_row(table)
            draw.highest[(table.unit, table.kind)] = say_highest(
                draw, table.kind, label(style, row), row.rate
            )
            if table.kind == "race" and draw.chance("low", 40):
                draw.highest[(table.unit, "low")] = lowest_sentence(style, table)
    return draw


def say_highest(draw: Draw, kind: str, name: str, rate: str) -> str:
    """The sentence on the highest rate, in the wording of this file."""
    form = int(draw.pick("form", ["0", "1", "2"]))
    return highest_sentence(draw.style, draw.scoring, kind, name, rate, form)


def _add_before(table: AuditTable, old: AuditTable) -> None:
    """Write last year's ratio beside this year's."""
    known = {(row.sex, row.race): row.ratio for row in old.rows + old.left_out}
    for row in table.rows:
        row.before = known[(row.sex, row.race)]
