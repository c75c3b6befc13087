"""The source ``ranking_log``: one record a ranking, with the candidates that were ranked inside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audit_lib.errors import ColumnTypeError, MissingColumnError
from audit_lib.registry import did_you_mean
from audit_lib.sample.candidates import PromptRecord
from audit_lib.sample.columns import NAME, Columns, attributes_in_source, source_columns, texts
from audit_lib.sample.sources import SOURCES, FileSource
from audit_lib.sample.tables import Record

CANDIDATES: Final = "candidates"
_OF_RANKING: Final = ("round_id", "recorded_model", "position", "occurred_at", "recorded_response")
_OF_CANDIDATE: Final = ("order_shown", NAME)


@SOURCES("ranking_log")
class RankingLog(FileSource):
    """Rankings as they were logged: a list ``candidates`` and the response that ranks them.

    Each record has ``round_id``, ``recorded_model``, ``position``, ``recorded_response`` (null where
    the model did not answer), ``occurred_at`` if the source is windowed, and ``candidates``: objects
    with ``order_shown``, ``name`` and the attributes. ``source.columns`` gives the log's own names of
    all these. A log often numbers its runs anew for each model and position, so the round's id
    becomes ``model/position/round_id``, and the prompt's ``model/position/round_id/order_shown``.
    """

    def reader(self) -> Callable[[Record], list[PromptRecord]]:
        """Return what makes a row of each candidate of a ranking."""
        spec = self.spec
        ours = [name for name in source_columns(spec, (CANDIDATES,)) if name != "prompt_id"]
        needed = set(_OF_RANKING) - (set() if spec.source.windowed else {"occurred_at"})
        ranking = Columns(
            spec.source,
            [name for name in ours if name in _OF_RANKING],
            required=needed,
            filled=needed - {"recorded_response"},
        )
        candidate = Columns(
            spec.source,
            [name for name in ours if name not in _OF_RANKING],
            required={*_OF_CANDIDATE, *attributes_in_source(spec)},
            filled={*_OF_CANDIDATE, "application_id"},
        )
        listed = spec.source.named.get(CANDIDATES, CANDIDATES)

        def rows(record: Record) -> list[PromptRecord]:
            shared = ranking.read(record)
            shared["round_id"] = f"{shared['recorded_model']}/{shared['position']}/{shared['round_id']}"
            result = []
            for inner in _candidates(record, listed):
                row = {**shared, **candidate.read(inner)}
                row["prompt_id"] = f"{row['round_id']}/{row['order_shown']}"
                row.setdefault("application_id", row["prompt_id"])
                row["fields"] = texts([inner, record], spec.source.fields, row.pop(NAME))
                result.append(row)
            return result

        return rows


def _candidates(record: Record, key: str) -> list[Record]:
    if key not in record.values:
        near = did_you_mean(key, sorted(record.values))
        raise MissingColumnError(
            f"{record.where}: column {key!r} ({CANDIDATES}) is missing{near}; map it in source.columns"
        )
    listed = record.values[key]
    if not isinstance(listed, list) or not listed or not all(isinstance(item, dict) for item in listed):
        raise ColumnTypeError(
            f"{record.where}: column {key!r} ({CANDIDATES}) should be a list of one or more objects, "
            "one for each candidate"
        )
    return [Record(item, f"{record.where}, candidate {place}") for place, item in enumerate(listed, start=1)]
