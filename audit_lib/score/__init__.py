"""Stage `score`: ask the model, shard by shard, and keep every answer as a row.

Requests are packed over the whole run and only then cut into shards, so neither the number of shards nor the
order in which they run changes a score. A shard is a pure function of the run: failures are
rows with a status, and an answer that is missing or doubled is an error.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import accumulate

from audit_lib.canonical import pretty_json
from audit_lib.errors import BackendError, IncompleteRunError, InputError
from audit_lib.records import SCORE_SCHEMA, to_parquet
from audit_lib.run import Run, StageOutput
from audit_lib.score.backends import Backend, backend, check_model, fingerprint
from audit_lib.score.packs import Pack, cut, pack
from audit_lib.score.requests import Elicitation, Response, Row, elicitation

__all__ = ["check_model", "score_shard", "shards"]

_EVERY_S = 5.0


def shards(run: Run) -> list[int]:
    """Return the numbers of the shards that hold requests.

    Raises
    ------
    IncompleteRunError
        If the variants are not there yet.
    InputError
        If there are none: an audit of nothing must not look like an audit.
    """
    _, cuts = _plan(run)
    return sorted(cuts)


def score_shard(run: Run, shard: int) -> StageOutput:
    """Ask the model the requests of one shard.

    Returns
    -------
    StageOutput
        ``scores.parquet`` (SCORE_SCHEMA) and ``model.json`` (what answered; no times).

    Raises
    ------
    IncompleteRunError
        If the variants are not there, or the shard is empty.
    BackendError
        If the model cannot be loaded or reached, or lost or doubled an answer.
    """
    spec = run.spec
    check_model(spec.model, spec.task)
    task, cuts = _plan(run)
    if shard not in cuts:
        raise IncompleteRunError(f"shard {shard} holds no requests; the run's shards are {sorted(cuts)}")
    packs = cuts[shard]
    total = sum(map(len, packs))
    with closing(backend.get(spec.model.backend)(spec.model)) as answering:
        run.notify(f"score: shard {shard}: {total} requests to {spec.model.name}; loading")
        description = answering.describe()
        responses = list(_told(answering.score(packs), packs, f"score: shard {shard}", run.notify))
    mark = fingerprint(description)
    rows = [{**row, "model_fingerprint": mark} for row in _rows(task, packs, responses)]
    counts = Counter(str(row["status"]) for row in rows)
    return StageOutput(
        artefacts={
            "scores.parquet": to_parquet(rows, SCORE_SCHEMA, ["variant_id", "repeat"]),
            "model.json": pretty_json({**description, "fingerprint": mark}),
        },
        counts={"rows": len(rows), "requests": total, **counts},
    )


def _plan(run: Run) -> tuple[Elicitation, dict[int, list[Pack]]]:
    """Return the elicitation and the packs of each shard; the packs do not depend on the shards."""
    spec = run.spec
    task = elicitation.get(spec.task)(spec)
    asked = task.requests(run.stage("variants").read_table("variants.parquet"))
    if not asked:
        raise InputError("variants/variants.parquet: no rows, so there is nothing to score")
    repeated = [replace(request, repeat=r) for request in asked for r in range(spec.score.repeats)]
    kind: type[Backend] = backend.get(spec.model.backend)
    return task, cut(pack(repeated, kind(spec.model).pack_size), spec.score.shards)


def _rows(task: Elicitation, packs: Iterable[Pack], responses: Iterable[Response]) -> Iterator[Row]:
    answers: dict[tuple[str, int], Response] = {}
    for response in responses:
        if response.key in answers:
            raise BackendError(f"request {response.key}: the backend answered twice")
        answers[response.key] = response
    for request in (request for one in packs for request in one):
        if request.key not in answers:
            raise BackendError(f"request {request.key}: the backend gave no answer")
        yield from task.rows(request, answers.pop(request.key))
    if answers:
        raise BackendError(f"the backend answered {len(answers)} requests that were not asked")


def _told(
    responses: Iterable[Response], packs: Sequence[Pack], what: str, notify: Callable[[str], None]
) -> Iterator[Response]:
    """Pass responses on; every few seconds, when a pack is through, tell how far it is."""
    through = list(accumulate(map(len, packs)))  # requests done at the end of each pack
    started = told = time.monotonic()
    for done, response in enumerate(responses, start=1):
        yield response
        now = time.monotonic()
        if done == through[-1] or (done in through and now - told >= _EVERY_S):
            told = now
            rate = done / max(now - started, 1e-9)
            left = "" if done == through[-1] else f", about {(through[-1] - done) / rate:.0f} s left"
            notify(f"{what}: {done} of {through[-1]} requests, {rate:.1f}/s{left}")
