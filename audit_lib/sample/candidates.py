"""Records that hold one candidate each become rows of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit_lib.sample.columns import (
    NAME,
    Columns,
    attributes_in_source,
    source_columns,
    texts,
    unit_of_sample,
)
from audit_lib.sample.tables import Record
from audit_lib.spec import UNDECIDED, AuditSpec

PromptRecord = dict[str, Any]
"""A prompt, by our columns."""


def candidate_rows(spec: AuditSpec) -> Callable[[Record], list[PromptRecord]]:
    """Return what makes a row of a record that holds one candidate.

    ``prompt_id`` and ``position`` must be there; ``occurred_at`` too if the source is windowed, and
    ``round_id`` if candidates compete in the source's rounds. Without ``application_id`` each prompt
    is an application of its own. Any other column of a prompt is read if it is there.
    """
    needed = {"prompt_id", "position"}
    needed |= {"occurred_at"} if spec.source.windowed else set()
    needed |= {"round_id"} if unit_of_sample(spec) == "round" else set()
    columns = Columns(
        spec.source,
        source_columns(spec),
        required={*needed, *attributes_in_source(spec)},
        filled={*needed, "application_id"},
        several=spec.task in UNDECIDED,
        fields=spec.source.fields,
    )

    def rows(record: Record) -> list[PromptRecord]:
        row = columns.read(record)
        row.setdefault("application_id", row["prompt_id"])
        row["fields"] = texts([record], spec.source.fields, row.pop(NAME, None))
        return [row]

    return rows
