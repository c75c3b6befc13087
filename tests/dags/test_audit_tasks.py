"""The helpers of the DAG files, apart from Airflow's scheduler."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from audit_lib.errors import (
    BackendError,
    ConflictError,
    InputError,
    ModelNotFoundError,
    NotFoundError,
    SpecError,
    StoreUnreachableError,
    ValidationFailedError,
)
from tests.inputs import recorded_audit

START, END = "2026-01-05T00:00:00+00:00", "2026-01-12T00:00:00+00:00"


def events(*extras: dict) -> dict:
    return {"an asset": [SimpleNamespace(extra=extra) for extra in extras]}


def test_the_params_come_first(audit_tasks: ModuleType) -> None:
    context = {
        "params": {"window_start": START, "window_end": END},
        "data_interval_start": datetime(2025, 1, 1, tzinfo=UTC),
        "data_interval_end": datetime(2025, 1, 8, tzinfo=UTC),
    }
    assert audit_tasks.window_of(context) == (START, END)


def test_the_data_interval_of_a_scheduled_run(audit_tasks: ModuleType) -> None:
    context = {
        "params": {"window_start": None, "window_end": None},
        "data_interval_start": datetime(2026, 1, 5, tzinfo=UTC),
        "data_interval_end": datetime(2026, 1, 12, tzinfo=UTC),
    }
    assert audit_tasks.window_of(context) == (START, END)


def test_the_window_of_the_triggering_event_without_logical_date(audit_tasks: ModuleType) -> None:
    one = {"window_start": START, "window_end": END}
    context = {"params": {}, "triggering_asset_events": events({**one, "run": "a"}, {**one, "run": "b"})}
    assert audit_tasks.window_of(context) == (START, END)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"params": {"window_start": START, "window_end": None}}, "go together"),
        ({"params": {}}, "window_start and window_end"),
        (
            {
                "params": {},
                "triggering_asset_events": events(
                    {"window_start": START, "window_end": END},
                    {"window_start": END, "window_end": "2026-01-19"},
                ),
            },
            "no single triggering window",
        ),
    ],
)
def test_no_window_is_guessed(audit_tasks: ModuleType, context: dict, message: str) -> None:
    with pytest.raises(audit_tasks.AirflowFailException, match=message):
        audit_tasks.window_of(context)


def test_only_what_may_pass_is_retried(audit_tasks: ModuleType) -> None:
    for error in (StoreUnreachableError("x"), BackendError("x")):
        assert audit_tasks.may_pass(error)
    for error in (
        SpecError("x"),
        InputError("x"),
        ValidationFailedError("x"),
        ModelNotFoundError("x"),
        NotFoundError("x"),
        ConflictError("x"),
    ):
        assert not audit_tasks.may_pass(error)


def test_a_fault_in_the_input_fails_the_task_for_good(
    audit_tasks: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(audit_tasks.AirflowFailException, match="line 7"), audit_tasks.in_task():
        raise InputError("prompts.jsonl, line 7: not JSON")
    assert capsys.readouterr().out == "error: prompts.jsonl, line 7: not JSON\n"


def test_an_unreachable_store_is_retried(audit_tasks: ModuleType) -> None:
    with pytest.raises(StoreUnreachableError), audit_tasks.in_task():
        raise StoreUnreachableError("no answer")


def test_xcom_is_for_small_things(audit_tasks: ModuleType) -> None:
    assert audit_tasks.small({"rows": 3}) == {"rows": 3}
    with pytest.raises(audit_tasks.AirflowFailException, match="data goes to the store"):
        audit_tasks.small(["x" * 100] * 50)


def test_a_connection_becomes_the_variables_boto3_reads_and_goes_again(
    audit_tasks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = SimpleNamespace(
        login="key", password="secret", extra_dejson={"endpoint_url": "http://s3.test", "region_name": "eu-1"}
    )
    monkeypatch.setenv("AUDIT_STORE_CONN_ID", "the_store")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "before")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setattr(audit_tasks, "Connection", SimpleNamespace(get={"the_store": connection}.__getitem__))
    with audit_tasks.in_task():
        inside = {name: os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        assert os.environ["AWS_ENDPOINT_URL_S3"] == "http://s3.test"
        assert os.environ["AWS_DEFAULT_REGION"] == "eu-1"
    assert inside == {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    assert os.environ["AWS_ACCESS_KEY_ID"] == "before"
    assert "AWS_SECRET_ACCESS_KEY" not in os.environ


def test_a_broken_spec_keeps_its_dag_id(audit_tasks: ModuleType, tmp_path: Path) -> None:
    named = tmp_path / "a file.yaml"
    named.write_text("title: x\naudit: my_audit  # the id\n- broken", encoding="utf-8")
    assert audit_tasks.named_in(named, named.read_text(encoding="utf-8")) == "my_audit"
    named.write_text("audit: NOT A NAME\n", encoding="utf-8")
    assert audit_tasks.named_in(named, named.read_text(encoding="utf-8")) == "a_file"
    named.write_text("{audit: in_braces, title: x}\n", encoding="utf-8")
    assert audit_tasks.named_in(named, named.read_text(encoding="utf-8")) == "a_file"  # it is no spec
    named.write_text("audit: 'quoted'\n", encoding="utf-8")
    assert audit_tasks.named_in(named, named.read_text(encoding="utf-8")) == "quoted"


def test_a_task_loads_its_own_spec_alone(
    audit_tasks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_audit(tmp_path)
    good = (tmp_path / "small.yaml").read_text(encoding="utf-8")
    (tmp_path / "other.yaml").write_text(good.replace("audit: small", "audit: other"), encoding="utf-8")
    (tmp_path / "twin.yml").write_text(good, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("audit: broken\n", encoding="utf-8")
    monkeypatch.setenv("AUDIT_SPECS", str(tmp_path))
    every = audit_tasks.load_specs()
    assert (list(every.audits), len(every.faults), every.left_out) == (["other", "small"], 2, [])
    own = audit_tasks.load_specs("small")
    assert list(own.audits) == ["small"] and list(own.faults) == [tmp_path / "twin.yml"]
    assert list(audit_tasks.load_specs("broken").faults) == [tmp_path / "broken.yaml"]
    # The id of a DAG that no file has as its name: the one of a twin, say.
    assert audit_tasks.load_specs("small.twin") == every
    assert [asset.name for asset in audit_tasks.archived_assets()] == [
        "audit_archived_broken",
        "audit_archived_other",
        "audit_archived_small",
    ]
    late = audit_tasks.load_specs(until=0.0)
    assert not late.audits and len(late.left_out) == 4
