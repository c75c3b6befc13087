"""What the names of a page's numerals say together, though somebody wrote its transcript anew."""

from __future__ import annotations

import base64
import bz2
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import canonical_json
from audit_lib.check import check_report
from audit_lib.check.own_names import named_numerals
from audit_lib.page_transcript import NAME, PageText, read_transcript, read_visible
from benchmarks.own_pages import written_anew
from tests.measure.test_experiments import CHECKED, METRICS, RATING, rater
from tests.report.runs import made
from tests.report.test_what_was_varied import audited
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake


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
    anew = written_anew(page, edit(page))
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


# --- Transcripts that somebody crafted, and pages that nobody touched. ---


def crafted(page: str, change: Callable[[dict[str, Any]], None]) -> str:
    document = json.loads(bz2.decompress(base64.b64decode(read_visible(page).transcript)))
    change(document)
    written = base64.b64encode(bz2.compress(canonical_json(document))).decode()
    return re.sub(rf'(<meta name="{NAME}" content=")[^"]*', lambda found: found[1] + written, page)


def first_numerals(numerals: list[list[str]], words: str = "") -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        text = next(one for one in document["texts"] if one["numerals"] and one["kind"] == "p")
        text["numerals"] = numerals
        if words:
            text["words"] = words

    return change


def sources_of_nothing(document: dict[str, Any]) -> None:
    document["sources"] = {part: ["nothing.json"] for part in document["sources"]}


def no_names(document: dict[str, Any]) -> None:
    for text in document["texts"]:
        text["numerals"] = [one[:2] for one in text["numerals"]]


COUNTED = ("selected", "n", "top_selected", "top_n", "ratio")
HUGE = "1" * 5000
CRAFTED = {
    "four fields": first_numerals([["count", "400", "x", "y"]]),
    "a number for a name": first_numerals([["count", "400", 3]]),  # type: ignore[list-item]
    "counts that are none": first_numerals(
        [["name", f"x{i}", of] for i, of in enumerate(COUNTED)], "x0 x1 x2 x3 x4"
    ),
    "a negative count": first_numerals(
        [["count", "\N{MINUS SIGN}5", of] for of in COUNTED], " ".join(["\N{MINUS SIGN}5"] * 5)
    ),
    "a ratio in percent": first_numerals(
        [*(["count", "5", of] for of in COUNTED[:4]), ["percent", "50%", "ratio"]], "5 5 5 5 50%"
    ),
    "a level beyond floats": first_numerals([["decimal", "1.5e9999999", "level"]], "1.5e9999999"),
    "a level of many digits": first_numerals([["count", HUGE, "level"]], HUGE),
    "other files": sources_of_nothing,
    "no names": no_names,
}


@pytest.mark.parametrize("change", CRAFTED.values(), ids=list(CRAFTED))
def test_a_crafted_transcript_is_answered(
    change: Callable[[dict[str, Any]], None], page: str, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(crafted(page, change), encoding="utf-8")
    assert {one.id for one in check_report(path).findings if one.severity == "error"} & {
        "transcript_unreadable", "numeral_changed", "words_changed",
    }  # fmt: skip


@pytest.mark.parametrize("level", [0.9, 0.975, 0.995, 0.999])
def test_another_level_is_said_everywhere_alike(level: float, tmp_path: Path) -> None:
    fake("rater", rater(0.5, seen=True))
    (tmp_path / "a").mkdir()
    experiment = open_audit(
        tmp_path / "a", "pointwise", prompt=RATING, model={"backend": "rater", "name": "rater", "valid_judge": False},
        perturb={"controls": True}, manipulation=CHECKED, measure={"metrics": METRICS, "level": level},
        decision={"rule": "threshold", "threshold": 3, "k": None, "round": None}, sample={"size": 12},
    )  # fmt: skip
    (tmp_path / "b").mkdir()
    words = audited(tmp_path / "b", ["She cooks.", "A man drives.", "He/she writes."] * 4, level)
    for run in (up_to(experiment, "report"), words):
        html = run.stage("report").read("report.html").decode()
        assert named_numerals(read_transcript(read_visible(html).transcript).texts) == []
        assert f"{100 * level:g}% interval" in html, "97.5% is not 98%"


@pytest.mark.parametrize(
    "ticks",
    [
        "1,000 2,000 3,000 123,456,789,012,345,678,901,234",
        "\N{MINUS SIGN}1.5e5 1.5 2.5 3.5",
        "1.0e400 2.0e400 3.0e400 9.0e400",
        "1.0 2.0 3.0 1.0e99999999",
    ],
)
def test_ticks_that_no_chart_of_ours_has_are_passed_over(ticks: str) -> None:
    texts = [PageText("a", "desc", "A chart")] + [
        PageText("a", "text", one, of="tick") for one in ticks.split()
    ]
    assert named_numerals(texts) == []
