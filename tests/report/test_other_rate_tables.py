"""Metrics and tables that the page has no words for are printed all the same; keys that nobody knows are refused."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from audit_lib.documents.metrics import PairwiseAnswers, read_metrics
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.errors import EvidenceError
from audit_lib.report.content import Content, gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.sections.other_rate_tables import other_rate_tables
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from tests.report.documents import rate_row


def with_metrics(run: Run, **more: Any) -> Content:
    content = gather(run)
    return dataclasses.replace(content, metrics=dataclasses.replace(content.metrics, **more))


def estimate(**changes: Any) -> Estimate:
    plain: dict[str, Any] = {
        "metric": "novel_share", "value": 0.25, "interval": Undefined("too few"), "n": 8, "method": "counted",
        "group": {"sex": "female"}, "parameters": {"classifier": "lists"}, "n_group": 8,
    }  # fmt: skip
    return Estimate(**plain | changes)


def page(content: Content) -> str:
    return render_html(make_page(content)).decode()


def test_a_metric_that_nobody_told_the_page_about(run: Run) -> None:
    estimates = (
        estimate(),
        estimate(parameters={"classifier": "model"}, value=0.5),
        estimate(group={}, value=0.125),
    )
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
    table: RateTable[RateRow] = RateTable(
        kind="call_back", family="occupations", stratum={"position": "cook"}, total=1244, unknown=0,
        comparator="pilot",
        rows=(
            rate_row({"job": "nurse"}, 617, 1234, ratio=0.625),
            rate_row({"job": "pilot"}, 8, 10, ratio=Undefined("the comparator itself")),
            rate_row({"job": "diver"}, 0, 0),
        ),
    )  # fmt: skip
    shown = page(with_metrics(run, tables=(*gather(run).metrics.tables, table)))
    assert "<caption>Call back, occupations, cook</caption>" in shown
    for words in ("nurse", "1,234", "0.5000", "0.6250", "pilot", "0.8000", "diver", "undefined"):
        assert words in shown.split("<caption>Call back")[1].split("</table>")[0], words


@pytest.mark.parametrize("key", ["invocations", "novelties"])
def test_a_key_that_nobody_knows_is_refused_by_name(run: Run, key: str) -> None:
    document = json.loads(run.stage("metrics").read("metrics.json")) | {key: [{"name": "row 1", "n": 1}]}
    with pytest.raises(EvidenceError, match=f"{key}: is not a key of this version"):
        read_metrics(json.dumps(document).encode())


def test_answers_about_pairs_have_a_table_of_their_own(run: Run) -> None:
    counts = {
        "prompts": 224, "regular": 200, "tie": 14, "unparsed": 10, "pairs": 112, "flipped": 28, "inconsistent": 56,
        "mixed": 20, "regular_share": 200 / 224, "tie_share": 14 / 224, "unparsed_share": 10 / 224,
        "flipped_share": 0.25, "inconsistent_share": 0.5,
    }  # fmt: skip
    whole = PairwiseAnswers(stratum={}, group=None, reference=None, **counts)  # type: ignore[arg-type]
    part = dataclasses.replace(whole, group={"sex": "female"}, reference={"sex": "male"})
    shown = page(with_metrics(run, pairwise_answers=(whole, part)))
    assert "Further tables" not in shown and "Pairwise answers" not in shown
    table = shown.split("<caption>Answers about pairs</caption>")[1].split("</table>")[0]
    for words in ("all candidates", "female and male", "224", "25.0%", "50.0%", "89.3%"):
        assert words in table, words


def test_nothing_else_makes_no_section(run: Run) -> None:
    assert other_rate_tables(gather(run)) is None
