"""Databases that audits read from, from Airflow connections.

``AUDIT_SOURCE_CONN_IDS`` names them as ``VARIABLE:connection id``, separated by commas: a spec of the source ``sql``
names the variable (``url_env``, AUDIT_SOURCE_URL if it names none), which holds the database's URL while a task runs.
"""

from __future__ import annotations

import re
from typing import Any

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowFailException


def database_urls(named: str) -> dict[str, str]:
    """Return the variables with the SQLAlchemy URLs of the connections.

    Raises
    ------
    AirflowFailException
        If one is not written as ``VARIABLE:connection id``, or its type has no such URL.
    """
    found = {}
    for one in (one.strip() for one in named.split(",") if one.strip()):
        variable, colon, connection_id = one.partition(":")
        if not colon or not connection_id or not re.fullmatch(r"[A-Z][A-Z0-9_]*", variable):
            raise AirflowFailException(
                f"AUDIT_SOURCE_CONN_IDS: {one!a} is not VARIABLE:connection id, such as AUDIT_SOURCE_URL:hr_database"
            )
        found[variable] = _url(Connection.get(connection_id), connection_id)
    return found


def _url(connection: Any, connection_id: str) -> str:
    try:
        url = connection.get_hook().sqlalchemy_url
    except (AttributeError, NotImplementedError):
        raise AirflowFailException(
            f"AUDIT_SOURCE_CONN_IDS: the connection {connection_id} is of type {connection.conn_type!a}, which has no "
            "SQLAlchemy URL; it takes those of databases, such as postgres, mysql and sqlite"
        ) from None
    return str(url.render_as_string(hide_password=False))
