"""Tables of which one header heads several: a rate for men and a rate for women, side by side.

Columns that hold the same for different people are told apart by one row of the header, or by the categories that
their headers name. Where these are categories, the columns are the rows of one table: the law compares the categories
of both attributes over one rate. Otherwise (positions, years, tools) each group of columns is a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.check.column_years import newest
from audit_lib.check.headers import NUMBERS, RATES, Header, Meaning, is_of_rates
from audit_lib.check.row_labels import read_label
from audit_lib.policies import Policy

_OF_EVERYBODY: Final[tuple[Meaning, ...]] = ("applicants", "share")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """The columns that make a table, or the part of a table that is about one category.

    Parameters
    ----------
    at : mapping of str to int
        Meaning -> column.
    headers : mapping of str to str
        Meaning -> header as it prints, without `over` and `place`.
    over : str
        The category over them, which belongs to each row's label, or empty.
    place : str
        What else is over them and tells them from the other tables, or empty.
    """

    at: Mapping[Meaning, int]
    headers: Mapping[Meaning, str]
    over: str = ""
    place: str = ""


def tables_under(header: Header, policy: Policy) -> list[list[TableColumns]]:
    """Return the columns of each table that a header heads: several where they are parts of one table."""
    found = _groups(header, policy)
    if found is None:
        return [[_columns(header.meanings, header.texts, range(len(header.texts)))]]
    groups, texts = found
    labels = {name: read_label([name], policy) for name in groups}
    by_category = any(label.role == "category" and label.levels for label in labels.values())
    parts: list[TableColumns] = []
    tables: list[list[TableColumns]] = []
    for name, group in groups.items():
        if labels[name].role == "total" or not name:
            tables.append([_columns(header.meanings, texts, group)])
        elif by_category:
            parts.append(_columns(header.meanings, texts, group, over=name))
        else:
            everybody = [i for i in _outside(header, groups) if header.meanings[i] in _OF_EVERYBODY]
            tables.append([_columns(header.meanings, texts, [*group, *everybody], place=name)])
    return [parts, *tables] if parts else tables


def _columns(
    meanings: Sequence[Meaning | None],
    texts: Sequence[str],
    group: Sequence[int],
    *,
    over: str = "",
    place: str = "",
) -> TableColumns:
    alike: dict[Meaning, list[int]] = {}
    for i in group:
        meaning = meanings[i]
        if meaning in NUMBERS or meaning == "unknown":
            alike.setdefault(meaning, []).append(i)
    # Of one year the first is the plainest; others are named as not read.
    at = {meaning: newest(columns, texts) for meaning, columns in alike.items()}
    return TableColumns(at=at, headers={m: texts[i] for m, i in at.items()}, over=over, place=place)


def _outside(header: Header, groups: Mapping[str, Sequence[int]]) -> list[int]:
    inside = {i for group in groups.values() for i in group}
    return [i for i in range(len(header.texts)) if i not in inside]


def _groups(header: Header, policy: Policy) -> tuple[dict[str, list[int]], tuple[str, ...]] | None:
    """Return groups of columns by what tells them apart, and the columns' texts without it; None for one table."""
    meanings = header.meanings
    if not header.is_repeated:
        return None
    for names, texts in _names(header, policy):
        groups: dict[str, list[int]] = {}
        for i, meaning in enumerate(meanings):
            if meaning in NUMBERS:
                groups.setdefault(names[i], []).append(i)
        of_rates = {name: group for name, group in groups.items() if any(meanings[i] in RATES for i in group)}
        held = [[meanings[i] for i in group] for group in of_rates.values()]
        if len(held) > 1 and all(is_of_rates(group) and len(set(group)) == len(group) for group in held):
            return of_rates, texts
    return None


def _names(header: Header, policy: Policy) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield what may tell columns apart: each row of the header, then the categories that a column's texts name."""
    last = len(header.rows) - 1
    for i, row in enumerate(header.rows):
        yield row if i == last else _carried(row), header.without(i)
    named = tuple(", ".join(read_label([text], policy).levels.values()) for text in header.texts)
    yield named, header.texts
    yield _carried(named), header.texts  # a category may stand over the first of its columns alone


def _carried(row: Sequence[str]) -> tuple[str, ...]:
    """Fill empty cells from the left: a text over several columns stands in the first of them alone in CSV."""
    filled: list[str] = []
    for text in row:
        filled.append(text or (filled[-1] if filled else ""))
    return tuple(filled)
