"""The contract that every policy pack keeps, and a small audit under each."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from audit_lib import pipeline
from audit_lib.errors import SpecError
from audit_lib.policies import Policy, load_policy, parse_policy, policy_names, policy_of
from audit_lib.policies.clocks import add, notice_ends, valid_until
from audit_lib.policies.fields import CHECKS, check_fields
from audit_lib.policies.pack_schema import CheckName
from audit_lib.report.numbers import guarded
from audit_lib.spec import Groups
from tests.archive.cases import do, new_run
from tests.policies.packs import own_pack
from tests.specs import load

GROUPS = Groups(
    attributes={"sex": ["female", "male"], "age": ["under 40", "40 or over"]},
    reference={"sex": "male", "age": "under 40"},
    provenance="self_reported",
)


@pytest.fixture(params=policy_names())
def pack(request: pytest.FixtureRequest) -> Policy:
    return load_policy(str(request.param))


def test_these_packs_are_shipped() -> None:
    assert policy_names() == [
        "california_cppa", "california_crd", "colorado_sb26_189", "connecticut_sb5", "eu_ai_act_annex_iii", "generic",
        "illinois_hb3773", "new_jersey_13_16", "nyc_ll144", "ontario_esa", "texas_hb149", "us_ugesp",
    ]  # fmt: skip


def test_dates_are_iso_and_versions_are_three_numbers(pack: Policy) -> None:
    assert pack.as_of <= date(2026, 11, 22)
    assert re.fullmatch(r"\d+\.\d+\.\d+", pack.version)
    assert pack.taxonomy is None or pack.taxonomy.dated <= pack.as_of


def test_every_claim_is_cited(pack: Policy) -> None:
    parts = [
        *pack.families, *pack.tables, *pack.switches, *pack.gates, *pack.clocks, *pack.practical_tests,
        *pack.duties, *pack.required_fields, *pack.attestations,
        pack.guidance, pack.exclusion, pack.provenance, *([pack.taxonomy] if pack.taxonomy else []),
    ]  # fmt: skip
    assert all(part.cite.strip() for part in parts)
    assert all(switch.reason.strip() and switch.question.strip() for switch in pack.switches)


def test_four_fifths_is_federal_guidance_and_no_packs_own(pack: Policy) -> None:
    assert pack.guidance.cite.startswith("29 CFR 1607.4(D)")
    if pack.name != "us_ugesp":
        assert re.search(r"set[s]? no (?:pass mark|ratio)|sets a pass mark", pack.guidance.wording)


def test_clocks_are_well_formed(pack: Policy) -> None:
    names = [clock.name for clock in pack.clocks]
    assert len(set(names)) == len(names)
    assert any(clock.kind == "retention" for clock in pack.clocks)
    for clock in pack.clocks:
        assert clock.what and clock.starts and clock.status
        end = add(clock, date(2026, 11, 21))
        assert (end is None) == (clock.amount is None)
        assert end is None or end > date(2026, 11, 21)
    assert valid_until(pack, date(2026, 11, 21)) == date(2027, 11, 21)


def test_every_required_field_has_a_check_of_its_own_pack(pack: Policy) -> None:
    assert all(field.check in CHECKS for field in pack.required_fields)
    checks = [field.check for field in pack.required_fields]
    assert len(set(checks)) == len(checks) >= 7
    assert all(re.fullmatch(r"[A-Z]\d\d", field.id) for field in pack.required_fields)


def test_no_check_is_without_a_use() -> None:
    used = {field.check for name in policy_names() for field in load_policy(name).required_fields}
    assert used == set(CHECKS) == set(get_args(CheckName))


@pytest.mark.parametrize("ratio", ["199/250", "1999/2500", "79999/100000", "799999999/1000000000"])
def test_no_ratio_prints_across_the_threshold(pack: Policy, ratio: str) -> None:
    exact = Fraction(ratio)
    printed = guarded(exact, pack.rounding.ratio, pack.guidance.threshold)
    assert Fraction(printed) < pack.guidance.threshold
    assert guarded(pack.guidance.threshold, pack.rounding.ratio, pack.guidance.threshold) == "0.800"
    assert pack.rounding.ratio > pack.rounding.rate_percent


def test_switches_can_be_set_by_a_spec_and_faults_are_named(pack: Policy) -> None:
    assert pack.of(GROUPS, {"median": "known"}).median == "known"
    assert pack.median == "all"
    with pytest.raises(SpecError, match="did you mean 'median'"):
        pack.of(GROUPS, {"medain": "known"})
    with pytest.raises(SpecError, match=r"report\.switches\.median.*'known'"):
        pack.of(GROUPS, {"median": "knwon"})


def test_a_pack_without_a_taxonomy_takes_the_specs(pack: Policy) -> None:
    resolved = pack.of(GROUPS, {})
    if not pack.is_free:
        further = ["age"] if pack.further_attributes else []
        assert resolved.families[: len(pack.families)] == pack.families
        assert [family.name for family in resolved.families[len(pack.families) :]] == further
        return
    assert [family.name for family in resolved.families] == ["sex", "age", "intersectional"]
    labels = [row.label for row in resolved.categories("intersectional")]
    assert labels == ["female, under 40", "female, 40 or over", "male, under 40", "male, 40 or over"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    seen: primary", "    seen: sure", "citations.0.seen"),
        ("amount: 1, unit: years", "amount: 1, unit: null", "amount and unit are given together"),
        ("amount: 1, unit: years", "amount: 0, unit: years", "amount"),
        ("kind: validity", "kind: posting", "exactly one of kind validity"),
        ("check: audit_date", "check: audit_dat", "check"),
        ("wording:\n", "wording:\n  unknown_note: null\n", "wording lacks unknown_note"),
        ("  title_unsigned: ", "  title_unsigned: null\n  title_draft: ", "wording lacks title_unsigned"),
        ("  - {name: provenance,", "  - {name: provenence,", "gates.0.name"),
        ("  dated: 2023-04-06", "  dated: April 2023", "taxonomy.dated"),
    ],
)
def test_a_broken_pack_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError, match=re.escape(said)):
        parse_policy(own_pack(old, new), "pack.yaml")


def test_the_calendar_of_a_year_and_of_ten_business_days() -> None:
    pack = load_policy("nyc_ll144")
    assert valid_until(pack, date(2027, 3, 1)) == date(2028, 3, 1), "a leap year is a year"
    assert valid_until(pack, date(2028, 2, 29)) == date(2029, 2, 28)
    assert notice_ends(pack, date(2026, 11, 20)) == date(2026, 12, 4), "a Friday, two weeks on"
    assert notice_ends(pack, date(2026, 11, 21)) == date(2026, 12, 4), "a Saturday is no business day"
    assert notice_ends(load_policy("generic"), date(2026, 11, 20)) is None


def test_retention_says_how_sure_it_is() -> None:
    sure = {c.cite: c.seen for n in policy_names() for c in load_policy(n).clocks if c.kind == "retention"}
    assert sure["2 CCR 11013(c); 11008.1(d)"] == "primary"
    assert sure["29 CFR 1602.14"] == "secondary"
    rescission = next(c for c in load_policy("us_ugesp").clocks if c.name == "impact_records")
    assert "3046-AB43" in rescission.status and rescission.amount == 2
    silent = next(c for c in load_policy("nyc_ll144").clocks if c.name == "audit_data")
    assert silent.amount is None and add(silent, date(2026, 1, 1)) is None


def test_a_small_audit_runs_under_the_pack(pack: Policy, tmp_path: Path) -> None:
    spec = load(groups={"provenance": "self_reported"}, report={"policy": pack.name})
    run = new_run(tmp_path, str(tmp_path / "store"), report={"policy": pack.name})
    pipeline.check(run.spec)
    do(run, until="report")
    metrics = run.stage("metrics").read_json("metrics.json")
    policy = policy_of(spec)
    families = {table["family"] for table in metrics["tables"]}
    assert families == {family.name for family in policy.families}
    for table in metrics["tables"]:
        for row in table["rows"]:
            assert isinstance(row["n"], int) and "n" in row["rate"], "n beside every rate"
            if row["n"] == 0:
                assert set(row["rate"]["value"]) == set(row["impact_ratio"]["value"]) == {"undefined"}
    page = run.stage("report").read("report.html").decode()
    assert policy.wording.get("title_unsigned", policy.wording["title_audit"]) in page
    columns = next(csv.reader(io.StringIO(run.stage("report").read("tables.csv").decode())))
    assert columns.index("n") < columns.index("rate")
    document = json.loads(run.stage("report").read("report.json"))
    found = check_fields(document, run.spec)
    assert [one.id for one in found] == [field.id for field in policy.required_fields]
    printed = {
        one.id: one
        for one, f in zip(found, policy.required_fields, strict=True)
        if f.check == "ratios_printed"
    }
    assert all(one.status == "computed" for one in printed.values())
