"""The variables that boto3 reads, from what a connection of a workflow system holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def s3_environment(login: str | None, password: str | None, extra: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a connection: login and password are the access key and its secret.

    Parameters
    ----------
    login, password : str or None
        The access key and its secret.
    extra : mapping
        May hold ``endpoint_url``, ``region_name`` and ``aws_session_token``.

    Examples
    --------
    >>> s3_environment("key", "secret", {"region_name": "eu-west-1"})["AWS_DEFAULT_REGION"]
    'eu-west-1'
    """
    variables = {
        "AWS_ACCESS_KEY_ID": login,
        "AWS_SECRET_ACCESS_KEY": password,
        "AWS_SESSION_TOKEN": extra.get("aws_session_token"),
        "AWS_ENDPOINT_URL_S3": extra.get("endpoint_url"),
        "AWS_DEFAULT_REGION": extra.get("region_name"),
    }
    return {name: str(value) for name, value in variables.items() if value}
