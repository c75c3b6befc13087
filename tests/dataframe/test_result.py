"""What comes out: one row a number, figures, and a page in which nothing of the table is markup."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import audit_lib
from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval
from tests.dataframe.people import people
from tests.report.axe import assert_accessible, needs_axe

EVERYTHING: dict[str, Any] = {
    "decision": "hired", "score": "score", "clusters": "person", "qualified": "able", "groups": ["sex", "race"],
    "reference": {"sex": "male", "race": "White"}, "maximum_answered_gap": 0.5,
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> audit_lib.dataframe.FrameResult:
    margins = {"margins": {"decision_rate_gap": 0.5}}
    return audit_lib.frame(people(), by="job", measure=margins, **EVERYTHING)


def test_one_row_a_number(found: audit_lib.dataframe.FrameResult) -> None:
    table = found.to_frame()
    assert len(table) == len(found.numbers) == 2 * len(found.rates) + len(found.gaps)
    for row, number in zip(table.to_dict("records"), found.numbers, strict=True):
        one = number.estimate
        assert row["metric"] == one.metric and row["n"] == one.n and row["method"] == one.method
        assert pd.isna(row["undefined"]) == (
            isinstance(one.value, float) and isinstance(number.interval, Interval)
        )
        if isinstance(one.value, float):
            assert row["value"] == one.value
    ratios = table[(table["kind"] == "ratio") & table["low"].notna()]
    assert set(ratios["interval"]) == {"simultaneous"}, "the one that allows for picking is read first"
    held = [one.conditional for one in found.numbers if one.kind == "ratio"]
    rows = table[table["kind"] == "ratio"]
    assert rows["conditional_high"].dropna().tolist() == [one.high for one in held if one is not None]


def test_verdicts_follow_the_adjusted_tests_and_the_margins(found: audit_lib.dataframe.FrameResult) -> None:
    table = found.to_frame()
    gaps = table[(table["metric"] == "decision_rate_gap") & table["job"].isna()]
    assert gaps["verdict"].isin(["equivalent", "difference, within the margin"]).any()
    assert (gaps["margin"] == 0.5).all()
    tested = table[table["p_holm"].notna() & (table[["n_group", "n_against"]].min(axis=1) >= 5)]
    below = tested["p_holm"] < 0.05
    assert (tested["verdict"].str.startswith(("difference", "below the line")) == below).all()
    assert table.loc[(table["n_group"] < 5) & table["p_holm"].notna(), "verdict"].eq("undecided").all()
    assert table.loc[table["kind"].eq("rate"), "verdict"].isna().all()


def test_the_table_is_there_for_other_libraries(found: audit_lib.dataframe.FrameResult) -> None:
    own, table = pa.table(found), found.to_frame()
    assert own.column_names == list(table.columns) and own["value"].to_pylist() == [
        None if pd.isna(value) else value for value in table["value"]
    ]


def test_what_is_missing_is_counted_and_shown() -> None:
    found = audit_lib.frame(people(), **EVERYTHING)
    assert "2 of 160 rows have no decision, and are in no number that needs it." in found.notes
    assert "1 of 160 rows have no score, and are in no number that needs it." in found.notes
    page = found._repr_html_()
    assert "160 rows, 3 of unknown group" in page
    assert all(note in page for note in found.notes)
    rates = found.to_frame().query("metric == 'selection_rate' and attribute == 'sex'")
    assert rates["without_answer"].sum() == 2 and rates["n"].sum() == 160 - 3 - 2


def test_the_reference_is_the_largest_group_and_told() -> None:
    rows = people().drop(index=[0, 2, 4])
    found = audit_lib.frame(rows, decision="hired", groups="sex")
    assert {tuple(one.reference.values()) for one in found.gaps} == {("female",)}
    assert "Gaps are against the largest group (sex: female)" in found.notes[0]
    assert not audit_lib.frame(rows, decision="hired", groups="sex", reference="male").notes[:0]


HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)> & \u202e'


def hostile() -> audit_lib.dataframe.FrameResult:
    rows = people()
    rows["sex"] = rows["sex"].replace("female", HOSTILE)
    rows["job"] = rows["job"].replace("cook", HOSTILE)
    return audit_lib.frame(rows.rename(columns={"race": "race</style><b>"}), decision="hired", score="score",
                           groups=["sex", "race</style><b>"], by="job")  # fmt: skip


def test_nothing_of_the_table_is_markup() -> None:
    found = hostile()
    page = found._repr_html_() + found.plot("rabbi")._repr_html_()
    assert "<script" not in page and "<img src=x" not in page and "<b>" not in page and "\u202e" not in page
    assert page.count("</style>") == 1
    assert not re.search(r"""(src|href|srcset)=["'](?!data:)""", page), "no remote asset"
    assert not re.search(r"\son[a-z]+=[\"']", page.replace("onerror=alert(2)", ""))


@pytest.mark.slow  # a real browser at three widths
@needs_axe
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_of_a_notebook_is_accessible(tmp_path: Any, dark: bool) -> None:
    body = hostile()._repr_html_()
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><style>:root{color-scheme:light dark}'
        f"</style></head><body><main><h1>A notebook</h1>{body}</main></body></html>"
    )
    assert_accessible(html, tmp_path, dark)


def test_figures(found: audit_lib.dataframe.FrameResult, tmp_path: Any) -> None:
    ratios = found.plot()
    assert "Impact ratio" in ratios.described and "0.8" in ratios.svg
    rabbi = found.plot("rabbi")
    assert "female against male" in rabbi.described and "cook" not in rabbi.described
    assert "job: cook" in found.plot("rabbi", strata=True).described
    rabbi.save(tmp_path / "rabbi.svg")
    assert (tmp_path / "rabbi.svg").read_text().startswith("<svg")
    with pytest.raises(InputError, match="did you mean 'rabbi'"):
        found.plot("rabbit")
    rows = people(24).assign(hired=False)
    with pytest.raises(UndefinedMetricError, match="the highest rate is 0"):
        audit_lib.frame(rows, decision="hired", groups="sex").plot("impact_ratio")


def test_effects_hold_for_other_names_and_for_these() -> None:
    rng = np.random.default_rng(8)
    rows = people(480).dropna(subset="sex").reset_index(drop=True)
    rows["name"] = rows["sex"].str.cat(rng.integers(0, 6, len(rows)).astype(str))
    own = dict(zip(sorted(rows["name"].unique()), rng.normal(0, 0.8, 12), strict=True))
    rows["score"] = rows["score"] + rows["name"].map(own)
    asked: dict[str, Any] = {"score": "score", "clusters": "person", "groups": "sex", "reference": "male"}
    found, these = (
        audit_lib.frame(rows, **asked, assigned=True, metrics=["standardised_effect"], **names)
        for names in ({"names": "name"}, {})
    )
    (one,), (alone,) = found.gaps, these.gaps
    assert one.value == alone.value and one.these_names is not None and alone.these_names is None
    assert one.these_names.interval == alone.interval and one.these_names.names_group == 6
    row = found.to_frame().iloc[0]
    assert row["low"] < row["these_names_low"] < row["these_names_high"] < row["high"]
    assert "for other names like those shown" in found._repr_html_()
    with pytest.raises(InputError, match="assigned=True"):
        audit_lib.frame(rows, **asked, names="name")
    with pytest.raises(InputError, match="1 rows have none"):
        audit_lib.frame(rows, **asked, assigned=True, names=rows["name"].where(rows.index > 0))


def test_an_undefined_number_says_why() -> None:
    found = audit_lib.frame(people(24).assign(hired=False), decision="hired", groups="sex")
    table = found.to_frame()
    ratios = table[table["kind"] == "ratio"]
    assert ratios["value"].isna().all() and ratios["undefined"].str.contains("the highest rate is 0").all()
    assert "undefined: the highest rate is 0" in found._repr_html_()
    assert not any(isinstance(one.interval, Interval) for one in found.ratios)


def test_it_says_what_it_is(found: audit_lib.dataframe.FrameResult) -> None:
    assert repr(found).startswith("FrameResult: 160 rows, 3 of unknown group")


def test_a_notebook_speaks_the_language_that_is_asked_for() -> None:
    """Every text of tables, notes and figures is of the catalogue; the table for programs stays English."""
    given: dict[str, Any] = {"decision": "hired", "score": "score", "groups": ["sex", "race"]}
    english, spanish = (audit_lib.frame(people(), **given, language=one, by="job") for one in ("en", "es"))
    assert spanish.notes == english.notes
    page = spanish._repr_html_()
    for words in (
        "Raz\u00f3n de impacto",
        "2 de 160 filas no tienen decisi\u00f3n",
        " frente a ",
        "sin decidir",
    ):
        assert words in page
    shown = re.sub(r'<style>.*?</style>|<p lang="en">.*?</p>|<[^>]+>', " ", page, flags=re.S)
    left = r"\b(Groups?|Verdict|Interval|against|undecided|[Rr]ows|difference|highest|the)\b"
    assert not re.search(left, shown)
    assert " frente a " in spanish.plot("score_gap").svg and " against " in english.plot("score_gap").svg
    pd.testing.assert_frame_equal(english.to_frame(), spanish.to_frame())
    with pytest.raises(InputError, match="language: 'fr' is none of en, es"):
        audit_lib.frame(people(), **given, language="fr")
