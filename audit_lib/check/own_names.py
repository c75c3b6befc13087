"""What the names of our own page's numerals say together: one level, one alpha, ratios of their counts, even ticks.

A numeral's name is the place of the sentence that it fills, which is the same in every language, so nothing here reads
words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_tables import half_up
from audit_lib.page_transcript import MINUS, Numeral, PageText

_ONE: Final = frozenset({"alpha", "level", "line", "policy", "version"})
"""What a page has one of, however often it says it."""
_COUNTS: Final = ("selected", "n", "top_selected", "top_n")
_RATIO: Final = "ratio"
_LEAST_TICKS: Final = 4
_MOST_TICKS: Final = 100
_MOST_DIGITS: Final = 20


def named_numerals(texts: Sequence[PageText]) -> list[SummaryFinding]:
    """Return the numerals of a page that their names show to be wrong.

    Parameters
    ----------
    texts : sequence of PageText
        As the page's transcript has them.
    """
    return [*_constants(texts), *_ratios(texts), *_drawings(texts)]


def _constants(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Of a number that a page has once, the places where it says another than elsewhere."""
    said: dict[str, list[tuple[PageText, str]]] = {}
    for text in texts:
        for one in text.numerals:
            if one.of in _ONE:
                said.setdefault(one.of, []).append((text, _plain(one)))
    for name, places in said.items():
        most = Counter(value for _, value in places).most_common(1)[0][0]
        for text, value in places:
            if value != most:
                yield _finding(text, value, most, f"the page says another {name} elsewhere")


def _plain(one: Numeral) -> str:
    """Return a number in one way: 95% as 0.95, 1,000 as 1000."""
    number = _number(one)
    if number is None:
        return one.text
    return str(float(number / 100 if one.type == "percent" else number))


def _number(one: Numeral) -> Fraction | None:
    """Return a numeral as a number; None where it is none, or one of so many digits that no page of ours has."""
    text = one.text.rstrip(" %").replace(",", "").replace(MINUS, "-")
    if one.type not in ("percent", "decimal", "count") or len(text) > _MOST_DIGITS or "e" in text:
        return None
    return Fraction(text)


def _ratios(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """A sentence with a ratio and the four counts that it is of."""
    for text in texts:
        found = [one for one in text.numerals if one.of in (*_COUNTS, _RATIO)]
        named = {one.of: one for one in found}
        if len(named) < len(_COUNTS) + 1 or len(found) > len(named):
            continue
        if any(named[name].type != "count" for name in _COUNTS) or named[_RATIO].type not in (
            "decimal",
            "count",
        ):
            continue
        selected, n, top_selected, top_n = (_number(named[name]) for name in _COUNTS)
        ratio = _number(named[_RATIO])
        if not (n and top_n and top_selected) or selected is None or ratio is None:
            continue
        digits = len(named[_RATIO].text.partition(".")[2])
        right = half_up(selected * top_n / (n * top_selected), digits)
        if ratio != right:
            yield _finding(
                text,
                named[_RATIO].text,
                f"{float(right):.{digits}f}",
                "the ratio is not that of the people beside it",
            )


def _drawings(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Numbers of a chart that its description has not, and ticks that are not even but for one."""
    for drawing in _split(texts):
        described, *drawn = drawing
        told = {one.text for one in described.numerals}
        values = [one for one in drawn if one.of == "value" and _is_number(one)]
        strange = [one for one in values if one.words not in told]
        if len(strange) < len(values) or described.words in told:
            for one in strange:
                yield _finding(one, one.words, "", "the description of its chart has no such number")
        yield from _ticks([one for one in drawn if one.of == "tick" and _is_number(one)])


def _split(texts: Sequence[PageText]) -> Iterator[list[PageText]]:
    """Yield each drawing: its description, then its words."""
    found: list[PageText] = []
    for one in texts:
        if one.kind in ("desc", "alt"):
            if found:
                yield found
            found = [one]
        elif found and one.kind == "text":
            found.append(one)
    if found:
        yield found


def _is_number(text: PageText) -> bool:
    return len(text.numerals) == 1 and text.numerals[0].text == text.words and text.numerals[0].type != "name"


def _ticks(ticks: Sequence[PageText]) -> Iterator[SummaryFinding]:
    read = [_number(one.numerals[0]) for one in ticks if one.numerals[0].type in ("decimal", "count")]
    values = [value for value in read if value is not None]
    if len(values) < len(ticks) or not _LEAST_TICKS <= len(values) <= _MOST_TICKS:
        return
    if _step(values) is not None:
        return
    for at, one in enumerate(ticks):
        # Were this one right, all steps would be the same.
        right = _between(values, at)
        if _step([*values[:at], right, *values[at + 1 :]]) is not None:
            yield _finding(
                one, one.words, f"{float(right):g}", "the ticks of its chart are even but for this one"
            )
            return


def _step(values: Sequence[Fraction]) -> Fraction | None:
    steps = {b - a for a, b in pairwise(values)}
    return steps.pop() if len(steps) == 1 and 0 not in steps else None


def _between(values: Sequence[Fraction], at: int) -> Fraction:
    """Return what would stand at a place if its neighbours were right."""
    if 0 < at < len(values) - 1:
        return (values[at - 1] + values[at + 1]) / 2
    near, far = (values[1], values[2]) if at == 0 else (values[-2], values[-3])
    return 2 * near - far


def _finding(text: PageText, printed: str, right: str, message: str) -> SummaryFinding:
    return SummaryFinding(
        id="number_contradicted", table=text.table or text.part, row=text.row, column=text.column, printed=printed,
        recomputed=right, message=message,
    )  # fmt: skip
