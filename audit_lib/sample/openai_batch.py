"""The source ``openai_batch``: output files of the OpenAI Batch API, one answer a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from audit_lib.errors import CorruptFileError
from audit_lib.sample.files import files
from audit_lib.sample.nested import ONE_POSITION, check_paths, instant, named_paths, values_at
from audit_lib.sample.sources import SOURCES, Row
from audit_lib.sample.tables import Record
from audit_lib.spec import AuditSpec


@SOURCES("openai_batch")
def openai_batch(spec: AuditSpec) -> Callable[[Record], list[Row]]:
    """Read the answers of a batch of chat completions, as the Batch API writes them.

    ``custom_id`` is the prompt's id, and the application's unless that is mapped; the completion's
    ``model``, ``created`` and first choice are who answered, when, and what. Columns and template fields that
    ``source.columns`` and ``source.fields`` name are paths from the line's beginning, such as
    ``response.body.metadata.position``; attributes usually come by the section `demographics`, joined on
    ``custom_id``. Without a position all lines have the position ``all``. A line that failed or was
    refused is a prompt without an answer, never a missing one; it has no time of its own, so a source with
    such lines needs ``source.windowed: false``.
    """
    read, paths = files(spec), check_paths(named_paths(spec))

    def rows(record: Record) -> list[Row]:
        line = record.values
        if not isinstance(line.get("custom_id"), str) or not {"response", "error"} & line.keys():
            raise CorruptFileError(
                f"{record.where}: not a line of a batch's output (custom_id with response or error)"
            )
        try:
            answer = _answer(line)
        except ValueError as error:
            raise CorruptFileError(f"{record.where}: created is {error}; write the file again") from None
        values = {"prompt_id": line["custom_id"], "position": ONE_POSITION, **answer}
        return read(Record({**values, **values_at(line, paths)}, record.where))

    return rows


def _answer(line: Mapping[str, Any]) -> dict[str, Any]:
    try:
        response = line["response"]
        if response["status_code"] != 200:
            return {"recorded_response": None}
        body = response["body"]
        found = {
            "recorded_model": body["model"],
            "recorded_response": body["choices"][0]["message"]["content"],
        }
    except (KeyError, TypeError, IndexError):
        return {"recorded_response": None}  # no completion came: the line's request failed
    if isinstance(body.get("created"), int):
        found["occurred_at"] = instant(body["created"])
    return found
