"""Every policy pack keeps the contract; the law's own tables fit into New York's."""

from __future__ import annotations

import csv
import os
from datetime import date
from fractions import Fraction
from pathlib import Path
from string import Formatter

import pytest

from audit_lib.errors import SpecError
from audit_lib.policies import load_policy, parse_policy, policy_names
from tests.policies.packs import own_pack

LAW = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[3] / "shared") / "law"


@pytest.mark.parametrize("name", policy_names())
def test_a_pack_is_named_dated_and_cited(name: str) -> None:
    policy = load_policy(name)
    assert policy.name == name
    assert isinstance(policy.as_of, date)
    cited = [*policy.families, *policy.tables, *policy.switches, *policy.required_fields]
    assert all(part.cite for part in (*cited, policy.guidance, policy.exclusion, policy.provenance))
    assert all(c.title and c.publisher and c.dated for c in policy.citations)


@pytest.mark.parametrize("name", policy_names())
def test_names_within_a_pack_differ(name: str) -> None:
    policy = load_policy(name)
    for parts in (policy.families, policy.tables, policy.switches, policy.attributes):
        names = [part.name for part in parts]
        assert len(set(names)) == len(names)
    ids = [field.id for field in policy.required_fields]
    assert len(set(ids)) == len(ids)
    for family in policy.families:
        rows = policy.categories(family.name)
        assert len({row.label for row in rows}) == len(rows) > 1
        assert all(tuple(row.levels) == family.attributes for row in rows)


@pytest.mark.parametrize("name", policy_names())
def test_every_kind_of_demographics_has_one_title(name: str) -> None:
    rule = load_policy(name).provenance
    kinds = [*rule.audit, *rule.experiment, *rule.refused]
    assert sorted(kinds) == ["assigned", "inferred", "observer_coded", "self_reported"]


def test_thresholds_are_exact() -> None:
    policy = load_policy("nyc_ll144")
    assert (policy.guidance.threshold, policy.exclusion.share) == (Fraction(4, 5), Fraction(2, 100))
    assert "1607.4(D)" in policy.guidance.cite, "four fifths is not Local Law 144's"
    assert policy.rounding.ratio > policy.rounding.rate_percent


def test_wordings_hold_only_the_places_that_are_filled() -> None:
    policy = load_policy("nyc_ll144")
    places = {
        name: [p for _, p, _, _ in Formatter().parse(words) if p] for name, words in policy.wording.items()
    }
    assert {name: found for name, found in places.items() if found} == {
        "unknown_note": ["n"],
        "experiment": ["varied"],
    }
    assert [p for _, p, _, _ in Formatter().parse(policy.cells.wording) if p] == ["n"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("short_law: LL144", "short_law: LL144\nnmae: x", "nmae"),
        (
            "  - name: unknown\n",
            "  - name: unknown\n    value: available_cases\n",
            "did you mean 'available_case'",
        ),
        ("exclusion:\n", "exclusion:\n  share: two\n", "exclusion.share"),
        ("as_of: 2026-11-22", "as_of: soon", "as_of"),
    ],
)
def test_a_fault_is_named_with_its_key(old: str, new: str, where: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_policy(own_pack(old, new), "pack.yaml")
    assert "pack.yaml" in str(caught.value)
    assert where in str(caught.value)


def test_a_part_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="'race_ethnicity'"):
        load_policy("nyc_ll144").categories("race_etnicity")


def test_the_rules_own_tables_use_these_categories() -> None:
    listing = LAW / "examples" / "ll144_5-301b_selection_intersectional.csv"
    if not listing.is_file():
        pytest.skip("the rule's tables are not on this machine; set AUDIT_SHARED_DATA")
    policy = load_policy("nyc_ll144")
    with listing.open(encoding="utf-8") as lines:
        printed = {(row["sex"], row["race"] or row["ethnicity"]) for row in csv.DictReader(lines)}
    ours = {(row.levels["sex"], row.levels["race"]) for row in policy.categories("intersectional")}
    assert ours == printed


def test_the_checklist_is_the_laws() -> None:
    listing = LAW / "ll144_required_fields.csv"
    if not listing.is_file():
        pytest.skip("the checklist is not on this machine; set AUDIT_SHARED_DATA")
    with listing.open(encoding="utf-8") as lines:
        expected = [(row["id"], row["where"]) for row in csv.DictReader(lines)]
    assert [(field.id, field.where) for field in load_policy("nyc_ll144").required_fields] == expected
