"""Scores made again from the answers that a shard's artefacts hold: what verification compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from audit_lib.errors import EvidenceError
from audit_lib.large_file import Content
from audit_lib.records import SCORE_SCHEMA, to_parquet
from audit_lib.run import Run
from audit_lib.score.reading.ratings import CUT, DECLINES
from audit_lib.score.request_rows import records
from audit_lib.score.requests import (
    AnswerRecord,
    Elicitation,
    Pooled,
    Request,
    Response,
)
from audit_lib.score.sampling_error import sampling_error
from audit_lib.score.tasks.listwise import Listwise
from audit_lib.score.tasks.pointwise import Pointwise

_READ: Final = ("score", "status", "detail")


def score_again(run: Run, shard: int, task: Elicitation, requests: list[Request]) -> dict[str, Content]:
    """Make again what follows from a shard's answers.

    A pairwise candidate's row follows from ``pairs.parquet``, a rating or a place in a ranking from the row's text,
    a score over labels from their probabilities, and the sampling error of sampled scores from these. What was not
    answered is taken as it is.

    Returns
    -------
    dict
        File name -> content; empty where nothing follows from another thing (recorded decisions, texts).

    Raises
    ------
    EvidenceError
        If the artefacts answer other questions than these.
    """
    folder = run.stage(f"scores/{shard}")
    try:
        if isinstance(task, Pooled):
            collected = task.again(requests, folder.read_table(task.table))
            mark = folder.read_json("model.json")["fingerprint"]
            rows = [{**row, "model_fingerprint": mark} for row in collected.rows]
            further = collected.artefacts
        elif isinstance(task, (Pointwise, Listwise)) and not run.spec.model.answers_are_recorded:
            asked = {request.key: request for request in requests}
            archived = records(folder.read_table("scores.parquet"))
            rows = [_again(row, task, asked[row["request_id"], row["repeat"]]) for row in archived]
            further = {}
        else:
            return {}
    except KeyError:
        raise EvidenceError(f"scores/{shard}: answers other questions than the variants ask") from None
    return {
        "scores.parquet": to_parquet(rows, SCORE_SCHEMA, ["variant_id", "repeat"]),
        **sampling_error(run.spec, rows),
        **further,
    }


def _again(row: Mapping[str, Any], task: Pointwise | Listwise, request: Request) -> AnswerRecord:
    shares = row["label_probabilities"]
    if isinstance(task, Pointwise) and shares is not None:
        return {**row, "score": task.expected(list(map(float, shares)), request)}
    if not _was_read(row):
        return dict(row)
    response = Response(
        request_id=request.request_id,
        repeat=request.repeat,
        text=row["text"],
        model=row["model"],
        method=row["method"],
        detail=CUT if row["detail"] == CUT else None,
    )
    (made,) = (one for one in task.rows(request, response) if one["variant_id"] == row["variant_id"])
    return {**row, **{name: made[name] for name in _READ}}


def _was_read(row: Mapping[str, Any]) -> bool:
    """Whether the row says what is in its text, and not that no text came."""
    if row["method"] != "generated" or not row["text"]:
        return False
    if row["status"] == "unparsed":
        return not str(row["detail"]).startswith("step ")
    return row["status"] in ("ok", "unranked") or row["detail"] == DECLINES
