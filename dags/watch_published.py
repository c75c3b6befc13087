"""Looks at other people's published summaries each week, and tells what became of them since the last time.

``AUDIT_PUBLISHED`` names the operator's lists (CSV or YAML) or folders of saved pages, separated by commas: each is a
corpus of its own, and one mapped task. A page that was taken down, numbers that changed while the audit's day did not,
a day that moved alone and an audit that is over a year old now are told once, over the channels of ``AUDIT_NOTIFY``.
What was seen, with its digests and a page to look at, is in the store under ``_published/``.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, CronTriggerTimetable, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException
from audit_tasks import in_task, refuse_unknown_conf, small, store_root, tell
from notify import Message, failed_task, send

from audit_lib.errors import InputError, UncheckedError

EVERY = os.environ.get("AUDIT_PUBLISHED_CRON") or "0 5 * * 1"


def sources() -> list[str]:
    """Return the lists and folders that are watched (``AUDIT_PUBLISHED``).

    Raises
    ------
    InputError
        If two of them would be one corpus.
    """
    from audit_lib.corpus.kept_sweeps import corpus_name

    named = [one.strip() for one in os.environ.get("AUDIT_PUBLISHED", "").split(",") if one.strip()]
    names = [corpus_name(one) for one in named]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"AUDIT_PUBLISHED: two lists are called {twice[0]!r}; rename one")
    return named


def watch_source(source: str, context: Any) -> dict[str, int]:
    """Look at all pages of a list or folder, and tell what is new; fail if no page at all could be had."""
    from audit_lib.corpus.kept_sweeps import KeptSweeps, corpus_name
    from audit_lib.corpus.listed_pages import read_corpus
    from audit_lib.corpus.polite_fetch import FetchManners
    from audit_lib.corpus.sweep import SweepOptions, sweep_pages
    from audit_lib.corpus.sweep_files import sweep_files
    from audit_lib.corpus.text_summary import news, summary_text

    now = datetime.now(UTC).replace(microsecond=0)
    hosts = os.environ.get("AUDIT_PUBLISHED_PRIVATE_HOSTS", "").lower().replace(",", " ").split()
    options = SweepOptions(
        policy=os.environ.get("AUDIT_PUBLISHED_POLICY") or "nyc_ll144",
        as_of=now.date(),
        manners=FetchManners(
            contact=os.environ.get("AUDIT_PUBLISHED_CONTACT", ""), private_hosts=frozenset(hosts)
        ),
    )
    kept = KeptSweeps(store_root(), corpus_name(source), tell)
    swept = sweep_pages(read_corpus(source), kept, options, now, tell)
    text = summary_text(swept.sweep)
    found = news(swept.sweep)
    if found:
        send(Message(f"{len(found)} changes of published summaries", kept.name, text), context)
    kept.write_files(swept.folder, sweep_files(swept, kept.root))
    tell(text)
    tell(kept.store.uri(f"{swept.folder}/index.html"))
    pages = swept.sweep.pages
    if all(one.state in ("not reached", "not read") for one in pages):
        raise UncheckedError(f"{Path(source).name}: none of {len(pages)} pages could be had")
    return {
        "pages": len(pages),
        "news": len(found),
        "not_seen": sum(one.state in ("not reached", "not read") for one in pages),
    }


@task
def lists() -> list[str]:
    """Name the lists, for a mapped task each."""
    with in_task():
        refuse_unknown_conf()
        found = sources()
        if not found:
            raise AirflowSkipException("AUDIT_PUBLISHED names no list: nothing is watched")
        return small(found)


@task(map_index_template="{{ task.op_kwargs['source'] }}")
def watch(source: str) -> dict[str, Any]:
    """Look at the pages of one list."""
    with in_task():
        return small(watch_source(source, get_current_context()))


with DAG(
    "watch_published",
    description="Looks at other people's published summaries, and tells what changed",
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
    tags=["audit", "published"],
):
    watch.expand(source=lists())
