"""Before anything is paid: every lack is found, all at once, with what to do about it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.attempts import attempts_of
from audit_lib.cli.main import main
from audit_lib.errors import PreflightError
from audit_lib.preflight import preflight, require_ready
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from tests.inputs import recorded_audit
from tests.installed import needs_torch
from tests.servers import free_ports

WINDOW = ["--window", "2026-01-05", "2026-01-12"]
TEMPLATE = "messages:\n- {role: user, content: 'Rate {{resume}}'}\n"


class Endpoint(BaseHTTPRequestHandler):
    """Answers each request with the status that the server was given, and counts them."""

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_OPTIONS = do_POST = do_GET  # noqa: N815 - the names that http.server calls

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def endpoint() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.status, server.asked = 200, []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def live(folder: Path, url: str, **sections: Any) -> Path:
    (folder / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    return recorded_audit(
        folder,
        model={
            "backend": "openai",
            "name": "gpt-x",
            "options": {"base_url": url, "api_key_env": "PREFLIGHT_KEY"},
        },
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
        **sections,
    )


def with_suite(folder: Path) -> dict[str, Any]:
    """Name a suite of Great Expectations, which then is needed."""
    suite = "expectations: [{type: expect_column_to_exist, kwargs: {column: score}}]\n"
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    return {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5, "suites": {"scores": "suite.yaml"}}


def told(path: Path, root: str | None = None, **options: Any) -> list[str]:
    return [fault.what for fault in preflight(AuditSpec.load(path), root, **options)]


def lacking(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    real = importlib.import_module

    def imported(name: str, package: str | None = None) -> Any:
        if name in modules:
            raise ModuleNotFoundError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", imported)


def test_an_audit_that_has_all_it_needs(tmp_path: Path) -> None:
    assert told(recorded_audit(tmp_path), str(tmp_path / "store")) == []
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == [], "the probe is gone"


def test_all_faults_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFLIGHT_KEY", raising=False)
    lacking(monkeypatch, "great_expectations")
    (port,) = free_ports(1)
    path = live(tmp_path, f"http://127.0.0.1:{port}/v1", checks=with_suite(tmp_path))
    (tmp_path / "prompts.jsonl").unlink()
    (tmp_path / "store").write_text("a file, where the store should be")
    faults = told(path, str(tmp_path / "store"))
    for part in (
        "prompts.jsonl",
        "needs the package great_expectations: pip install 'audit-lib[gx]'",
        "PREFLIGHT_KEY (model.options.api_key_env) is not set",
        "model.options.base_url: ",
        "/store/",
    ):
        assert sum(part in fault for fault in faults) == 1, (part, faults)
    assert len(faults) == 5
    with pytest.raises(PreflightError, match=r"(?s)not ready.*1\. .*5\. "):
        require_ready(AuditSpec.load(path), str(tmp_path / "store"))


@pytest.mark.parametrize(
    ("status", "ok"), [(200, True), (404, True), (501, True), (401, False), (403, False), (503, False)]
)
def test_the_endpoint_is_asked_once_what_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Any, status: int, ok: bool
) -> None:
    monkeypatch.setenv("PREFLIGHT_KEY", "word-of-1234")
    endpoint.status = status
    path = live(tmp_path, f"http://127.0.0.1:{endpoint.server_address[1]}/v1")
    faults = told(path)
    assert (faults == []) is ok, faults
    assert endpoint.asked == [("GET", "/v1/models", "Bearer word-of-1234")]
    assert "word-of-1234" not in " ".join(faults)
    assert told(path, offline=True) == [] and len(endpoint.asked) == 1


def test_the_key_of_a_tool_of_one_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOL_KEY", raising=False)
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    path = recorded_audit(
        tmp_path,
        model={
            "backend": "http",
            "name": "tool",
            "options": {
                "url": "http://127.0.0.1:9/score",
                "headers": {"X-Api-Key": "${TOOL_KEY}"},
                "body": {"prompt": "{{user}}"},
                "score_path": "score",
            },
        },
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
    )
    assert any("TOOL_KEY" in fault for fault in told(path, offline=True))


@needs_torch
@pytest.mark.parametrize("config", ["{", "[]", "{}", '{"model_type": 3}', "[" * 100_000])
def test_a_model_whose_config_cannot_be_loaded(tmp_path: Path, config: str) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (model / name).write_bytes(b"")
    (model / "config.json").write_text(config, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    path = recorded_audit(
        tmp_path,
        model={"backend": "transformers", "name": str(model)},
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
    )
    assert any("config.json" in fault for fault in told(path, offline=True))


def test_nothing_is_paid_before_it_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREFLIGHT_KEY", "word-of-1234")
    lacking(monkeypatch, "great_expectations")
    path = live(tmp_path, f"http://127.0.0.1:{endpoint.server_address[1]}/v1", checks=with_suite(tmp_path))
    store = str(tmp_path / "store")
    assert main(["validate", str(path)]) == 2
    assert main(["run", str(path), *WINDOW, "--store", store]) == 2
    assert "pip install 'audit-lib[gx]'" in capsys.readouterr().err
    assert {verb for verb, _, _ in endpoint.asked} == {"GET"}
    ((_, (one,)),) = attempts_of(open_store(store), "small").items()
    assert one.faults[0].stage == "preflight"


def test_what_is_sealed_needs_nothing_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store = recorded_audit(tmp_path, checks=with_suite(tmp_path)), str(tmp_path / "store")
    assert main(["run", str(path), *WINDOW, "--store", store]) == 0
    lacking(monkeypatch, "great_expectations")
    assert main(["run", str(path), *WINDOW, "--store", store]) == 0


def test_a_bucket_is_probed(tmp_path: Path, locked_s3: str) -> None:
    path = recorded_audit(tmp_path)
    assert told(path, f"{locked_s3}/runs") == []
    assert open_store(f"{locked_s3}/runs").list("") == []
    faults = told(path, "s3://there-is-no-such-bucket-here/runs")
    assert len(faults) == 1 and "no such bucket" in faults[0]


def test_a_bucket_without_lock_stops_an_audit_unless_the_spec_allows_it(tmp_path: Path, s3: str) -> None:
    path = recorded_audit(tmp_path)
    assert [fault.split("; ")[0] for fault in told(path, s3)] == [
        f"{s3}: the bucket has no Object Lock, so that what is put into it can be changed and deleted"
    ]
    assert told(recorded_audit(tmp_path, retention={"lock": "none"}), s3) == []


def test_a_store_that_is_not_there_is_not_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", "--store", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


def test_a_report_that_cannot_be_set_as_pdf_is_told_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded_audit(tmp_path, report={"formats": ["pdf"]})
    monkeypatch.setattr("audit_lib.report.pdf.why_no_pdf", lambda: "no library")
    assert told(path) == ["report.formats: pdf: no library"]
    monkeypatch.setattr("audit_lib.report.pdf.why_no_pdf", lambda: None)
    assert told(path) == []


def test_validate_looks_at_the_store_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AUDIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    path = str(recorded_audit(tmp_path))
    before = sorted(tmp_path.iterdir())
    assert main(["validate", path]) == 0
    assert sorted(tmp_path.iterdir()) == before, "no store was asked for, and none is made"
    taken = tmp_path / "taken"
    taken.write_text("a file, where the store should be")
    assert main(["validate", path, "--store", str(taken)]) == 2
    monkeypatch.setenv("AUDIT_STORE", str(taken))
    assert main(["validate", path]) == 2
    assert capsys.readouterr().err.count(f"{taken}") >= 2
    assert main(["validate", path, "--store", str(tmp_path / "store")]) == 0
    assert [one for one in (tmp_path / "store").rglob("*") if one.is_file()] == [], "the probe is gone"
