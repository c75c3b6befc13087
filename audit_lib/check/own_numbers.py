"""What of our own page follows from the counts on it: computed again from whole numbers, whatever its transcript says.

Columns say in any language what they hold (``data-of``), and sentences are found by the texts of the catalogue, so that
pages in every language are read. Nothing of the report's own arithmetic or wording code is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from string import Formatter
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_marks import marks_and_charts
from audit_lib.check.own_sentences import changed_sentences
from audit_lib.check.own_tables import STAR, OwnRow, OwnTable, counted_tables, half_up, rate_of
from audit_lib.check.own_tests import beside_the_rates
from audit_lib.page_transcript import PageText
from audit_lib.translation import LANGUAGES, Speaker

_DECIMAL: Final = re.compile(r"\d+(?:\.(\d+))?")
_FOUR_FIFTHS: Final = Fraction(4, 5)
_STRATA: Final = "strata"


def contradictions(texts: Sequence[PageText]) -> list[SummaryFinding]:
    """Return the numbers, marks and sentences of a page that do not follow from its own counts."""
    tables = counted_tables(texts)
    return [
        *(finding for table in tables for finding in _of_table(table)),
        *_of_charts(texts, tables),
        *beside_the_rates(texts, tables),
        *marks_and_charts(texts),
        *changed_sentences(texts),
        *_of_sentences(texts, tables),
    ]


def _of_table(table: OwnTable) -> Iterator[SummaryFinding]:
    hidden = any(row.count("n") is None for row in table.rows)
    everybody = sum(row.count("n") or 0 for row in table.rows)
    top = table.top
    for row in table.rows:
        n, selected, rate = row.count("n"), row.count("selected"), rate_of(row)
        if n is not None and selected is not None and selected > n:
            yield _finding(table, row, "selected", str(selected), f"at most {n}")
        if rate is not None:
            yield from _printed(table, row, "rate", 100 * rate)
            yield from _around(table, row, "rate", 100 * rate)
        if n is not None and not hidden and everybody:
            yield from _printed(table, row, "share", Fraction(100 * n, everybody))
        if rate is None or not top or row.value("ratio") is None:
            continue
        yield from _printed(table, row, "ratio", rate / top)
        yield from _around(table, row, "ratio", rate / top)
        if row.star != (rate / top < _FOUR_FIFTHS):
            yield _finding(table, row, "mark", STAR if row.star else "no mark", "" if row.star else STAR)


def _printed(table: OwnTable, row: OwnRow, of: str, exact: Fraction) -> Iterator[SummaryFinding]:
    shown = row.value(of)
    if shown is not None and half_up(exact, shown[1]) != shown[0]:
        yield _finding(table, row, of, row.cells[of], f"{float(half_up(exact, shown[1])):.{shown[1]}f}")


def _around(table: OwnTable, row: OwnRow, of: str, exact: Fraction) -> Iterator[SummaryFinding]:
    """An interval holds its own number, up to the last digit that is printed."""
    limits = list(_DECIMAL.finditer(row.notes.get(of, "")))
    if len(limits) != 2:
        return
    low, high = (Fraction(found[0]) for found in limits)
    step = Fraction(1, 10 ** len(limits[0][1] or ""))
    if not low - step <= exact <= high + step:
        yield _finding(table, row, of, row.notes[of], f"an interval with {float(exact):.4f} in it")


def _finding(table: OwnTable, row: OwnRow, column: str, printed: str, recomputed: str) -> SummaryFinding:
    return SummaryFinding(
        id="number_contradicted",
        table=table.caption,
        row=row.label,
        column=column,
        printed=printed,
        recomputed=recomputed,
        message="it does not follow from the counts of the table",
    )


def _of_charts(texts: Sequence[PageText], tables: Sequence[OwnTable]) -> Iterator[SummaryFinding]:
    """Of a chart whose description has the ratios or rates of tables, all but one: the one that no table has."""
    known = {row.cells.get(of) for table in tables for row in table.rows for of in ("rate", "ratio")}
    for one in texts:
        if one.kind not in ("desc", "alt"):
            continue
        values = re.findall(r": (\d+(?:\.\d+)%?)(?=[;.]|$)", one.words)
        odd = [value for value in values if value not in known]
        if len(values) > 2 and len(odd) == 1:
            yield SummaryFinding(
                id="number_contradicted",
                table=one.part,
                printed=odd[0],
                message="a chart has a number that no table of the page has, and all its others are theirs",
            )


# --- Sentences. ---

_Check = Callable[[Mapping[str, str], Sequence[OwnTable]], str]


def _number(words: str) -> int:
    return int(words.replace(",", ""))


def _headline(tables: Sequence[OwnTable]) -> list[OwnTable]:
    return [table for table in tables if table.part != _STRATA]


def _tally(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    compared = below = 0
    threshold = Fraction(values.get("threshold") or values["line"])
    for table in _headline(tables):
        top = table.top
        rates = [
            rate
            for row in table.rows
            if row.value("ratio") is not None and (rate := rate_of(row)) is not None
        ]
        if top:
            compared += len(rates) - 1
            below += sum(rate / top < threshold for rate in rates)
    stated = _number(values["n"]), _number(values["compared"])
    return "" if stated == (below, compared) else f"{below} of {compared}"


def _tally_of_a_kind(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    """Of all tables, or of those of selection or of scoring."""
    instead = [_tally(values, some) for some in _kinds(tables)]
    return instead[0] if all(instead) else ""


def _kinds(tables: Sequence[OwnTable]) -> list[list[OwnTable]]:
    """All tables, and those of each kind, whose titles begin alike."""
    kinds: dict[str, list[OwnTable]] = {}
    for table in tables:
        kinds.setdefault(table.caption.partition(",")[0], []).append(table)
    return [list(tables), *kinds.values()]


def _leader(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    """Both pairs of counts are those of rows of one table."""
    pairs = [
        (_number(values["selected"]), _number(values["n"])),
        (_number(values["top_selected"]), _number(values["top_n"])),
    ]
    for table in tables:
        rows = {(row.count("selected"), row.count("n")) for row in table.rows}
        if all(pair in rows for pair in pairs):
            return ""
    return "counts of two rows of one table"


def _smallest(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    """The smallest ratio that the tables print, all or those of one kind."""
    least = [
        min(printed)
        for some in _kinds(tables)
        if (printed := [at for one in some for row in one.rows if (at := row.value("ratio")) is not None])
    ]
    if not least or any(Fraction(values["ratio"]) == one for one, _ in least):
        return ""
    return f"{float(least[0][0]):.{least[0][1]}f}"


def _ratio_of_a_row(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    return "" if _with(tables, "ratio", values["ratio"]) else "a ratio of the tables"


def _counts_of_a_row(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    """Both counts, and those of the highest rate of a table where they are said to be."""
    stated = _number(values["selected"]), _number(values["n"])
    found = any((row.count("selected"), row.count("n")) == stated for table in tables for row in table.rows)
    return "" if found else "counts of a row of the tables"


def _counts_of_the_highest(values: Mapping[str, str], tables: Sequence[OwnTable]) -> str:
    stated = _number(values["selected"]), _number(values["n"])
    for table in tables:
        for row in table.rows:
            if (row.count("selected"), row.count("n")) == stated and rate_of(row) == table.top:
                return ""
    return "counts of the highest rate of a table"


def _with(tables: Sequence[OwnTable], of: str, words: str) -> bool:
    return any(row.cells.get(of) == words for table in tables for row in table.rows)


def _share_of_total(values: Mapping[str, str], _: Sequence[OwnTable]) -> str:
    answered, total = _number(values["answered"]), _number(values["total"])
    return "" if answered <= total else f"at most {total}"


def _fewer(values: Mapping[str, str], _: Sequence[OwnTable]) -> str:
    below, tests, alpha = _number(values["below"]), _number(values["tests"]), Fraction(values["alpha"])
    expected = alpha * tests
    near = {int(expected), int(expected) + 1} if expected.denominator != 1 else {int(expected)}
    fine = below <= tests and _number(values["expected"]) in near
    return "" if fine else f"at most {tests} below, about {float(expected):g} expected"


_RULES: Final[tuple[tuple[tuple[str, ...], _Check], ...]] = (
    (
        (
            "{n} of {compared} impact ratios in the headline tables is below {threshold:g}, the {guideline}; "
            "comparators, whose ratio is 1, are not counted.",
            "{n} of {compared} impact ratios in the headline tables are below {threshold:g}, the {guideline}; "
            "comparators, whose ratio is 1, are not counted.",
        ),
        _tally,
    ),
    (("{category}: {selected} of {n}, against {top_selected} of {top_n} ({top}).",), _leader),
    (
        (
            "{n:,} of {compared:,} printed impact ratios is below {line}.",
            "{n:,} of {compared:,} printed impact ratios are below {line}.",
        ),
        _tally_of_a_kind,
    ),
    (("The smallest printed ratio is {ratio}.",), _smallest),
    (("The ratio with the most evidence is {ratio}.",), _ratio_of_a_row),
    (("{category}: {selected} of {n} were selected.",), _counts_of_a_row),
    (("{category}: {selected} of {n} scored above the median.",), _counts_of_a_row),
    (("Of the group with the highest rate, {category}, it was {selected} of {n}.",), _counts_of_the_highest),
    (("{answered:,} of {total:,} rows",), _share_of_total),
    (
        (
            "{below:,} of {tests:,} tests fall below {alpha:g} taken one by one; at most about {expected:.0f} would be "
            "expected to if nothing differed and every comparison had been fixed beforehand.",
        ),
        _fewer,
    ),
)
"""Sentences of the catalogue, or both forms of one, and what their numbers follow from."""
_NAMES: Final = frozenset({"category", "top", "guideline"})


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], _Check], ...]:
    found = []
    for language in LANGUAGES:
        speaker = Speaker(language)
        for forms, check in _RULES:
            said = (
                [speaker.look_up(forms[0])]
                if len(forms) == 1
                else [speaker.look_up_number(forms[0], forms[1], n) for n in (1, 2)]
            )
            found += [(_pattern(words), check) for words in said]
    return tuple(dict.fromkeys(found))


def _pattern(words: str) -> re.Pattern[str]:
    pieces, seen = [], set[str]()
    for own, place, _, _ in Formatter().parse(words):
        pieces.append(re.escape(own))
        if place is not None:
            what = r"[^.;:]+?" if place in _NAMES else r"[\d,.]*\d"
            pieces.append(f"(?P={place})" if place in seen else f"(?P<{place}>{what})")
            seen.add(place)
    return re.compile("".join(pieces))


def _of_sentences(texts: Sequence[PageText], tables: Sequence[OwnTable]) -> Iterator[SummaryFinding]:
    # A page without tables, as that for applicants, says what stands in those of another page.
    for one in texts if tables else ():
        for pattern, check in _patterns():
            for found in pattern.finditer(one.words):
                if instead := check(found.groupdict(), tables):
                    yield SummaryFinding(
                        id="number_contradicted",
                        table=one.part,
                        printed=found[0],
                        recomputed=instead,
                        message="the sentence does not follow from the counts of the page's tables",
                    )
