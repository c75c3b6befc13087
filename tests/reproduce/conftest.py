"""Sealed runs of models that can be asked again: a real small one on this machine, and one behind a loopback server."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from math import log
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.run import Run
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.score.conftest import SECRET, save_tiny_model
from tests.score.loopback import Loopback, Reply, completion, loopback

WINDOW = Window.parse("2026-01-05", "2026-01-12")
ROWS = 48


def write_audit(folder: Path, n: int = ROWS, **sections: Any) -> Path:
    """Write a spec over `n` short resumes, each with a number of its own, that asks for Yes or No."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompt.yaml").write_text(
        "messages:\n- {role: system, content: 'Answer Yes or No.'}\n- {role: user, content: 'n{{number}} {{resume}}'}\n"
    )
    path = recorded_audit(
        folder,
        n=n,
        prompt={"template": "prompt.yaml"},
        source={"fields": ["number", "resume"], "windowed": False},
        decision={"rule": "above_median", "k": None, "round": None},
        checks={"minimum_label_mass": 0.0, "minimum_answered_share": 0.5, "maximum_answered_gap": 0.9},
        **({"score": {"shards": 2}} | sections),
    )
    rows = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    for i, row in enumerate(rows):
        row |= {"number": i, "resume": "kept shop " * (1 + i % 4)}
        row.pop("recorded_score")
        row.pop("recorded_model")
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run_audit(folder: Path, **sections: Any) -> Run:
    """Run such an audit, all stages."""
    run = pipeline.open_run(write_audit(folder, **sections), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


def content(folder: str | Path) -> dict[str, bytes]:
    """Every file below a folder, to see that none of it was touched."""
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


@dataclass(frozen=True)
class Local:
    """A sealed run of a small model, and the model's folder."""

    run: str
    model: Path


@pytest.fixture(scope="session")
def local_run(tmp_path_factory: pytest.TempPathFactory) -> Local:
    """Scored by a real Llama of two layers, in packs."""
    pytest.importorskip("torch", reason="torch is not installed")
    folder = tmp_path_factory.mktemp("reproduce_local")
    save_tiny_model(folder / "model")
    run = run_audit(
        folder / "audit",
        model={
            "backend": "transformers",
            "name": str(folder / "model"),
            "options": {"threads": 1, "pack_size": 8},
        },
        score={"shards": 1},
    )
    return Local(run.uri, folder / "model")


@pytest.fixture
def local(local_run: Local, tmp_path: Path) -> Local:
    """A copy of the run and of the model's folder, which a test may change."""
    shutil.copytree(local_run.run, tmp_path / "run")
    shutil.copytree(local_run.model, tmp_path / "model")
    return Local(str(tmp_path / "run"), tmp_path / "model")


@dataclass
class Service:
    """A model behind a chat API, and what of it a test may change after the run was sealed."""

    server: Loopback | None = None
    version: str = "model-1-2026-01-01"
    system: str = "fp_1"
    shift: float = 0.0
    silent: set[str] = field(default_factory=set)
    jitter: bool = False
    asked: int = 0

    def reset(self) -> Service:
        """Behave as at first, whatever the test before this one changed."""
        assert self.server is not None
        self.server.asked.clear()
        for one in fields(Service):
            if one.name != "server":
                setattr(self, one.name, set() if one.name == "silent" else one.default)
        return self

    def behave(self, word: str, time_asked: int) -> Reply:
        """Answer by a hash of the prompt's first word."""
        self.asked += 1
        if word in self.silent:
            return 400, {}, b'{"error": {"message": "no", "code": "content_filter"}}'
        digest = hashlib.sha256(word.encode()).digest()
        share = (20 + digest[0] % 200) / 256 * (1 - self.shift)
        if self.jitter:
            share += time_asked * 1e-3
        top = {" Yes": log(share), " No": log(0.99 - share), " perhaps": log(0.01)}
        return completion(top, more={"model": self.version, "system_fingerprint": self.system})


@pytest.fixture(scope="session")
def serving() -> Iterator[Service]:
    """A server that answers until all tests are over."""
    pytest.importorskip("openai", reason="openai is not installed")
    one = Service()
    with loopback(lambda word, time_asked: one.behave(word, time_asked)) as server:
        one.server = server
        yield one


@pytest.fixture
def service(serving: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The server as it was when the run was sealed; a test may change it."""
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    return serving.reset()


@pytest.fixture(scope="session")
def remote_run(serving: Service, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sealed run of the service as it is at first; no reproduction writes into it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_API_KEY", SECRET)
        folder = tmp_path_factory.mktemp("reproduce_remote")
        model = remote_model(serving.reset(), price_prompt=1.0, price_completion=1.0)
        return run_audit(folder, model=model).uri


def remote_model(service: Service, **options: Any) -> dict[str, Any]:
    """The section `model` of a spec that asks the service."""
    assert service.server is not None
    given = {"api_key_env": "TEST_API_KEY", "base_url": service.server.url, "retries": 1, "timeout": 5.0}
    return {"backend": "openai", "name": "model-1", "options": given | options}
