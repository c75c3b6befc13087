"""Sentences that name the category with the highest rate, held against the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.rebuilt_rates import scale_of, unit_of
from audit_lib.check.row_labels import read_label, without_denied_ethnicity
from audit_lib.check.stated_fields import NEGATED, sentences, short
from audit_lib.policies import Policy

_GROUP: Final = r"(?:categor(?:y|ies)|groups?)"
_WHO: Final = r"(?:reference|comparison|comparator|benchmark|best|top|base)"
_NAMED: Final = (
    # "Highest rate: Asian (14.9%)", "Reference group (highest rate): men, 53%."
    re.compile(
        rf"(?:\bhighest\b[^:.;]{{0,60}}|\b{_WHO} {_GROUP}[^:.;]{{0,40}}): ?(?P<name>[^.;:]{{1,90}})",
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
        rf"highest[- ]\w+|highest (?:selection|scoring) rate)\b",
        re.IGNORECASE,
    ),
)


_NUMBER: Final = re.compile(r"(?:[,(]\s*|\s(?:at|with)\s+)[\d.,]*\d ?%?\)?")


def highest_categories(
    text: str, tables: Sequence[PublishedTable], policy: Policy
) -> Iterator[SummaryFinding]:
    """Yield sentences by which a category has the highest rate, where in no table of its family it does."""
    said: set[str] = set()
    for sentence in sentences(text):
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


def _highest(table: PublishedTable) -> list[PublishedRow]:
    """Return the rows of the highest rate, by whole numbers where there are any."""
    unit = unit_of(table, "rate")
    rates: list[tuple[Fraction, PublishedRow]] = []
    for row in table.of("category"):
        n, k, rate = row.cell("applicants").count, row.cell("selected").count, row.cell("rate").number
        if n and k is not None:
            rates.append((Fraction(k, n), row))
        elif rate is not None:
            rates.append((rate.value / scale_of(rate, unit), row))
    with_ratio = [(rate, row) for rate, row in rates if row.cell("ratio").number is not None]
    tops = []
    for some in (rates, with_ratio):  # the rule is silent on categories without a ratio
        best = max((rate for rate, _ in some), default=None)
        tops += [row for rate, row in some if rate == best]
    return tops


def _speaks_of(sentence: str, place: str) -> bool:
    """Whether a sentence has the words of a table's place."""
    said = set(re.findall(r"[\w'-]+", sentence.lower()))
    return set(place.split()) <= said
