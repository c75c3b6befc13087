"""Metrics and tables that the page has no words for are printed all the same."""

from __future__ import annotations

import dataclasses
from typing import Any

from audit_lib.report.content import Content, gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.sections.others import others
from audit_lib.run import Run


def with_metrics(run: Run, **more: Any) -> Content:
    content = gather(run)
    return dataclasses.replace(content, metrics={**content.metrics, **more})


def estimate(**changes: Any) -> dict[str, Any]:
    return {
        "metric": "novel_share", "value": 0.25, "interval": {"undefined": "too few"}, "n": 8, "method": "counted",
        "group": {"sex": "female"}, "reference": {}, "stratum": {}, "parameters": {"classifier": "lists"},
        "n_group": 8, "n_reference": None, "clusters": None, "flags": [], "intervals": [], "tests": [],
    } | changes  # fmt: skip


def page(content: Content) -> str:
    return render_html(make_page(content)).decode()


def test_a_metric_that_nobody_told_the_page_about(run: Run) -> None:
    estimates = [
        estimate(),
        estimate(parameters={"classifier": "model"}, value=0.5),
        estimate(group={}, value=0.125),
    ]
    shown = page(with_metrics(run, estimates=estimates))
    assert "<h3>Novel share</h3>" in shown
    assert "is parity" not in shown.split("<h3>Novel share</h3>")[1].split("</section>")[0], (
        "nobody said what its parity is"
    )
    for words in (
        "0.250",
        "0.500",
        "0.125",
        "undefined: too few",
        "classifier lists",
        "classifier model",
        "All groups",
    ):
        assert words in shown, words


def test_tables_of_an_unknown_kind(run: Run) -> None:
    metrics = gather(run).metrics
    table = {
        "kind": "word_company", "family": "occupations", "stratum": {"position": "cook"},
        "rows": [{"word": "nurse", "n": 1234, "bias": 0.5}, {"word": "pilot", "n": 2, "bias": {"undefined": "x"}}],
    }  # fmt: skip
    shown = page(
        with_metrics(run, tables=[*metrics["tables"], table], invocations=[{"model": "m", "calls": 17}])
    )
    assert "<caption>Word company, occupations, cook</caption>" in shown
    for words in ("nurse", "1,234", "0.5000", "pilot", "undefined", "<caption>Invocations</caption>", ">17<"):
        assert words in shown, words


def test_a_long_table_is_cut_and_says_so(run: Run) -> None:
    shown = page(with_metrics(run, novelties=[{"name": f"row {i}", "n": i} for i in range(200)]))
    assert "row 59" in shown
    assert "row 60" not in shown
    assert "The first 60 of 200 rows; all are in report.json." in shown


def test_nothing_else_makes_no_section(run: Run) -> None:
    assert others(gather(run)) is None
