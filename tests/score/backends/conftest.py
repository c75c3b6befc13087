"""A vLLM server on loopback, for tests of backends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_lib.score.backends import vllm_server as part
from tests.score.vllm_cases import SameProcess
from tests.score.vllm_shape import TokenServer, loaded, token_server


@pytest.fixture
def own_process() -> None:
    """Ask for a process as it really is."""


@pytest.fixture(scope="module")
def weights(tiny_model: Path) -> tuple[Any, Any]:
    return loaded(tiny_model)


@pytest.fixture
def vllm(
    weights: tuple[Any, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TokenServer]:
    """A server; each test is spared the seconds in which a process imports torch, unless it asks for `own_process`."""
    if "own_process" not in request.fixturenames:
        monkeypatch.setattr(part, "ScoringProcess", SameProcess)
    with token_server(*weights) as one:
        yield one
