"""Generated summaries of bias audits for `check_report`: true counts, the tables and words they print, and a layout.

Nothing here is shared with the readers or with the project's own report; rounding is done again with `decimal`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final, Literal

from benchmarks import check_report_wordings as wordings

Family = Literal["sex", "race", "both"]
FAMILIES: Final[tuple[Family, ...]] = ("sex", "race", "both")
APPLICANTS, SELECTED, RATE, RATIO = range(4)
SMALLEST_SHARE: Final = Fraction(2, 100)

Cell = tuple[str, str]
"""Sex and race of a category; one of them empty in the tables of the other."""


@dataclass(kw_only=True)
class Line:
    """A printed row: what it is about, and its four numbers as printed."""

    label: list[str]
    cells: list[str]
    key: Cell | None = None


@dataclass(kw_only=True)
class Printed:
    """A printed table."""

    family: Family
    caption: str
    header: list[str]
    lines: list[Line]

    def line(self, key: Cell) -> Line:
        """Return the row of a category."""
        return next(line for line in self.lines if line.key == key)

    @property
    def rows(self) -> list[list[str]]:
        """Label and numbers of each row."""
        return [[*line.label, *line.cells] for line in self.lines]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a summary is set."""

    style: Literal["ruled", "lines", "plain", "striped"]
    sheet: Literal["A4", "letter", "landscape"]
    font: str
    size: int
    fills: int
    may_split: bool
    repeats_header: bool
    is_tagged: bool
    is_transposed: bool


@dataclass(kw_only=True)
class Summary:
    """A summary of results: counts and facts, from which `tables` and `words` are made."""

    seed: int
    part: int
    layout: Layout
    cells: dict[Cell, tuple[int, int]]
    unknown: int
    is_scoring: bool
    facts: dict[str, str]
    audited: date
    headers: tuple[str, str, str, str]
    captions: tuple[str, str, str]
    words: list[str]
    fill: list[str]
    choices: Mapping[str, bool | int | str]
    tables: list[Printed] = field(default_factory=list)

    def table(self, family: Family) -> Printed:
        """Return the table of a family."""
        return next(table for table in self.tables if table.family == family)

    @property
    def title(self) -> str:
        """What stands over the page."""
        return f"Summary of results of the bias audit: {self.facts['position']}"


def rounded(value: Fraction, digits: int, how: str = ROUND_HALF_UP) -> str:
    """Print a fraction, half up unless told otherwise; exact, because the division is carried far enough."""
    scaled = Decimal(value.numerator * 10**digits) / Decimal(value.denominator)
    remainder = Fraction(value.numerator * 10**digits, value.denominator) - int(scaled)
    whole = int(scaled) + (1 if how == ROUND_HALF_UP and remainder >= Fraction(1, 2) else 0)
    text = str(whole).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def _spell(day: date, way: int) -> str:
    return (day.strftime("%B %-d, %Y"), day.isoformat(), day.strftime("%-d %B %Y"))[way]


def make(seed: int, part: int) -> Summary:
    """Make a summary and its clean tables; the same seed and part give the same."""
    rng = random.Random(f"{seed}/{part}")
    pick = rng.choice
    is_scoring = rng.random() < 0.15
    cells: dict[Cell, tuple[int, int]] = {}
    base = rng.uniform(0.25, 0.6)
    for sex in ("male", "female"):
        for race in wordings.RACES[part]:
            n = round(rng.lognormvariate(5.2, 0.7)) + 40
            cells[sex, race] = (n, max(1, round(n * min(0.9, base * rng.uniform(0.7, 1.25)))))
    people = sum(n for n, _ in cells.values())
    audited = date(2026, 1, 5) + timedelta(days=rng.randrange(250))
    way = rng.randrange(3)
    start = date(audited.year - 1, rng.randrange(1, 7), 1)
    spelled = {
        "audited": _spell(audited, way),
        "used": _spell(audited + timedelta(days=rng.randrange(20, 90)), way),
        "start": _spell(start, way),
        "end": _spell(start + timedelta(days=rng.randrange(150, 200)), way),
    }
    unknown = rng.randrange(0, people // 60)
    facts = spelled | {
        "position": pick(wordings.POSITIONS[part]),
        "tool": pick(wordings.TOOLS[part]),
        "vendor": pick(wordings.VENDORS[part]),
        "auditor": pick(wordings.AUDITORS[part]),
        "employer": pick(wordings.EMPLOYERS[part]),
        "unknown": f"{unknown:,}",
    }
    made = Summary(
        seed=seed,
        part=part,
        layout=Layout(
            style=pick(("ruled", "ruled", "lines", "plain", "striped")),
            sheet=pick(("A4", "letter", "landscape")),
            font=pick(wordings.FONTS[part]),
            size=rng.randrange(9, 13),
            fills=rng.randrange(0, 9),
            may_split=rng.random() < 0.5,
            repeats_header=rng.random() < 0.5,
            is_tagged=rng.random() < 0.3,
            is_transposed=rng.random() < 0.15,
        ),
        cells=cells,
        unknown=unknown,
        is_scoring=is_scoring,
        facts=facts,
        audited=audited,
        headers=pick(wordings.HEADERS[part]),
        captions=pick(wordings.CAPTIONS[part]),
        words=[text.format(**facts) for text in pick(wordings.WORDS[part])],
        fill=[" ".join(rng.choices(wordings.FILLS[part], k=5)) for _ in range(8)],
        choices={
            "thousands": rng.random() < 0.6,
            "rate_digits": pick((1, 1, 2)),
            "ratio_digits": pick((2, 3, 3)),
            "share_rate": rng.random() < 0.2,
            "total": pick(wordings.TOTALS[part]) if rng.random() < 0.4 else "",
            "unknown_row": pick(wordings.UNKNOWNS[part]) if rng.random() < 0.25 else "",
            "joint": pick(wordings.JOINTS[part]),
            "two_labels": rng.random() < 0.3,
            "sex_word": pick(("Sex", "Gender")),
            "race_word": pick(("Race/Ethnicity", "Race or ethnicity")),
        },
    )
    made.tables = [printed(made, family) for family in FAMILIES]
    return made


def counted(made: Summary, family: Family) -> dict[Cell, tuple[int, int]]:
    """Count people and selected people by the categories of a family."""
    sums: dict[Cell, tuple[int, int]] = {}
    for (sex, race), (n, k) in made.cells.items():
        key = {"sex": (sex, ""), "race": ("", race), "both": (sex, race)}[family]
        before = sums.get(key, (0, 0))
        sums[key] = (before[0] + n, before[1] + k)
    return sums


def label(made: Summary, key: Cell) -> list[str]:
    """Return the cells that name a category."""
    sex = wordings.SEXES[made.part].get(key[0], "")
    race = wordings.RACES[made.part].get(key[1], "")
    if not (sex and race):
        return [sex or race]
    return (
        [sex, race] if made.choices["two_labels"] else [str(made.choices["joint"]).format(sex=sex, race=race)]
    )


def number(made: Summary, people: int) -> str:
    """Print a number of people."""
    return f"{people:,}" if made.choices["thousands"] else str(people)


def rate(made: Summary, value: Fraction, how: str = ROUND_HALF_UP) -> str:
    """Print a rate, as a percentage or as a share of 1."""
    digits = int(made.choices["rate_digits"])
    if made.choices["share_rate"] and "%" not in made.headers[RATE]:
        return rounded(value, digits + 2, how)
    return rounded(100 * value, digits, how) + ("" if "%" in made.headers[RATE] else "%")


def ratio(made: Summary, value: Fraction, how: str = ROUND_HALF_UP) -> str:
    """Print a ratio."""
    digits = int(made.choices["ratio_digits"])
    if made.choices.get("percent_ratio"):
        return rounded(100 * value, max(0, digits - 2), how) + "%"
    return rounded(value, digits, how)


def compared(made: Summary, family: Family) -> dict[Cell, tuple[int, int]]:
    """Count those categories that have a ratio: all, or those of 2% of the people or more."""
    groups = counted(made, family)
    least = SMALLEST_SHARE * sum(n for n, _ in groups.values()) if made.choices.get("small") else 0
    return {key: (n, k) for key, (n, k) in groups.items() if n >= least}


def printed(made: Summary, family: Family) -> Printed:
    """Print the table of a family from the true counts."""
    groups = counted(made, family)
    with_ratio = compared(made, family)
    best = max(Fraction(k, n) for n, k in with_ratio.values())
    lines = [
        Line(
            label=label(made, key),
            cells=[
                number(made, n),
                number(made, k),
                rate(made, Fraction(k, n)),
                ratio(made, Fraction(k, n) / best) if key in with_ratio else str(made.choices["small"]),
            ],
            key=key,
        )
        for key, (n, k) in groups.items()
    ]
    blank = [""] * (len(lines[0].label) - 1)
    if made.choices["unknown_row"]:
        cells = [number(made, made.unknown), "N/A", "N/A", "N/A"]
        lines.append(Line(label=[str(made.choices["unknown_row"]), *blank], cells=cells))
    if made.choices["total"]:
        n, k = (sum(pair[i] for pair in groups.values()) for i in (0, 1))
        cells = [number(made, n), number(made, k), rate(made, Fraction(k, n)), "N/A"]
        lines.append(Line(label=[str(made.choices["total"]), *blank], cells=cells))
    words = [str(made.choices["sex_word"]), str(made.choices["race_word"])]
    first = {"sex": words[:1], "race": words[1:], "both": words if len(lines[0].label) > 1 else ["Category"]}
    table = Printed(
        family=family,
        caption=made.captions[FAMILIES.index(family)],
        header=[*first[family], *made.headers],
        lines=lines,
    )
    if made.is_scoring:
        _drop_column(table, SELECTED)
        table.header[-2] = "Scoring Rate"
    return table


def _drop_column(table: Printed, column: int) -> None:
    at = len(table.header) - 4 + column
    del table.header[at]
    for line in table.lines:
        del line.cells[column]


def cut(value: Fraction, digits: int) -> str:
    """Print a fraction with its other digits cut off."""
    return rounded(value, digits, ROUND_DOWN)
