"""Extends the locks of all evidence weekly, as the specs and policies ask now; it shortens and deletes nothing.

In a bucket with S3 Object Lock each file is locked when it is written. Where a period of law has become longer since,
or a file has no lock, this sets the longer one. A store that is a folder locks nothing, and the task is skipped.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronTriggerTimetable, task
from airflow.sdk.exceptions import AirflowSkipException
from audit_tasks import in_task, refuse_unknown_conf, small, store_root, tell
from notify import failed_task


@task
def extend() -> dict[str, int]:
    """Extend the locks of every run; fail, naming each, if one could not be looked at."""
    from audit_lib.archive.retain import extend_all
    from audit_lib.errors import UncheckedError

    with in_task():
        refuse_unknown_conf()
        if not store_root().startswith("s3://"):
            raise AirflowSkipException(f"{store_root()}: a folder locks nothing")
        found = extend_all(store_root(), tell)
        if found.faults:
            raise UncheckedError(f"locks could not be extended: {'; '.join(found.faults)}")
        return small(
            {
                "runs": found.runs,
                "files": found.files,
                "extended": found.extended,
                "unlocked": found.unlocked,
            }
        )


with DAG(
    "extend_retention",
    description="Extends the locks of all evidence, as specs and policies ask now",
    doc_md=__doc__,
    schedule=CronTriggerTimetable("0 2 * * 0", timezone="UTC"),
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=30),
        "on_failure_callback": failed_task,
    },
    tags=["audit", "evidence"],
):
    extend()
