"""Printed numbers as people type them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from audit_lib.check.published_numbers import read_cell, read_number, says_none
from audit_lib.translation import LANGUAGES, Speaker


@pytest.mark.parametrize(
    ("text", "value", "decimals", "percent"),
    [
        ("1,390", Fraction(1390), 0, False),
        ("1390", Fraction(1390), 0, False),
        ("1,390 people", Fraction(1390), 0, False),
        ("15.4 percent", Fraction(154, 10), 1, True),
        ("12,345,678", Fraction(12345678), 0, False),
        ("1\N{NO-BREAK SPACE}390", Fraction(1390), 0, False),
        ("1\N{NARROW NO-BREAK SPACE}390", Fraction(1390), 0, False),
        ("12\N{THIN SPACE}345\N{THIN SPACE}678", Fraction(12345678), 0, False),
        ("1'390", Fraction(1390), 0, False),
        ("1\N{RIGHT SINGLE QUOTATION MARK}390.5", Fraction(2781, 2), 1, False),
        ("\N{NO-BREAK SPACE}64.2\N{NO-BREAK SPACE}%", Fraction(642, 10), 1, True),
        (".67", Fraction(67, 100), 2, False),
        ("64.2%", Fraction(642, 10), 1, True),
        ("64.2 %", Fraction(642, 10), 1, True),
        ("1.000*", Fraction(1), 3, False),
        ("0.97\N{DAGGER}", Fraction(97, 100), 2, False),
        ("0.97\N{SUPERSCRIPT TWO}", Fraction(97, 100), 2, False),
        ("0.97 [3]", Fraction(97, 100), 2, False),
        ("0.880 (0.649 to 1.179)", Fraction(88, 100), 3, False),
        ("\N{MINUS SIGN}3", Fraction(-3), 0, False),
        ("1.39E+03", Fraction(1390), 0, False),
        ("5e-1", Fraction(1, 2), 1, False),
    ],
)
def test_reads(text: str, value: Fraction, decimals: int, percent: bool) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.value, number.decimals, number.percent) == (value, decimals, percent)


@pytest.mark.parametrize(
    "text", ["", "about 3", "1.2.3", "12 of 30", "1,39", "1'39", "1 390", "0.649 to 1.179", "N/A", "-"]
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["", "-", "\N{EN DASH}", "N/A", "n/a*", "undefined", "< 5", "Fewer than 10"])
def test_says_none(text: str) -> None:
    assert says_none(text) and read_cell(text).is_none


def test_a_count_is_whole_and_not_negative() -> None:
    assert [read_cell(text).count for text in ("12", "12.0", "12.5", "-3", "50%", "few")] == [
        12,
        12,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", ["hidden", "undefined"])
@pytest.mark.parametrize("context", [None, "of a rate"])
def test_what_our_pages_say_in_place_of_a_number_is_none(
    language: str, words: str, context: str | None
) -> None:
    assert says_none(Speaker(language).look_up(words, context))
