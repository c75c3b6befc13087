"""The spec refuses what is wrong, names it, and digests what it means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec, json_schema
from tests.specs import INCLUDE, load


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"decison": {}}, "decison: unknown key; did you mean 'decision'?"),
        ({"groups": {"referense": {}}}, "groups.referense: unknown key; did you mean 'reference'?"),
        ({"groups": {"reference": {"sex": "male"}}}, "groups: attribute 'race' has no reference"),
        (
            {"groups": {"reference": {"sex": "male", "race": "Whit"}}},
            "the reference 'Whit' is not a level of 'race'; did you mean 'White'?",
        ),
        (
            {"groups": {"attributes": {"sex": ["male"], "race": ["White", "Black"]}}},
            "needs two or more different levels",
        ),
        (
            {"groups": {"categories": {"race": {"Blak": "x"}}}},
            "'Blak' is not a level of 'race'; did you mean 'Black'?",
        ),
        ({"prompt": {"template": "t.yaml", "labels": ["Yes"]}}, "labels needs two or more different answers"),
        (
            {"prompt": {"template": "t.yaml", "labels": ["a", "b"], "relevance": [1]}},
            "1 numbers for 2 labels",
        ),
        ({"decision": {"rule": "top_k"}}, "rule top_k needs k and round"),
        ({"decision": {"rule": "threshold"}}, "rule threshold needs threshold"),
        (
            {"model": {"backend": "transformers", "name": "x"}},
            "backend 'transformers' needs a prompt section",
        ),
        ({"groups": {"provenance": "self_reported"}, "perturb": {"names": "n.csv"}}, "must be `assigned`"),
        ({"decision": {"rule": "top_k", "k": 1, "round": "one_per_group"}}, "needs a perturb section"),
        ({"schedule": {"start": "2026-01-05T00:00:00"}}, "needs a UTC offset"),
        ({"score": {"shards": 65}}, "score.shards: Input should be less than or equal to 64"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
    ],
)
def test_a_fault_is_named_with_its_key(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(**sections)
    assert message in str(caught.value)
    assert str(caught.value).startswith("small.yaml: ")


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        load(seed=-1, decison={}, score={"shards": 0})
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "message"), [("[1, 2]", "a spec is a mapping"), ("a: [", "not YAML"), ("", "mapping")]
)
def test_a_file_that_is_no_spec(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        AuditSpec.load_text(text, Path("x.yaml"))


def test_a_spec_that_is_not_there_names_the_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="audit init"):
        AuditSpec.load(tmp_path / "none.yaml")


def test_cells_are_all_intersections_in_the_specs_order() -> None:
    assert load().groups.cells() == [
        {"sex": "female", "race": "White"},
        {"sex": "female", "race": "Black"},
        {"sex": "male", "race": "White"},
        {"sex": "male", "race": "Black"},
    ]


def test_the_digest_covers_the_spec_and_its_design_files(tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text("messages: []", encoding="utf-8")
    first = load(tmp_path, prompt={"template": "template.yaml"}).digest()
    assert load(tmp_path, prompt={"template": "template.yaml"}).digest() == first
    assert load(tmp_path, prompt={"template": "template.yaml"}, seed=8).digest() != first
    template.write_text("messages: [ ]", encoding="utf-8")
    assert load(tmp_path, prompt={"template": "template.yaml"}).digest() != first


def test_a_default_written_out_is_the_same_spec() -> None:
    assert load(score={"shards": 2}).digest() == load().digest()


def test_a_missing_design_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"prompt.template: nowhere.yaml cannot be read"):
        load(tmp_path, prompt={"template": "nowhere.yaml"}).digest()


def test_an_override_is_checked_and_changes_the_digest() -> None:
    spec = load()
    assert spec.override("sample", size=3).sample.size == 3
    assert spec.override("sample", size=3).digest() != spec.digest()
    with pytest.raises(SpecError, match="sample.size"):
        spec.override("sample", size=0)
    with pytest.raises(SpecError, match="no such section"):
        spec.override("perturb", names_per_cell=2)


def test_the_canonical_spec_loads_to_the_same_digest() -> None:
    spec = load()
    again = AuditSpec.load_text(spec.canonical().decode(), Path("spec.json"))
    assert again.digest() == spec.digest()


@pytest.mark.parametrize("path", sorted((INCLUDE / "audits").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_specs_load(path: Path) -> None:
    assert AuditSpec.load(path).audit == path.stem


def test_the_schema_describes_every_key_of_every_section() -> None:
    schema = json_schema()
    for name, section in schema["$defs"].items():
        for key, value in section.get("properties", {}).items():
            assert "description" in value, f"{name}.{key} has no description"
    assert schema["additionalProperties"] is False


def test_the_published_schema_is_the_code_s() -> None:
    published = INCLUDE.parent / "docs" / "reference" / "audit-spec.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == json_schema(), (
        "renew it: audit schema > " + str(published)
    )


def test_the_order_of_attributes_survives_the_archive_and_counts() -> None:
    spec = load()
    again = AuditSpec.load_text(spec.canonical().decode(), Path("spec.json"))
    assert again.groups.cells() == spec.groups.cells()
    attributes = {"race": ["White", "Black"], "sex": ["female", "male"]}
    assert load(groups={"attributes": attributes}).digest() != spec.digest()


def test_yaml_numbers_keep_their_type() -> None:
    assert yaml.safe_load(load().canonical())["seed"] == 7
