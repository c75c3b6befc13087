"""What the packs said wrongly of the law, one test a correction; each is looked for where a reader meets it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.policies import Clock, Policy, load_policy, policy_names
from audit_lib.policies.fields import check_fields
from audit_lib.policies.pack_schema import Citation
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.run import Run
from tests.archive.cases import do, new_run
from tests.specs import load

NEW_YORK, FEDERAL, CALIFORNIA, EUROPE = (
    load_policy(name) for name in ("nyc_ll144", "us_ugesp", "california_crd", "eu_ai_act_annex_iii")
)
BOTH_DATES = re.compile(r"2026-08-02.*2027-12-02.*unsettled")


def citation(pack: Policy, name: str) -> Citation:
    return next(one for one in pack.citations if one.id == name)


def clock(pack: Policy, name: str) -> Clock:
    return next(one for one in pack.clocks if one.name == name)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("corrections")
    return do(new_run(folder, str(folder / "store"), report={"policy": "generic"}), until="report")


def page(measured: Run, name: str) -> str:
    """The page of the same numbers as it prints under another pack."""
    spec = load(groups={"provenance": "self_reported"}, report={"policy": name}, use={"human_review": "all"})
    policy = load_policy(name).of(spec.groups, {})
    content = replace(gather(measured), policy=policy, spec=spec, tables=(), hidden=frozenset())
    return render_html(make_page(content)).decode()


def test_europe_has_article_4a_in_place_of_the_deleted_paragraph() -> None:
    assert EUROPE.provenance.cite.startswith("Article 4a(1) and (2), since 2026-07-27")
    assert "10(5)" not in EUROPE.model_dump_json()


def test_europe_cites_the_amending_regulation_by_itself(measured: Run) -> None:
    amending = citation(EUROPE, "amending")
    assert "2026/1744" in amending.title and "24 July 2026" in amending.dated
    assert "2026/1744" not in citation(EUROPE, "act").dated
    assert "Regulation (EU) 2026/1744 amending" in page(measured, EUROPE.name)


def test_europe_prints_both_dates_of_what_was_not_put_off(measured: Run) -> None:
    explanation = next(duty for duty in EUROPE.duties if duty.id == "explanation")
    assert BOTH_DATES.search(explanation.text)
    assert BOTH_DATES.search(clock(EUROPE, "audit").status)
    assert BOTH_DATES.search(page(measured, EUROPE.name))
    deferred = [one for one in EUROPE.clocks if one.kind == "retention"]
    assert all("2027-12-02" in one.status and "2026-08-02" not in one.status for one in deferred)


def test_california_adopts_the_guidelines_and_sets_no_pass_mark(measured: Run) -> None:
    comparator = CALIFORNIA.switch("comparator")
    for part in (CALIFORNIA.guidance, CALIFORNIA.exclusion, comparator):
        assert "adopted by 2 CCR 11017(a)" in part.cite and "silent" not in part.cite
    assert "set no pass mark" in CALIFORNIA.guidance.wording
    assert "rule of thumb" not in CALIFORNIA.model_dump_json()
    assert "say nothing of leaving any out" not in CALIFORNIA.exclusion.wording
    assert "which adopts the Uniform Guidelines" in page(measured, CALIFORNIA.name)


@pytest.mark.parametrize("name", policy_names())
def test_titles_are_english(name: str) -> None:
    assert "regulations does" not in (words := load_policy(name).wording["title_refused"])
    assert "Guidelines does" not in words


def test_california_rests_on_the_final_text() -> None:
    assert {duty.seen for duty in CALIFORNIA.duties} == {clock(CALIFORNIA, "records").seen} == {"primary"}
    text = citation(CALIFORNIA, "regulations")
    assert text.seen == "primary" and str(text.url).endswith(".pdf")


def test_california_keeps_the_data_of_development_too(tmp_path: Path) -> None:
    kept = next(duty for duty in CALIFORNIA.duties if duty.id == "records").text
    line = next(field for field in CALIFORNIA.required_fields if field.id == "C08")
    for words in (kept, clock(CALIFORNIA, "records").what, line.duty):
        assert "develop or customise" in words
    assert "11008.1(d)" in line.cite
    run = do(new_run(tmp_path, str(tmp_path / "s"), report={"policy": CALIFORNIA.name}), until="report")
    document = json.loads(run.stage("report").read("report.json"))
    found = {one.id: one for one in check_fields(document, run.spec)}
    assert found["C08"].status == "missing" and "use.development_data" in found["C08"].found
    told = run.spec.override("use", development_data="With the vendor, until 2031.")
    found = {one.id: one for one in check_fields(document, told)}
    assert found["C08"].status != "missing" and "With the vendor, until 2031." in found["C08"].found


def test_california_names_the_sections_that_were_read() -> None:
    titles = citation(CALIFORNIA, "regulations").title + citation(CALIFORNIA, "adoption").title
    assert "11079" not in titles
    assert set(re.findall(r"110\d\d(?:\.\d)?", titles)) == {"11008", "11008.1", "11009", "11013", "11017"}


@pytest.mark.parametrize("pack", [FEDERAL, NEW_YORK], ids=lambda pack: pack.name)
def test_selection_records_run_from_the_later_day(pack: Policy, measured: Run) -> None:
    records = clock(pack, "selection_records")
    assert records.starts.endswith("whichever is later") and records.seen == "secondary"
    assert "whichever is later" in page(measured, pack.name)


def test_two_years_are_of_impact_and_not_of_validity() -> None:
    records = clock(FEDERAL, "impact_records")
    assert "validity" not in records.what and "components" in records.what and "from memory" in records.what
    assert (records.amount, records.unit, records.seen) == (2, "years", "secondary")


def test_the_guidelines_standing_is_told(measured: Run) -> None:
    assert (
        "binds no court" in citation(FEDERAL, "olc").dated and "9 June 2026" in citation(FEDERAL, "olc").dated
    )
    assert "13:16-3.3" in citation(FEDERAL, "new_jersey").title
    assert "11017(a)" in citation(FEDERAL, "california").title
    for words in ("binds no court", "13:16-3.3", "11017(a)"):
        assert words in page(measured, FEDERAL.name)


@pytest.mark.parametrize("name", policy_names())
def test_the_rescission_is_on_the_agenda_and_not_published(name: str, measured: Run) -> None:
    dated = citation(load_policy(name), "guidelines").dated
    assert "AB43" in dated and "final-rule" in dated and "AB45" in dated and "proposed-rule" in dated
    assert "no published rescission was found" in dated and "pending" not in dated
    assert "no published rescission was found" in page(measured, name)


def test_new_york_cites_its_statute(measured: Run) -> None:
    statute = citation(NEW_YORK, "statute")
    assert "20-870 to 20-874" in statute.title and statute.seen == "primary"
    lines = {field.id: field for field in NEW_YORK.required_fields}
    assert "20-871(a)(1)" in lines["F15"].cite
    assert all("20-871(b)(1)" in lines[name].cite for name in ("F20", "F21"))
    assert "(2)" in lines["F20"].cite and "residents of the city" in lines["F20"].duty
    said = page(measured, NEW_YORK.name)
    assert "20-870 to 20-874" in said and "residents of the city" in said


def test_new_jersey_keeps_what_the_guidelines_keep(measured: Run) -> None:
    records = clock(FEDERAL, "new_jersey")
    assert (records.amount, records.unit) == (2, "years")
    assert "29 CFR 1607.15" in records.cite and "13:16-3.3" in records.cite
    assert "The same in New Jersey" in page(measured, FEDERAL.name)


def test_new_york_says_whom_its_example_leaves_out(measured: Run) -> None:
    reason = NEW_YORK.switch("unknown").reason
    assert "does not say" not in reason and "list_wise" in reason and "all its tables" in reason
    assert "its note leaves everyone of unknown sex or race/ethnicity out" in page(measured, NEW_YORK.name)
