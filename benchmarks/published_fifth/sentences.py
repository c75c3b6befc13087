"""Sentences that the tables decide."""

from __future__ import annotations

from benchmarks.published_fifth.model import AuditTable, Row, Style
from benchmarks.published_fifth.names import pair_name, race_name, sex_name


def label(style: Style, row: Row) -> str:
    """The name of a row's category."""
    if row.sex and row.race:
        return pair_name(style, row.sex, row.race)
    return race_name(style, row.race) if row.race else sex_name(style, row.sex)


def said_rate(style: Style, text: str) -> str:
    """A rate as a sentence prints it."""
    return text + "%" if style.rate.startswith("bare") else text


def rate_word(scoring: bool) -> str:
    """The name of the rate."""
    return "scoring rate" if scoring else "selection rate"


AREA = {"sex": "sex", "race": "race/ethnicity", "inter": "intersectional"}


def highest_sentence(style: Style, scoring: bool, kind: str, name: str, rate: str, form: int) -> str:
    """A sentence that names the category with the highest rate."""
    word = rate_word(scoring)
    rate = said_rate(style, rate)
    if form == 0:
        return f"Among the {AREA[kind]} categories, {name} had the highest {word} ({rate})."
    if form == 1:
        return f"The highest {word} in the {AREA[kind]} table is that of {name}, at {rate}."
    return (
        f"By {'intersectional category' if kind == 'inter' else AREA[kind]}, the highest {word} was "
        f"{rate} ({name}); its impact ratio is therefore 1."
    )


def top_row(table: AuditTable) -> Row:
    """The row with the highest rate."""
    return max((row for row in table.rows if not row.excluded), key=lambda row: row.value)


def lowest_sentence(style: Style, table: AuditTable) -> str:
    """A sentence that names the lowest impact ratio."""
    row = min((row for row in table.rows if not row.excluded), key=lambda row: row.value)
    return f"The lowest impact ratio in the {AREA[table.kind]} table is {row.ratio} ({label(style, row)})."
