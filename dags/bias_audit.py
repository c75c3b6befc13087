"""One DAG for each audit in include/audits/*.yaml.

::

    preflight -> plan -> sample -> perturb -> shards -> score[shard]* -> validate -> measure -> report -> archive
        -> completed

A task calls one stage of audit_lib.pipeline and passes on the run's URI and a few counts; everything
else goes through the store. Complete stages are skipped, so any task can be cleared and run again.

A spec that cannot be loaded still gets its DAG, with one task that fails with the spec's fault. An
import error would be worse: Airflow then stops to schedule every DAG of this file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import (
    DAG,
    CronDataIntervalTimetable,
    DeadlineAlert,
    DeadlineReference,
    Param,
    get_current_context,
    get_parsing_context,
    task,
)
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from audit_tasks import (
    archived_asset,
    in_task,
    load_specs,
    named_in,
    parse_until,
    refuse_unknown_conf,
    small,
    store_root,
    tell,
    time_is_left,
    window_of,
)
from catch_up import CatchUp
from failed_attempts import already_sealed, by_whom, seal_failed_attempt
from notify import deadline_callbacks, failed_run

from audit_lib.backends import BACKENDS
from audit_lib.spec import RESERVED, AuditSpec, Schedule

EARLIEST = datetime(2026, 1, 5, tzinfo=UTC)
"""Airflow wants a fixed start; where the spec has none, the store says from when on windows are owed."""

LEFT_OUT = "left_out_audits"

POOLS = {
    "embedding": "default_pool", "http": "llm_api", "openai": "llm_api", "openai_batch": "llm_api",
    "recorded": "default_pool", "transformers": "gpu",
}  # fmt: skip
"""What the records of the shipped backends say (a test holds it): parsing may not import them."""

RETRIES = {
    "retries": int(os.environ.get("AUDIT_RETRIES", "2")),
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=10),
}


@task
def preflight(spec_path: str) -> None:
    """Look for all that the audit needs before anything is paid for, and name every fault at once."""
    from audit_lib.preflight import require_ready

    context = get_current_context()
    with in_task():
        refuse_unknown_conf()
        if already_sealed(spec_path, context):
            tell("this run is sealed: nothing is asked again")
            return
        offline = context["params"].get("dry_run") or os.environ.get("AUDIT_OFFLINE")
        require_ready(AuditSpec.load(spec_path), store_root(), offline=bool(offline))


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
def shards(run: str, spec_path: str) -> list[int]:
    """List the shards that are to be scored, from the store. None at all is an error, not a skip."""
    from audit_lib.pipeline import load_run
    from audit_lib.pipeline import shards as planned

    with in_task():
        parts = planned(load_run(run, spec_path=spec_path))
        if not parts:
            raise AirflowFailException(
                f"{run}: there is nothing to score; look at the stages sample and variants"
            )
        if get_current_context()["params"].get("dry_run"):
            raise AirflowSkipException(
                f"dry run: {len(parts)} shards would be scored; the model was not asked"
            )
        return small(parts)


@task(map_index_template="shard {{ task.op_kwargs['shard'] }}")
def score(run: str, spec_path: str, shard: int) -> dict[str, int]:
    """Score one shard; return its counts."""
    from audit_lib.pipeline import load_run, run_stage

    with in_task(f"scores/{shard}"):
        return small(run_stage(load_run(run, spec_path=spec_path, notify=tell), "scores", shard=shard))


@task(trigger_rule="all_done")
def archive(run: str | None, spec_path: str) -> dict[str, int]:
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
            announce[archived_asset(context["dag"].dag_id)].extra = small(said)
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


@task(retries=0)
def load_spec(spec_path: str) -> None:
    """Fail with the fault of a spec that cannot be loaded."""
    with in_task():
        AuditSpec.load(spec_path)
        raise AirflowFailException(
            f"{spec_path}: another spec has its name, or it was mended since the last parse"
        )


def page(spec: AuditSpec, path: Path) -> str:
    """Return the DAG's page in the UI."""
    attributes = "\n".join(
        f"- **{name}**: {', '.join(levels)} (reference: {spec.groups.reference[name]})"
        for name, levels in spec.groups.attributes.items()
    )
    return (
        f"# {spec.title}\n\n{spec.description}\n\n"
        f"- **Model**: {spec.model.name} ({spec.model.backend})\n"
        f"- **Selected**: {spec.decision.rule}\n"
        f"- **Demographics**: {spec.groups.provenance}\n{attributes}\n\n"
        f"Each run audits the half-open interval between two ticks of `{spec.schedule.cron}` "
        f"({spec.schedule.timezone}); a run started by hand may name its own window. Spec: `{path.name}`.\n"
    )


def audit_params(spec: AuditSpec) -> dict[str, Param]:
    """Return the params, whose JSON schemas make the form behind *Trigger* in the UI."""
    instant = {"type": ["null", "string"], "format": "date-time", "pattern": r"^\d{4}-\d{2}-\d{2}([T ].+)?$"}
    params = {
        "window_start": Param(
            None,
            title="Window start",
            description="First instant audited; empty: the run's own interval.",
            **instant,
        ),
        "window_end": Param(
            None, title="Window end", description="First instant no longer audited.", **instant
        ),
        "sample_size": Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Sample size",
            description="Prompts drawn, in place of the spec's number. Another number is another run.",
        ),
        "dry_run": Param(
            False,
            type="boolean",
            title="Dry run",
            description="Plan, draw and perturb, but do not ask the model.",
        ),
    }
    if spec.perturb is not None:
        params["names_per_cell"] = Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Names per cell",
            description="Names each prompt is shown under in each group, in place of the spec's number.",
        )
    return params


def deadlines(audit: str) -> list[DeadlineAlert]:
    """Return the alerts for a run that takes too long (``AUDIT_DEADLINE_HOURS``): to the log, and to people.

    Only the scheduled service sets it: `airflow dags test` of Airflow 3.3 cannot finish a DAG that has one.
    """
    hours = os.environ.get("AUDIT_DEADLINE_HOURS")
    if not hours:
        return []
    return [
        DeadlineAlert(
            reference=DeadlineReference.DAGRUN_QUEUED_AT,
            interval=timedelta(hours=float(hours)),
            callback=callback,
        )
        for callback in deadline_callbacks(audit, float(hours))
    ]


def audit_dag(spec: AuditSpec, path: Path) -> DAG:
    """Return the DAG of an audit."""
    with DAG(
        spec.audit,
        description=spec.title,
        doc_md=page(spec, path),
        schedule=CronDataIntervalTimetable(spec.schedule.cron, timezone=spec.schedule.timezone),
        start_date=spec.schedule.start or EARLIEST,
        catchup=False,  # CatchUp makes up what is owed, within the spec's limit
        max_active_runs=1,
        params=audit_params(spec),
        tags=sorted({"audit", spec.model.backend, spec.task}),
        default_args=RETRIES,
        deadline=deadlines(spec.audit) or None,
        on_failure_callback=failed_run,
        auto_register=False,  # else a DAG that fails half built competes with the one that tells why
    ) as dag:
        where = str(path)
        CatchUp(task_id="catch_up", trigger_dag_id=spec.audit, spec_path=where)
        ready = preflight(where)
        run = plan(where)
        sample = stage.override(task_id="sample")(run, where, "sample")
        perturb = stage.override(task_id="perturb")(run, where, "variants")
        parts = shards(run, where)
        name = spec.model.backend
        pool = POOLS[name] if name in POOLS else BACKENDS.get(name).pool
        if spec.model.backend == "openai_batch":
            from batch_scoring import BatchScoring

            scores = BatchScoring.partial(
                task_id="score",
                run_uri=run,
                spec_path=where,
                poll=float(spec.model.options.get("poll", 300.0)),
                pool=pool,
                map_index_template="shard {{ task.shard }}",
            ).expand(shard=parts)
        else:
            scores = score.override(pool=pool).partial(run=run, spec_path=where).expand(shard=parts)
        validate = stage.override(task_id="validate")(run, where, "validation")
        measure = stage.override(task_id="measure")(run, where, "metrics")
        report = stage.override(task_id="report")(run, where, "report")
        sealed = archive.override(outlets=[archived_asset(spec.audit)])(run, where)
        # The leaf: a run whose report failed is a failed run, although its failure was archived.
        completed = EmptyOperator(task_id="completed")
        order = [ready, run, sample, perturb, parts, scores, validate, measure, report]
        for before, after in pairwise(order):
            before >> after
        order >> sealed  # sealed as failed only when no shard is still to be tried again
        [report, sealed] >> completed
    return dag


def broken_dag(path: Path, fault: str, taken: set[str]) -> DAG:
    """Return the DAG of a spec that cannot be loaded: it fails when the audit would have run."""
    name, default = named_in(path), Schedule()
    ids = (name, f"{name}.{path.stem}", f"{name}.{re.sub(r'[^A-Za-z0-9_.-]', '_', path.name)}")
    with DAG(
        next((free for free in ids if free not in taken), ids[-1]),
        description="This spec cannot be loaded",
        doc_md=f"# This spec cannot be loaded\n\n```\n{fault}\n```\n",
        schedule=CronDataIntervalTimetable(default.cron, timezone=default.timezone),
        start_date=EARLIEST,
        catchup=False,
        max_active_runs=1,
        tags=["audit", "broken spec"],
        on_failure_callback=failed_run,
    ) as dag:
        load_spec(str(path))
    return dag


@task(retries=0)
def name_left_out() -> None:
    """Fail: people are told of a DAG run that fails."""
    with in_task():
        raise AirflowFailException(
            "there are more specs than this file can make into DAGs in the time that Airflow allows "
            "(core.dagbag_import_timeout, 30 seconds by default): allow more. The page of this DAG names those left out"
        )


def left_out_dag(paths: Sequence[Path]) -> DAG:
    """Return the DAG that names the specs for which there was no time; without it they would vanish in silence."""
    names = "".join(f"- `{path.name}`\n" for path in sorted(paths))
    with DAG(
        LEFT_OUT,
        description="Specs that have no DAG, for want of time",
        doc_md=f"# There was no time for these specs\n\nAllow more: core.dagbag_import_timeout.\n\n{names}",
        schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
        start_date=EARLIEST,
        catchup=False,
        max_active_runs=1,
        tags=["audit", "broken spec"],
        on_failure_callback=failed_run,
    ) as dag:
        name_left_out()
    return dag


_wanted, _until = get_parsing_context().dag_id, parse_until()
_audits, _faults, _left_out = load_specs(_wanted, math.inf if _wanted else _until)
_taken = {*_audits, *RESERVED}
for _name, (_path, _spec) in _audits.items():
    if _wanted is None and not time_is_left(_until):
        _left_out.append(_path)
    elif _wanted in (None, _name):
        try:
            globals()[f"dag_{_name}"] = audit_dag(_spec, _path)
        except Exception as _error:  # noqa: BLE001 - one bad spec must never take down the others
            _faults[_path] = f"{_path}: {type(_error).__name__}: {_error}"
            _taken.discard(_name)
_broken = []
for _path, _fault in sorted(_faults.items()):
    _broken.append(broken_dag(_path, _fault, _taken))
    _taken.add(_broken[-1].dag_id)
if _left_out or _wanted == LEFT_OUT:
    _broken.append(left_out_dag(_left_out))
