"""The rows of the table of requests, and the requests that are made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from audit_lib.canonical import canonical_json
from audit_lib.errors import ColumnTypeError
from audit_lib.score.requests import Candidate, Message, Request

if TYPE_CHECKING:
    import pandas as pd


class _Row(NamedTuple):
    """What a request needs of a row of the variants."""

    request_id: str
    variant_id: str
    prompt_id: str
    position: str
    messages: str | None
    order_shown: int | None
    candidate: str | None
    recorded_model: str | None
    recorded_response: str | None
    recorded_score: float | None
    recorded_selected: bool | None


def group_requests(variants: pd.DataFrame, labels: Sequence[str] = ()) -> list[Request]:
    """Make one request of the rows of `variants` that share a `request_id`.

    Raises
    ------
    ColumnTypeError
        If rows that share a request differ in what is asked, or messages are not a list of turns.
    """
    grouped: dict[str, list[_Row]] = {}
    for row in map(_Row._make, zip(*(_plain(variants[name]) for name in _Row._fields), strict=True)):
        grouped.setdefault(row.request_id, []).append(row)
    return [_request(request_id, rows, tuple(labels)) for request_id, rows in sorted(grouped.items())]


def _request(request_id: str, rows: list[_Row], labels: tuple[str, ...]) -> Request:
    first = rows[0]
    if len(rows) > 1:
        said = (first.messages, first.recorded_response, first.recorded_model)
        if any((row.messages, row.recorded_response, row.recorded_model) != said for row in rows):
            raise ColumnTypeError(
                f"variants: rows with request_id {request_id!r} differ in messages or recorded answer; "
                "candidates of one request share them"
            )
        rows = sorted(rows, key=lambda row: (row.order_shown or 0, row.variant_id))
    return Request(
        request_id=request_id,
        section=first.position,
        family=min([row.prompt_id for row in rows]),
        messages=conversation(first.messages, request_id),
        labels=labels,
        candidates=tuple(
            [
                Candidate(
                    variant_id=row.variant_id,
                    name=row.candidate,
                    order_shown=row.order_shown,
                    recorded_score=row.recorded_score,
                    recorded_selected=row.recorded_selected,
                )
                for row in rows
            ]
        ),
        recorded_model=first.recorded_model,
        recorded_response=first.recorded_response,
    )


def conversation(text: str | None, request_id: str) -> tuple[Message, ...]:
    """Read the column ``messages``.

    Raises
    ------
    ColumnTypeError
        If it is not a list of turns.
    """
    if text is None:
        return ()
    try:
        return tuple(
            Message(
                role=turn["role"],
                content=turn["content"],
                parts=canonical_json(turn["parts"]).decode() if "parts" in turn else None,
            )
            for turn in json.loads(text)
        )
    except (ValueError, TypeError, KeyError):
        raise ColumnTypeError(
            f"variants: messages of request {request_id!r} are not a JSON list of {{role, content}}"
        ) from None


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain Python values, None for what is missing."""
    columns = {name: _plain(table[name]) for name in table.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(column: pd.Series) -> list[Any]:
    """Return the values of a column, None for what is missing."""
    values, missing = column.tolist(), column.isna()
    if not missing.any():
        return values
    return [None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]
