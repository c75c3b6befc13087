"""Tells people what they should know: by mail, Slack or a webhook, through Airflow's connections.

``AUDIT_NOTIFY`` names them as ``kind:connection id``, separated by commas, such as ``smtp:mail,slack:hr,http:hook``;
mail goes to the addresses in ``AUDIT_NOTIFY_TO``. One message an event. A message names audits, windows and runs, and
holds no text of an applicant. One that cannot be sent is told in the log, and fails nothing.
"""

from __future__ import annotations

import html
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from airflow.sdk import AsyncCallback
from airflow.sdk.exceptions import AirflowFailException
from audit_tasks import tell

from audit_lib.errors import AuditError


class Message(NamedTuple):
    """What is told: the kind of event, the audit or DAG, and the words."""

    event: str
    audit: str
    text: str


def _smtp(connection: str, message: Message) -> dict[str, Any]:
    to = [one.strip() for one in os.environ.get("AUDIT_NOTIFY_TO", "").split(",") if one.strip()]
    if not to:
        raise ValueError("AUDIT_NOTIFY_TO names no address")
    page = f"<p>{html.escape(message.text)}</p>"
    subject = f"[audit] {message.audit}: {message.event}"
    return {"smtp_conn_id": connection, "to": to, "subject": subject, "html_content": page}


def _slack(connection: str, message: Message) -> dict[str, Any]:
    return {"slack_webhook_conn_id": connection, "text": f"{message.audit}: {message.event}. {message.text}"}


def _http(connection: str, message: Message) -> dict[str, Any]:
    return {"http_conn_id": connection, "json": message._asdict()}


KINDS: Mapping[str, tuple[str, Callable[[str, Message], dict[str, Any]]]] = {
    "smtp": ("airflow.providers.smtp.notifications.smtp.SmtpNotifier", _smtp),
    "slack": ("airflow.providers.slack.notifications.slack_webhook.SlackWebhookNotifier", _slack),
    "http": ("airflow.providers.http.notifications.http.HttpNotifier", _http),
}
"""Kind -> the path of Airflow's notifier, and its options for a connection and a message."""


def channels() -> list[tuple[str, str]]:
    """Return the kind and the connection id of each way to tell people."""
    named = [one.strip() for one in os.environ.get("AUDIT_NOTIFY", "").split(",") if one.strip()]
    return [
        (kind.strip(), connection.strip()) for kind, _, connection in (one.partition(":") for one in named)
    ]


def send(message: Message, context: Any) -> None:
    """Send a message over every channel; tell in the log which of them failed."""
    for kind, connection in channels():
        try:
            if kind not in KINDS or not connection:
                raise ValueError(f"write kind:connection, with a kind of {', '.join(KINDS)}")
            path, options = KINDS[kind]
            module, _, name = path.rpartition(".")
            notifier = getattr(importlib.import_module(module), name)
            notifier(**options(connection, message)).notify(context)
        except Exception as error:  # noqa: BLE001 - a message that is not sent must not fail an audit
            reason = str(error) if isinstance(error, ValueError) else type(error).__name__
            tell(f"WARNING: AUDIT_NOTIFY {kind}:{connection}: not sent ({message.event}): {reason}")
        else:
            tell(f"told by {kind}:{connection}: {message.event}")


def failed_run(context: Any) -> None:
    """Tell that the run of an audit failed: the DAG's callback."""
    run = context["dag_run"]
    text = (
        f"The run {run.run_id} failed. Its evidence in the store, if it came so far, says at which stage and why; so "
        f"does its page in Airflow."
    )
    send(Message("a run failed", run.dag_id, text), context)


def failed_task(context: Any) -> None:
    """Tell that a task failed for good: of the DAGs that verify, compare and publish."""
    task, error = context["ti"], context.get("exception")
    ours = isinstance(error, (AuditError, AirflowFailException))  # others may quote anything
    why = str(error) if ours else f"{type(error).__name__}; see its log"
    send(Message(f"{task.task_id} failed", task.dag_id, why), context)


def deadline_callbacks(audit: str, hours: float) -> Iterator[AsyncCallback]:
    """Yield the callbacks that tell of a run which is not finished in time; the triggerer runs them."""
    text = f"A run has not finished within {hours:g} hours of being queued. See its page in Airflow."
    message = Message("a deadline was missed", audit, text)
    yield AsyncCallback("audit_lib.deadline.missed")
    for kind, connection in channels():
        try:
            path, options = KINDS[kind]
            kwargs = options(connection, message)
        except (KeyError, ValueError):
            continue  # each message that is sent from a task says so
        yield AsyncCallback(path, kwargs=kwargs)
