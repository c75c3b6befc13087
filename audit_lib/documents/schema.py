"""The JSON Schemas (2020-12) of the documents, made from the types that read and write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from audit_lib.documents.design import Design
from audit_lib.documents.ledger import LedgerLine
from audit_lib.documents.metrics import Metrics
from audit_lib.documents.missed_windows import MissedWindows
from audit_lib.documents.plan import Plan
from audit_lib.documents.report import Report
from audit_lib.documents.reproduction import Reproduction
from audit_lib.documents.sample import Sample
from audit_lib.documents.validation import Validation
from audit_lib.documents.validity import ValidityStudy
from audit_lib.documents.withdrawn import Withdrawn
from audit_lib.typed_json import described

DOCUMENTS: Final[Mapping[str, Any]] = {
    "plan.json": Plan,
    "sample.json": Sample,
    "design.json": Design,
    "validation.json": Validation,
    "metrics.json": Metrics,
    "report.json": Report,
    "a line of the ledger": LedgerLine,
    "missed windows": MissedWindows,
    "withdrawn report.json": Withdrawn,
    "validity.json": ValidityStudy,
    "reproduction.json": Reproduction,
}
"""File, or what has no file of its own -> its type."""

_OPEN: Final = "RateTable_Union_RateRow__RowWithoutRatio__HiddenRow__"
_NAMES: Final = {_OPEN: "PrintedRateTable", "RateTable_RateRow_": "RateTable"}
"""Names of generic types, as people write them."""


class _Plain(GenerateJsonSchema):
    """Without titles that only repeat the names of keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(file: str) -> dict[str, Any]:
    """Return the JSON Schema of a document.

    Parameters
    ----------
    file : str
        A key of `DOCUMENTS`.

    Examples
    --------
    >>> schema_of("plan.json")["properties"]["schema"]
    {'const': 'audit-plan/1', 'type': 'string'}
    """
    made: dict[str, Any] = _readable(described(DOCUMENTS[file]).json_schema(schema_generator=_Plain))
    definitions = made.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": file,
        **made,
        **(
            {"$defs": {_NAMES.get(name, name): one for name, one in definitions.items()}}
            if definitions
            else {}
        ),
    }


def _readable(schema: Any, *, names: bool = False) -> Any:
    """Give definitions the names that people write, and of a docstring its first paragraph only.

    `names`: the keys are those of a document, not words of JSON Schema.
    """
    if isinstance(schema, list):
        return [_readable(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if names:
            found[key] = _readable(value)
        elif key == "description":
            found[key] = re.sub(r"\s+", " ", value.split("\n\n", 1)[0].replace("``", ""))
        elif key == "$ref":
            place, _, name = value.rpartition("/")
            found[key] = f"{place}/{_NAMES.get(name, name)}"
        elif key != "title":
            found[key] = _readable(value, names=key in ("properties", "$defs"))
    return found
