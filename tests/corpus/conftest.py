"""Fixtures of sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from audit_lib.corpus import worker
from audit_lib.worker_processes import answer_to


class ReadingHere:
    """Does what a process that reads does, in this one: it takes a second less to start."""

    def __init__(self, module: str, settings: Mapping[str, Any], **bounds: Any) -> None:
        self._settings = settings

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        with ExitStack() as stack:
            return answer_to(stack.enter_context(worker._opened(self._settings)), job)

    def end(self) -> None:
        pass


@pytest.fixture
def reading_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.corpus.sweep.WorkerProcess", ReadingHere)
