"""A spec with a list of models: each member is the spec that one would write for it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec, Panel, load_spec, read_spec
from audit_lib.spec_schema import spec_schema
from tests.panel.cases import changed, live_panel, recorded_panel


def read(path: Path) -> Panel:
    panel = read_spec(path)
    assert isinstance(panel, Panel)
    return panel


def test_a_member_is_the_spec_of_its_model_alone(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    panel = read(path)
    assert panel.names == ("first_1b", "second_1b")
    alone = yaml.safe_load(path.read_text(encoding="utf-8"))
    alone |= {"model": alone.pop("models")[1], "audit": "small_second_1b"}
    alone["title"] += " (lab/second-1B)"
    (tmp_path / "alone.yaml").write_text(yaml.safe_dump(alone, sort_keys=False), encoding="utf-8")
    written = AuditSpec.load(tmp_path / "alone.yaml")
    assert panel.members[1].canonical() == written.canonical()
    assert panel.members[1].digest() == written.digest()
    assert load_spec(f"{path}#second_1b").digest() == written.digest()
    assert read_spec(tmp_path / "alone.yaml").digest() == written.digest()


def test_recorded_models_have_their_own_answers(tmp_path: Path) -> None:
    panel = read(recorded_panel(tmp_path, ["fair-1", "kind-1"]))
    assert [one.source.paths for one in panel.members] == [["fair-1.jsonl"], ["kind-1.jsonl"]]
    path = changed(
        tmp_path / "panel.yaml",
        models=[
            {"backend": "recorded", "name": name, "source": {"columns": {"recorded_score": name}}}
            for name in ("a", "b")
        ],
        source={"paths": ["both.csv"], "columns": {"prompt_id": "id"}},
    )
    assert [one.source.columns for one in read(path).members] == [
        {"prompt_id": "id", "recorded_score": "a"},
        {"prompt_id": "id", "recorded_score": "b"},
    ]


def test_one_model_is_asked_in_two_wordings_under_labels(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    prompt = yaml.safe_load(path.read_text(encoding="utf-8"))["prompt"]
    template = (tmp_path / prompt["template"]).read_text(encoding="utf-8")
    (tmp_path / "second.yaml").write_text(template, encoding="utf-8")
    one = {"backend": "first", "name": "lab/first-1B"}
    models = [one, {**one, "label": "First, in other words", "prompt": {"template": "second.yaml"}}]
    panel = read(changed(path, models=models))
    assert panel.names == ("first_1b", "first_in_other_words")
    assert [member.model.name for member in panel.members] == ["lab/first-1B"] * 2
    assert [member.prompt.template for member in panel.members if member.prompt] == [
        prompt["template"],
        "second.yaml",
    ]
    assert panel.members[1].title.endswith("(First, in other words)")
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), spec_schema())


TWO: list[dict[str, Any]] = [
    {"backend": "first", "name": "a"},
    {"backend": "first", "name": "b"},
]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"model": TWO[0]}, "model and models are both given"),
        ({"models": TWO[:1]}, "a panel is a list of 2 to 64 models"),
        ({"models": {"a": TWO[0]}}, "a panel is a list of 2 to 64 models"),
        ({"models": [TWO[0], {**TWO[1], "name": "A"}]}, "'a' is listed 2 times"),
        ({"models": [TWO[0], {**TWO[0], "label": "c"}]}, "a and c are the same model, asked the same"),
        ({"models": [TWO[0], {**TWO[1], "label": "A"}]}, "'a' is listed 2 times"),
        (
            {"models": [TWO[0], {**TWO[0], "label": "c", "prompt": {"templat": "x"}}]},
            "prompt.templat: unknown key; did you mean 'template'",
        ),
        ({"models": [TWO[0], {"name": "b"}]}, "models.1.backend: Field required"),
        ({"models": [TWO[0], {**TWO[1], "bakend": 1}]}, "models.1.bakend: unknown key; did you mean 'backend'?"),
        ({"models": [{**TWO[0], "name": "x-1"}, {**TWO[1], "name": "x_1"}]}, "x-1 and x_1 give the same name"),
        ({"models": [TWO[0], {**TWO[1], "source": {"paths": ["x"]}}]}, "models.1.source: backend 'first' is asked"),
        (
            {"models": [TWO[0], {"backend": "recorded", "name": "b", "source": {"path": ["x"]}}]},
            "models.1.source: unknown key; did you mean 'paths'?",
        ),
        ({"decison": {}}, "decison: unknown key; did you mean 'decision'?"),
        ({"audit": "Small"}, "audit: "),
        ({"audit": "a" * 60}, r"audit: .*\(model lab/second-1B, models.1\)|audit: .*\(model lab/first-1B, models.0\)"),
    ],
)  # fmt: skip
def test_what_is_no_panel_is_refused_with_its_key(
    tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    path = live_panel(tmp_path)
    with pytest.raises(SpecError, match=message if "|" in message else None) as raised:
        read_spec(changed(path, **sections))
    if "|" not in message:
        assert message in str(raised.value)
    assert str(raised.value).count("unknown key") <= 1


def test_one_model_of_a_panel_is_asked_for_by_its_name(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    with pytest.raises(
        SpecError, match=r"is a panel of 2 models; name one: .*panel.yaml#first_1b, .*#second_1b"
    ):
        load_spec(path)
    with pytest.raises(SpecError, match="this is a panel; name one of its models, as panel.yaml#NAME"):
        AuditSpec.load(path)
    with pytest.raises(
        SpecError, match="no model of this panel is called 'secnd_1b'; did you mean 'second_1b'"
    ):
        load_spec(f"{path}#secnd_1b")
    hashed = tmp_path / "a#b.yaml"
    hashed.write_bytes((tmp_path / "panel.yaml").read_bytes())
    assert isinstance(read_spec(hashed), Panel), "a file that has a # in its name is that file"
    changed(path, models=None, model={"backend": "first", "name": "x"})
    with pytest.raises(SpecError, match="is no panel"):
        load_spec(f"{path}#first_1b")


def test_names_that_only_their_owners_tell_apart_are_longer(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    models = [{"backend": "first", "name": name} for name in ("one/m-1", "two/m-1")]
    assert read(changed(path, models=models)).names == ("one_m_1", "two_m_1")


def test_the_schema_takes_model_or_models(tmp_path: Path) -> None:
    schema = spec_schema()
    content = yaml.safe_load(recorded_panel(tmp_path, ["fair-1", "kind-1"]).read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    one = {key: value for key, value in content.items() if key != "models"} | {"model": TWO[0]}
    jsonschema.validate(one, schema)
    for wrong in ({**content, "model": TWO[0]}, {**one, "model": None}, {**content, "models": TWO[:1]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in wrong.items() if value is not None}, schema)
