"""What the stages' records say in addition to digests: counts and the order of times; and what a score answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from audit_lib.documents.evidence import is_instant
from audit_lib.documents.sample import Sample
from audit_lib.errors import AuditError
from audit_lib.run import SUCCESS, Run

if TYPE_CHECKING:
    import pandas as pd

Find = Callable[[str, str], None]  # path, detail

SCORED: Final = ("from_ledger", "damaged_in_ledger", "unread_answers", "classified", "truncated")
"""Counts of a shard that its artefacts do not hold."""


def check_order(run: Run, stages: Iterable[str], find: Find) -> None:
    """No stage may end before it began, no score be asked for before the plan, nothing end after its sealing.

    Records are not signed, so times that are wrong together are not seen.
    """
    started, finished = {}, {}
    for stage in stages:
        began, ended = (_time(run, stage, name, find) for name in ("started_at", "finished_at"))
        if began is not None and ended is not None and began > ended:
            find(f"{stage}/{SUCCESS}", "the stage ended before it began, says the record")
        if began is not None:
            started[stage] = began
        if ended is not None:
            finished[stage] = ended
    scored = [time for stage, time in started.items() if stage.startswith("scores/")]
    if "plan" in finished and scored and finished["plan"] > min(scored):
        find(f"plan/{SUCCESS}", "the plan was written after scoring began, say the records")
    sealed = finished.get("evidence")
    for stage in sorted(finished):
        if sealed is not None and finished[stage] > sealed:
            find(f"evidence/{SUCCESS}", f"the evidence was sealed before {stage} ended, say the records")


def _time(run: Run, stage: str, name: str, find: Find) -> datetime | None:
    path = f"{stage}/{SUCCESS}"
    if not run.stage(stage).is_complete():
        return None  # reported as missing
    try:
        record = run.stage(stage).success()
        words = record.started_at if name == "started_at" else record.finished_at
        time = datetime.fromisoformat(words)
    except (ValueError, KeyError, TypeError, AuditError):
        find(path, f"has no time as {name}")
        return None
    if time.tzinfo is None:
        find(path, f"has no UTC offset in {name}")
        return None
    if not is_instant(words):
        find(path, f"has {name} in another form than this library writes")
    return time


def check_counts(
    run: Run, stage: str, made: Mapping[str, int], find: Find, rest: Callable[[str], bool] | None = None
) -> None:
    """Compare a record's counts with those that were counted here.

    `rest` says which others it may have; without it, others are left alone.
    """
    try:
        said = run.stage(stage).counts()
    except (ValueError, KeyError, TypeError, AuditError):
        return  # the record is missing or none, which is reported already
    other = () if rest is None else [name for name in said.keys() - made.keys() if not rest(name)]
    if wrong := sorted([*other, *(name for name, count in made.items() if said.get(name) != count)]):
        find(f"{stage}/{SUCCESS}", f"its counts are not those of its artefacts: {', '.join(wrong)}")


def scored_counts(scores: pd.DataFrame, answers: pd.DataFrame | None = None) -> dict[str, int]:
    """Return the counts of a shard: rows, requests, and rows of each status.

    `answers` holds what was asked one by one, where a row is scored from several answers.
    """
    requests = len((scores if answers is None else answers)[["request_id", "repeat"]].drop_duplicates())
    return {"rows": len(scores), "requests": requests, **Counter(scores["status"].tolist())}


def sampled_too(name: str) -> bool:
    """Return whether a count of the sample is one that none of its artefacts shows."""
    return name == "rounds"


def sampled_counts(run: Run) -> dict[str, int]:
    """Return the counts of the sample, less the rounds."""
    prompts = run.stage("sample").read_table("prompts.parquet", ["application_id"])
    document = run.stage("sample").read_document(Sample, "sample.json")
    unknown = {} if document.demographics is None else document.demographics.unknown
    others = sum(model.rows for model in document.models or () if not model.audited)
    found = {f"unknown_{axis}": count for axis, count in unknown.items()} | {"rows_of_other_models": others}
    found["requests_without_a_line"] = document.requests_without_a_line or 0
    counts = {"prompts": len(prompts), "applications": int(prompts["application_id"].nunique())}
    if (before := document.read_before) is not None:
        counts |= {"rows_read_before": before.rows_read_before, "rows_late": before.rows_late}
    return counts | {name: count for name, count in found.items() if count}


def check_questions(
    scores: pd.DataFrame, questions: Mapping[str, tuple[str, str]], path: str, find: Find
) -> None:
    """Every score must answer the question that the archived variants ask."""
    rows = zip(scores["variant_id"], scores["request_id"], scores["request_digest"], strict=True)
    wrong = sum(questions.get(variant) != (request, digest) for variant, request, digest in rows)
    if wrong:
        find(
            path,
            f"{wrong} rows answer another question than the archived variants ask (request_id, request_digest)",
        )
