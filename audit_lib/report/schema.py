"""The published JSON Schema (2020-12) of ``report.json``."""

from __future__ import annotations

from typing import Any, Final, get_args

from audit_lib.policies.adverse import Verdict
from audit_lib.report.document import SCHEMA

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_MAYBE_TEXT: Final[Schema] = {"type": ["string", "null"]}
_DIGEST: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_LEVELS: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
_ANY_OBJECT: Final[Schema] = {"type": "object"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: Schema, optional: Schema | None = None, *, closed: bool = False) -> Schema:
    made: Schema = {"type": "object", "properties": required | (optional or {}), "required": list(required)}
    return made | ({"additionalProperties": False} if closed else {})


def _or_undefined(*schemas: Schema) -> Schema:
    return {"anyOf": [*schemas, _ref("undefined")]}


_NUMBER: Final = _or_undefined({"type": "number"})
_HIDEABLE_COUNT: Final = _or_undefined(_COUNT)

_DEFINITIONS: Final[Schema] = {
    "undefined": {
        "description": "A number that does not exist, or that the policy hides, and why. Never 0.",
        **_object({"undefined": _TEXT}, closed=True),
    },
    "interval": _or_undefined(
        _object(
            {
                "low": {"type": ["number", "null"], "description": "null: no limit"},
                "high": {"type": ["number", "null"], "description": "null: no limit"},
                "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "method": _TEXT,
                "kind": {"enum": ["marginal", "conditional", "simultaneous"]},
            }
        )
    ),
    "test": _object(
        {"name": _TEXT, "p_value": _NUMBER, "n": {"type": "integer"}, "method": _TEXT},
        {"statistic": {"anyOf": [{"type": ["number", "null"]}, _ref("undefined")]}, "alternative": _TEXT},
    ),
    "estimate": _object(
        {
            "value": _NUMBER,
            "interval": _ref("interval"),
            "n": {"anyOf": [{"type": ["integer", "null"]}, _ref("undefined")]},
            "intervals": _array(_ref("interval")),
            "tests": _array(_ref("test")),
            "flags": _array(_TEXT),
        },
        {
            "metric": _TEXT,
            "method": _TEXT,
            "group": _LEVELS,
            "reference": _LEVELS,
            "stratum": _LEVELS,
            "parameters": _ANY_OBJECT,
            "multiplicity": _ANY_OBJECT,
        },
    ),
    "row": {
        "description": "A category. A hidden row has `suppressed`, and null where its numbers were.",
        **_object(
            {
                "label": _TEXT,
                "category": _LEVELS,
                "n": {"type": ["integer", "null"], "minimum": 0},
                "selected": {"type": ["integer", "null"], "minimum": 0},
                "share_of_data": {"type": ["number", "null"]},
                "rate": _ref("estimate"),
                "impact_ratio": _ref("estimate"),
                "four_fifths_flag": {"type": ["boolean", "null"]},
                "excluded": _MAYBE_TEXT,
            },
            {"suppressed": {"const": True}},
        ),
    },
    "rate_table": _object(
        {
            "kind": {"enum": ["selection", "scoring"]},
            "family": _TEXT,
            "stratum": _LEVELS,
            "total": _COUNT,
            "unknown": _COUNT,
            "comparator": _or_undefined(_TEXT),
            "median": {"type": ["number", "null"]},
            "rows": _array(_ref("row")),
        },
        {
            "larger": {
                "description": "Where the comparator has too few people: the larger categories, compared with each "
                "other. Outside the adjusted tests.",
                **_ref("rate_table"),
            }
        },
    ),
    "other_table": {
        "description": "A table of another kind of metric; its kind says which.",
        **_object({"kind": {"type": "string", "not": {"enum": ["selection", "scoring"]}}}),
    },
    "smallest": {
        "description": "The impact ratio with the most evidence in the headline: "
        "(selected/n) / (comparator_selected/comparator_n).",
        **_object(
            {
                "label": _TEXT,
                "selected": _COUNT,
                "n": {"type": "integer", "minimum": 1},
                "comparator_selected": {"type": "integer", "minimum": 1},
                "comparator_n": {"type": "integer", "minimum": 1},
            },
            closed=True,
        ),
    },
    "by_group": _object({"stratum": _LEVELS, "group": {"type": ["object", "null"]}, "n": _HIDEABLE_COUNT}),
    "metrics": _object(
        {
            "schema": _TEXT,
            "experiment": {"type": "boolean"},
            "rows": _object(
                {"total": _COUNT, "answered": _COUNT, "unknown_group": _COUNT, "by_status": _ANY_OBJECT}
            ),
            "missingness": _array(_ref("by_group")),
            "label_mass": _array(_ref("by_group")),
            "scores": _array(_ref("by_group")),
            "tables": _array({"anyOf": [_ref("rate_table"), _ref("other_table")]}),
            "estimates": _array(_ref("estimate")),
            "heterogeneity": _array(_ANY_OBJECT),
            "multiplicity": _ANY_OBJECT,
        },
        {
            "suppressed": _object({"cells": _COUNT, "reason": _TEXT}, closed=True),
            "leakage": _ref("leakage"),
        },
    ),
    "adverse_impact": _object(
        {
            "kind": {"enum": ["selection", "scoring"]},
            "family": _TEXT,
            "stratum": _LEVELS,
            "category": _LEVELS,
            "verdict": {"enum": list(get_args(Verdict))},
            "reasons": _array(_TEXT),
        },
        closed=True,
    ),
    "leakage": {
        "description": "How well attributes can be told from the material alone; 0.5 is chance.",
        **_object(
            {
                "embedding": _object({"kind": _TEXT, "fingerprint": _DIGEST}),
                "split": _TEXT,
                "penalty": {"type": "number"},
                "estimates": _array(
                    _object(
                        {
                            "material": _TEXT,
                            "redacted": {"type": "boolean"},
                            "fields": _array(_TEXT),
                            "longest_in_parts": _COUNT,
                            "attribute": _TEXT,
                            "level": _TEXT,
                            "value": _NUMBER,
                            "interval": _ref("interval"),
                            "n": _COUNT,
                            "n_group": _COUNT,
                            "applications": _COUNT,
                            "flags": _array(_TEXT),
                        },
                        closed=True,
                    )
                ),
            },
            closed=True,
        ),
    },
    "design": {
        "description": "Groups that each application was shown in. Null: hidden, or of exchanged words, which differ.",
        **_object(
            {
                "kind": {"enum": ["full", "balanced_incomplete", "two_sample"]},
                "groups": {"type": "integer", "minimum": 1},
                "block_size": {"type": ["integer", "null"]},
                "exactly_balanced": {"type": ["boolean", "null"]},
                "fewest_applications": {"type": ["integer", "null"], "minimum": 0},
                "most_applications": {"type": ["integer", "null"], "minimum": 0},
            },
            closed=True,
        ),
    },
    "earlier": _object(
        {
            "start": _TEXT,
            "end": _TEXT,
            "audited": {"type": "string", "format": "date"},
            "status": {"enum": ["signed", "not signed"]},
            "version": _TEXT,
            "spec_digest": _DIGEST,
            "smallest": {"type": "object", "additionalProperties": _ref("smallest")},
            "href": _TEXT,
        },
        closed=True,
    ),
}


def report_schema() -> Schema:
    """Return the JSON Schema of ``report.json``."""
    top = {
        "schema": {"const": SCHEMA},
        "title": _TEXT,
        "subtitle": _TEXT,
        "audit": _TEXT,
        "run": _TEXT,
        "window": _object({"start": _TIME, "end": _TIME}, closed=True),
        "spec_digest": _DIGEST,
        "status": {"enum": ["signed", "not signed"]},
        "signature": {
            "anyOf": [
                {"type": "null"},
                _object(
                    {
                        "auditor": _TEXT,
                        "organisation": _TEXT,
                        "signed_at": _TIME,
                        "number": {"type": "integer", "minimum": 1},
                        "key_id": _TEXT,
                    }
                ),
            ]
        },
        "attested": {
            **_array(_TEXT),
            "description": "Ids of the policy's attestations that the signature holds; none without one.",
        },
        "experiment": {"type": "boolean", "description": "True: assigned demographics; not a bias audit."},
        "provenance": {"enum": ["self_reported", "observer_coded", "assigned", "inferred"]},
        "valid_judge": {"type": "boolean"},
        "planned_at": _TIME,
        "scored_at": _TIME,
        "measured_at": {
            **_TIME,
            "description": "Its day is the date of the audit, once an independent auditor has signed.",
        },
        "policy": _ANY_OBJECT,
        "tool": _TEXT,
        "tool_version": _TEXT,
        "models": _array(_object({"name": _TEXT})),
        "prompt_template_sha256": {"anyOf": [{"type": "null"}, _DIGEST]},
        "score_methods": {
            "type": "object",
            "description": "How scores were read -> rows: logits, logprobs, sampled, generated, ranking, recorded.",
            "additionalProperties": _COUNT,
        },
        "served": {
            "type": "object",
            "description": "Which models answered, by the names that they answered under -> rows. Not those that "
            "failed, nor recorded rows that name no model.",
            "additionalProperties": _COUNT,
        },
        "sample": _ANY_OBJECT,
        "design": {"anyOf": [{"type": "null"}, _ref("design")]},
        "validation": _object({"success": {"type": "boolean"}, "severity_failed": _MAYBE_TEXT}),
        "headline": {"type": "object", "additionalProperties": _ref("smallest")},
        "adverse_impact": {
            "description": "Headline rows by all tests of the policy, read together; none where it has no such tests.",
            **_array(_ref("adverse_impact")),
        },
        "metrics": _ref("metrics"),
        "switches": _array(
            _object({"name": _TEXT, "value": _TEXT, "question": _TEXT, "reason": _TEXT, "cite": _TEXT})
        ),
        "required_fields": _array(
            _object(
                {
                    "id": _TEXT,
                    "duty": _TEXT,
                    "cite": _TEXT,
                    "status": {"enum": ["met", "stated, not checked", "missing", "not applicable"]},
                    "found": _TEXT,
                }
            )
        ),
        "caveats": _array(_TEXT),
        "earlier": _array(_ref("earlier")),
        "inputs": {"type": "object", "additionalProperties": _DIGEST},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit report",
        "description": "What report.html says, for machines. Keys may be added under the same version.",
        **_object(top),
        "$defs": _DEFINITIONS,
    }
