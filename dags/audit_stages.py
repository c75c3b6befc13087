"""The tasks of one audit, from its plan to its sealed evidence: of a DAG of one model, and of each model of a panel.

A task calls one stage of audit_lib.pipeline and passes on the run's URI and a few counts; everything else goes through
the store. Complete stages are skipped, so any task can be cleared and run again.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from audit_tasks import (
    archived_asset,
    in_task,
    keep_signature,
    refuse_unknown_conf,
    small,
    store_root,
    tell,
    window_of,
)
from failed_attempts import already_sealed, by_whom, seal_failed_attempt
from placement import placement

from audit_lib.backends import BACKENDS
from audit_lib.spec import AuditSpec, load_spec

POOLS = {
    "embedding": "default_pool", "http": "llm_api", "openai": "llm_api", "openai_batch": "llm_api",
    "pydantic_ai": "llm_api", "recorded": "default_pool", "transformers": "gpu", "vllm": "gpu",
    "vllm_server": "llm_api",
}  # fmt: skip
"""What the records of the shipped backends say (a test holds it): parsing may not import them."""


@task
def preflight(spec_path: str) -> None:
    """Look for all that the audit needs before anything is paid for, and name every fault at once."""
    from audit_lib.preflight import require_ready
    from audit_lib.window import Window

    context = get_current_context()
    with in_task():
        refuse_unknown_conf()
        if already_sealed(spec_path, context):
            tell("this run is sealed: nothing is asked again")
            return
        offline = context["params"].get("dry_run") or os.environ.get("AUDIT_OFFLINE")
        window = Window.parse(*window_of(context))
        require_ready(load_spec(spec_path), store_root(), window=window, offline=bool(offline))


@task
def plan(spec_path: str) -> str:
    """Write the signed-off design of the run before any scoring; return the run's URI."""
    from audit_lib.archive.attempts import start
    from audit_lib.pipeline import open_run, run_stage
    from audit_lib.window import Window

    context = get_current_context()
    params = context["params"]
    with in_task():
        run = open_run(
            spec_path,
            Window.parse(*window_of(context)),
            store_root(),
            sample_size=params.get("sample_size"),
            names_per_cell=params.get("names_per_cell"),
            notify=tell,
        )
        if not params.get("dry_run") and not run.stage("evidence").is_complete():
            start(run, by_whom(context), goes_on=True)
        run_stage(run, "plan")
        return small(run.uri)


@task
def stage(run: str, spec_path: str, name: str) -> dict[str, int]:
    """Do one stage; return its counts."""
    from audit_lib.pipeline import load_run, run_stage

    with in_task(name):
        return small(run_stage(load_run(run, spec_path=spec_path, notify=tell), name))


@task
def shards(run: str, spec_path: str, most: int) -> list[list[int]]:
    """Cut the shards that are to be scored into parts for `most` tasks: of each its first and last shard.

    They come from the store. None at all is an error, not a skip.
    """
    from audit_lib.pipeline import load_run
    from audit_lib.pipeline import shards as planned

    with in_task():
        numbers = planned(load_run(run, spec_path=spec_path))
        if not numbers:
            raise AirflowFailException(
                f"{run}: there is nothing to score; look at the stages sample and variants"
            )
        if get_current_context()["params"].get("dry_run"):
            raise AirflowSkipException(
                f"dry run: {len(numbers)} shards would be scored; the model was not asked"
            )
        return small(parts_of(numbers, most))


def parts_of(numbers: list[int], most: int) -> list[list[int]]:
    """Cut numbers, in order, into at most `most` parts of about one size: of each its first and last."""
    count = min(len(numbers), most)
    ends = [len(numbers) * part // count for part in range(count + 1)]
    return [[numbers[start], numbers[end - 1]] for start, end in pairwise(ends)]


def labelled(part: str) -> str:
    """Return the template of what Airflow's UI calls a part: ``shard 3``, or ``shards 8 to 15``."""
    several = f"{part}[0] != {part}[1]"
    return f"shard{{% if {several} %}}s {{{{ {part}[0] }}}} to{{% endif %}} {{{{ {part}[1] }}}}"


def shards_of(part: list[int], run: Any) -> list[int]:
    """Return the shards of a part, given by its first and last."""
    from audit_lib.pipeline import shards as planned

    first, last = part
    return [number for number in planned(run) if first <= number <= last]


@task(map_index_template=labelled("task.op_kwargs['part']"))
def score(run: str, spec_path: str, part: list[int]) -> dict[str, int]:
    """Score the shards of one part, one after another; return their counts."""
    from audit_lib.pipeline import ShardScorer, load_run

    with in_task("scores"):
        opened = load_run(run, spec_path=spec_path, notify=tell)
        numbers, scorer = shards_of(part, opened), ShardScorer(opened)
    counts: Counter[str] = Counter()
    for shard in numbers:
        with in_task(f"scores/{shard}"):
            counts.update(scorer.score(shard))
    return small(dict(counts))


@task(trigger_rule="all_done")
def archive(run: str | None, spec_path: str, audit: str) -> dict[str, int]:
    """Seal the run, or the attempt that failed, when every task is through; announce where it is sealed."""
    from audit_lib.errors import IncompleteRunError
    from audit_lib.pipeline import load_run, run_stage

    context = get_current_context()
    with in_task("evidence"):
        if context["params"].get("dry_run"):
            raise AirflowSkipException("dry run: nothing to archive")
        announce = context["outlet_events"]
        try:
            if run is None:
                raise IncompleteRunError("there is no plan")
            opened = load_run(run, spec_path=spec_path, notify=tell)
            counts = run_stage(opened, "evidence")
        except IncompleteRunError:
            said = seal_failed_attempt(run, spec_path, context)
            if said is None:
                raise
            announce[archived_asset(audit)].extra = small(said)
            return small({"failed": 1})
        window = opened.key.window
        announce[archived_asset(opened.key.audit)].extra = small(
            {
                "run": run,
                "manifest": f"{run}/evidence/manifest.json",
                "window_start": window.start.isoformat(),
                "window_end": window.end.isoformat(),
                "reported": opened.stage("report").is_complete(),
            }
        )
        return small(counts)


for _task in (preflight, plan, stage, shards, score, archive):
    keep_signature(_task.function)


@dataclass(frozen=True)
class AuditTasks:
    """The tasks of one audit that others are put before or after."""

    first: Any
    prepared: Any
    asking: Any
    last: Any


def audit_tasks_of(spec: AuditSpec, where: str) -> AuditTasks:
    """Make the tasks from plan to evidence of one audit; `where` is its spec's file, or ``panel.yaml#NAME``."""
    name = spec.model.backend
    places = placement()

    def at(task_id: str) -> dict[str, Any]:
        return places.options(task_id, spec.audit, name)

    def staged(task_id: str, folder: str) -> Any:
        return stage.override(task_id=task_id, **at(task_id))(run, where, folder)

    run = plan.override(**at("plan"))(where)
    sample, perturb = staged("sample", "sample"), staged("perturb", "variants")
    parts = shards.override(**at("shards"))(run, where, places.scoring_tasks)
    placed = {"pool": POOLS[name] if name in POOLS else BACKENDS.get(name).pool, **at("score")}
    if name == "openai_batch":
        from batch_scoring import BatchScoring

        scores = BatchScoring.partial(
            task_id="score",
            run_uri=run,
            spec_path=where,
            poll=float(spec.model.options.get("poll", 300.0)),
            map_index_template=labelled("task.part"),
            **placed,
        ).expand(part=parts)
    else:
        scores = score.override(**placed).partial(run=run, spec_path=where).expand(part=parts)
    validate, measure = staged("validate", "validation"), staged("measure", "metrics")
    report = staged("report", "report")
    sealing = archive.override(outlets=[archived_asset(spec.audit)], **at("archive"))
    sealed = sealing(run, where, spec.audit)
    # The leaf: a run whose report failed is a failed run, although its failure was archived.
    completed = EmptyOperator(task_id="completed")
    order = [run, sample, perturb, parts, scores, validate, measure, report]
    for before, after in pairwise(order):
        before >> after
    order >> sealed  # sealed as failed only when no shard is still to be tried again
    [report, sealed] >> completed
    return AuditTasks(first=run, prepared=perturb, asking=parts, last=sealed)
