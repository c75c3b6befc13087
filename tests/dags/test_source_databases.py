"""URLs of databases from Airflow connections, as a task that reads from one has them."""

from __future__ import annotations

import os
import re
from types import ModuleType

import pytest

pytest.importorskip("airflow", reason="airflow is not installed")


@pytest.fixture
def databases(audit_tasks: ModuleType) -> ModuleType:
    import source_databases

    return source_databases


def test_a_connection_gives_the_url_that_sqlalchemy_reads(
    databases: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_HR", "postgres://reader:p%40ss@db:5433/hr")
    found = databases.database_urls("AUDIT_SOURCE_URL:hr, OTHER_URL:hr")
    assert list(found) == ["AUDIT_SOURCE_URL", "OTHER_URL"]
    for one in found.values():
        assert re.fullmatch(r"postgresql(\+psycopg2?)?://reader:p%40ss@db:5433/hr", one)


@pytest.mark.parametrize("named", ["hr", "audit_url:hr", "AUDIT_SOURCE_URL:"])
def test_what_names_no_variable_and_no_connection_is_refused(databases: ModuleType, named: str) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException, match="is not VARIABLE:connection id"):
        databases.database_urls(named)


def test_a_connection_that_is_no_database_is_refused(
    databases: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    monkeypatch.setenv("AIRFLOW_CONN_HOOK", "http://somewhere/")
    with pytest.raises(AirflowFailException, match="connection hook is of type 'http', which has no"):
        databases.database_urls("AUDIT_SOURCE_URL:hook")


def test_a_task_has_it_while_it_runs(audit_tasks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_HR", "postgres://reader@db/hr")
    monkeypatch.setenv("AUDIT_SOURCE_CONN_IDS", "AUDIT_SOURCE_URL:hr")
    monkeypatch.delenv("AUDIT_SOURCE_URL", raising=False)
    with audit_tasks.in_task():
        assert os.environ["AUDIT_SOURCE_URL"].endswith("://reader@db/hr")
    assert "AUDIT_SOURCE_URL" not in os.environ
