"""The spec refuses what is wrong, names it, and digests what it means."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec
from audit_lib.spec.text import read_yaml
from audit_lib.spec_schema import spec_schema
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
        ({"groups": {"provenance": "self_reported"}, "perturb": {"names": "n.csv"}}, "must be `assigned`"),
        ({"decision": {"rule": "top_k", "k": 1, "round": "one_per_group"}}, "needs a perturb section"),
        ({"schedule": {"start": "2026-01-05T00:00:00"}}, "needs a UTC offset"),
        (
            {"classifiers": [{"name": "a", "kind": "vader", "measure": "toxicity"}]},
            "classifiers.0.measure: unknown key; did you mean 'measures'?",
        ),
        ({"score": {"shards": 0}}, "score.shards: Input should be greater than or equal to 1"),
        ({"measure": {"strata": []}}, "measure.strata: List should have at least 1 item"),
        ({"measure": {"strata": [["position"], ["position"]]}}, "['position'] is listed twice"),
        ({"measure": {"strata": [["position", "position"]]}}, "'position' is listed twice"),
        ({"measure": {"metrics": []}}, "measure.metrics: List should have at least 1 item"),
        ({"measure": {"metrics": ["rabbi", "rabbi"]}}, "measure.metrics: 'rabbi' is listed twice"),
        ({"measure": {"quotas": []}}, "measure.quotas: List should have at least 1 item"),
        ({"measure": {"quotas": [1, 2, 1]}}, "measure.quotas: 1 is listed twice"),
        ({"sample": {"strata": ["position", "position"]}}, "sample.strata: 'position' is listed twice"),
        ({"decision": {"rule": "threshold", "threshold": 1, "k": 2}}, "k is for rule top_k"),
        ({"decision": {"rule": "above_median", "threshold": 1}}, "threshold is for rule threshold"),
        (
            {"decision": {"rule": "threshold", "threshold": float("nan")}},
            "decision.threshold: Input should be",
        ),
        ({"report": {"distribution_date": "yesterday"}}, "report.distribution_date: is not an ISO 8601 date"),
        ({"report": {"distribution_date": date(2025, 11, 3)}}, "reads a date; put it in quotes"),
        (
            {"prompt": {"template": "t.yaml", "labels": [False, True]}},
            "reads a truth value; put it in quotes",
        ),
        ({"title": 2024}, "title: should be a text, and YAML reads a int; put it in quotes"),
        ({"audit": "drift_monitor"}, "audit: 'drift_monitor' is the name of a DAG of ours"),
        ({"schedule": {"timezone": "Mars/Base"}}, "'Mars/Base' is not an IANA time zone"),
        ({"schedule": {"cron": "every monday"}}, "schedule.cron: a cron expression has five fields"),
        ({"schedule": {"cron": "60 6 * * 1"}}, "the minute '60' of the cron expression is not in 0-59"),
        ({"schedule": {"cron": "0 6 * * 8"}}, "the day of the week '8'"),
        ({"schedule": {"cron": "0 6 9-2 * *"}}, "the day of the month '9-2'"),
        ({"schedule": {"cron": "*/0 6 * * *"}}, "the minute '*/0'"),
        ({"schedule": {"cron": "0 6 * foo *"}}, "the month 'foo'"),
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
    ("text", "message"),
    [
        ("[1, 2]", "a spec is a mapping"),
        ("a: [", "not YAML"),
        ("", "mapping"),
        ("a: 2026-13-01", "not YAML"),
        ("seed: 1\nseed: 2", r"line 2: the key 'seed' is given twice"),
        ("a:\n- {b: 1, b: 1}", r"line 2: the key 'b' is given twice"),
        ('a: 1\nb: ["x \\ud83d"]', "line 2: half of a surrogate pair"),
        ('a: 1\n"\\ude00": 1', "line 2: half of a surrogate pair"),
        ("a: " + "[" * 5000, "nested too deep"),
    ],
)
def test_a_file_that_is_no_spec(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        AuditSpec.load_text(text, Path("x.yaml"))


def test_a_spec_that_is_not_there_names_the_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="audit init"):
        AuditSpec.load(tmp_path / "none.yaml")


def test_a_spec_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes("title: Prüfung".encode("latin-1"))
    with pytest.raises(SpecError, match="not UTF-8"):
        AuditSpec.load(tmp_path / "x.yaml")


def test_an_alias_that_is_merged_is_no_doubled_key() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: *b, y: 3}"
    assert read_yaml(text, Path("x.yaml"))["c"] == {"x": 2, "y": 3}


@pytest.mark.parametrize("cron", ["*/15 0-6,18 1,15 JAN-mar mon-fri", "0 6 * * 7", "5/10 * 31 12 sun"])
def test_a_cron_expression_that_is_one(cron: str) -> None:
    assert load(schedule={"cron": cron}).schedule.cron == cron


def test_the_archived_spec_is_read_as_json_whatever_it_holds() -> None:
    spec = load(
        title="a\x7fb", report={"tool": "\u2028\x85"}, model={"backend": "recorded", "options": {"x": 1e-05}}
    )
    again = AuditSpec.load_json(spec.canonical(), Path("spec.json"))
    assert again.model.options == {"x": 1e-05}
    assert again.digest() == spec.digest()
    assert spec.override("sample", size=3).model.options == {"x": 1e-05}
    with pytest.raises(SpecError, match="not JSON"):
        AuditSpec.load_json(b"audit: small", Path("spec.json"))


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
    schema = spec_schema()
    for name, section in schema["$defs"].items():
        for key, value in section.get("properties", {}).items():
            assert "description" in value, f"{name}.{key} has no description"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("path", sorted((INCLUDE / "audits").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_schema_takes_the_shipped_specs(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), spec_schema())


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"source": {"paths": ["x.csv"], "options": {"query": "x"}}}, "'query' was unexpected"),
        ({"source": {"columns": {}}}, "'paths' is a required property"),
        (
            {"model": {"backend": "transformers", "name": "m", "options": {"thread": 2}}},
            "'thread' was unexpected",
        ),
        (
            {"model": {"backend": "transformers", "name": "m", "options": {"threads": "two"}}},
            "not of type 'integer'",
        ),
    ],
)
def test_the_schema_knows_the_options_of_each_part(section: dict[str, Any], said: str) -> None:
    document = json.loads(load().canonical())
    with pytest.raises(jsonschema.ValidationError, match=said):
        jsonschema.validate(document | section, spec_schema())


def test_the_published_schema_is_the_code_s() -> None:
    published = INCLUDE.parent / "docs" / "reference" / "audit-spec.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == spec_schema(), (
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
