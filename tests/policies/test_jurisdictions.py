"""What each pack says of its law: since when, how sure, what for whom, and nothing more than its sources."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import yaml

from audit_lib.measure.stage import measure
from audit_lib.policies import Policy, load_policy, policy_names
from audit_lib.policies.clocks import add
from audit_lib.policies.fields import check_fields
from audit_lib.policies.retention import kept_until, longest
from audit_lib.policies.standing import not_yet, review_due, since, standing
from audit_lib.report.content import Content, gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page, page_in
from audit_lib.run import Run
from audit_lib.spec import AuditSpec, Groups
from tests.archive.cases import do, new_run
from tests.policies.packs import shipped
from tests.specs import load
from tests.translation.leftover import own_strings
from tests.translation.test_pages import ENGLISH

LAWS = [name for name in policy_names() if name != "generic"]
FROM_MEMORY = {("us_ugesp", "questions"), ("us_ugesp", "determination"), ("new_jersey_13_16", "questions"),
               ("new_jersey_13_16", "determination")}  # fmt: skip
"""What no source was found for: each is printed with "to be looked up"."""
DAY = timedelta(days=1)
# Written down from the facts about each law, and not read from the packs.
IN_FORCE = {
    "california_cppa": "2026-01-01", "california_crd": "2025-10-01", "colorado_sb26_189": "2027-01-01",
    "connecticut_sb5": "2026-10-01", "eu_ai_act_annex_iii": "2027-12-02", "illinois_hb3773": "2026-01-01",
    "new_jersey_13_16": "2025-12-15", "nyc_ll144": "2023-01-01", "ontario_esa": "2026-01-01",
    "texas_hb149": "2026-01-01", "us_ugesp": "1978-09-25",
}  # fmt: skip
LATER = {
    ("connecticut_sb5", "notice"): "2027-10-01", ("connecticut_sb5", "interaction"): "2027-10-01",
    ("california_cppa", "notice"): "2027-01-01", ("california_cppa", "opt_out"): "2027-01-01",
    ("california_cppa", "access"): "2027-01-01", ("eu_ai_act_annex_iii", "special_categories"): "2026-07-27",
}  # fmt: skip
KEPT = {
    "california_crd": (4, "years"), "colorado_sb26_189": (3, "years"), "eu_ai_act_annex_iii": (10, "years"),
    "new_jersey_13_16": (2, "years"), "nyc_ll144": (1, "years"), "ontario_esa": (3, "years"), "us_ugesp": (2, "years"),
    "california_cppa": None, "connecticut_sb5": None, "generic": None, "illinois_hb3773": None, "texas_hb149": None,
}  # fmt: skip
"""Longest period of retention of each law; none where its text sets none."""


@pytest.fixture(params=LAWS)
def pack(request: pytest.FixtureRequest) -> Policy:
    return load_policy(str(request.param))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("jurisdictions")
    return do(new_run(folder, str(folder / "store"), report={"policy": "generic"}), until="report")


def content_of(measured: Run, name: str) -> Content:
    """The same scores as they are measured and read under another pack."""
    spec = measured.spec.override("report", policy=name).override(
        "use", employer="Example Inc.", notice={"given": "2026-01-02"}
    )
    other = replace(measured, spec=spec)
    return gather(other, metrics=measure(other).artefacts["metrics.json"])


def test_every_part_has_a_source_a_certainty_and_a_day(pack: Policy) -> None:
    assert pack.in_force is not None and pack.in_force.cite and pack.in_force.seen != "recalled"
    for part in (*pack.duties, *pack.clocks, *pack.required_fields):
        assert part.cite.strip() and since(pack, part) is not None
    named = [(one.id, one.seen) for one in (*pack.duties, *pack.citations)]
    named += [(one.name, one.seen) for one in pack.clocks]
    memory = {(pack.name, name) for name, seen in named if seen == "recalled"}
    assert memory <= FROM_MEMORY, "what was not verified is left out, or told to be looked up"
    assert all(one.cite.strip() and one.text.endswith((".", ")")) for one in pack.not_claimed)


def test_a_part_applies_no_earlier_than_somebody_enacted_it(pack: Policy) -> None:
    for part in (*pack.duties, *pack.clocks, *pack.required_fields):
        status = getattr(part, "status", "")
        if status == "in force":
            assert not_yet(pack, pack.as_of, part) is None, "in force is said of what applies"
        for said in re.findall(r"applies from (\d{4}-\d\d-\d\d)$", status):
            assert since(pack, part) == date.fromisoformat(said)


@pytest.mark.parametrize("name", LAWS)
def test_it_is_in_force_from_its_day_on_and_not_before(name: str) -> None:
    law, first = load_policy(name), date.fromisoformat(IN_FORCE[name])
    assert not_yet(law, first - DAY) == first and not_yet(law, first) is None
    assert standing(law, first - DAY).startswith("not in force yet on")
    assert standing(law, first) == f"in force on {first}, since {first}"


@pytest.mark.parametrize(("name", "duty"), LATER)
def test_a_duty_has_its_own_day(name: str, duty: str) -> None:
    law, first = load_policy(name), date.fromisoformat(LATER[name, duty])
    part = next(one for one in law.duties if one.id == duty)
    assert not_yet(law, first - DAY, part) == first and not_yet(law, first, part) is None


def test_a_pack_without_a_day_says_so() -> None:
    assert since(load_policy("generic")) is None
    assert standing(load_policy("generic"), date(2026, 1, 1)) == "since when it applies is not stated"


def test_packs_extend_one_another_without_a_circle() -> None:
    bases = {name: yaml.safe_load(shipped(name)).get("extends") for name in policy_names()}
    for name in bases:
        seen = [name]
        while (base := bases[seen[-1]]) is not None:
            assert base not in seen, seen
            seen.append(base)
        assert seen[-1] == "generic"


def test_what_is_true_of_one_law_is_not_inherited() -> None:
    new_jersey, federal = load_policy("new_jersey_13_16"), load_policy("us_ugesp")
    assert new_jersey.in_force != federal.in_force and new_jersey.binds != federal.binds
    assert {one.text for one in new_jersey.not_claimed}.isdisjoint(one.text for one in federal.not_claimed)
    assert [one.version for one in new_jersey.changes] == ["1.0.0", "1.1.0"]


@pytest.mark.parametrize("name", policy_names())
def test_the_longest_period_of_retention_wins(name: str) -> None:
    law, start = load_policy(name), date(2026, 11, 22)
    clock = longest(law, start)
    assert (None if clock is None else (clock.amount, clock.unit)) == KEPT[name]
    for one in law.clocks:
        if one.kind == "retention" and one.amount is not None:
            assert clock is not None and (add(one, start) or start) <= (add(clock, start) or start)
    until = kept_until(law, load(), datetime(2026, 11, 22, 12, tzinfo=UTC))
    assert (until is None) == (KEPT[name] is None)
    if KEPT[name] is not None:
        assert until == datetime(2026 + KEPT[name][0], 11, 23, tzinfo=UTC)


def test_no_threshold_is_a_laws_own_but_that_of_the_guidelines(pack: Policy) -> None:
    federal = pack.name in ("us_ugesp", "new_jersey_13_16")
    assert pack.guidance.own == federal
    assert bool(pack.practical_tests) == federal, "adverse impact is said under the Guidelines alone"
    assert pack.guidance.cite.startswith("29 CFR 1607.4(D)")
    assert "guideline" in pack.guidance.name or "rule" in pack.guidance.name


def test_new_jerseys_numbers_are_those_of_the_guidelines(measured: Run) -> None:
    there, here = content_of(measured, "us_ugesp"), content_of(measured, "new_jersey_13_16")
    numbers = [
        [
            (t.kind, t.family, t.comparator, r.label, r.n, r.selected, r.ratio)
            for t in one.tables
            for r in t.rows
        ]
        for one in (there, here)
    ]
    assert numbers[0] == numbers[1] and len(numbers[0]) > 10
    groups = Groups(
        attributes={"sex": ["female", "male"], "race": ["White", "Black"], "age": ["under 40", "40 or over"]},
        reference={"sex": "male", "race": "White", "age": "under 40"},
        provenance="self_reported",
    )
    further = load_policy("new_jersey_13_16").of(groups, {})
    assert [one.name for one in further.families] == ["sex", "race_ethnicity", "age"]
    assert [one.name for one in load_policy("us_ugesp").of(groups, {}).families] == ["sex", "race_ethnicity"]


def test_texas_takes_no_ratio_for_a_violation(measured: Run) -> None:
    content = content_of(measured, "texas_hb149")
    assert any(row.below for table in content.tables for row in table.rows), "a low ratio is there"
    page = render_html(make_page(content)).decode()
    said = re.findall(r"[^.>]*violat[^.<]*", page)
    assert said and all(re.search(r"no violation|finds a violation", one) for one in said), (
        "the word stands only where it is denied, or is a defence"
    )
    assert "adverse impact is indicated" not in page.lower()
    assert "alone does not show an intent to discriminate" in page


@pytest.mark.parametrize("name", LAWS)
def test_the_report_of_each_pack_says_whether_its_law_is_in_force(name: str, measured: Run) -> None:
    content = content_of(measured, name)
    assert content.last_day == date(2026, 1, 11), "the window ends before the twelfth"
    page = render_html(make_page(content)).decode()
    early = date.fromisoformat(IN_FORCE[name]) > content.last_day
    assert ("is not in force yet" in page) == early
    if early:
        assert f"applies from {IN_FORCE[name]}" in page and "not in force yet on 2026-01-11" in page
    for duty in load_policy(name).duties:
        assert standing(content.policy, content.last_day, duty) in page
    for one in load_policy(name).not_claimed:
        assert one.text.split("'")[0][:40] in page


@pytest.mark.parametrize("name", LAWS)
def test_no_english_is_left_in_the_spanish_page(name: str, measured: Run) -> None:
    content = content_of(measured, name)
    own = {*own_strings(measured), "Example Inc."}
    page, missing = page_in("es", content)
    assert [words for words in missing if words not in own] == []
    section = next((one for one in page.sections if one.id == "law"), None)
    assert (section is None) == (name == "nyc_ll144")
    text = (
        re.sub(r"<[^>]+>", "\n", render_html(replace(page, sections=(section,))).decode()) if section else ""
    )
    body = text.split("La ley, y desde cuándo")[-1].split("audit_lib")[0]
    left = [line for line in body.splitlines() if ENGLISH.search(re.sub(r"Bus\. & Com\.", "", line))]
    assert left == []


def law_at(document: dict[str, Any], end: str) -> dict[str, Any]:
    return document | {"window": {"start": "2026-01-05T00:00:00+00:00", "end": f"{end}T00:00:00+00:00"}}


def test_what_is_not_asked_yet_is_neither_missing_nor_not_met(measured: Run) -> None:
    spec: AuditSpec = measured.spec.override("report", policy="colorado_sb26_189")
    document = json.loads(measured.stage("report").read("report.json"))
    before = {one.id: one for one in check_fields(law_at(document, "2027-01-01"), spec)}
    after = {one.id: one for one in check_fields(law_at(document, "2027-01-02"), spec)}
    assert after["D03"].status == "missing" and before["D03"].status == "not applicable"
    assert before["D03"].found.startswith("not in force yet on 2026-12-31: asked from 2027-01-01; ")
    assert before["D02"].status == after["D02"].status == "computed", "evidence that is there stays there"
    assert "not in force" in before["D02"].found and "not in force" not in after["D02"].found
    late = spec.override("use", notice={"given": "2027-02-01"}).override(
        "report", policy="colorado_sb26_189", distribution_date="2025-06-01"
    )
    found = {one.id: one for one in check_fields(law_at(document, "2027-03-01"), late)}
    assert found["D03"].status == "not met"
    assert "2027-02-01" in found["D03"].found and "2025-06-01" in found["D03"].found
    told = late.override("use", notice={"given": "2026-12-31"})
    assert {one.id: one for one in check_fields(law_at(document, "2027-03-01"), told)}[
        "D03"
    ].status == "stated"


def test_zip_codes_are_looked_at_where_results_are_split_by_them(measured: Run) -> None:
    spec = measured.spec.override("report", policy="illinois_hb3773")
    document = json.loads(measured.stage("report").read("report.json"))
    assert {one.id: one for one in check_fields(document, spec)}["I03"].status == "missing"
    table = document["metrics"]["tables"][0] | {"stratum": {"zip_code": "10001"}}
    document["metrics"]["tables"].append(table)
    found = {one.id: one for one in check_fields(document, spec)}["I03"]
    assert (found.status, found.found) == ("computed", "results by zip_code")


def test_an_old_review_is_told_by_the_day_that_is_given(pack: Policy) -> None:
    assert review_due(pack, pack.as_of + 90 * DAY) is None
    told = review_due(pack, pack.as_of + 91 * DAY)
    assert told is not None and pack.name in told and str(pack.as_of) in told and "91 days" in told


def test_the_change_log_ends_with_the_version_that_is_here(pack: Policy) -> None:
    assert pack.changes and pack.changes[-1].version == pack.version
    versions = [tuple(map(int, one.version.split("."))) for one in pack.changes]
    assert versions == sorted(set(versions))
    assert [one.day for one in pack.changes] == sorted(one.day for one in pack.changes)
    known = {one.id for one in pack.citations}
    assert all(one.source in known and one.change.endswith(".") for one in pack.changes)
