"""Sentences that name the category with the highest rate, held against the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.highest_sentences import OTHER_RATES, Highest, highest_in, is_of_earlier
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.rebuilt_rates import RateUnit, scale_of, unit_of
from audit_lib.check.row_labels import read_label, without_denied_ethnicity
from audit_lib.check.stated_fields import NEGATED, read_words, sentences, short
from audit_lib.policies import Policy

_GROUP: Final = r"(?:categor(?:y|ies)|groups?)"
_WHO: Final = r"(?:reference|comparison|comparator|benchmark|best|top|base)"
_OF_SOME: Final = rf" of (?:the )?{_GROUP} (?:of|with|above|over) (?:at least|more than|\d)"
"""What the highest is of, where it is not of all: "the highest of the categories of at least 5 people"."""
_NAMED: Final = (
    # "Highest rate: Asian (14.9%)", "Reference group (highest rate): men, 53%."
    re.compile(
        rf"(?:\bhighest\b(?!{_OF_SOME})[^:.;]{{0,60}}|\b{_WHO} {_GROUP}[^:.;]{{0,40}}): ?(?P<name>[^.;:]{{1,90}})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:{_WHO} {_GROUP}|{_GROUP} with the highest (?:\w+ )?rate) ?(?:is|was|=) (?P<name>[^.;:]{{1,90}})",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bratios? (?:(?:is|are|was|were) )?(?:taken |computed |calculated )?(?:over|against|relative to|compared "
        r"(?:to|with)) (?:the (?:rate of )?)?(?P<name>[^.;:]{1,90}?)(?:,? (?:which|the group|whose|who)\b|$|[.;])",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_GROUP} (?:with|that has|which has|having) the highest (?:\w+ )?rate\b,? (?:is|was|are|were|:) "
        r"(?P<name>[^.;:]{2,90})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<name>[^.;:]{{2,90}}?) (?:is|was|are|were|has|had) the (?:most selected|highest[- ](?:\w+ )?{_GROUP}|"
        rf"highest[- ]{OTHER_RATES}\w+|highest (?:selection|scoring) rate)\b",
        re.IGNORECASE,
    ),
)


_EVERYBODY: Final[Mapping[str, str]] = {}
_NUMBER: Final = re.compile(r"(?:[,(]\s*|\s(?:at|with)\s+)[\d.,]*\d ?%?\)?")


def highest_categories(
    text: str, tables: Sequence[PublishedTable], policy: Policy, *, all_read: bool = True
) -> Iterator[SummaryFinding]:
    """Yield sentences by which a category has the highest rate, where in no table of its family it does.

    A rate that they give must be the one of that category. Of several positions, any may be meant; where not all
    tables were read (`all_read`), a sentence may be about one of these.
    """
    said: set[str] = set()
    audited = read_words(text).audited
    for sentence in sentences(text):
        if is_of_earlier(sentence, audited.year if audited else None):
            continue
        about = [(one, _tables_of(one, sentence, tables, policy)) for one in highest_in(sentence, policy)]
        held = [(one, mine) for one, mine in about if len(mine) == 1 or (mine and all_read)]
        for one, mine in [pair for pair in held if not _holds(*pair)][:1]:
            said.add(one.label.key)
            yield _finding(one, sentence, mine)
        if held or any(one.within for one, _ in about):
            continue
        if NEGATED.search(without_denied_ethnicity(sentence)):
            continue
        for found in (match for pattern in _NAMED for match in pattern.finditer(sentence)):
            label = read_label([_NUMBER.sub("", found["name"])], policy)
            family = next((one for one in policy.families if set(one.attributes) == set(label.levels)), None)
            mine = [table for table in tables if family is not None and table.family == family.name]
            # "Analyst: highest rate: men": of the position that the sentence names.
            mine = [t for t in mine if t.place and _speaks_of(sentence, t.place)] or mine
            tops = [top for table in mine if (top := _highest(table))]
            if (
                not tops
                or label.key in said
                or any(label.levels == row.label.levels for top in tops for row in top)
            ):
                continue
            said.add(label.key)
            names = "; ".join(dict.fromkeys(row.label.text for top in tops for row in top))
            yield SummaryFinding(
                id="highest_category_wrong",
                table=mine[0].name if len(mine) == 1 else "",
                row=label.key,
                printed=short(sentence),
                recomputed=names,
                message=f"the highest rate is that of {names}",
            )


def _finding(one: Highest, sentence: str, tables: Sequence[PublishedTable]) -> SummaryFinding:
    tops = [row for table in tables for row in _highest(table, one.within)]
    mine = [row for row in tops if dict(row.label.levels) == one.label.levels]
    names, rates = (
        "; ".join(dict.fromkeys(row.label.text for row in tops)),
        "; ".join(dict.fromkeys(row.cell("rate").text for row in mine or tops)),
    )
    return SummaryFinding(
        id="highest_category_wrong",
        table=tables[0].name if len(tables) == 1 else "",
        row=one.label.key if one.label.levels else "",
        printed=short(sentence),
        recomputed=rates if mine else names,
        message=f"the highest rate{_of(one)} is that of {names}"
        + (f": {rates}" if rates and one.rates else ""),
    )


def _tables_of(
    one: Highest, sentence: str, tables: Sequence[PublishedTable], policy: Policy
) -> list[PublishedTable]:
    """Return the tables that a statement may be about and that have rates: of the position that its sentence names."""
    family = next((each for each in policy.families if set(each.attributes) == one.attributes), None)
    mine = [t for t in tables if family is not None and t.family == family.name and _highest(t, one.within)]
    return [t for t in mine if t.place and _speaks_of(sentence, t.place)] or mine


def _holds(one: Highest, tables: Sequence[PublishedTable]) -> bool:
    """Whether in one of the tables the category has the highest rate, and this rate is the one that is given.

    A table that was read from places on a page may lack the row that a statement is about.
    """
    for table in tables:
        if table.page and _may_lack(one, table):
            return True
        unit = unit_of(table, "rate")
        for row in _highest(table, one.within):
            if one.label.levels and one.label.levels != dict(row.label.levels):
                continue
            if not one.rates or any(_is_rate(value, digits, row, unit) for value, digits in one.rates):
                return True
    return False


def _may_lack(one: Highest, table: PublishedTable) -> bool:
    """Whether no row of a table is of the category, or all its rates are lower than the one that is given."""
    if one.label.levels:
        return all(one.label.levels != dict(row.label.levels) for row in table.of("category"))
    return all(rate < value for rate, _ in _rates(table) for value, _ in one.rates)


def _is_rate(value: Fraction, digits: int, row: PublishedRow, unit: RateUnit) -> bool:
    """Whether a rate in a sentence is a row's: half up or cut off at its digits, or at those that the row has."""
    n, k, number = row.cell("applicants").count, row.cell("selected").count, row.cell("rate").number
    exact = [Fraction(k, n)] if n and k is not None else []
    step = Fraction(1, 10**digits)
    if number is not None:
        scale = scale_of(number, unit)
        exact.append(number.value / scale)
        step = max(step, Fraction(1, 10**number.decimals * scale)) if not exact[:-1] else step
    return any(
        abs(rate - value) < step and (rate >= value or abs(rate - value) <= step / 2) for rate in exact
    )


def _rates(table: PublishedTable) -> list[tuple[Fraction, PublishedRow]]:
    """Return the rows that have a rate: by whole numbers where there are any."""
    unit = unit_of(table, "rate")
    rates: list[tuple[Fraction, PublishedRow]] = []
    for row in table.of("category"):
        n, k, rate = row.cell("applicants").count, row.cell("selected").count, row.cell("rate").number
        if n and k is not None:
            rates.append((Fraction(k, n), row))
        elif rate is not None:
            rates.append((rate.value / scale_of(rate, unit), row))
    return rates


def _of(one: Highest) -> str:
    return f" of {', '.join(one.within.values())}" if one.within else ""


def _highest(table: PublishedTable, within: Mapping[str, str] = _EVERYBODY) -> list[PublishedRow]:
    """Return the rows of the highest rate, with and without the categories that have no ratio.

    Of a part of the people where `within` names one.
    """
    rates = [(rate, row) for rate, row in _rates(table) if within.items() <= row.label.levels.items()]
    with_ratio = [(rate, row) for rate, row in rates if row.cell("ratio").number is not None]
    tops = []
    for some in (rates, with_ratio):  # the rule is silent on categories without a ratio
        best = max((rate for rate, _ in some), default=None)
        tops += [row for rate, row in some if rate == best]
    # Two rates that print alike are the highest alike.
    printed = {number.digits for row in tops if (number := row.cell("rate").number) is not None}
    alike = [
        row for _, row in rates if (own := row.cell("rate").number) is not None and own.digits in printed
    ]
    return [*tops, *(row for row in alike if row not in tops)]


def _speaks_of(sentence: str, place: str) -> bool:
    """Whether a sentence has the words of a table's place."""
    said = set(re.findall(r"[\w'-]+", sentence.lower()))
    return set(place.split()) <= said
