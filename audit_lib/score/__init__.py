"""Stage `score`: ask the model, shard by shard, and keep every answer as a row.

Requests are packed over the whole run and only then cut into shards (`audit_lib.score.shard_plan`), so neither the
number of shards nor the order in which they run changes a score. A shard is a pure function of the run: failures
are rows with a status, and an answer that is missing or doubled is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress

from audit_lib.canonical import pretty_json
from audit_lib.errors import AuditError, EvidenceError
from audit_lib.large_file import Content
from audit_lib.records import REPLY_SCHEMA, SCORE_SCHEMA, to_parquet
from audit_lib.run import Run, StageOutput
from audit_lib.score.backends import (
    backend,
    check_decision,
    check_model,
    check_replies,
    check_texts,
    fingerprint,
)
from audit_lib.score.canaries import canary_answers, canary_pack
from audit_lib.score.classifiers import classify
from audit_lib.score.estimate import estimate_cuts
from audit_lib.score.materials import embed_materials, materials_again
from audit_lib.score.packs import Pack
from audit_lib.score.recomputed import score_again
from audit_lib.score.recorded_columns import score_columns
from audit_lib.score.remote.chat_options import check_read
from audit_lib.score.remote.cost import CostEstimate, used_with_thinking
from audit_lib.score.requests import (
    AnswerRecord,
    Collected,
    Elicitation,
    Pooled,
    Response,
    kinds_asked,
    sampling_of,
)
from audit_lib.score.sampling_error import sampling_error
from audit_lib.score.shard_plan import Shard, all_shards, read_shard, requests_in, shard_counts
from audit_lib.score.steps import converse, match, reply_places

__all__ = [
    "asked_of",
    "check_decision",
    "check_model",
    "check_read",
    "check_replies",
    "check_texts",
    "estimate",
    "score_columns",
    "score_shard",
    "scores_again",
    "shards",
]


def shards(run: Run) -> list[int]:
    """Return the numbers of the shards that hold requests.

    Raises
    ------
    IncompleteRunError
        If the variants are not there yet.
    InputError
        If there are none: an audit of nothing must not look like an audit.
    """
    return list(shard_counts(run))


def score_shard(run: Run, shard: int, what: Shard | None = None) -> StageOutput:
    """Ask the model the requests of one shard, which are read unless `what` has them already.

    Returns
    -------
    StageOutput
        ``scores.parquet`` (SCORE_SCHEMA), ``model.json`` (what was asked; no times), ``served.json`` (which
        models answered, and how often) and, in the first shard, ``canaries.json`` if the spec has any. A
        local model's shard has ``plan.json`` (how it was computed, the sharing bound, the noise floor), that of a
        model whose abilities were looked at ``capabilities.json``, of one that counts what it thinks ``usage.json``
        (tokens of all answers, those of steps and canaries too), one whose scores were sampled
        ``sampling_error.parquet`` (SAMPLING_ERROR_SCHEMA), a pairwise
        audit's ``pairs.parquet`` (ANSWER_SCHEMA), one with steps has ``replies.parquet`` (REPLY_SCHEMA), one
        that measures leakage ``materials.parquet`` (MATERIAL_SCHEMA).

    Raises
    ------
    IncompleteRunError
        If the variants are not there, or the shard is empty.
    BackendError
        If the model cannot be loaded or reached, or lost or doubled an answer.
    """
    spec = run.spec
    check_model(spec.model, spec.task, kinds_asked(spec))
    check_read(spec)
    if what is None and (columns := score_columns(run, shard)) is not None:
        return columns
    what = read_shard(run, shard) if what is None else what
    task, packs = what.task, what.packs
    canaries = canary_pack(run, task) if shard == what.numbers[0] else ()
    places = reply_places(run, requests_in(packs), what.variations)
    if places:
        check_model(spec.model, spec.task, ["text"])
    conversed = converse(run, shard, what, canaries, sampling_of(spec), places)
    asked = conversed.asked
    of_canaries = {request.key for request in canaries}
    responses = [response for response in asked.responses if response.key not in of_canaries]
    description = asked.description
    extra: dict[str, Content] = {}
    if canaries:
        answers = [response for response in asked.responses if response.key in of_canaries]
        extra["canaries.json"] = canary_answers(canaries, answers)
    if conversed.replies:
        extra["replies.parquet"] = to_parquet(
            conversed.replies, REPLY_SCHEMA, ["request_id", "repeat", "step"]
        )
    mark = fingerprint(description)
    collected = _collected(task, packs, responses)
    rows = [{**row, "model_fingerprint": mark} for row in collected.rows]
    counts = Counter(str(row["status"]) for row in rows)
    classified, judged = classify(run, rows)
    if any(response.thinking_tokens is not None for response in conversed.answers):
        extra["usage.json"] = pretty_json(used_with_thinking(conversed.answers))
    return StageOutput(
        artefacts={
            "scores.parquet": to_parquet(rows, SCORE_SCHEMA, ["variant_id", "repeat"]),
            **collected.artefacts,
            **classified,
            **sampling_error(spec, rows),
            "model.json": pretty_json({**description, "fingerprint": mark}),
            "served.json": pretty_json(conversed.served),
            **({} if asked.capabilities is None else {"capabilities.json": pretty_json(asked.capabilities)}),
            **({} if asked.plan is None else {"plan.json": pretty_json(asked.plan)}),
            **embed_materials(run, shard, (str(row["variant_id"]) for row in rows)),
            **extra,
        },
        counts={
            "rows": len(rows),
            "requests": sum(map(len, packs)),
            **counts,
            **collected.counts,
            **judged,
            **asked.counts(),
        },
    )


def estimate(run: Run, *, load: bool = False) -> CostEstimate:
    """Return what scoring a run would take: requests, tokens, money and time. Nothing is asked.

    Parameters
    ----------
    run : Run
    load : bool
        Whether a tokenizer may be loaded where calls are counted by one; without it the same files give the same
        numbers on every machine.

    Raises
    ------
    IncompleteRunError
        If the variants are not there yet.
    """
    task, cuts = all_shards(run)
    with closing(backend.get(run.spec.model.backend)(run.spec.model)) as answering:
        if load:
            with suppress(AuditError):  # the preflight says what is missing
                answering.load_for_estimate()
        return estimate_cuts(run, task, cuts, answering)


def scores_again(run: Run, shard: int, what: Shard | None = None) -> dict[str, Content]:
    """Make again what follows from the answers that a complete shard holds (`audit_lib.score.recomputed`).

    Raises
    ------
    EvidenceError
        If the shard answers other questions than the variants ask.
    """
    what = asked_of(run, shard) if what is None else what
    return score_again(run, shard, what.task, requests_in(what.packs)) | materials_again(run, shard)


def asked_of(run: Run, shard: int, *, whole: bool = True) -> Shard:
    """Return what a complete shard was asked; without `whole`, of what can still be read of it.

    Raises
    ------
    EvidenceError
        If the variants ask nothing of it.
    """
    if shard not in shard_counts(run):
        raise EvidenceError(f"scores/{shard}: the variants ask nothing of this shard")
    return read_shard(run, shard, whole=whole)


def _collected(task: Elicitation, packs: Sequence[Pack], responses: Iterable[Response]) -> Collected:
    answers = match(packs, responses)
    if isinstance(task, Pooled):
        return task.collect([(request, answers[request.key]) for request in requests_in(packs)])
    rows: list[AnswerRecord] = [
        row for request in requests_in(packs) for row in task.rows(request, answers[request.key])
    ]
    return Collected(rows=rows, artefacts={}, counts={})
