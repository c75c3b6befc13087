"""Watches for the data of an audit's windows: the triggerer asks, and an event starts the audit of the window.

In the plugins folder because the triggerer imports it, which reads no DAG file.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.sdk import Connection
from airflow.triggers.base import BaseEventTrigger, TriggerEvent


class DataArrived(BaseEventTrigger):
    """Tells of each window, once its data are there and nobody has begun to audit it.

    Nothing is kept: after a restart what the store says decides, so no window is lost and none is begun twice.

    Parameters
    ----------
    spec_path : str
        The audit's spec, with ``schedule.arrival``; it is read again each time.
    """

    def __init__(self, spec_path: str) -> None:
        super().__init__()
        self.spec_path = spec_path

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what the database keeps of it."""
        return ("data_arrived.DataArrived", {"spec_path": self.spec_path})

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look every ``poll_seconds``; a look that fails is told in the log, and the next one comes."""
        told = ""
        while True:
            wait = 60.0
            try:
                await self._credentials()
                window, wait = await asyncio.to_thread(self._look)
            except Exception as error:  # noqa: BLE001 - the triggerer would never look again
                self.log.error("%s: whether data have arrived cannot be seen: %s", self.spec_path, error)
            else:
                if window is not None and window.label != told:
                    told = window.label
                    yield TriggerEvent(
                        {"window_start": window.start.isoformat(), "window_end": window.end.isoformat()}
                    )
            await asyncio.sleep(wait)

    def _look(self) -> tuple[Any, float]:
        from audit_lib.spec import load_spec
        from audit_lib.store import open_store
        from audit_lib.windows import arrived_window

        spec = load_spec(self.spec_path)
        root = os.environ.get("AUDIT_STORE") or str(Path(__file__).resolve().parents[2] / ".audit" / "store")
        window = arrived_window(spec, open_store(root), datetime.now(UTC))
        return window, spec.schedule.arrival.poll_seconds if spec.schedule.arrival else 60.0

    async def _credentials(self) -> None:
        """Put the store's credentials where boto3 finds them, from the connection that the tasks use."""
        if connection_id := os.environ.get("AUDIT_STORE_CONN_ID"):
            from audit_lib.store.s3_environment import s3_environment

            found = await Connection.async_get(connection_id)
            os.environ.update(s3_environment(found.login, found.password, found.extra_dejson))
