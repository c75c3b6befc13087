"""A scoring process that ends says why: a folder that cannot be loaded, a signal, a crash; never a prompt or a key."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from audit_lib.errors import BackendError
from audit_lib.score.backends.transformers import Transformers
from audit_lib.score.local import process as part
from audit_lib.score.requests import Candidate, Message, Request
from audit_lib.spec import Model
from tests.score.conftest import save_tiny_model

pytest.importorskip("torch", reason="torch is not installed")

PROMPT = "Rashida Al-Amin, welder from Toledo"


def backend_of(name: object) -> Transformers:
    return Transformers(Model(backend="transformers", name=str(name), options={"threads": 1}))


def asked() -> Request:
    return Request(
        request_id="r", section="s", family="f", labels=("No", "Yes"), candidates=(Candidate(variant_id="r"),),
        messages=(Message(role="user", content=PROMPT),),
    )  # fmt: skip


def test_a_folder_that_transformers_cannot_load_says_why(tmp_path):
    save_tiny_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": "made_up_by_nobody"}))
    with pytest.raises(BackendError, match="made_up_by_nobody"):
        backend_of(tmp_path).describe()


def process_that(tmp_path, monkeypatch, code: str) -> Transformers:
    """Return a backend whose scoring process loads, and does as `code` says when it is asked."""
    script = tmp_path / "ends.py"
    script.write_text(
        "import sys, os, signal\nsys.stdin.readline()\nprint('{\"loaded\": {}}', flush=True)\n"
        f"order = sys.stdin.readline()\n{code}\n"
    )
    popen = part.subprocess.Popen
    monkeypatch.setattr(
        part.subprocess,
        "Popen",
        lambda args, **how: popen([sys.executable, "-X", "faulthandler", str(script)], **how),
    )
    return backend_of("smollm2-135m-instruct")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            r"code -9 \(SIGKILL: killed, most likely for want of memory",
        ),
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            r"code -11 \(SIGSEGV: a library crashed\).*Segmentation fault",
        ),
        ("os.kill(os.getpid(), signal.SIGABRT)", r"code -6 \(SIGABRT: .*\)"),
        ("os._exit(137)", r"code 137 \(SIGKILL: "),
        ("os._exit(3)", r"code 3; its last words: it printed nothing that may be told"),
        (
            "raise RuntimeError('tensor sizes differ')",
            r"code 1; its last words: RuntimeError: tensor sizes differ",
        ),
        (
            "print('cuda driver lost', file=sys.stderr); os._exit(7)",
            r"code 7; its last words: cuda driver lost",
        ),
        ("raise RuntimeError('cannot read ' + order)", r"code 1; its last words: RuntimeError: cannot read"),
        ("raise RuntimeError('cannot read Rashida')", r"RuntimeError: cannot read \[\.\.\.\]"),
        ("raise RuntimeError('token ' + os.environ['HF_TOKEN'])", r"RuntimeError: token \[\.\.\.\]"),
    ],
)
def test_a_process_that_ends_says_why(tmp_path, monkeypatch, code, told):
    monkeypatch.setenv("HF_TOKEN", "plainwordsasatoken")
    backend = process_that(tmp_path, monkeypatch, code)
    try:
        with pytest.raises(BackendError, match=told) as caught:
            list(backend.score([(asked(),)]))
    finally:
        backend.close()
    said = str(caught.value)
    assert "smollm2-135m-instruct" in said
    assert not [word for word in ("Rashida", "Amin", "welder", "Toledo", "plainwords") if word in said], said


def test_signals_are_named_whatever_the_platform_calls_them():
    assert part._meaning(-signal.SIGKILL).startswith(" (SIGKILL") and part._meaning(0) == "" == part._meaning(
        1
    )
    assert part._meaning(-250) == "" and os.name == "posix"
