"""The Audits page in a real Airflow: who asks, what is listed, and what it links to."""

from __future__ import annotations

import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from audit_lib.documents.evidence import StartedAttempt, started_bytes
from audit_lib.store import open_store
from tests.dags.live import Server
from tests.specs import REPOSITORY
from tests.windows.test_run_index import commit, put, week

pytestmark = pytest.mark.slow  # a whole Airflow

ORDERS = ("", "by-name", "by-validity", "by-next", "attention")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three audits, two of which have a DAG."""
    folder = tmp_path_factory.mktemp("audits")
    store = open_store(str(folder / "store"))
    for audit in ("hiring", "lending", "secret"):
        for number in range(3):
            put(store, audit, week(number), "failed" if number == 1 else "complete")
    reported = f"lending/{week(5).label}/{'0' * 16}/report"
    commit(store, reported, report__html=b"<p>The report</p>")
    (folder / "specs").mkdir()
    demo = (REPOSITORY / "include/audits/resume_screening_demo.yaml").read_text(encoding="utf-8")
    for audit in ("hiring", "lending"):
        text = demo.replace("audit: resume_screening_demo", f"audit: {audit}").replace(
            "../", f"{REPOSITORY}/include/"
        )
        (folder / f"specs/{audit}.yaml").write_text(text, encoding="utf-8")
    store.put(
        f"hiring/{week(0).label}/{'0' * 16}/attempts/1/_STARTED",
        started_bytes(
            StartedAttempt(
                by="airflow hiring scheduled__2026-03-09", started_at="2026-03-09T00:00:00.000+00:00"
            )
        ),
    )
    return folder


@pytest.fixture(scope="module")
def server(place: Path, airflow_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("airflow")
    shutil.copy(airflow_database, home)
    started = Server(
        home,
        AUDIT_SPECS=str(place / "specs"),
        AUDIT_STORE=str(place / "store"),
        AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION="True",
    )
    try:
        started.log_in()
        started.wait("the DAGs", lambda: started.call("GET", "/api/v2/dags/hiring"))
        yield started
    finally:
        started.stop()


def got(server: Server, path: str, *, anonymous: bool = False) -> tuple[int, str, dict[str, str]]:
    headers = {} if anonymous else {"Authorization": f"Bearer {server.token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}{path}", headers=headers)) as answer:
            return answer.status, answer.read().decode(), _lower(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), _lower(error.headers)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def test_an_anonymous_request_gets_401(server: Server) -> None:
    run = f"hiring/{week(0).label}/{'0' * 16}"
    for path in ("/audits/", "/audits/hiring", "/audits/secret", f"/audits/{run}/report"):
        status, said, _ = got(server, path, anonymous=True)
        assert status == 401 and "Screening" not in said and "hiring" not in said


def test_only_audits_whose_dag_the_user_may_read_are_there(server: Server) -> None:
    status, page, headers = got(server, "/audits/")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]  # no script, whatever a report says
    assert headers["cache-control"] == "no-store"
    assert "/audits/hiring" in page and "/audits/lending" in page and "secret" not in page
    assert got(server, "/audits/secret")[0] == 404
    assert got(server, f"/audits/secret/{week(0).label}/{'0' * 16}/report")[0] == 404
    for order in ORDERS:
        assert got(server, f"/audits/?order={order}")[0] == 200
    found = got(server, "/audits/?q=LEND")[1]
    assert "/audits/lending" in found and "/audits/hiring" not in found


def test_an_audits_page_leads_to_its_dag_runs(server: Server) -> None:
    status, page, _ = got(server, "/audits/hiring")
    assert status == 200
    assert 'href="/dags/hiring/runs"' in page
    assert 'href="/dags/hiring/runs/scheduled__2026-03-09"' in page
    assert "failed" in page and "not followed" in page
    path = f"/audits/lending/{week(5).label}/{'0' * 16}/report"
    status, page, _ = got(server, path)
    assert (status, page) == (200, "<p>The report</p>")
    assert got(server, path, anonymous=True)[0] == 401
    for wrong in (
        "/audits/hiring/x/y/report",
        f"/audits/hiring/{week(0).label}/../report",
        "/audits/..%2Fhiring",
    ):
        assert got(server, wrong)[0] in (404, 422)


def test_the_page_is_in_the_navigation_and_on_the_dag(server: Server) -> None:
    (plugin,) = [one for one in server.call("GET", "/api/v2/plugins")["plugins"] if one["name"] == "audits"]
    assert {(one["href"], one["destination"]) for one in plugin["external_views"]} == {
        ("/audits/", "nav"), ("/audits/{DAG_ID}", "dag"),
    }  # fmt: skip
    assert server.call("GET", "/api/v2/plugins/importErrors")["import_errors"] == []
