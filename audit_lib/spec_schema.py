"""The JSON Schema of a spec, with the options of every source, backend and classifier that is installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audit_lib.options import Options
from audit_lib.sample.sources import SOURCES
from audit_lib.score.backends import backend
from audit_lib.score.classifiers import classifier
from audit_lib.spec import PanelModel, json_schema
from audit_lib.spec.panel import MOST


def spec_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors and the documentation.

    Raises
    ------
    PluginError
        If a part of an installed package cannot be imported.

    Examples
    --------
    >>> spec_schema()["$defs"]["Source"]["properties"]["kind"]["examples"]
    ['files', 'openai_batch', 'otel_genai', 'ranking_log', 'sql']
    """
    schema = json_schema()
    sections = schema["$defs"]
    _add_options(sections, "Source", "kind", ((name, part.Options) for name, part in SOURCES))
    _add_options(sections, "Model", "backend", ((name, part.Options) for name, part in backend))
    _add_options(sections, "TextClassifier", "kind", ((name, part.Options) for name, part in classifier))
    sections["Source"]["allOf"] += [
        {"if": _chosen("kind", name, sections["Source"]), "then": {"required": [*part.takes[:1]]}}
        for name, part in SOURCES
        if part.takes
    ]
    _add_panel(schema)
    return schema


def _add_panel(schema: dict[str, Any]) -> None:
    """Let a spec have `models`, a panel, in place of `model`."""
    described = PanelModel.model_json_schema()["properties"]
    own = {key: described[key] for key in ("label", "prompt", "source")}
    sections = schema["$defs"]
    sections["ModelOptions"] = {"allOf": sections["Model"]["allOf"]}
    sections["Model"]["allOf"] = [{"$ref": "#/$defs/ModelOptions"}]
    sections["PanelModel"] = {
        **sections["Model"],
        "properties": {**sections["Model"]["properties"], **own},
        "title": "PanelModel",
        "description": PanelModel.__doc__,
    }
    schema["properties"]["models"] = {
        "type": "array",
        "minItems": 2,
        "maxItems": MOST,
        "items": {"$ref": "#/$defs/PanelModel"},
        "description": "A panel: each model is audited over the same sample, versions and seeds, and the runs are "
        "compared. In place of model.",
    }
    schema["required"] = [key for key in schema["required"] if key != "model"]
    schema["oneOf"] = [{"required": ["model"]}, {"required": ["models"]}]


def _add_options(
    sections: dict[str, Any], section: str, key: str, parts: Iterable[tuple[str, type[Options]]]
) -> None:
    """Say which options a section has for each value of its `key`."""
    found, names = sections[section], []
    found["allOf"] = []
    for name, options in parts:
        names.append(name)
        content = options.model_json_schema(ref_template="#/$defs/{model}")
        sections.update(content.pop("$defs", {}))
        content["description"] = f"Options of {name}."
        found["allOf"].append({"if": _chosen(key, name, found), "then": {"properties": {"options": content}}})
    found["properties"][key]["examples"] = names


def _chosen(key: str, name: str, section: dict[str, Any]) -> dict[str, Any]:
    """Return the condition that a section names this part, or leaves it to the default."""
    condition: dict[str, Any] = {"properties": {key: {"const": name}}}
    return condition if section["properties"][key].get("default") == name else condition | {"required": [key]}
