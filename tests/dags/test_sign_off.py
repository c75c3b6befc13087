"""Sign-off under a real Airflow: a person is asked, answers through the API, and the run is signed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest

from audit_lib.run import Run
from audit_lib.signoff import (
    attestations,
    generate_key,
    load_public_key,
    read_rejection,
    read_sign_offs,
    verify_sign_offs,
    verify_signed,
)
from tests.archive.cases import do, new_run
from tests.dags.live import Server

pytestmark = pytest.mark.slow
_READING_S = 5.0
"""Nobody answers sooner; the scheduler takes a task that resumes before it noticed that it waits for one that was
killed."""


@pytest.fixture
def sealed(tmp_path: Path) -> Run:
    return do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Two auditors, each with a login and a key of their own."""
    (tmp_path / "keys").mkdir()
    for name in ("ada", "grace"):
        generate_key(tmp_path / "keys" / f"{name}.key")
    (tmp_path / "specs").mkdir()
    started = Server(
        tmp_path,
        AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS="admin:admin,ada:user,grace:user",
        AUDIT_AUDITORS="ada,grace",
        AUDIT_SPECS=str(tmp_path / "specs"),
        AUDIT_STORE=str(tmp_path / "store"),
        AUDIT_SIGNING_KEY=str(tmp_path / "keys"),
        AUDIT_SITE_URL="https://audits.example.org/",
    )
    try:
        started.log_in()
        started.wait("the DAG", lambda: started.call("GET", "/api/v2/dags/sign_off"))
        yield started
    finally:
        started.stop()


def asked(server: Server, run: Run, run_id: str) -> str:
    """Start a sign-off; return the path of the question once it is put."""
    body = {"dag_run_id": run_id, "logical_date": None, "conf": {"run": run.uri}}
    server.call("POST", "/api/v2/dags/sign_off/dagRuns", body)
    task = f"/api/v2/dags/sign_off/dagRuns/{run_id}/taskInstances/ask"
    server.wait("the question", lambda: server.call("GET", task)["state"] == "awaiting_input")
    time.sleep(_READING_S)
    return f"{task}/-1/hitlDetails"


def ended(server: Server, run_id: str) -> str:
    path = f"/api/v2/dags/sign_off/dagRuns/{run_id}"
    return str(
        server.wait(
            "the end", lambda: (s := server.call("GET", path)["state"]) in ("success", "failed") and s
        )
    )


def test_each_run_asks_what_its_own_policy_asks(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    run = new_run(folder, str(tmp_path / "store"), audit="other", report={"policy": "us_ugesp"})
    question = asked(server, do(run, until="evidence"), "other")
    detail = server.call("GET", question)
    assert list(detail["params"]) == ["auditor", "organisation", "remarks", "reason"]
    assert "UGESP asks for no attestation" in detail["body"] and "no\\_part" not in detail["body"]
    answer = {"auditor": "Ada Auditor", "organisation": "Independent LLP", "remarks": "", "reason": ""}
    server.log_in("ada")
    server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": answer})
    assert ended(server, "other") == "success"
    assert [one.predicate.attestations for one in read_sign_offs(run)] == [()]


def test_an_auditor_answers_and_the_run_is_signed(server: Server, sealed: Run, tmp_path: Path) -> None:
    # Airflow wants every field of the form, as its own page sends them.
    names = dict.fromkeys(attestations(sealed), False)
    said = {"auditor": "Ada Auditor", "organisation": "Independent LLP", "remarks": "", "reason": ""}
    incomplete = {**said, **names}
    incomplete["no_employment"] = True
    complete = incomplete | dict.fromkeys(names, True)

    question = asked(server, sealed, "first")
    detail = server.call("GET", question)
    assert sealed.uri in detail["body"] and "no_part_in_tool" in detail["params"]
    assert f"<https://audits.example.org/{sealed.key.prefix}/report.html>" in detail["body"]
    assert "Key figures" in detail["body"] and "selection rates: **0\\.846**" in detail["body"]
    server.log_in("ada")
    server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": incomplete})
    assert ended(server, "first") == "failed"
    assert read_sign_offs(sealed) == []

    question = asked(server, sealed, "second")
    server.log_in("admin")
    with pytest.raises(HTTPError, match="403"):  # it is no auditor's login
        server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": complete})
    server.log_in("grace")
    server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": complete})
    assert ended(server, "second") == "success"
    (made,) = read_sign_offs(sealed)
    assert made.predicate.signer == "service" and made.predicate.account == "grace"
    assert verify_sign_offs(sealed, [load_public_key(tmp_path / "keys" / "grace.key.pub")]).ok
    assert not verify_sign_offs(sealed, [load_public_key(tmp_path / "keys" / "ada.key.pub")]).ok
    assert "under the account grace" in made.folder.read("report.html").decode()
    published = tmp_path / "store" / "site" / sealed.key.prefix / "report.html"
    server.wait("the site", lambda: published.exists() and "Ada Auditor" in published.read_text("utf-8"))


def test_an_auditor_rejects_and_the_reason_is_archived(server: Server, sealed: Run, tmp_path: Path) -> None:
    names = dict.fromkeys(attestations(sealed), False)
    said = {"auditor": "Ada Auditor", "organisation": "Independent LLP", "remarks": "", "reason": "", **names}
    question = asked(server, sealed, "first")
    server.log_in("ada")
    server.call("PATCH", question, {"chosen_options": ["Reject"], "params_input": said})
    assert ended(server, "first") == "failed"  # without a reason
    assert read_rejection(sealed) is None

    why = "The applications of May are missing."
    question = asked(server, sealed, "second")
    server.call("PATCH", question, {"chosen_options": ["Reject"], "params_input": said | {"reason": why}})
    assert ended(server, "second") == "success"
    found = read_rejection(sealed)
    assert found is not None and found.predicate.reason == why and found.predicate.account == "ada"
    assert read_sign_offs(sealed) == []
    checked = verify_signed(sealed.uri, recompute={}, allow_unsigned=True)
    assert checked.ok and checked.rejected, checked.summary()
    published = tmp_path / "store" / "site" / sealed.key.prefix / "report.html"
    server.wait("the site", lambda: published.exists() and why in published.read_text("utf-8"))
