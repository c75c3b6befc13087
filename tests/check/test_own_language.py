"""A page of ours in Spanish is read as the same page in English is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.column_arithmetic import named
from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.own_language import in_english
from audit_lib.page_transcript import read_visible
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import page_in
from audit_lib.report.readings import readings
from audit_lib.translation import Speaker
from benchmarks.own_pages import KINDS
from tests.report.runs import signature

LAST = (
    Speaker("es")
    .look_up("Made by audit_lib from the sealed run {run}. Policy {policy} {version}.")
    .format(run="demo/2026", policy="nyc_ll144", version="1.5.0")
)
OF_WORDS = frozenset({"unknown_without_bounds", "field_not_found", "small_cell"})
"""Looked for by words: what is not heard in one language is no fault of the page."""


@pytest.mark.parametrize("kind", ["few people", *[pytest.param(k, marks=pytest.mark.slow) for k in KINDS]])
def test_it_has_the_findings_of_the_english_page(kind: str, tmp_path: Path) -> None:
    content = gather(KINDS[kind](tmp_path, 12310))
    signed = replace(content, signature=signature(content.policy.name))
    for state in (content, signed):
        made = {language: render_html(page_in(language, state)[0]) for language in ("en", "es")}
        assert found(tmp_path, made["es"]) == found(tmp_path, made["en"])
    short = readings(signed, "5e" * 32, ("en", "es"), ("html",))
    assert found(tmp_path, short["summary.es.html"]) == found(tmp_path, short["summary.html"])


def found(folder: Path, page: bytes) -> Counter[tuple[str, str]]:
    path = folder / "page.html"
    path.write_bytes(page)
    return Counter((one.id, one.severity) for one in check_report(path).findings if one.id not in OF_WORDS)


def page(text: str, *rows: tuple[str, ...]) -> PublishedFile:
    own = read_visible(f"<p>{text}</p>")
    return PublishedFile(format="html", text=text, grids=(Grid(rows=rows),), own=own)


def test_labels_sentences_and_what_fills_them_are_put_back() -> None:
    told = in_english(
        page(
            f"0 más fueron evaluadas.\n{LAST}",
            ("Categoría", "Evaluados", "Tasa de selección"),
            ("Femenino, Negro o afroamericano (No hispano ni latino) \N{DAGGER}", "12", "indefinida"),
            ("Equipo de la Sra. Ruiz", "3", "1.0%"),
        )
    )
    assert told.grids[0].rows == (
        ("Category", "Assessed", "Selection rate"),
        ("Female, Black or African American (Not Hispanic or Latino) \N{DAGGER}", "12", "undefined"),
        ("Equipo de la Sra. Ruiz", "3", "1.0%"),
    )
    assert "Made by audit_lib from the sealed run demo/2026. Policy nyc_ll144 1.5.0." in told.text
    assert "another language" in told.caution


def test_no_other_page_is_touched() -> None:
    english = page("Made by audit_lib from the sealed run demo/2026.", ("Femenino", "12"))
    assert in_english(english) is english
    strangers = replace(page(LAST, ("Femenino", "12")), own=None)
    assert in_english(strangers) is strangers


def test_differences_are_no_rates_and_no_ratios() -> None:
    rows = [("Category", "n", "k = 1", "k = 2")]
    rows += [
        ("Male", "50", "+0.40", "+1.00"),
        ("Female", "50", "+0.20", "+0.50"),
        ("Asian", "50", "+0.10", "+0.25"),
    ]
    assert named([Grid(rows=rows)])[0].rows == rows
    plain = [tuple(cell.lstrip("+") for cell in row) for row in rows]
    assert named([Grid(rows=plain)])[0].rows[0] == (
        "Category", "n", "k = 1 (selection rate)", "k = 2 (impact ratio)",
    )  # fmt: skip
