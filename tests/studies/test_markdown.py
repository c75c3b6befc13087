"""Blocks of a report as Markdown: nothing of a cell is lost, and what a page does not have is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.report.blocks import (
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Heading,
    Page,
    Row,
    Section,
    Table,
    code,
    text,
)
from studies import markdown
from studies.results import Results, StudyError
from studies.study import Study


def table_of(caption: str = "Gaps", note: str = "") -> Table:
    columns = (Column("Model", numeric=False), Column("r"))
    cells = (Cell("0.50", mark="p > 0.01", note="[0.10, 0.80]"),), (Cell("undefined", note="a|b"),)
    rows = tuple(Row(name, one) for name, one in zip(("a", "b"), cells, strict=True))
    return Table(caption, columns, rows, (note,) if note else ())


def page_of(*blocks: Table | Chart | Heading | Fold) -> Page:
    section = Section("s", "First section", blocks)
    return Page("A page", "", "", "en", (), Facts(()), (section,), text("f"))


def results_of(folder: Path) -> Results:
    study = Study(
        title="t",
        paper="p",
        about="a",
        takes="1 minute",
        cheap=True,
        specs=(),
        prose="$x",
        shown=lambda one: {},
    )
    return Results(name="own", study=study, store=folder, made=folder)


def test_a_table_keeps_mark_note_and_caption() -> None:
    assert markdown.table(table_of(note="n of 7")) == (
        "**Gaps**\n\n| Model | r |\n| --- | ---: |\n| a | 0.50 [0.10, 0.80] *p > 0.01* |\n"
        "| b | undefined (a\\|b) |\n\n- n of 7"
    )
    assert markdown.table(table_of(note="n of 7"), notes=False).endswith("| b | undefined |")


def test_words_are_marked() -> None:
    assert markdown.words(text("see ", code("a.csv"))) == "see `a.csv`"


def test_a_figure_that_is_there_under_two_headings_is_named_by_one(tmp_path: Path) -> None:
    from audit_lib.figures import fairness_ndcg_curve

    first, second = (
        Chart(
            *(fairness_ndcg_curve([1, 2], {"RABBI": values}, title="NDCG", width=w) for w in (760, 360)), "c"
        )
        for values in ([1.0, 0.9], [0.5, 0.6])
    )
    page = page_of(Heading("One"), first, Heading("Two"), Fold("more", (second,)))
    results = results_of(tmp_path)
    with pytest.raises(StudyError, match="2 times 'NDCG' on the page.*under 'One'.*under 'Two'"):
        results.chart(page, "NDCG", "curve")
    assert 'src="../images/studies/own-curve.svg"' in results.chart(page, "NDCG", "curve", under="Two")
    assert set(results.images) == {"own-curve.svg", "own-curve-narrow.svg"}
    with pytest.raises(StudyError, match="two figures are called 'curve'"):
        results.chart(page, "NDCG", "curve", under="One")


def test_a_table_that_is_not_there_is_refused_with_what_is(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="0 times 'Gap' on the page.*: 'Gaps' under 'First section'"):
        results_of(tmp_path).table(page_of(table_of()), "Gap")


def test_a_command_that_fails_stops_the_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="audit validate .*: exit code 2"):
        results_of(tmp_path).command("validate", str(tmp_path / "none.yaml"))
