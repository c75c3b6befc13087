"""Records that hold one candidate each become rows of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit_lib.sample.blocks import RecordBlock
from audit_lib.sample.columns import (
    NAME,
    Columns,
    attributes_in_source,
    block_texts,
    source_columns,
    texts,
    unit_of_sample,
)
from audit_lib.sample.tables import Record
from audit_lib.spec import UNDECIDED, AuditSpec

PromptRecord = dict[str, Any]
"""A prompt, by our columns."""
BlockColumns = dict[str, Any]
"""The values of several prompts, by our columns: a list each, and ``fields`` as Arrow has it."""


def candidate_rows(spec: AuditSpec) -> CandidateRows:
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

    return CandidateRows(columns, spec.source.fields)


class CandidateRows:
    """Makes a row of a record, or the columns of a block of them."""

    def __init__(self, columns: Columns, fields: Sequence[str]) -> None:
        self._columns, self._fields = columns, fields

    def __call__(self, record: Record) -> list[PromptRecord]:
        """Return the row of a record."""
        row = self._columns.read(record)
        row.setdefault("application_id", row["prompt_id"])
        row["fields"] = texts([record], self._fields, row.pop(NAME, None))
        return [row]

    def block(self, block: RecordBlock) -> BlockColumns | None:
        """Return the columns of a block; None where its records are to be read one by one."""
        chosen = block.select(self._columns.names, self._fields)
        columns: BlockColumns | None = None if chosen is None else self._columns.read_block(chosen)
        if chosen is None or columns is None:
            return None
        columns.setdefault("application_id", columns["prompt_id"])
        fields = block_texts(chosen, self._fields, columns.pop(NAME, None))
        return None if fields is None else {**columns, "fields": fields}
