"""An Audits page inside Airflow's UI: every audit whose DAG the user may read, with its windows, reports and DAG runs.

Routes of plugins are open to anybody by default, so each of these asks who it is: an anonymous request gets 401. The
app is built when it is first asked: task processes load this file too, and need nothing of it.
"""

import os
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.plugins_manager import AirflowPlugin

HOME = Path(__file__).resolve().parents[2]
PREFIX = "/audits"
FRESH_S = 10
"""How long the states that were read are shown again."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
DESIGN = re.compile(r"[0-9a-f]{16}")
HEADERS = {
    # What a report says was written elsewhere: no script of it may run with the reader's session.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "frame-ancestors 'self'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class LazyApp:
    """An ASGI app that is built at its first request."""

    def __init__(self) -> None:
        self._app: Any = None
        self._lock = threading.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        with self._lock:
            if self._app is None:
                self._app = build_app()
        await self._app(scope, receive, send)


class Reader:
    """Reads the states of all audits, at most once in a few seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: tuple[float, Any] | None = None

    def store(self) -> Any:
        """Open the store of the audits (``AUDIT_STORE``)."""
        from audit_lib.store import open_store

        if connection_id := os.environ.get("AUDIT_STORE_CONN_ID"):
            from airflow.models.connection import Connection

            from audit_lib.store.s3_environment import s3_environment

            found = Connection.get_connection_from_secrets(connection_id)
            os.environ.update(s3_environment(found.login, found.password, found.extra_dejson))
        return open_store(os.environ.get("AUDIT_STORE") or str(HOME / ".audit" / "store"))

    def states(self) -> Any:
        """Return the states of all audits."""
        from audit_lib.windows import read_states

        with self._lock:
            if self._read is None or time.monotonic() - self._read[0] > FRESH_S:
                self._read = time.monotonic(), read_states(self.store(), datetime.now(UTC))
            return self._read[1]


def build_app() -> Any:
    """Return the app; its imports are those of the API server."""
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
    from airflow.api_fastapi.core_api.security import GetUserDep
    from fastapi import FastAPI, HTTPException, Request
    from fastapi.responses import HTMLResponse

    from audit_lib.errors import AuditError
    from audit_lib.report.blocks import Search
    from audit_lib.report.html import render_html
    from audit_lib.run import StageFolder
    from audit_lib.site.audit_state_page import AuditPlaces, audit_state_page
    from audit_lib.site.audits_pages import ORDERS, Addresses, audits_page
    from audit_lib.site.monitor_page import read_sequences
    from audit_lib.window import Window
    from audit_lib.windows import owed_of, read_index, read_state

    reader = Reader()
    app = FastAPI(title="Audits", docs_url=None, redoc_url=None, openapi_url=None)

    def roots(request: Request) -> tuple[str, str]:
        """Return the address of this app, and that of Airflow."""
        own = request.scope.get("root_path", PREFIX).rstrip("/")
        return own, own.removesuffix(PREFIX)

    def may_read(user: Any, audit: str) -> None:
        """Refuse an audit whose DAG runs the user may not read; whether it is there is not told."""
        allowed = NAME.fullmatch(audit) and get_auth_manager().is_authorized_dag(
            method="GET", access_entity=DagAccessEntity.RUN, details=DagDetails(id=audit), user=user
        )
        if not allowed or audit not in get_auth_manager().get_authorized_dag_ids(user=user, method="GET"):
            raise HTTPException(404, "no such audit, or you may not read its DAG")

    @app.get("/", response_class=HTMLResponse)
    def every_audit(
        request: Request, user: GetUserDep, order: str = "", page: int = 1, q: str = ""
    ) -> HTMLResponse:
        """List the audits whose DAG the user may read."""
        own, _ = roots(request)
        readable = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")
        found = reader.states()
        wanted = q.strip().casefold()
        states = [
            one
            for one in found.states
            if one.audit in readable and (wanted in one.audit or wanted in one.title.casefold())
        ]
        not_read = [line for line in found.not_read if line.split(":")[0] in readable]
        order = order if order in ORDERS else ""
        query = f"&q={_quoted(q)}" if wanted else ""
        addresses = Addresses(
            page=lambda name, number: f"{own}/?order={name}&page={number}{query}",
            audit=lambda audit: f"{own}/{audit}",
            search=Search("Name of an audit", "Look for it", "q", q, (("order", order),)),
        )
        made, _ = audits_page(states, order, page, addresses, not_read)
        return HTMLResponse(render_html(made), headers=HEADERS)

    @app.get("/{audit}", response_class=HTMLResponse)
    def one_audit(request: Request, audit: str, user: GetUserDep) -> HTMLResponse:
        """Show an audit over its windows."""
        may_read(user, audit)
        own, airflow = roots(request)
        store, now = reader.store(), datetime.now(UTC)
        try:
            index = read_index(store, audit)
            owed, _ = owed_of(index, now)
            state = read_state(store, audit, now)
        except AuditError as error:
            raise HTTPException(404, f"{audit}: nothing of it can be read: {type(error).__name__}") from None
        places = AuditPlaces(
            report=lambda run: f"{own}/{run}/report",
            all_audits=f"{own}/",
            dag_runs=f"{airflow}/dags/{audit}/runs",
            dag_run=_dag_runs(store, audit, airflow),
        )
        made = audit_state_page(state, owed, read_sequences(store, audit), places)
        return HTMLResponse(render_html(made), headers=HEADERS)

    @app.get("/{audit}/{window}/{design}/report", response_class=HTMLResponse)
    def report(audit: str, window: str, design: str, user: GetUserDep) -> HTMLResponse:
        """Show a report as it was sealed, last signed or rejected; its digest is checked, its signature is not."""
        may_read(user, audit)
        try:
            label = Window.from_label(window).label
        except ValueError:
            raise HTTPException(404, "no such window") from None
        if not DESIGN.fullmatch(design):
            raise HTTPException(404, "no such run")
        store, prefix = reader.store(), f"{audit}/{label}/{design}"
        numbers = [int(name) for name in store.folders(f"{prefix}/signoff") if name.isdecimal()]
        stage = f"signoff/{max(numbers)}" if numbers else "report"
        try:
            if StageFolder(store, f"{prefix}/rejection").is_complete():
                content = rejected_page(store.uri(prefix))
            else:
                content = StageFolder(store, f"{prefix}/{stage}").read("report.html")
        except AuditError as error:
            raise HTTPException(404, f"no report that can be read: {type(error).__name__}") from None
        return HTMLResponse(content, headers=HEADERS)

    return app


def rejected_page(run: str) -> bytes:
    """Return the report of a run with what its auditor said who rejected it."""
    from audit_lib.report.html import render_html
    from audit_lib.report.page import make_page
    from audit_lib.run import Run
    from audit_lib.signoff import content_now

    return render_html(make_page(content_now(Run.load(run))))


def _dag_runs(store: Any, audit: str, airflow: str) -> dict[str, str]:
    """Return the address of the DAG run that made each run, as its last attempt says it."""
    from audit_lib.archive.attempts import attempts_of
    from audit_lib.errors import EvidenceError

    try:
        attempts = attempts_of(store, audit)
    except EvidenceError:
        return {}  # `audit verify` says what is wrong with them
    found = {}
    for run, made in attempts.items():
        words = made[-1].by.split(" ", 2) if made else []
        if len(words) == 3 and words[0] == "airflow":
            found[run] = f"{airflow}/dags/{_quoted(words[1])}/runs/{_quoted(words[2])}"
    return found


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


class AuditsPage(AirflowPlugin):
    """The page in the navigation, and on the page of each DAG."""

    name = "audits"
    fastapi_apps = [{"app": LazyApp(), "url_prefix": PREFIX, "name": "audits"}]  # noqa: RUF012 - Airflow's own form
    external_views = [  # noqa: RUF012
        {
            "name": "Audits",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "url_route": "audits",
            "nav_top_level": True,
        },
        {"name": "Audit", "href": f"{PREFIX}/{{DAG_ID}}", "destination": "dag", "url_route": "audit"},
    ]
