"""People are told by mail, Slack and webhook: through Airflow's own notifiers, to real servers."""

from __future__ import annotations

import email
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from audit_lib.monitor import set_baseline
from audit_lib.store import open_store
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run
from tests.dags.conftest import DAGS, airflow_environment
from tests.specs import REPOSITORY

PRELUDE = f"import sys\nsys.path.insert(0, {str(DAGS)!r})\nfrom types import SimpleNamespace as Of\n"


class Mailbox:
    """Keeps what an SMTP server is given."""

    def __init__(self) -> None:
        self.letters: list[email.message.EmailMessage] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        letter = email.message_from_bytes(envelope.content, policy=policy.default)
        letter["X-To"] = ",".join(envelope.rcpt_tos)
        self.letters.append(letter)
        return "250 kept"


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, int]]:
    box = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()


@contextmanager
def web(
    status: int = 200, requests: list[tuple[dict[str, str], bytes]] | None = None
) -> Iterator[tuple[list[tuple[str, Any]], str]]:
    """A web server that keeps the path and JSON of each request, and in `requests` its headers and bytes."""
    kept: list[tuple[str, Any]] = []
    requests = [] if requests is None else requests

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.append((self.path, json.loads(body)))
            requests.append((dict(self.headers), body))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *about: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keep)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield kept, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def connections(port: int, url: str) -> dict[str, str]:
    """Settings that tell by mail, Slack and webhook."""
    mail = {"disable_ssl": True, "disable_tls": True, "from_email": "audits@example.org"}
    return {
        "AUDIT_NOTIFY": "smtp:mail, slack:hr,http:hook",
        "AUDIT_NOTIFY_TO": "a@example.org, b@example.org",
        "AIRFLOW_CONN_MAIL": json.dumps(
            {"conn_type": "smtp", "host": "127.0.0.1", "port": port, "extra": mail}
        ),
        "AIRFLOW_CONN_HR": json.dumps({"conn_type": "slackwebhook", "password": f"{url}/services/slack"}),
        "AIRFLOW_CONN_HOOK": json.dumps({"conn_type": "http", "host": f"{url}/hook"}),
    }


def done(code: str, home: Path, **variables: str) -> str:
    """Run code beside the DAG files; return what it printed."""
    ended = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        env=airflow_environment(home / "airflow", **variables),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_one_message_over_each_channel(mailbox: tuple[Mailbox, int], tmp_path: Path) -> None:
    box, port = mailbox
    code = """
from notify import Message, send
send(Message("windows were missed", "my_audit", "3 windows <of it>"), {})
"""
    with web() as (kept, url):
        said = done(code, tmp_path, **connections(port, url))
    assert [line for line in said.splitlines() if line.startswith("told by")] == [
        "told by smtp:mail: windows were missed",
        "told by slack:hr: windows were missed",
        "told by http:hook: windows were missed",
    ]
    (letter,) = box.letters
    assert letter["Subject"] == "[audit] my_audit: windows were missed"
    assert letter["X-To"] == "a@example.org,b@example.org" and letter["From"] == "audits@example.org"
    assert "<p>3 windows &lt;of it&gt;</p>" in letter.get_body(("html",)).get_content()
    assert dict(kept) == {
        "/services/slack": {"text": "my_audit: windows were missed. 3 windows <of it>"},
        "/hook": {"event": "windows were missed", "audit": "my_audit", "text": "3 windows <of it>"},
    }


def test_what_cannot_be_sent_is_told_and_fails_nothing(tmp_path: Path) -> None:
    code = """
from notify import Message, send
send(Message("a run failed", "my_audit", "x"), {})
"""
    with web(500) as (kept, url):
        settings = connections(1, url) | {"AUDIT_NOTIFY": "smtp:mail,http:hook,http:none,pigeon:x,smtp"}
        settings["AUDIT_NOTIFY_TO"] = ""
        said = done(code, tmp_path, **settings)
    warnings = [line for line in said.splitlines() if line.startswith("WARNING")]
    assert len(kept) == 1 and len(warnings) == 5
    assert warnings[0].endswith("AUDIT_NOTIFY_TO names no address")
    assert "AUDIT_NOTIFY http:none: not sent" in warnings[2]
    assert "with a kind of smtp, slack, http" in warnings[3]


def test_a_failed_run_and_a_failed_task(tmp_path: Path) -> None:
    code = """
from audit_lib.errors import InputError
from notify import failed_run, failed_task
failed_run({"dag_run": Of(run_id="scheduled__1", dag_id="my_audit")})
task = Of(task_id="verify", dag_id="verify_evidence")
failed_task({"ti": task, "exception": InputError("archived evidence does not verify: a/b")})
failed_task({"ti": task, "exception": ValueError("Rashida Jones")})
"""
    with web() as (kept, url):
        done(code, tmp_path, **connections(1, url) | {"AUDIT_NOTIFY": "http:hook"})
    events = [body for _, body in kept]
    assert [one["event"] for one in events] == ["a run failed", "verify failed", "verify failed"]
    assert events[0]["audit"] == "my_audit" and "scheduled__1" in events[0]["text"]
    assert events[1]["text"] == "archived evidence does not verify: a/b"
    assert events[2]["text"] == "ValueError; see its log", (
        "the words of a stranger's error may be an applicant's"
    )


def test_a_deadline_tells_the_log_alone(tmp_path: Path) -> None:
    code = "from notify import deadline_callbacks\nprint([one.path for one in deadline_callbacks()])"
    with web() as (kept, url):
        settings = connections(1, url) | {"AUDIT_NOTIFY": "slack:hr,http:hook"}
        assert done(code, tmp_path, **settings) == "['audit_lib.deadline.missed']\n"
    assert kept == []  # people are told of the window that is late, as an event


@pytest.mark.slow  # three whole audits
def test_the_monitor_tells_what_changed_and_nothing_else(
    mailbox: tuple[Mailbox, int], tmp_path: Path
) -> None:
    box, port = mailbox
    for week, shift in ((5, 0.0), (12, 0.9), (19, 0.9)):
        (inputs := tmp_path / f"inputs {week}").mkdir()
        window = Window.parse(f"2026-01-{week:02d}", f"2026-01-{week + 7:02d}")
        owed = {"cron": "0 0 * * 1", "start": "2100-01-04T00:00:00+00:00"}  # nothing yet
        rows = applicants(240, shift=shift)
        do(new_run(inputs, str(tmp_path / "store"), window, rows=rows, schedule=owed))
    store = open_store(str(tmp_path / "store"))
    said = {"name": "accepted", "decided_by": "Ada Byron", "reason": "the vendor was accepted on it"}
    set_baseline(store, "small", Window.parse("2026-01-05", "2026-01-12"), **said)
    for line in store.list("small/monitor"):
        (tmp_path / "store" / line).unlink()
    runs = sorted(str(path) for path in (tmp_path / "store/small").glob("2026*/*"))
    code = f"""
import drift_monitor
drift_monitor.refuse_unknown_conf = lambda: None  # asks the context of a task
for run in {runs!r}:
    drift_monitor.get_current_context = lambda: {{"params": {{"run": run}}}}
    print(drift_monitor.monitor.function())
    print(drift_monitor.monitor.function())
"""
    with web() as (kept, url):
        settings = {"AUDIT_NOTIFY": "http:hook,smtp:mail", "AUDIT_STORE": str(tmp_path / "store")}
        done(code, tmp_path, **connections(port, url) | settings)
    told = [body for _, body in kept]
    assert {one["kind"] for one in told} == {"alarm"} and len({one["id"] for one in told}) == len(told)
    (body,) = (one for one in told if one["affected"] == "Black, against White" and "changed" in one["moved"])
    assert (body["event"], body["audit"], body["stage"]) == ("alarm", "small", "opened")
    assert body["id"].startswith("small.alarm.")
    assert (
        "Black and White: the difference of their selection rates changed, most likely with 2026-01-12"
        in body["text"]
    )
    # A program is told of each; people have one mail, with all that came of one change.
    (letter,) = box.letters
    assert len(told) > 1 and letter["Subject"] == f"[audit] small: alarm ({len(told)})"
    assert letter.get_body(("html",)).get_content().count("<p>") == len(told)
