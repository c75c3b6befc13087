"""The source ``openai_batch``: output, error and input files of the OpenAI Batch API, one request a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from audit_lib.documents.sample import InputFile
from audit_lib.errors import CorruptFileError, DuplicateIdError, MissingColumnError
from audit_lib.sample.candidates import PromptRecord
from audit_lib.sample.nested import ONE_POSITION, check_paths, instant, named_paths, values_at
from audit_lib.sample.sources import SOURCES, FileKey, FileSource, SourceNotes
from audit_lib.sample.tables import Record, TableFile, file_digest
from audit_lib.spec import AuditSpec

_OPTIONAL: Final = frozenset({"recorded_model", "recorded_response", "recorded_score", "recorded_selected"})
"""What a request that failed does not have, and need not."""


@SOURCES("openai_batch")
class OpenAIBatchAnswers(FileSource):
    """The answers of a batch of chat completions, as the Batch API writes them.

    ``custom_id`` is the prompt's id, and the application's unless that is mapped; the completion's
    ``model``, ``created`` and first choice are who answered, when, and what. Columns and template fields that
    ``source.columns`` and ``source.fields`` name are paths from the line's beginning, such as
    ``response.body.metadata.position``; attributes usually come by the section `demographics`, joined on
    ``custom_id``. Where ``source.batch_inputs`` names the batch's input files, the request of the same
    ``custom_id`` stands beside the answer: a path that begins with ``body``, ``method`` or ``url`` is the request's,
    such as ``body.messages[1].content`` or ``body.metadata.position``.

    Without a position all lines have the position ``all``. A line that failed, was refused or expired
    (``"response": null`` with an ``error``, in the output or in the error file) is a prompt without an answer, never
    a missing one. It has no time of its own, so a source with such lines needs ``source.windowed: false``, or a time
    as one value (``occurred_at: {value: ...}``).
    """

    takes: ClassVar[tuple[FileKey, ...]] = ("paths", "batch_inputs")

    def reader(self) -> Callable[[Record], list[PromptRecord]]:
        """Return what makes the row of a line."""
        spec = self.spec
        read, paths = super().reader(), check_paths(named_paths(spec))
        self._asked, self._answered = _Inputs(spec), set[str]()

        def rows(record: Record) -> list[PromptRecord]:
            line = record.values
            if not isinstance(line.get("custom_id"), str) or not {"response", "error"} & line.keys():
                raise CorruptFileError(
                    f"{record.where}: not a line of a batch's output (custom_id with response or error)"
                )
            try:
                answer = _answer(line)
            except ValueError as error:
                raise CorruptFileError(f"{record.where}: created is {error}; write the file again") from None
            lost = [path for path in paths if path.startswith("response") and not _completed(line)]
            if lost and _needed(spec, lost):
                raise MissingColumnError(
                    f"{record.where}: its request failed, so there is no {' and no '.join(lost)}; name the batch's "
                    "input files in source.batch_inputs and take the column from there (body.metadata...), or give one "
                    "value for all rows, such as position: {value: nurse}"
                )
            given = (
                dict.fromkeys(lost)
                | values_at(line, paths)
                | values_at(self._asked.request(line["custom_id"], record.where), paths)
            )
            self._answered.add(line["custom_id"])
            values = {"prompt_id": line["custom_id"], "position": ONE_POSITION, **answer}
            return read(Record({**values, **given}, record.where))

        return rows

    def findings(self) -> SourceNotes:
        """Return the input files with their digests, and how many requests have no line, of an answer or an error."""
        references = self.spec.source.batch_inputs
        if not references:
            return SourceNotes()
        lost = len(self._asked.ids() - self._answered)
        document: dict[str, Any] = {
            "batch_inputs": tuple(
                InputFile(path=path, sha256=file_digest(self.spec.path(path))) for path in references
            )
        }
        if not lost:
            return SourceNotes(document=document)
        warning = (
            f"WARNING: {lost} requests of source.batch_inputs have no line in source.paths, neither an answer nor an "
            "error, and are not audited: name all output and error files of these batches"
        )
        count = {"requests_without_a_line": lost}
        return SourceNotes(document=document | count, counts=count, warnings=(warning,))


class _Inputs:
    """The requests of the batch by their ``custom_id``, read when the first is wanted."""

    def __init__(self, spec: AuditSpec) -> None:
        self._paths = [spec.path(path) for path in spec.source.batch_inputs]
        self._found: dict[str, tuple[Mapping[str, Any], str]] | None = None

    def request(self, custom_id: str, where: str) -> Mapping[str, Any]:
        if not self._paths:
            return {}
        if self._found is None:
            self._found = self._read()
        if custom_id not in self._found:
            raise CorruptFileError(
                f"{where}: no line of source.batch_inputs has its custom_id; name all input files of these batches"
            )
        return self._found[custom_id][0]

    def ids(self) -> set[str]:
        return {*self._read()}

    def _read(self) -> dict[str, tuple[Mapping[str, Any], str]]:
        found: dict[str, tuple[Mapping[str, Any], str]] = {}
        for path in self._paths:
            for record in TableFile(path):
                key = record.values.get("custom_id")
                if not isinstance(key, str) or not isinstance(record.values.get("body"), dict):
                    raise CorruptFileError(
                        f"{record.where}: not a line of a batch's input (custom_id with a body)"
                    )
                if key in found:
                    raise DuplicateIdError(
                        f"{record.where}: its custom_id was already used at {found[key][1]}; ids must be unique"
                    )
                request = {
                    name: record.values[name] for name in ("body", "method", "url") if name in record.values
                }
                found[key] = (request, record.where)
        return found


def _completed(line: Mapping[str, Any]) -> bool:
    response = line.get("response")
    return isinstance(response, dict) and response.get("status_code") == 200


def _needed(spec: AuditSpec, lost: list[str]) -> bool:
    """Tell whether a row cannot be without one of the columns at these paths."""
    ours = {name for name, path in spec.source.named.items() if path in lost}
    ours |= {name for name in spec.source.fields if name in lost}
    return not ours <= _OPTIONAL


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
