"""What one snapshot of a summary says: what ``audit check-report`` finds, its numbers, its day and its counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Final

from audit_lib.check import CheckResult, check_document
from audit_lib.check.document_reader import read_document
from audit_lib.check.grids import PublishedFile
from audit_lib.check.headers import RATES
from audit_lib.check.published_numbers import SEPARATORS, WHOLE, Number
from audit_lib.check.published_tables import PublishedRow, PublishedTable, tables_of
from audit_lib.check.stated_fields import read_words
from audit_lib.check.transposed_tables import upright
from audit_lib.documents.published_pages import CountedTable, PageFacts, PageFinding, PrintedNumber
from audit_lib.errors import InputError
from audit_lib.policies import policy_named

_FEWEST_ROWS, _FEWEST_PEOPLE, _FEWEST_COUNTS = 2, 100, 4
"""What a table must have for its counts to be no matter of chance: rows, people, and different counts of two digits."""
_LONGEST: Final = 400
_FIGURE: Final = re.compile(rf"{WHOLE}(?:\.[0-9]{{1,18}})?|\.[0-9]{{1,18}}")
_OVERPRINTED: Final = re.compile(r"[^\W\d_][0-9][^\W\d_]")
_MOST_NUMBERS, _MOST_FINDINGS = 20_000, 1_000
"""A page is anybody's: what is kept of one is bounded."""


def page_facts(path: Path, sha256: str, checker: str, policy: str) -> PageFacts:
    """Read and check a snapshot.

    Parameters
    ----------
    path : Path
        Of the snapshot, alone in its folder: nothing that lies beside it is read as a part of it.
    sha256 : str
        Its digest.
    checker : str
        The version of the checker, for the record.
    policy : str
        Policy pack that it is held against.

    Raises
    ------
    SpecError
        If there is no such policy.
    """
    pack = policy_named(policy)
    try:
        document = read_document(path)
    except InputError as error:
        return unchecked_facts(sha256, checker, str(error).removeprefix(f"{path}: "))
    audited = read_words(document.text).audited
    tables = tables_of(upright(document.grids, pack), pack)
    numbers = tuple(islice(_numbers(document, tables), _MOST_NUMBERS + 1))
    if len(numbers) > _MOST_NUMBERS:
        return unchecked_facts(
            sha256, checker, f"prints more than {_MOST_NUMBERS:,} numbers, as no summary does"
        )
    facts = replace(
        unchecked_facts(sha256, checker, ""),
        format=document.format,
        audited=None if audited is None else audited.isoformat(),
        numbers=numbers,
        unsure=bool(document.unsure) or any(table.unsure for table in tables),
        figures=dict(islice(figures(document.text).items(), _MOST_NUMBERS)),
        digits=dict(Counter(re.findall("[0-9]", document.text))),
        overprinted=_OVERPRINTED.search(document.text) is not None,
        counted=tuple(_counted(tables)),
        words=_digest(re.sub(r"\s+", "", document.text)),
    )
    try:
        result = check_document(document, path.name, policy=policy)
    except InputError as error:
        return replace(facts, unchecked=_short(str(error).removeprefix(f"{path.name}: ")))
    left = len(result.findings) - _MOST_FINDINGS
    more = [f"{left} more findings, of the lightest, are left out"] if left > 0 else []
    return replace(
        facts,
        policy=result.policy,
        tables=tuple(map(_short, result.tables)),
        rebuilt=sum(bool(one.conventions) for one in result.rebuilt),
        printed=len(result.rebuilt),
        findings=tuple(_findings(result)),
        not_checked=tuple(map(_short, (*more, *result.not_checked))),
    )


def unchecked_facts(sha256: str, checker: str, why: str, *, stopped: bool = False) -> PageFacts:
    """Return the facts of a snapshot that says nothing, and why."""
    return PageFacts(
        snapshot=sha256, checker=checker, format=None, unchecked=_short(why), stopped=stopped, policy="",
        audited=None, tables=(), rebuilt=0, printed=0, findings=(), not_checked=(), numbers=(),
        unsure=False, figures={}, digits={}, overprinted=False, counted=(),
        words=_digest(""),
    )  # fmt: skip


def _findings(result: CheckResult) -> Iterator[PageFinding]:
    for one in result.findings[:_MOST_FINDINGS]:
        yield PageFinding(
            id=one.id, severity=one.severity, message=_short(one.message), table=_short(one.table),
            row=_short(one.row), column=_short(one.column), printed=_short(one.printed),
            recomputed=_short(one.recomputed), rule=one.rule, unsure=_short(one.unsure),
        )  # fmt: skip


def _numbers(document: PublishedFile, tables: Sequence[PublishedTable]) -> Iterator[PrintedNumber]:
    """Yield every number of the tables and the people of unknown category in the words, each at a place of its own."""
    unknown = read_words(document.text).unknown
    if unknown is not None:
        yield PrintedNumber(
            table="", row="unknown category", column="people in the words", value=str(unknown)
        )
    for table, name in zip(tables, _names(tables), strict=True):
        times: Counter[str] = Counter()
        for row in table.rows:
            label = _short(_row_name(row))
            times[label] += 1
            again = f" ({times[label]})" if times[label] > 1 else ""
            for meaning, cell in row.cells.items():
                if cell.number is not None:
                    value = _as_printed(cell.number)
                    yield PrintedNumber(table=name, row=label + again, column=meaning, value=value)
        for what, stated in (("unknown", table.unknown), ("total", table.total)):
            if stated:
                words = ", ".join(map(str, sorted(stated)))
                yield PrintedNumber(table=name, row="stated for the table", column=what, value=words)


def _row_name(row: PublishedRow) -> str:
    label = row.label
    return (
        label.key
        if label.role == "category"
        else ": ".join(filter(None, (label.role, ", ".join(label.levels.values()))))
    )


def _names(tables: Sequence[PublishedTable]) -> list[str]:
    """Name each table by its family, and by its place only where there are several of the family.

    So a caption that is worded anew makes no other table of it.
    """
    families = [(table.family or "other categories").replace("_", " ") for table in tables]
    many = Counter(families)
    names, times = [], Counter[str]()
    for table, family in zip(tables, families, strict=True):
        name = _short(f"{family}: {table.place}") if many[family] > 1 and table.place else family
        times[name] += 1
        names.append(f"{name} ({times[name]})" if times[name] > 1 else name)
    return names


def _counted(tables: Sequence[PublishedTable]) -> Iterator[CountedTable]:
    """Yield the tables whose counts are too many and too large to be equal by chance."""
    for table, name in zip(tables, _names(tables), strict=True):
        rows = sorted(_counts(table.rows))
        counts = [int(text) for _, *numbers in rows for text in numbers[:2] if text.isdecimal()]
        people = sum(int(applicants) for _, applicants, *_ in rows if applicants.isdecimal())
        telling = {one for one in counts if one >= 10}
        if len(rows) < _FEWEST_ROWS or people < _FEWEST_PEOPLE or len(telling) < _FEWEST_COUNTS:
            continue
        yield CountedTable(table=name, sha256=_digest(json.dumps(rows)), people=people, rows=len(rows))


def _counts(rows: Iterable[PublishedRow]) -> Iterator[tuple[str, ...]]:
    """Yield category, applicants and selected people of the rows that have a number of people.

    Where the selected are not printed, as in a table of scores, the rate stands for them.
    """
    for row in rows:
        applicants, selected = row.cell("applicants").count, row.cell("selected").count
        if row.label.role != "category" or applicants is None:
            continue
        rates = [row.cell(one).number for one in sorted(RATES) if one in row.cells and one != "ratio"]
        told = [_plain(one.value / (100 if one.percent else 1)) for one in rates if one is not None]
        yield (row.label.key, str(applicants), str(selected) if selected is not None else f"rate {told[:1]}")


def figures(text: str) -> Counter[str]:
    """Count the numbers of a text, each written without thousands and without zeros at its end.

    Examples
    --------
    >>> figures("1,390 of 12; 41.80% and 41.8")
    Counter({'41.8': 2, '1390': 1, '12': 1})
    """
    found = (re.sub(rf"[{SEPARATORS}]", "", one) for one in _FIGURE.findall(text))
    return Counter(figure(Decimal(one)) for one in found)


def figure(number: Decimal) -> str:
    """Write a number without zeros at its end."""
    return f"{number.normalize():f}" if number else "0"


def _as_printed(number: Number) -> str:
    """Write a printed number with its digits, a percentage as a share of 1."""
    value = Decimal(number.digits if not number.digits.startswith(".") else f"0{number.digits}")
    shown = f"{value.scaleb(-2) if number.percent else value:f}"
    return f"-{shown}" if number.negative else shown


def _plain(value: Fraction) -> str:
    """Write a number of finitely many decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = next(d for d in range(1, 60) if (value * 10**d).denominator == 1)
    scaled = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{scaled[:-digits]}.{scaled[-digits:]}"


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
