"""The source ``otel_genai``: OpenTelemetry spans of calls to a model, as OTLP/JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from audit_lib.errors import CorruptFileError
from audit_lib.sample.candidates import PromptRecord
from audit_lib.sample.nested import ONE_POSITION, instant, named_paths
from audit_lib.sample.sources import SOURCES, FileSource
from audit_lib.sample.tables import Record

_OPERATIONS: Final = ("chat", "generate_content", "text_completion")
_NANOSECONDS: Final = 1e9
_ODD: Final = (KeyError, TypeError, ValueError, AttributeError)


class _OddAnswerError(Exception):
    """An answer that is not as the conventions have it; its text says which, without the answer."""


@SOURCES("otel_genai")
class OpenTelemetryGenAI(FileSource):
    """The answers that a service's traces hold, by the semantic conventions for generative AI.

    A line is one export (``resourceSpans``), as the collector's file exporter writes it. Spans whose
    ``gen_ai.operation.name`` is chat, generate_content or text_completion are decisions, others are passed
    over. Trace and span id make the prompt's id; ``gen_ai.response.model`` (else the one requested), the
    span's start, and the text of ``gen_ai.output.messages`` (else of the event ``gen_ai.choice``) are who
    answered, when, and what. Columns and template fields that ``source.columns`` and ``source.fields`` name
    are attributes of the span or its resource, such as ``{application_id: app.applicant_id}``. Without a
    position all spans have the position ``all``.
    """

    def reader(self) -> Callable[[Record], list[PromptRecord]]:
        """Return what makes a row of each call of a model in an export."""
        read, names = super().reader(), named_paths(self.spec)

        def rows(record: Record) -> list[PromptRecord]:
            try:
                found = [
                    _values(span, attributes, names)
                    for span, attributes in _spans(record.values)
                    if attributes.get("gen_ai.operation.name") in _OPERATIONS
                ]
            except _OddAnswerError as error:
                raise CorruptFileError(f"{record.where}: {error}") from None
            except _ODD as error:
                raise CorruptFileError(
                    f"{record.where}: not an export of spans in OTLP/JSON ({type(error).__name__})"
                ) from None
            return [row for values in found for row in read(Record(values, record.where))]

        return rows


def _spans(export: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield each span and its attributes, those of its resource below them."""
    for resource in export["resourceSpans"]:
        shared = _attributes(resource.get("resource") or {})
        for scope in resource["scopeSpans"]:
            for span in scope.get("spans") or ():
                yield span, shared | _attributes(span)


def _values(span: Mapping[str, Any], attributes: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    if not all(isinstance(span[name], str) and span[name] for name in ("traceId", "spanId")):
        raise ValueError("a span without ids")
    try:
        text = _text(span, attributes)
        json.dumps(text, ensure_ascii=False).encode()  # half of a surrogate pair is JSON and no text
    except (*_ODD, RecursionError) as error:
        raise _OddAnswerError(
            "gen_ai.output.messages (a list of messages with parts) or the event gen_ai.choice (with a message) is not "
            f"as the semantic conventions have it ({type(error).__name__}); export the spans by those, or leave the "
            "attribute out of them"
        ) from None
    model = attributes.get("gen_ai.response.model", attributes.get("gen_ai.request.model"))
    values = {
        "prompt_id": f"{span['traceId']}/{span['spanId']}",
        "position": ONE_POSITION,
        "occurred_at": instant(int(span["startTimeUnixNano"]) / _NANOSECONDS),
        "recorded_model": model,
        "recorded_response": text,
    }
    return values | {name: attributes[name] for name in names if name in attributes}


def _text(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> str | None:
    """Return the text of the first answer, or None: services may be set not to record it."""
    if (messages := _decoded(attributes.get("gen_ai.output.messages"))) is not None:
        parts = messages[0]["parts"] if messages else []
        texts = [part["content"] for part in parts if part.get("type") == "text"]
        return "".join(texts) if texts else None
    for event in span.get("events") or ():
        if event.get("name") == "gen_ai.choice":
            about = _attributes(event)
            message = _decoded(about.get("message")) or {}
            text = message.get("content", about.get("content"))
            return None if text is None else str(text)
    return None


def _decoded(value: Any) -> Any:
    # Structured attributes came after the first releases: until then they were JSON in a text.
    return json.loads(value) if isinstance(value, str) else value


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return _values_of(holder.get("attributes"))


def _values_of(pairs: Any) -> dict[str, Any]:
    # An attribute without a value is one that is not set.
    return {pair["key"]: _value(pair.get("value") or {}) for pair in pairs or ()}


def _value(wrapped: Mapping[str, Any]) -> Any:
    """Return the Python value of an OTLP ``AnyValue``."""
    for kind, value in wrapped.items():
        if kind == "intValue":
            return int(value)  # 64-bit integers are texts in JSON
        if kind == "arrayValue":
            return [_value(item) for item in value.get("values") or ()]
        if kind == "kvlistValue":
            return _values_of(value.get("values"))
        return value
    return None
