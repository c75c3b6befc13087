"""Verifies every archived bundle again, weekly: all digests, all published numbers, and all sign-offs.

The runs are spread over at most 64 mapped tasks by a digest of their name, so that a run archived
meanwhile moves no other run to another task.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronTriggerTimetable, task
from airflow.sdk.exceptions import AirflowSkipException
from audit_tasks import MAX_MAPPED, in_task, refuse_unknown_conf, small, store_root, tell
from notify import ToldError, failed_task, tell_events

from audit_lib.errors import UncheckedError

MANIFESTS = re.compile(r"(.+)/(?:evidence|attempts/[1-9][0-9]*)/manifest\.json")


def bundles() -> dict[str, int]:
    """Return the runs in the store that were archived or have a failed attempt (URI -> number of its mapped task)."""
    from audit_lib.store import open_store

    store = open_store(store_root())
    runs = sorted({found[1] for key in store.list("") if (found := MANIFESTS.fullmatch(key))})
    return {store.uri(run): int(hashlib.sha256(run.encode()).hexdigest(), 16) % MAX_MAPPED for run in runs}


@task
def parts() -> list[int]:
    """List the mapped tasks that have runs to verify."""
    with in_task():
        refuse_unknown_conf()
        numbers = sorted(set(bundles().values()))
        if not numbers:
            raise AirflowSkipException(f"{store_root()}: nothing is archived yet")
        return small(numbers)


@task(map_index_template="part {{ task.op_kwargs['part'] }}")
def verify(part: int) -> dict[str, int]:
    """Verify the runs of one part; fail, naming each, if one does not verify or could not be checked."""
    from audit_lib.events import note_verification
    from audit_lib.signoff import verify_signed
    from audit_lib.store import open_store

    faults, unchecked = [], []
    with in_task():
        store, now = open_store(store_root()), datetime.now(UTC)
        runs = sorted(uri for uri, number in bundles().items() if number == part)
        for uri in runs:
            try:
                verification = verify_signed(uri)
            except Exception as error:  # noqa: BLE001 - one run that cannot be checked must not hide the others
                tell(f"{uri}: COULD NOT BE CHECKED ({type(error).__name__})")
                unchecked.append(uri)
                continue
            if verification.unchecked:
                tell(f"{uri}: COULD NOT BE CHECKED ({verification.findings[-1]})")
                unchecked.append(uri)
                continue
            tell(f"{uri}: {'verified' if verification.ok else 'DOES NOT VERIFY'}")
            found = [f"{finding.kind}: {finding.path}" for finding in verification.findings]
            note_verification(store, "/".join(uri.rstrip("/").split("/")[-3:]), found, now)
            if not verification.ok:
                faults.append(uri)
        said = []
        if faults:
            said.append("archived evidence does not verify: " + ", ".join(faults))
        if unchecked:
            said.append("could not be checked: " + ", ".join(unchecked))
        if faults:
            tell_events(sorted({uri.rstrip("/").split("/")[-3] for uri in faults}), {})
            raise ToldError("; ".join(said))
        if unchecked:
            raise UncheckedError("; ".join(said))
        return small({"verified": len(runs)})


with DAG(
    "verify_evidence",
    description="Verifies every archived bundle again",
    doc_md=__doc__,
    schedule=CronTriggerTimetable("0 3 * * 0", timezone="UTC"),
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
    verify.expand(part=parts())
