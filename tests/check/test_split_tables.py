"""One table that a page prints as several, and sentences on the highest rate."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_document, check_report
from audit_lib.check.grids import Format, Grid, PublishedFile
from tests.check.cases import HEADER, RACES, WORDS, html, kinds, rated, summary

BOTH = next(name for name in summary() if name.lower().startswith("inter"))


def halves() -> dict[str, list[list[str]]]:
    tables = summary()
    rows = tables.pop(BOTH)
    for sex in ("Male", "Female"):
        tables[f"{BOTH} ({sex})"] = [row for row in rows if row[0].startswith(sex)]
    return tables


def test_a_table_of_men_and_one_of_women_are_one_table(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html(halves(), WORDS), encoding="utf-8")
    assert [f for f in check_report(page).findings if f.severity != "note"] == []
    faulty = halves()
    faulty[f"{BOTH} (Female)"][2][-1] = "0.111"
    page.write_text(html(faulty, WORDS), encoding="utf-8")
    assert kinds(check_report(page)) == ["ratio_not_rebuilt"]


@pytest.mark.parametrize(
    "template", ["{} is the most selected category.", "The category with the highest selection rate is {}."]
)
def test_a_sentence_that_names_another_category_as_the_highest(tmp_path: Path, template: str) -> None:
    page = tmp_path / "page.html"
    told = {}
    for race in RACES:
        page.write_text(html(summary(), f"{WORDS}<p>{template.format(race)}</p>"), encoding="utf-8")
        told[race] = [f for f in check_report(page).findings if f.id == "highest_category_wrong"]
    right = [race for race, found in told.items() if not found]
    assert len(right) == 1
    assert all(found[0].recomputed == right[0] for race, found in told.items() if race != right[0])


@pytest.mark.parametrize(("format_", "severity"), [("pdf", "warning"), ("html", "error")])
@pytest.mark.parametrize(
    ("label", "printed"), [("Native Hawaiian or Pacific Islander, Asian", "0.111"), ("Asian", "(cid:22)")]
)
def test_what_a_pdf_may_have_garbled_is_no_error(
    format_: Format, severity: str, label: str, printed: str
) -> None:
    rows = rated({"White": (400, 180), "Black": (220, 80), label: (150, 75), "Hispanic": (300, 120)})
    rows[1][-1] = printed
    page = PublishedFile(format=format_, text="", grids=(Grid(rows=[HEADER, *rows]),))
    ids = ("ratio_not_rebuilt", "unreadable_number")
    (found,) = [f for f in check_document(page, "page").findings if f.id in ids]
    assert found.severity == ("warning" if printed.startswith("(") else severity)
