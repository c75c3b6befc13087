"""Tells people what they should know: by mail, Slack or a webhook, through Airflow's connections.

``AUDIT_NOTIFY`` names them as ``kind:connection id``, separated by commas, such as ``smtp:mail,slack:hr,http:hook``;
with ``kind:connection id:severity`` only what is at least as severe. ``AUDIT_NOTIFY_ESCALATION`` names those who are
told of what nobody acknowledged. Mail goes to the addresses in ``AUDIT_NOTIFY_TO`` or ``AUDIT_NOTIFY_ESCALATION_TO``.
A message names audits, windows and runs, and holds no text of an applicant. One that cannot be sent is told in the
log, and fails nothing; one of an event stays due.
"""

from __future__ import annotations

import html
import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from airflow.sdk import AsyncCallback, Connection
from airflow.sdk.exceptions import AirflowFailException
from audit_tasks import credentials, store_root, tell
from gauges import send_gauges

from audit_lib.errors import AuditError


class Message(NamedTuple):
    """What is told: the kind of event, the audit or DAG, the words, and what a program is told besides."""

    event: str
    audit: str
    text: str
    to: str = "AUDIT_NOTIFY_TO"
    more: Mapping[str, Any] = {}


class Channel(NamedTuple):
    """A way to tell people: the kind of notifier, its connection, and the least severity that it is told of."""

    kind: str
    connection: str
    least: str = "info"

    @property
    def name(self) -> str:
        """What the logs call it."""
        return f"{self.kind}:{self.connection}"


class ToldError(AirflowFailException):
    """Fails a task for something that people are told of as an event: the failure is no second message."""


def _smtp(connection: str, message: Message) -> dict[str, Any]:
    to = [one.strip() for one in os.environ.get(message.to, "").split(",") if one.strip()]
    if not to:
        raise ValueError(f"{message.to} names no address")
    page = "".join(f"<p>{html.escape(part)}</p>" for part in message.text.split("\n\n"))
    subject = f"[audit] {message.audit}: {message.event}"
    return {"smtp_conn_id": connection, "to": to, "subject": subject, "html_content": page}


def _slack(connection: str, message: Message) -> dict[str, Any]:
    return {"slack_webhook_conn_id": connection, "text": f"{message.audit}: {message.event}. {message.text}"}


def _http(connection: str, message: Message) -> dict[str, Any]:
    """Sign the body with the password of a connection without a login; with one the two are Basic credentials."""
    from audit_lib.events import signed

    found = Connection.get(connection)
    content = {**message.more, "event": message.event, "audit": message.audit, "text": message.text}
    sent, headers = signed(content, "" if found.login else found.password or "", datetime.now(UTC))
    return {"http_conn_id": connection, "data": sent.decode(), "headers": headers}


KINDS: Mapping[str, tuple[str, Callable[[str, Message], dict[str, Any]]]] = {
    "smtp": ("airflow.providers.smtp.notifications.smtp.SmtpNotifier", _smtp),
    "slack": ("airflow.providers.slack.notifications.slack_webhook.SlackWebhookNotifier", _slack),
    "http": ("airflow.providers.http.notifications.http.HttpNotifier", _http),
}
"""Kind -> the path of Airflow's notifier, and its options for a connection and a message."""


FOR_PEOPLE = ("smtp", "slack")


def channels(variable: str = "AUDIT_NOTIFY") -> list[Channel]:
    """Return each way to tell people that a variable names."""
    named = [one.strip() for one in os.environ.get(variable, "").split(",") if one.strip()]
    parts = [[part.strip() for part in one.split(":")] for one in named]
    return [Channel(kind, rest[0] if rest else "", *rest[1:2]) for kind, *rest in parts]


def send_over(channel: Channel, message: Message, context: Any) -> None:
    """Send a message over one channel, or raise."""
    if channel.kind not in KINDS or not channel.connection:
        raise ValueError(f"write kind:connection, with a kind of {', '.join(KINDS)}")
    path, options = KINDS[channel.kind]
    module, _, name = path.rpartition(".")
    notifier = getattr(importlib.import_module(module), name)
    notifier(**options(channel.connection, message)).notify(context)
    tell(f"told by {channel.name}: {message.event}")


def send(message: Message, context: Any) -> None:
    """Send a message over every channel; tell in the log which of them failed."""
    for channel in channels():
        try:
            send_over(channel, message, context)
        except Exception as error:  # noqa: BLE001 - a message that is not sent must not fail an audit
            reason = str(error) if isinstance(error, ValueError) else type(error).__name__
            tell(f"WARNING: AUDIT_NOTIFY {channel.name}: not sent ({message.event}): {reason}")


def tell_events(audits: Mapping[str, Any] | Iterable[str], context: Any) -> dict[str, int]:
    """Tell what happened to audits and was not told yet; return how many events are open and messages not sent.

    `audits` are their names, or name -> spec as it is now.
    """
    from audit_lib.errors import StoreUnreachableError
    from audit_lib.events import look, policy_from_environment, read_facts
    from audit_lib.store import open_store

    specs = audits if isinstance(audits, Mapping) else dict.fromkeys(audits)
    store, policy, now = open_store(store_root()), policy_from_environment(), datetime.now(UTC)
    counts = {"open": 0, "not_sent": 0, "unclear": 0}
    for audit, spec in specs.items():
        try:
            facts = read_facts(store, audit, now, policy, spec)
            due = look(facts, [one.name for one in channels()])
        except StoreUnreachableError:
            raise
        except AuditError as error:  # what cannot be read of one audit must not hide the others
            tell(f"WARNING: the events of {audit} cannot be read: {error}")
            counts["unclear"] += 1
            continue
        send_gauges(facts, due)
        counts["open"] += sum(one.stage == "opened" and one.logged.closed is None for one in due)
        counts["not_sent"] += sum(_told(store, some, now, context) for some in _together(due))
    return counts


def _together(due: Iterable[Any]) -> list[list[Any]]:
    """Return what people are told in one message: one change raises an alarm for each group that it concerns."""
    alarms: dict[tuple[str, str], list[Any]] = {}
    others = []
    for one in due:
        event = one.logged.opened.event
        if event.kind == "alarm":
            alarms.setdefault((one.stage, event.severity), []).append(one)
        else:
            others.append([one])
    return [*alarms.values(), *others]


def _told(store: Any, due: list[Any], now: datetime, context: Any) -> int:
    """Tell events of one stage and severity over its channels; return how many could not be reached.

    People are told of all of them in one message, and programs of each.
    """
    from audit_lib.events import check_severity, reaches, tell_once

    variable = "AUDIT_NOTIFY_ESCALATION" if due[0].stage == "escalated" else "AUDIT_NOTIFY"
    failed = 0
    for channel in channels(variable):
        try:
            least = check_severity(channel.least, variable)
        except AuditError as error:
            tell(f"WARNING: {error}")
            least = "info"
        if not reaches(due[0].logged.opened.event.severity, least):
            continue

        def send_all(some: Sequence[Any], to: Channel = channel) -> None:
            send_over(to, _message(some, f"{variable}_TO"), context)

        for part in [due] if channel.kind in FOR_PEOPLE else [[one] for one in due]:
            why = tell_once(store, part, channel.name, now, send_all)
            if why is not None:
                said = part[0].logged.opened.event.kind
                tell(f"WARNING: {variable} {channel.name}: not sent ({said}), and tried again: {why}")
                failed += len(part)
    return failed


def _message(due: Sequence[Any], to: str) -> Message:
    """Return the message of one event, or of several of a kind."""
    from audit_lib.events import body, head_words, text, title

    first = due[0]
    several = f" ({len(due)})" if len(due) > 1 else ""
    words = "\n\n".join(part for part in (*map(text, due), head_words(first)) if part)
    return Message(f"{title(first)}{several}", first.logged.opened.event.audit, words, to, body(first))


def failed_run(context: Any) -> None:
    """Tell that the run of an audit failed: the DAG's callback. What the store shows of it is told as an event."""
    run = context["dag_run"]
    try:
        with credentials():
            tell_events([run.dag_id], context)
            if shows_failure(run):
                return
    except Exception as error:  # noqa: BLE001 - then the failure itself is told
        tell(f"WARNING: no events could be told ({type(error).__name__})")
    text = (
        f"The run {run.run_id} failed. Its evidence in the store, if it came so far, says at which stage and why; so "
        f"does its page in Airflow."
    )
    send(Message("a run failed", run.dag_id, text), context)


def shows_failure(run: Any) -> bool:
    """Whether the log of events in the store says that the window of a DAG run failed."""
    from audit_lib.events import read_log
    from audit_lib.store import open_store
    from audit_lib.window import Window

    conf = getattr(run, "conf", None) or {}
    ends = [
        conf.get(name) or getattr(run, f"data_interval_{name[7:]}", None)
        for name in ("window_start", "window_end")
    ]
    if None in ends:
        return False
    label = Window.parse(*(one if isinstance(one, str) else one.isoformat() for one in ends)).label
    return any(
        one.closed is None
        and one.opened.event.kind in ("failed", "budget_reached")
        and label in one.opened.event.windows
        for one in read_log(open_store(store_root()), run.dag_id)
    )


def failed_task(context: Any) -> None:
    """Tell that a task failed for good: of the DAGs that verify, compare and publish."""
    task, error = context["ti"], context.get("exception")
    if isinstance(error, ToldError):
        return
    ours = isinstance(error, (AuditError, AirflowFailException))  # others may quote anything
    why = str(error) if ours else f"{type(error).__name__}; see its log"
    send(Message(f"{task.task_id} failed", task.dag_id, why), context)


def deadline_callbacks() -> list[AsyncCallback]:
    """Return the callback of a run that is not finished in time, which the triggerer runs: a line in its log.

    People are told of the window that is late, by the DAG that looks for events.
    """
    return [AsyncCallback("audit_lib.deadline.missed")]
