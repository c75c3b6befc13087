"""Looks at all audits every quarter of an hour, and tells what happened that no run could tell.

Windows that are late or were missed, sign-offs that are due, validity that ends. It sends again what could not be sent,
and escalates what nobody acknowledged.

Any DAG may tell an event first. It is told once: the log is in the store (`audit events`).
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronTriggerTimetable, task
from audit_tasks import in_task, load_specs, refuse_unknown_conf, small, store_root, tell
from notify import failed_task
from notify import tell_events as tell_all

EVERY = os.environ.get("AUDIT_EVENTS_CRON") or "*/15 * * * *"


@task(retries=2, retry_delay=timedelta(seconds=30), on_failure_callback=failed_task)
def tell_what_happened() -> dict[str, int]:
    """Note the windows that are missed, and tell all events that were not told yet."""
    from audit_lib.errors import AuditError, StoreUnreachableError
    from audit_lib.spec import Panel
    from audit_lib.store import open_store
    from audit_lib.windows import audit_folders, begun_runs, note_missed, owed_windows

    with in_task():
        refuse_unknown_conf()
        store, now = open_store(store_root()), datetime.now(UTC)
        specs = {}
        for _, found in load_specs().audits.values():
            specs |= {one.audit: one for one in (found.members if isinstance(found, Panel) else (found,))}
        known = set(audit_folders(store))
        for audit, spec in specs.items():
            try:
                note_missed(store, audit, owed_windows(spec, begun_runs(store, audit), now), now)
            except StoreUnreachableError:
                raise
            except AuditError as error:
                tell(f"WARNING: the windows of {audit} cannot be read: {error}")
        return small(tell_all(specs | dict.fromkeys(known - specs.keys()), {}))


with DAG(
    "tell_events",
    description="Tells what happened to audits, once, and again what nobody acknowledged",
    doc_md=__doc__,
    schedule=CronTriggerTimetable(EVERY, timezone="UTC"),
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["audit", "events"],
):
    tell_what_happened()
