"""A panel from sealed runs: several models, or tasks, over the same pools of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.validity import PairCounts, StudiedModel
from audit_lib.errors import IncompleteRunError, InputError
from audit_lib.measure.rows.drawn_rounds import DrawnRounds
from audit_lib.measure.rows.group_pairs import faced
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.pools import Pools
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.measure.stage import scored_shards
from audit_lib.report.exact_tables import in_words
from audit_lib.run import Run
from audit_lib.validity.pair_limits import SELECTION_LIMIT, VALIDITY_LIMIT
from audit_lib.validity.run_labels import run_labels, shared_title
from audit_lib.validity.scored_panel import JobScores, PairOutcomes, ScoredPanel, pool_digest


def panel_of_runs(runs: Sequence[Run], quotas: Sequence[int] = ()) -> ScoredPanel:
    """Read the scores of sealed runs.

    Parameters
    ----------
    runs : sequence of Run
        Two or more, of models that judged the same candidates in the same rounds. Their order is that of the tables.
    quotas : sequence of int
        Places of a round that are given out; unless given, those of the runs' specs.

    Raises
    ------
    InputError
        If groups, references or pools differ, a run is there twice, or a run has no scores.
    IncompleteRunError
        If one is not sealed.
    EvidenceError
        If an artefact is not what its stage wrote.
    """
    _check_runs(runs)
    spec = runs[0].spec
    cells = [*_compared(runs[0]), {axis: spec.groups.reference[axis] for axis in spec.groups.axes}]
    groups = tuple(in_words(cell) for cell in cells)
    scores: list[JobScores] = []
    models: list[StudiedModel] = []
    pools: dict[tuple[str, str], tuple[bytes, str]] = {}
    for label, run in zip(run_labels(runs, one_for_all_tasks=True), runs, strict=True):
        rows, _ = load_rows(run, scored_shards(run))
        if rows.texts is not None or not np.isfinite(rows.score).any():
            raise InputError(f"{run.uri}: no scores (task {run.spec.task}); a study of metrics needs scores")
        own = []
        for part in strata(rows, ["position"]):
            job = _job(part, label, run.spec.task, cells)
            rounds, names = np.array([*job.rounds, ""])[job.round], np.array([*groups, ""])[job.group]
            applications = np.array([*part.columns["application_id"].dictionary.to_pylist(), ""])
            digest = pool_digest(rounds, applications[part.application], names, job.qualified)
            first = pools.setdefault((run.spec.task, job.job), (digest, run.uri))
            if first[0] != digest:
                raise InputError(
                    f"{run.uri}: {job.job}: not the pools of {first[1]}: other candidates, groups or qualifications, "
                    "or other rounds"
                )
            own.append(job)
        scores += own
        models.append(_model(label, run, rows, own))
    _check_jobs(runs, models)
    return ScoredPanel(
        title=shared_title([run.spec.title for run in runs]),
        source="runs",
        design=sha256(
            canonical_json(sorted([task, job, found.hex()] for (task, job), (found, _) in pools.items()))
        ),
        groups=groups,
        quotas=tuple(sorted(set(quotas) or {k for run in runs for k in run.spec.measure.quotas})),
        bins=spec.measure.bins,
        level=spec.measure.level,
        same_pools=True,
        models=tuple(models),
        scores=tuple(scores),
    )


def _check_runs(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise InputError(
            f"{len(runs)} run: metrics are judged by how they tell models apart; name two runs or more, or a --table"
        )
    first = runs[0].spec.groups
    for number, run in enumerate(runs):
        if not run.stage("evidence").is_complete() or not run.stage("metrics").is_complete():
            raise IncompleteRunError(
                f"{run.uri}: not a sealed run with metrics; finish it with `audit run`, or leave it out"
            )
        if run.key in [other.key for other in runs[:number]]:
            raise InputError(f"{run.uri}: the same run is listed twice")
        own = run.spec.groups
        if (own.attributes, own.reference) != (first.attributes, first.reference):
            raise InputError(f"{run.uri}: other groups, or another reference, than {runs[0].uri}")
        for key in ("bins", "random_rounds"):
            if getattr(run.spec.measure, key) != getattr(runs[0].spec.measure, key):
                raise InputError(f"{run.uri}: measure.{key} differs from that of {runs[0].uri}")


def _check_jobs(runs: Sequence[Run], models: Sequence[StudiedModel]) -> None:
    """Refuse a run that lacks a job of another one in the same task: where it is there, pools were compared."""
    for run, model in zip(runs, models, strict=True):
        other = next(one for one in models if one.task == model.task)
        if set(model.jobs) != set(other.jobs):
            raise InputError(
                f"{run.uri}: jobs {', '.join(model.jobs)}, where the first run has {', '.join(other.jobs)}"
            )


def _compared(run: Run) -> list[dict[str, str]]:
    groups = run.spec.groups
    reference = {axis: groups.reference[axis] for axis in groups.axes}
    return [cell for cell in groups.cells() if cell != reference]


def _job(part: Rows, label: str, task: str, cells: Sequence[dict[str, str]]) -> JobScores:
    group = np.full(len(part), -1, dtype=np.int64)
    for number, cell in enumerate(cells):
        group[part.members(cell)] = number
    column = part.columns["round_id"]
    used = np.unique(part.round[part.round >= 0])
    place = np.full(len(column.dictionary) + 1, -1, dtype=np.int64)
    place[used] = np.arange(used.size)
    found = JobScores(
        model=label,
        task=task,
        job=part.levels["position"],
        score=part.score,
        group=group,
        round=place[part.round],
        rounds=tuple(column.dictionary.take(used).to_pylist()),
        qualified=part.qualified,
        pools=part.pools,
        pairs=None if part.pairs is None else _pairs(part, part.pairs, place, cells),
    )
    return found if part.drawn is None else replace(found, drawn=_drawn(found, part, part.drawn))


def _drawn(found: JobScores, part: Rows, drawn: DrawnRounds) -> JobScores:
    """Return the rounds that were drawn of a job's candidates, a row a candidate in a round."""
    size = 1 + max(int(values.max(initial=-1)) for values in (part.place, drawn.place))
    own = np.full(size, -1, dtype=np.int64)
    own[part.place] = np.arange(len(part))
    members: NDArray[np.int64] = own[drawn.place][drawn.members]
    members = members[(members >= 0).all(axis=1)]
    rows, codes = members.ravel(), np.repeat(np.arange(len(members)), members.shape[1])
    return replace(
        found,
        score=found.score[rows],
        group=found.group[rows],
        round=codes,
        rounds=tuple(f"drawn {number + 1}" for number in range(len(members))),
        qualified=found.qualified[rows],
        pools=Pools.of(found.score[rows], codes),
        pairs=None,
    )


def _pairs(
    part: Rows, answers: PairAnswers, place: NDArray[np.int64], cells: Sequence[dict[str, str]]
) -> PairOutcomes:
    size = 1 + max(int(values.max(initial=0)) for values in (part.place, answers.one, answers.other))
    qualified = np.zeros(size, bool)
    qualified[part.place] = part.qualified == 1
    found: list[dict[str, Any]] = []
    for number, cell in enumerate(cells[:-1]):
        between = faced(part, answers, cell, cells[-1])
        found.append(
            {
                "group": np.full(between.outcome.size, number, dtype=np.int64),
                "round": place[between.round],
                "outcome": between.outcome.astype(np.int64),
                "qualified": qualified[between.pairs.one] & qualified[between.pairs.other],
            }
        )
    return PairOutcomes(**{name: np.concatenate([one[name] for one in found]) for name in found[0]})


def _model(label: str, run: Run, rows: Rows, jobs: Sequence[JobScores]) -> StudiedModel:
    counts = None if rows.pairs is None else rows.pairs.statistics()
    share = counts.inconsistent_share if counts is not None and counts.pairs else None
    answers = None
    if counts is not None:
        answers = PairCounts(
            prompts=counts.prompts,
            regular=counts.regular,
            tie=counts.tie,
            unparsed=counts.unparsed,
            pairs=counts.pairs,
            flipped=counts.flipped,
            inconsistent=counts.inconsistent,
        )
    return StudiedModel(
        label=label,
        task=run.spec.task,
        model=run.spec.model.name,
        revision=run.spec.model.revision,
        run=run.key.prefix,
        manifest_sha256=sha256(run.stage("evidence").read("manifest.json")),
        valid_judge=run.spec.model.valid_judge,
        jobs=tuple(one.job for one in jobs),
        rounds=sum(len((one.drawn or one).rounds) for one in jobs),
        rows=len(rows),
        scored=int(np.isfinite(rows.score).sum()),
        unknown_group=int(sum((one.group < 0).sum() for one in jobs)),
        answers=answers,
        inconsistent_share=share,
        left_out_of_validity=share is not None and share > VALIDITY_LIMIT,
        left_out_of_selection=share is not None and share > SELECTION_LIMIT,
    )
