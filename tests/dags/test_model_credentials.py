"""A model's credentials from Airflow connections of the provider common.ai's types.

Their fields are those of https://airflow.apache.org/docs/apache-airflow-providers-common-ai/stable/connections/.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("airflow", reason="airflow is not installed")


@pytest.fixture
def credentials(audit_tasks: ModuleType) -> ModuleType:
    import model_credentials

    return model_credentials


def connection(kind: str, password: str | None = None, **extra: Any) -> Any:
    return SimpleNamespace(conn_type=kind, password=password, host=None, extra_dejson=extra)


@pytest.mark.parametrize(
    ("given", "variables"),
    [
        (connection("pydanticai", "k", model="anthropic:claude-haiku-4-5"), {"ANTHROPIC_API_KEY": "k"}),
        (connection("pydanticai", "k", model="google:gemini-2.5-flash"), {"GOOGLE_API_KEY": "k"}),
        (connection("pydanticai", "k", model="deepseek:r1"), {"DEEPSEEK_API_KEY": "k"}),
        (connection("pydanticai", None, model="ollama:qwen3"), {}),
        (connection("pydanticai_azure", "k", model="gpt-5"), {"AZURE_OPENAI_API_KEY": "k"}),
        (connection("pydanticai-azure", "k"), {"AZURE_OPENAI_API_KEY": "k"}),
        (
            connection("pydanticai_bedrock", region_name="us-east-1", api_key="k"),
            {"AWS_BEARER_TOKEN_BEDROCK": "k", "AWS_DEFAULT_REGION": "us-east-1"},
        ),
        (
            connection("pydanticai_bedrock", aws_access_key_id="a", aws_secret_access_key="s"),
            {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s"},
        ),
        (
            connection("pydanticai_vertex", project="p", location="europe-west1"),
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "europe-west1"},
        ),
    ],
)
def test_each_type_gives_what_the_libraries_read(credentials, given, variables):
    assert credentials.model_environment(given) == variables


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (connection("http", "k"), "it takes pydanticai"),
        (connection("pydanticai", "k"), "does not say whose key it holds"),
    ],
)
def test_what_is_none_is_refused(credentials, given, said):
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException, match=said):
        credentials.model_environment(given)


def test_a_service_account_lies_in_a_file_while_the_task_runs(credentials):
    given = connection("pydanticai_vertex", service_account_info={"type": "service_account"})
    with credentials.model_credentials(given, {}) as variables:
        path = Path(variables["GOOGLE_APPLICATION_CREDENTIALS"])
        assert json.loads(path.read_text()) == {"type": "service_account"}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


def test_two_pairs_of_aws_keys_are_refused(credentials):
    from airflow.sdk.exceptions import AirflowFailException

    given = connection("pydanticai_bedrock", aws_access_key_id="a", aws_secret_access_key="s")
    with pytest.raises(AirflowFailException, match="both give AWS_ACCESS_KEY_ID"):  # noqa: SIM117
        with credentials.model_credentials(given, {"AWS_ACCESS_KEY_ID": "of the store"}):
            pass


def test_a_task_has_them_and_gives_them_back(audit_tasks, monkeypatch):
    monkeypatch.setenv("AUDIT_MODEL_CONN_ID", "the_model")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    given = connection("pydanticai", "k", model="anthropic:claude-haiku-4-5")
    monkeypatch.setattr(audit_tasks.Connection, "get", lambda name: given)
    with audit_tasks.in_task():
        assert os.environ["ANTHROPIC_API_KEY"] == "k"
    assert "ANTHROPIC_API_KEY" not in os.environ
