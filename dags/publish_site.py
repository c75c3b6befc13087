"""Writes the public site of the store again whenever an audit was sealed or signed.

The same store gives the same pages: running it again, or twice at once, changes nothing.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, AssetAny, task
from airflow.sdk.exceptions import AirflowFailException
from audit_tasks import (
    archived_assets,
    compared_assets,
    in_task,
    refuse_unknown_conf,
    signed_asset,
    small,
    store_root,
    tell,
)
from notify import failed_task


@task(retries=2, retry_delay=timedelta(seconds=30), on_failure_callback=failed_task)
def publish() -> dict[str, int]:
    """Write what changed; fail, after writing, if a run's evidence does not hold or a page has no run any more."""
    from audit_lib.site import publish as publish_site

    with in_task():
        refuse_unknown_conf()
        done = publish_site(
            store_root(),
            base=os.environ.get("AUDIT_SITE_URL", ""),
            airflow=os.environ.get("AUDIT_AIRFLOW_URL", ""),
            notify=tell,
        )
        if done.left_out:
            raise AirflowFailException("published without: " + "; ".join(done.left_out))
        if done.stale:
            raise AirflowFailException("no run in the store backs: " + "; ".join(done.stale))
        return small({"files": done.files, "written": done.written})


with DAG(
    "publish_site",
    description="Index, reports, trends and feeds in object storage",
    doc_md=__doc__,
    schedule=AssetAny(signed_asset(), *archived_assets(), *compared_assets()),
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["audit", "site"],
):
    publish()
