"""The published JSON Schema (2020-12) of what ``audit check-report --format json`` prints."""

from __future__ import annotations

from typing import Any, Final, get_args

from audit_lib.check.findings import KINDS, SEVERITIES
from audit_lib.check.grids import Format

SCHEMA: Final = "audit-check-report/2"

Schema = dict[str, Any]
_TEXT: Final[Schema] = {"type": "string"}
_PLACE: Final[Schema] = {"type": "string", "description": "Empty where it is about more than one."}


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: Schema, description: str) -> Schema:
    return {"type": "array", "description": description, "items": items}


def check_schema() -> Schema:
    """Return the JSON Schema of `CheckedReport.as_dict`; a reader may rely on its keys."""
    where: Schema = {"table": _PLACE, "row": _PLACE, "column": _PLACE}
    finding = _object(
        {
            "id": {"enum": sorted(KINDS), "description": "Kind of finding; new ones may be added."},
            "severity": {"enum": list(SEVERITIES)},
            "message": _TEXT,
            **where,
            "printed": _TEXT,
            "recomputed": _TEXT,
            "rule": {**_TEXT, "description": "Paragraph of 6 RCNY, or the other source, that it rests on."},
            "unsure": {
                **_TEXT,
                "description": "Why it may have been misread, so that it is no error; or empty.",
            },
        }
    )
    rebuilt = _object(
        {
            **where,
            "printed": _TEXT,
            "recomputed": {**_TEXT, "description": "From the counts, half up at the published digits."},
            "conventions": _array(_TEXT, "Ways to compute that give the printed number; none: not rebuilt."),
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Checked report",
        "description": "What `audit check-report FILE --format json` found in a published summary.",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "file": _TEXT,
                "format": {"enum": list(get_args(Format))},
                "policy": {**_TEXT, "description": "Policy pack and version that it was checked against."},
                "ok": {"type": "boolean", "description": "Neither an error nor a warning."},
                "tables": _array(_TEXT, "Tables of rates that were found and could be read."),
                "conventions": {
                    "type": "object",
                    "description": "Convention -> printed numbers that it is the first to give.",
                    "additionalProperties": {"type": "integer", "minimum": 1},
                },
                "findings": _array(finding, "Errors first, then warnings, then notes."),
                "rebuilt": _array(rebuilt, "Every printed rate and ratio."),
                "not_checked": _array(_TEXT, "What was left unchecked, and why."),
            }
        ),
    }
