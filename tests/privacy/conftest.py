"""A run whose rows are encrypted with a key for each applicant, made once for a module, and keys to erase from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from audit_lib.privacy.applicant_keys import KEY, KEYS, make_key_of_keys
from audit_lib.run import Run
from tests.privacy.cases import encrypted


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("keys")
    make_key_of_keys(folder / "key")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, f"file:{folder / 'key'}")
        patch.setenv(KEYS, str(folder / "store"))
        yield folder


@pytest.fixture(scope="module")
def run(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return encrypted(tmp_path_factory.mktemp("run"))


@pytest.fixture
def own_keys(keys: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the keys of the run, from which some may be erased."""
    shutil.copytree(keys / "store", tmp_path / "keys")
    monkeypatch.setenv(KEYS, str(tmp_path / "keys"))
    return tmp_path / "keys"
