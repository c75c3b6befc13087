"""Credentials of a model's provider, from an Airflow connection of the types of the provider common.ai.

``AUDIT_MODEL_CONN_ID`` names it. A spec names variables and never secrets, so while a task runs they hold what the
connection has: its password or its extra. Where the model is asked, and which, the spec alone says.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Final

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowFailException

from audit_lib.score.remote.provider_models import key_variable

_BEDROCK: Final[Mapping[str, str]] = {
    "api_key": "AWS_BEARER_TOKEN_BEDROCK",
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "profile_name": "AWS_PROFILE",
    "region_name": "AWS_DEFAULT_REGION",
}
_VERTEX: Final[Mapping[str, str]] = {
    "api_key": "GOOGLE_API_KEY",
    "project": "GOOGLE_CLOUD_PROJECT",
    "location": "GOOGLE_CLOUD_LOCATION",
}


def model_environment(connection: Connection) -> dict[str, str]:
    """Return the variables that the providers' libraries read, from a connection of common.ai's types.

    Raises
    ------
    AirflowFailException
        If it is of another type, or does not say whose key it holds.
    """
    extra, kind = connection.extra_dejson, str(connection.conn_type).replace("-", "_")
    if kind == "pydanticai_bedrock":
        return {name: str(extra[key]) for key, name in _BEDROCK.items() if extra.get(key)}
    if kind == "pydanticai_vertex":
        return {name: str(extra[key]) for key, name in _VERTEX.items() if extra.get(key)}
    if kind == "pydanticai_azure":
        return {key_variable("azure"): connection.password} if connection.password else {}
    if kind != "pydanticai":
        raise AirflowFailException(
            f"AUDIT_MODEL_CONN_ID: the connection is of type {connection.conn_type!a}; it takes pydanticai, "
            "pydanticai_azure, pydanticai_bedrock and pydanticai_vertex"
        )
    provider, colon, _ = str(extra.get("model", "")).partition(":")
    if not colon:
        raise AirflowFailException(
            "AUDIT_MODEL_CONN_ID: the connection does not say whose key it holds; give it a model such as "
            "anthropic:claude-haiku-4-5"
        )
    return {key_variable(provider): connection.password} if connection.password else {}


@contextlib.contextmanager
def model_credentials(connection: Connection, taken: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give the variables of a connection; a service account lies in a file of its own, which is taken away after.

    `taken` are those of the store: AWS has one pair of keys, which cannot be two.
    """
    variables = model_environment(connection)
    if both := [name for name in variables if taken.get(name, variables[name]) != variables[name]]:
        raise AirflowFailException(
            f"AUDIT_MODEL_CONN_ID and AUDIT_STORE_CONN_ID both give {both[0]}, and differ; give Bedrock a key of its "
            "own (api_key in the connection's extra)"
        )
    account = connection.extra_dejson.get("service_account_info")
    if not account:
        yield variables
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # readable by its owner alone
        json.dump(account, file)
        file.flush()
        os.fsync(file.fileno())
        yield variables | {"GOOGLE_APPLICATION_CREDENTIALS": file.name}
