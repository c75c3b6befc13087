"""What the names of a page's numerals say together, though somebody wrote its transcript anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.own_names import named_numerals
from audit_lib.page_transcript import PageText, read_transcript, read_visible
from benchmarks.own_pages import _written_anew
from tests.report.runs import made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("names")).stage("report").read("report.html").decode()


def first(pattern: str, new: Callable[[re.Match[str]], str], page: str) -> str:
    edited, times = re.subn(pattern, new, page, count=1)
    assert times == 1
    return edited


EDITS = {
    "a level": lambda page: first(r"(<small>|\. )95%", lambda m: f"{m[1]}90%", page),
    "an alpha": lambda page: first(r"fall below 0\.05", lambda m: "fall below 0.01", page),
    "a ratio among the findings": lambda page: first(
        r"ratio 0\.(\d)(\d+)\.", lambda m: f"ratio 0.{(int(m[1]) + 3) % 10}{m[2]}.", page
    ),
    "a tick": lambda page: first(
        r'(<text class="tick"[^>]*><tspan>)0\.4(</tspan>)', lambda m: f"{m[1]}0.3{m[2]}", page
    ),
    "a value in a chart": lambda page: first(
        r'(<text class="value"[^>]*><tspan>)0\.(\d)(\d+)(</tspan>)',
        lambda m: f"{m[1]}0.{(int(m[2]) + 3) % 10}{m[3]}{m[4]}",
        page,
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_an_edit_is_found_though_the_transcript_was_written_anew(
    edit: Callable[[str], str], page: str, tmp_path: Path
) -> None:
    anew = _written_anew(page, edit(page))
    assert named_numerals(read_transcript(read_visible(anew).transcript).texts)
    path = tmp_path / "page.html"
    path.write_text(anew, encoding="utf-8")
    assert {one.id for one in check_report(path).findings} >= {"number_contradicted"}


def test_the_page_as_it_was_made_has_none(page: str) -> None:
    assert named_numerals(read_transcript(read_visible(page).transcript).texts) == []


@pytest.mark.parametrize(
    "ticks",
    ["0 0.2 0.4 0.6", "0 1 10 100 1000", "0 0.5 1 0 0.25 0.5", "2024 2025 2026", "0 0 0 0", "1 2 4 5"],
)
def test_ticks_that_are_even_or_uneven_by_more_than_one_are_left_alone(ticks: str) -> None:
    texts = [PageText("a", "desc", "x: 0.5")] + [
        PageText("a", "text", one, of="tick") for one in ticks.split()
    ]
    assert named_numerals(texts) == []
