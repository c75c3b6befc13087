"""Categories, kinds and families of tables have the names of the page's language, other people's names their own."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from audit_lib.policies import Policy, load_policy
from audit_lib.policies.adverse_impact import adverse_finding
from audit_lib.report.table_names import category_name, family_name, kind_name
from audit_lib.spec import Groups
from audit_lib.translation import archived, speaking

LL144, UGESP = load_policy("nyc_ll144"), load_policy("us_ugesp")


@pytest.mark.parametrize(
    ("label", "spanish"),
    [
        ("Female", "Femenino"),
        ("White (Not Hispanic or Latino)", "Blanco (No hispano ni latino)"),
        ("Male, Black or African American", "Masculino, Negro o afroamericano"),
        ("Team of Ms. Ruiz, night (late) shift", "Team of Ms. Ruiz, night (late) shift"),
    ],
)
def test_a_label_is_read_part_by_part(label: str, spanish: str) -> None:
    assert category_name(label) == label
    with speaking("es"):
        assert category_name(label) == spanish


@pytest.mark.parametrize("policy", [LL144, UGESP])
def test_every_category_of_a_pack_has_a_name_in_spanish(policy: Policy) -> None:
    labels = [row.label for family in policy.families for row in policy.categories(family.name)]
    with speaking("es"):
        same = [label for label in labels if category_name(label) == label]
    assert same == []


def test_a_table_of_the_spec_s_own_attribute_keeps_its_name() -> None:
    groups = Groups(
        attributes={"night_shift": ["yes", "no"], "team": ["a", "b"]},
        reference={"night_shift": "no", "team": "a"},
        provenance="self_reported",
    )
    free = load_policy("generic").of(groups, {})
    with speaking("es") as speaker:
        assert family_name(free, "night_shift") == "Night shift"
        assert family_name(free, "intersectional") == "Categorías interseccionales"
        assert family_name(LL144, "sex") == "Categorías de sexo"
        assert kind_name(LL144, "selection") == "Tasas de selección"
    assert list(speaker.untranslated) == []


def test_every_reason_of_a_finding_is_found_again_in_spanish() -> None:
    said = set()
    for below, p, reverses, few in product((True, False, None), (0.01, 0.4), (True, False), (True, False)):
        row: dict[str, Any] = {
            "n": 12,
            "four_fifths_flag": below,
            "adverse_impact": {
                "flip_flop": {"threshold_reverses": reverses, "significance_reverses": reverses}
            },
            "impact_ratio": {"tests": [{"p_value": p}], "flags": ["small_cell"] if few else []},
        }
        found = adverse_finding(UGESP, row, 0.05)
        assert found is not None
        said |= set(found.reasons)
        unknown: tuple[list[Any], ...] = ([], [{"p_value": {"undefined": "no table"}}])
        for tests in unknown:
            other = adverse_finding(
                UGESP, row | {"impact_ratio": row["impact_ratio"] | {"tests": tests}}, 0.05
            )
            assert other is not None
            said |= set(other.reasons)
    with speaking("es") as speaker:
        same = [reason for reason in said if archived(reason) == reason]
    assert len(said) == 11
    assert same == []
    assert list(speaker.untranslated) == []
