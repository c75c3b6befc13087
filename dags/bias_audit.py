"""One DAG for each audit in include/audits/*.yaml.

::

    preflight -> plan -> sample -> perturb -> shards -> score[shard]* -> validate -> measure -> report -> archive
        -> completed

A spec with several models is a panel: one DAG, with a group of these tasks for each model and one comparison at the
end (`panel_tasks`). The tasks themselves are in `audit_stages`.

A spec that cannot be loaded still gets its DAG, with one task that fails with the spec's fault. An
import error would be worse: Airflow then stops to schedule every DAG of this file. So the import error
that names the spec is `spec_faults`, a file that has no DAG.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import (
    DAG,
    Asset,
    AssetWatcher,
    CronDataIntervalTimetable,
    DeadlineAlert,
    DeadlineReference,
    Param,
    get_parsing_context,
    task,
)
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import AirflowFailException
from audit_stages import audit_tasks_of, preflight
from audit_tasks import (
    in_task,
    load_specs,
    nothing_collected,
    parse_until,
    time_is_left,
)
from catch_up import CatchUp
from notify import deadline_callbacks, failed_run
from panel_tasks import panel_tasks_of
from placement import placement

from audit_lib.errors import SpecError
from audit_lib.spec import RESERVED, AuditSpec, Panel, Schedule, read_spec
from audit_lib.spec.texts_of_files import read_spec_texts

EARLIEST = datetime(2026, 1, 5, tzinfo=UTC)
"""Airflow wants a fixed start; where the spec has none, the store says from when on windows are owed."""

LEFT_OUT = "left_out_audits"

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
"""Airflow checks each schema of each DAG: by this draft in 0.2 ms, by the newest in 0.5."""

RETRIES = {
    "retries": int(os.environ.get("AUDIT_RETRIES", "2")),
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=10),
}


@task(retries=0)
def load_spec(spec_path: str) -> None:
    """Fail with the fault of a spec that cannot be loaded."""
    with in_task():
        (text,) = read_spec_texts([Path(spec_path)]).values()
        if isinstance(text, SpecError):
            raise text
        read_spec(spec_path)
        raise AirflowFailException(
            f"{spec_path}: another spec has its name, or it was mended since the last parse"
        )


def page(found: AuditSpec | Panel, path: Path) -> str:
    """Return the DAG's page in the UI."""
    members = found.members if isinstance(found, Panel) else (found,)
    spec = members[0]
    models = "".join(f"- **Model**: {one.model.name} ({one.model.backend})\n" for one in members)
    attributes = "\n".join(
        f"- **{name}**: {', '.join(levels)} (reference: {spec.groups.reference[name]})"
        for name, levels in spec.groups.attributes.items()
    )
    return (
        f"# {found.title}\n\n{spec.description}\n\n"
        f"{models}"
        f"- **Selected**: {spec.decision.rule}\n"
        f"- **Demographics**: {spec.groups.provenance}\n{attributes}\n\n"
        f"Each run audits the half-open interval between two ticks of `{spec.schedule.cron}` "
        f"({spec.schedule.timezone}); a run started by hand may name its own window. Spec: `{path.name}`.\n"
    )


def audit_params(spec: AuditSpec) -> dict[str, Param]:
    """Return the params, whose JSON schemas make the form behind *Trigger* in the UI."""
    instant = {
        "type": ["null", "string"],
        "format": "date-time",
        "pattern": r"^\d{4}-\d{2}-\d{2}([T ].+)?$",
    } | DRAFT_7
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
            **DRAFT_7,
        ),
        "dry_run": Param(
            False,
            type="boolean",
            title="Dry run",
            description="Plan, draw and perturb, but do not ask the model.",
            **DRAFT_7,
        ),
    }
    if spec.perturb is not None:
        params["names_per_cell"] = Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Names per cell",
            description="Names each prompt is shown under in each group, in place of the spec's number.",
            **DRAFT_7,
        )
    return params


def deadlines() -> list[DeadlineAlert]:
    """Return the alerts for a run that takes too long (``AUDIT_DEADLINE_HOURS``): to the triggerer's log.

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
        for callback in deadline_callbacks()
    ]


def schedule_of(spec: AuditSpec, path: Path) -> CronDataIntervalTimetable | list[Asset]:
    """Return when an audit's DAG runs: at each tick, or when the data of a window have arrived."""
    if spec.schedule.arrival is None:
        return CronDataIntervalTimetable(spec.schedule.cron, timezone=spec.schedule.timezone)
    try:
        from data_arrived import DataArrived
    except ModuleNotFoundError:
        raise SpecError(
            "schedule.arrival: needs Airflow's plugins folder to be dags/plugins (AIRFLOW__CORE__PLUGINS_FOLDER)"
        ) from None

    watcher = AssetWatcher(name=f"arrival_{spec.audit}", trigger=DataArrived(spec_path=str(path)))
    prefix = spec.path(spec.schedule.arrival.prefix)
    uri = prefix if "://" in prefix else Path(prefix).absolute().as_uri()
    return [Asset(f"data_of_{spec.audit}", uri=uri.rstrip("/"), group="audit", watchers=[watcher])]


def audit_dag(found: AuditSpec | Panel, path: Path) -> DAG:
    """Return the DAG of an audit, or of a panel."""
    members = found.members if isinstance(found, Panel) else (found,)
    spec = members[0]
    with (
        DAG(
            found.audit,
            description=found.title,
            doc_md=page(found, path),
            schedule=schedule_of(spec, path),
            start_date=spec.schedule.start or EARLIEST,
            catchup=False,  # CatchUp makes up what is owed, within the spec's limit
            max_active_runs=1,
            tags=sorted(
                {
                    "audit",
                    *("panel" for _ in members[1:2]),
                    *(one.model.backend for one in members),
                    spec.task,
                }
            ),
            default_args=RETRIES,
            deadline=deadlines() or None,
            on_failure_callback=failed_run,
            auto_register=False,  # else a DAG that fails half built competes with the one that tells why
        ) as dag
    ):
        where = str(path)
        if isinstance(found, Panel):
            CatchUp(task_id="catch_up", trigger_dag_id=found.audit, spec_path=found.references[0])
            panel_tasks_of(found, offline=bool(os.environ.get("AUDIT_OFFLINE")))
        else:
            CatchUp(task_id="catch_up", trigger_dag_id=found.audit, spec_path=where)
            ready = preflight.override(**placement().options("preflight", spec.audit))(where)
            made = audit_tasks_of(found, where)
            ready >> [made.first, made.last]
    # Not before: each task would copy them, and Airflow check each copy's schema again, for most of a parse's time.
    dag.params = ParamsDict(audit_params(spec))
    return dag


def broken_dag(path: Path, name: str, fault: str, taken: set[str]) -> DAG:
    """Return the DAG of a spec that cannot be loaded: it fails when the audit would have run."""
    default = Schedule()
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
_audits, _faults, _left_out, _names = load_specs(_wanted, math.inf if _wanted else _until, to_parse=True)
_taken = {*_audits, *RESERVED}
with nothing_collected():
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
    _broken.append(broken_dag(_path, _names[_path], _fault, _taken))
    _taken.add(_broken[-1].dag_id)
if _left_out or _wanted == LEFT_OUT:
    _broken.append(left_out_dag(_left_out))
