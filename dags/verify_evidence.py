"""Verifies every archived bundle: nightly what is new or changed, and each in full within `AUDIT_VERIFY_INTERVAL_DAYS`.

Of a bundle that verified before every byte is hashed again; in a bucket its listing is compared with what it was then
(size, ETag, time of the last write). The journal of each audit is checked whole. The runs are spread over mapped tasks
by a digest of their name; what a task begins is bounded by `AUDIT_VERIFY_MINUTES`, and one bundle by
`AUDIT_VERIFY_RUN_MINUTES` and `AUDIT_VERIFY_RUN_GB`. The first bundle of an audit that does not verify is told at once.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, CronTriggerTimetable, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException
from audit_tasks import MAX_MAPPED, in_task, refuse_unknown_conf, small, store_root, tell
from notify import ToldError, failed_task, tell_events

from audit_lib.errors import InputError, UncheckedError

A_TASK = 200
"""Runs that are worth a task of their own, which takes some seconds to start."""
EVERY = os.environ.get("AUDIT_VERIFY_CRON") or "0 3 * * *"


def write_parts() -> list[int]:
    """List the store once, write down what each mapped task has to look at, and return the numbers of the tasks."""
    from audit_lib.documents.verified_runs import ListedPart
    from audit_lib.store.versions import as_first_written
    from audit_lib.verify_all import KeptVerifications, list_store
    from audit_lib.verify_all.kept import NUMBERS, number_of

    listing = list_store(as_first_written(store_root())[0])
    kept = KeptVerifications.of_environment(store_root())
    kept.read()
    if not listing.runs and not kept.runs:
        raise AirflowSkipException(f"{store_root()}: nothing is archived yet")
    count = min(MAX_MAPPED, NUMBERS, 1 + len(listing.runs) // A_TASK)
    kept.write_parts(
        [
            ListedPart(
                numbers=tuple(range(part, NUMBERS, count)),
                runs=tuple(one for one in listing.runs if number_of(one.run) % count == part),
                audits=tuple(one for one in listing.audits if number_of(one.audit) % count == part),
            )
            for part in range(count)
        ]
    )
    return list(range(count))


def verify_part(part: int, *, full: bool = False) -> dict[str, int]:
    """Verify the runs of one part, and tell the first of each audit that does not verify; fail, naming each."""
    from audit_lib.events import broken_runs, note_verification
    from audit_lib.store import open_store
    from audit_lib.verify_all import (
        CostBounds,
        KeptVerifications,
        RunVerification,
        StoreListing,
        VerifyOptions,
        verify_store,
    )
    from audit_lib.verify_all.outcome import BROKEN, UNCHECKED

    root, now = store_root(), datetime.now(UTC)
    store, kept = open_store(root), KeptVerifications.of_environment(root)
    listed = kept.read_part(part)
    kept.read(listed.numbers)
    noted: dict[str, set[str]] = {}
    faulty: dict[str, int] = {}

    def told(found: RunVerification) -> None:
        audit = found.name.split("/")[0]
        if found.verdict in UNCHECKED:
            tell(f"{store.uri(found.name)}: COULD NOT BE CHECKED ({'; '.join(found.findings)})")
        if found.verdict == "verified":
            if audit not in noted:
                noted[audit] = {note.run for note in broken_runs(store, audit)}
            if found.name in noted[audit]:
                note_verification(store, found.name, [], now)
        if found.verdict in BROKEN:
            tell("\n".join(found.lines()))
            note_verification(store, found.name, found.places, now)
            faulty[audit] = faulty.get(audit, 0) + 1
            if faulty[audit] == 1:
                tell_events([audit], {})

    result = verify_store(
        root,
        StoreListing(listed.runs, listed.audits),
        kept,
        VerifyOptions(interval=timedelta(days=_number("AUDIT_VERIFY_INTERVAL_DAYS", 30)), full=full),
        bounds=CostBounds(
            run_seconds=60.0 * _number("AUDIT_VERIFY_RUN_MINUTES", 15),
            run_bytes=_number("AUDIT_VERIFY_RUN_GB", 4) << 30,
            seconds=60.0 * _number("AUDIT_VERIFY_MINUTES", 120),
        ),
        now=now,
        told=told,
        notify=tell,
    )
    tell(result.summary())
    broken, unchecked = result.of(BROKEN), [*result.of(UNCHECKED), *result.overdue]
    said = []
    if broken:
        said.append("archived evidence does not verify: " + ", ".join(store.uri(one.name) for one in broken))
    if unchecked:
        said.append("could not be checked: " + ", ".join(store.uri(one.name) for one in unchecked))
    if broken:
        tell_events(sorted(faulty), {})
        raise ToldError("; ".join(said))
    if unchecked:
        raise UncheckedError("; ".join(said))
    return result.counts()


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{variable}: {text!a} is not a positive whole number")
    return int(text)


@task
def parts() -> list[int]:
    """List the runs of the store, for as many mapped tasks as they are worth."""
    with in_task():
        refuse_unknown_conf()
        return small(write_parts())


@task(map_index_template="part {{ task.op_kwargs['part'] }}")
def verify(part: int) -> dict[str, Any]:
    """Verify the runs of one part; fail, naming each, if one does not verify or could not be checked."""
    with in_task():
        return small(verify_part(part, full=get_current_context()["params"]["full"]))


with DAG(
    "verify_evidence",
    description="Verifies every archived bundle again",
    doc_md=__doc__,
    schedule=CronTriggerTimetable(EVERY, timezone="UTC"),
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=30),
        "on_failure_callback": failed_task,
    },
    params={
        "full": Param(
            default=False,
            type="boolean",
            title="All in full",
            description="Compute every published number of every bundle again now, also where no byte changed",
        )
    },
    tags=["audit", "evidence"],
):
    verify.expand(part=parts())
