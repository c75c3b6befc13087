"""Compares each newly archived run with the window before it and with the baseline, and tells what changed.

A window that was audited later takes its place: the comparisons of the windows after it are renewed.

Started by the assets that the audits update when they archive, or by hand with a run's URI.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, AssetAny, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException
from audit_tasks import archived_assets, event_extras, in_task, refuse_unknown_conf, small, tell
from notify import Message, failed_task, send, tell_events


@task(retries=2, retry_delay=timedelta(seconds=30), on_failure_callback=failed_task)
def monitor() -> dict[str, int]:
    """Compare every run that was archived since the last time, renew what it changes, and tell of new alarms."""
    from audit_lib.monitor import alerts_of, compare_windows, summary_line

    with in_task():
        refuse_unknown_conf()
        context = get_current_context()
        by_hand = context["params"].get("run")
        runs = sorted({by_hand} if by_hand else {event["run"] for event in event_extras(context)})
        if not runs:
            raise AirflowFailException("no run: start this DAG with the URI of an archived run in `run`")
        recorded = [compare_windows(uri, tell) for uri in runs]
        written = [document for one in recorded for document in one.documents]
        for document in written:
            if alerts_of(document):
                send(Message("something changed", document.audit, summary_line(document)), context)
        tell_events(sorted({uri.rstrip("/").rsplit("/", 3)[1] for uri in runs}), context)
        if failed := [why for one in recorded for why in one.not_compared]:
            raise AirflowFailException("; ".join(failed))
        alarms = sum(len(one.new_alarms) for one in recorded)
        return small({"runs": len(runs), "written": len(written), "alarms": alarms})


_assets = archived_assets()

with DAG(
    "drift_monitor",
    description="Compares each archived run with the one before it and with the baseline",
    doc_md=__doc__,
    schedule=AssetAny(*_assets) if _assets else None,
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    params={
        "run": Param(
            None,
            type=["null", "string"],
            title="Run",
            description="URI of an archived run; empty: the new ones.",
        )
    },
    tags=["audit", "monitor"],
):
    monitor()
