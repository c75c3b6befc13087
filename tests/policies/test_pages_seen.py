"""Pages of the employer's website that were fetched: seen on a day by digest, or not there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import SpecError
from audit_lib.oscal import assessment_results
from audit_lib.policies import policy_of
from audit_lib.policies.contradictions import check_facts
from audit_lib.policies.fields import check_fields
from audit_lib.policies.timeline import Timeline
from audit_lib.spec import load_spec
from tests.archive.cases import do, new_run
from tests.specs import load, write

PAGE = b"<h1>Results of our bias audit</h1>"


class _Website(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        there = self.path == "/audit"
        self.send_response(200 if there else 404)
        self.end_headers()
        self.wfile.write(PAGE if there else b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def website() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Website) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def looked(folder: Path, website: str, **addresses: str) -> dict[str, Any]:
    """Run the command; return what a spec then says of the website."""
    stated = {key: f"{website}{path}" for key, path in addresses.items()}
    path = write(folder, use={"website": stated})
    assert main(["look", str(path), "--out", str(folder / "seen.json")]) == int(
        set(addresses.values()) != {"/audit"}
    )
    return {**stated, "seen": "seen.json"}


def test_what_was_seen_is_on_the_checklist_everywhere(tmp_path: Path, website: str) -> None:
    pytest.importorskip("trestle")
    said = looked(tmp_path, website, summary="/audit", retention_policy="/gone")
    run = do(new_run(tmp_path, str(tmp_path / "s"), use={"website": said}), until="evidence")
    document = json.loads(run.stage("report").read("report.json"))
    found = {one["id"]: one for one in document["required_fields"]}
    assert [found[name]["status"] for name in ("F13", "F22", "F23")] == ["seen", "not met", "missing"]
    digest, today = hashlib.sha256(PAGE).hexdigest(), datetime.now(UTC).date()
    assert digest in found["F13"]["found"] and f"{website}/audit" in found["F13"]["found"]
    assert f"seen on {today.year}" in found["F13"]["found"]
    assert "404" in found["F22"]["found"] and f"{website}/gone" in found["F22"]["found"]
    page = run.stage("report").read("report.html").decode()
    assert digest in page and "conspicuous, or linked from it: seen" in page
    (result,) = json.loads(assessment_results(run))["assessment-results"]["results"]
    assert "f13" not in {one["target"]["target-id"] for one in result["findings"]}, "seen is not satisfied"
    (one,) = [seen for seen in result["observations"] if seen["title"].startswith("F13")]
    assert one["methods"] == ["EXAMINE"] and one["title"].endswith(": seen") and digest in one["description"]
    (tmp_path / "seen.json").unlink()
    checked = verify(run.uri)
    assert not checked.findings and "report" in checked.recomputed


def test_without_a_look_nothing_is_fetched_and_nothing_is_seen(tmp_path: Path, website: str) -> None:
    spec = load(groups={"provenance": "self_reported"}, use={"website": {"summary": f"{website}/audit"}})
    (line,) = [one for one in check_fields({}, spec) if one.id == "F13"]
    assert line.status == "stated" and "nobody looked there" in line.found


def test_a_server_that_does_not_answer_is_no_page_that_is_not_there(tmp_path: Path) -> None:
    said = looked(tmp_path, "http://127.0.0.1:9", summary="/closed")
    spec = load(tmp_path, groups={"provenance": "self_reported"}, use={"website": said})
    (line,) = [one for one in check_fields({}, spec) if one.id == "F13"]
    assert line.status == "stated" and "could not be fetched" in line.found


def test_another_address_than_the_one_that_was_seen_is_refused(tmp_path: Path, website: str) -> None:
    said = looked(tmp_path, website, summary="/audit")
    said["summary"] = f"{website}/other"
    spec = load(tmp_path, groups={"provenance": "self_reported"}, use={"website": said})
    with pytest.raises(SpecError) as caught:
        check_facts(Timeline(policy=policy_of(spec), spec=spec, audited=datetime.now(UTC).date()))
    assert f"{website}/other" in str(caught.value) and f"{website}/audit" in str(caught.value)
    with pytest.raises(SpecError, match="seen in the future"):
        check_facts(Timeline(policy=policy_of(spec), spec=spec, audited=date(2026, 1, 1)))


@pytest.mark.parametrize(
    "website_", [None, {"summary": "/careers/audit"}, {"summary": "file:///etc/hostname"}]
)
def test_only_whole_web_addresses_are_fetched(
    website_: dict[str, str] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, use={"website": website_})
    assert main(["look", str(path), "--out", str(tmp_path / "seen.json")]) == 2
    assert "use.website" in capsys.readouterr().err and not (tmp_path / "seen.json").exists()
    assert load_spec(str(path)).use.website is None or website_
