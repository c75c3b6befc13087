"""What other numbers of our own page determine is recomputed, though the transcript or the digests were made anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from audit_lib.canonical import pretty_json, sha256
from audit_lib.check.own_document import document_findings
from audit_lib.check.own_numbers import contradictions
from audit_lib.page_transcript import read_visible
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import page_in
from audit_lib.report.readings import readings
from audit_lib.run import Run
from benchmarks.own_pages import KINDS
from tests.report.readings_cases import one_position, reported, signed


@pytest.fixture(scope="module")
def screening(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """People counted one by one, in two positions."""
    return KINDS["screening"](tmp_path_factory.mktemp("screening"), 9102)


@pytest.fixture(scope="module")
def grading(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Scores with estimates, their errors and missing answers."""
    return KINDS["grading"](tmp_path_factory.mktemp("grading"), 9103)


@pytest.fixture(scope="module")
def pages(screening: Run) -> dict[str, str]:
    content = gather(screening)
    return {language: render_html(page_in(language, content)[0]).decode() for language in ("en", "es")}


def said(page: str) -> list[tuple[str, str]]:
    return [(one.printed, one.recomputed) for one in contradictions(read_visible(page).texts)]


def cell(label: str, becomes: str, words: str = r"[^<]*\d[^<]*") -> tuple[str, str]:
    """The first cell with a number below a header that begins so; its number written otherwise."""
    return rf'(data-label="{label}[^"]*" class="[^"]*">){words}(?=<)', rf"\g<1>{becomes}"


EDITS: dict[str, dict[str, tuple[str, str]]] = {
    "en": {
        "a limit of Wilson": (r'(data-label="Selection rate" class="[^"]*">[^<]*<small>)\d+\.\d', r"\g<1>12.3"),
        "a limit of Koopman": cell("95% interval, comparator held fixed", "0.612 to 1.444"),
        "people beside": cell("Assessed", "9999", r"\d+"),
        "an exact p": cell("Exact p", "0.0007"),
        "standard deviations": cell("Standard deviations", "+2.99"),
        "the interval of two tables": (
            r'(?s)(comparator picked by the data" class="number">[\d.]+ to .*?picked by the data" class="number">)0',
            r"\g<1>1",
        ),
        "the side of the guideline": (r"<small>(not )?below 0\.8", "<small>below 0.7"),
        "people too few": cell("More or fewer selected than expected", "+17.5"),
        "rows of a group": cell("Rows", "123"),
        "strata": cell("Strata where it is lower, equal, higher", "2, 2, 2"),
        "a negative p": cell("p adjusted for all tests", "\N{MINUS SIGN}0.120"),
        "a star on people": (r'(data-label="Selected" class="number">\d+)', r'\1 <span class="mark">*</span>'),
        "a chart's number": (r'(<text class="value"[^>]*><tspan>)\d\.\d+', r"\g<1>0.123"),
        "a day": (r"(\d{4})-\d\d-(\d\d)", r"\1-71-\2"),
        "a number of a fixed sentence": (r"as the EEO-1 report names", "as the EEO-8 report names"),
        "a word of a fixed sentence": (r"(<dd>How often )a difference ", r"\1no difference "),
    },
    "es": {
        "a limit of Koopman": cell("Intervalo del 95%, categoría de comparación fija", "0.612 a 1.444"),
        "an exact p": cell("p exacta", "0.0007"),
        "standard deviations": cell("Desviaciones estándar", "+2.99"),
        "people too few": cell("Seleccionados de más o de menos", "+17.5"),
    },
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_page_that_nobody_edited_contradicts_nothing(language: str, pages: dict[str, str]) -> None:
    assert said(pages[language]) == []


@pytest.mark.parametrize(("language", "name"), [(lang, name) for lang in EDITS for name in EDITS[lang]])
def test_a_number_beside_the_rates_is_recomputed(language: str, name: str, pages: dict[str, str]) -> None:
    was, becomes = EDITS[language][name]
    head, body = pages[language].split("<body", 1)
    edited, times = re.subn(was, becomes, body, count=1)
    assert times == 1 and edited != body, "nothing was edited"
    assert said(f"{head}<body{edited}")


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    run = reported(one_position(tmp_path_factory.mktemp("one")))
    return readings(signed(run), "5e" * 32, ("en", "es"), ("html",))


OF_SUMMARIES: dict[str, tuple[str, str]] = {
    "people": (r">49<", ">59<"),
    "a rate": (r"45\.4%", "48.4%"),
    "a star": (r' <span class="mark">\*</span>', ""),
    "how many are below": (r"\b15 (of|de) 20", r"13 \1 20"),
    "the smallest": (r"(smallest printed ratio is|impresa más pequeña es) 0\.000", r"\1 0.300"),
    "the one with the most evidence": (r"(with the most evidence is|con más evidencia es) 0\.390", r"\1 0.690"),
    "its people": (r"\b3 (of|de) 14", r"8 \1 14"),
    "those of the highest": (r"\b28 (of|de) 51", r"38 \1 51"),
    "people of no known category": (r": 7 (more people|personas)", r": 9 \1"),
    "the last day of use": (r"2027-(\d\d-\d\d)(?=</dd>)", r"2029-\1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["summary.html", "summary.es.html", "applicant.html", "applicant.es.html"])
def test_a_reading_that_nobody_edited_contradicts_nothing(name: str, summaries: dict[str, bytes]) -> None:
    assert said(summaries[name].decode()) == []


@pytest.mark.parametrize("name", ["summary.html", "summary.es.html"])
@pytest.mark.parametrize("edit", OF_SUMMARIES)
def test_what_a_summary_says_follows_from_its_tables(
    edit: str, name: str, summaries: dict[str, bytes]
) -> None:
    was, becomes = OF_SUMMARIES[edit]
    edited, times = re.subn(was, becomes, summaries[name].decode(), count=1)
    assert times == 1, "nothing was edited"
    assert said(edited)


def _row(document: Any) -> Any:
    tables = document["metrics"]["tables"]
    return next(
        row
        for table in tables
        for row in table["rows"]
        if row["label"] != table["comparator"] and row["selected"]
    )


def _estimate(document: Any) -> Any:
    return next(one for one in document["metrics"]["estimates"] if one.get("scale") == "identity")


def _strata(document: Any) -> Any:
    return next(one for one in document["metrics"]["heterogeneity"] if "table" in one)


def _change(find: Callable[[Any], Any], *path: Any) -> Callable[[Any], None]:
    """Change the number or flag at a path below what is found."""

    def change(document: Any) -> None:
        place = find(document)
        for key in path[:-1]:
            place = place[key]
        value = place[path[-1]]
        place[path[-1]] = (
            not value
            if isinstance(value, bool)
            else value + 1
            if isinstance(value, int)
            else ("difference" if isinstance(value, str) else value * 1.01 + 0.001)
        )

    return change


FIELDS: dict[str, Callable[[Any], None]] = {
    "limit of Koopman": _change(_row, "impact_ratio", "interval", "low"),
    "kind of interval": _change(_row, "impact_ratio", "interval", "kind"),
    "level": _change(_row, "rate", "interval", "level"),
    "people of a ratio": _change(_row, "impact_ratio", "n"),
    "people of a test": _change(_row, "impact_ratio", "tests", 1, "n"),
    "shortfall": _change(_row, "adverse_impact", "shortfall", "pooled"),
    "ratio after a flip": _change(_row, "adverse_impact", "flip_flop", "ratio_after"),
    "p after a flip": _change(_row, "adverse_impact", "flip_flop", "p_value_after"),
    "finding of a flip": _change(_row, "adverse_impact", "flip_flop", "below_threshold"),
    "bound of a ratio": _change(_row, "unknown", "ratio_bounds", 1),
    "estimate": _change(_estimate, "value"),
    "standard error": _change(_estimate, "standard_error"),
    "limit of t": _change(_estimate, "interval", "high"),
    "p of t": _change(_estimate, "tests", 0, "p_value"),
    "count of a stratum": _change(_strata, "strata", 0, "counts", 0),
    "Simpson's flag": _change(_strata, "simpson", "reversed"),
    "Simpson's gap": _change(_strata, "simpson", "adjusted_gap"),
    "Breslow-Day": _change(_strata, "breslow_day", "statistic"),
    "people of Breslow-Day": _change(_strata, "breslow_day", "n"),
    "rows of a group": _change(lambda document: document["metrics"]["missingness"][0], "n"),
    "status of a field": _change(lambda document: document["required_fields"][0], "status"),
}  # fmt: skip


def test_a_document_that_nobody_edited_contradicts_nothing(grading: Run) -> None:
    assert list(document_findings(json.loads(grading.stage("report").read("report.json")))) == []


@pytest.mark.parametrize("name", FIELDS)
def test_a_number_of_a_report_json_is_recomputed(name: str, grading: Run) -> None:
    document = json.loads(grading.stage("report").read("report.json"))
    before = pretty_json(document)
    FIELDS[name](document)
    assert pretty_json(document) != before
    document["digests"] = {k: sha256(pretty_json(v)) for k, v in document.items() if k != "digests"}
    assert {one.id for one in document_findings(document)} == {"number_contradicted"}


def test_a_verdict_of_equivalence_needs_an_interval_inside_the_margin(grading: Run) -> None:
    document = json.loads(grading.stage("report").read("report.json"))
    for one in (_estimate(document), _row(document)["impact_ratio"]):
        one["verdict"] = {"kind": "equivalent"}
        assert "verdict" in {found.column for found in document_findings(document)}
