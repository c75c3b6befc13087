"""What was published and does not stand any more: named, and withdrawn where an address is about the latest."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from audit_lib.cli.main import main
from audit_lib.signoff import verify_signed
from audit_lib.site import publish
from tests.archive.cases import applicants
from tests.site.test_site import NEXT, pages, sealed, sign


@pytest.fixture
def store(tmp_path: Path) -> Path:
    first = sealed(tmp_path, "one")
    sealed(tmp_path, "two", NEXT, rows=applicants(shift=0.3))
    sign(first, tmp_path)
    return tmp_path / "store"


def lose(store: Path, window: str = "20260112") -> Path:
    """Take a run out of the store, as its owner can."""
    (uri,) = (store / "small").glob(f"{window}*/*")
    return uri.rename(store.parent / f"taken away {window}")


def test_pages_of_what_does_not_stand_any_more_say_so(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(str(store))
    kept = {path: path.read_bytes() for path in (store / "site/small").glob("2026*/**/*") if path.is_file()}
    for path in (store / "small").glob("*/*/metrics/metrics.json"):
        path.write_bytes(path.read_bytes() + b" ")
    assert main(["publish", "--store", str(store)]) == 1
    out = capsys.readouterr().out
    assert "WITHDRAWN site/small/latest/report.html" in out and "NOTHING BEHIND site/small/20260105" in out
    made = pages(store)
    stable = ["small/index.html", "small/trend.html", "small/latest/report.html"]
    for name in stable:
        assert "Do not rely on" in made[name] and "says that metrics/metrics.json has" in made[name], name
    assert json.loads((store / "site/small/latest/report.json").read_bytes())["status"] == "withdrawn"
    for name in ("tables.csv", "estimates.csv", "answers.csv"):
        assert (store / "site/small/latest" / name).read_text().startswith("withdrawn,reason\n")
    assert kept == {path: path.read_bytes() for path in kept}, "a law may want it kept"
    assert "Pages left from earlier" in made["index.html"]
    assert publish(str(store)).written == 0
    for name in stable:
        for link in re.findall(r'href="([^"#]+)"', made[name]):
            assert (store / "site" / posixpath.dirname(name) / link).resolve().is_file()


def test_a_run_that_is_gone_is_named_and_the_latest_is_the_one_before(store: Path) -> None:
    publish(str(store))
    lose(store)
    done = publish(str(store))
    (stale,) = done.stale
    assert stale.startswith("small/20260112") and stale.endswith("/") and done.withdrawn == ()
    assert stale in pages(store)["index.html"]
    (first,) = (store / "site/small").glob("20260105*/*/report.html")
    assert (store / "site/small/latest/report.html").read_bytes() == first.read_bytes()
    lose(store, "20260105")
    assert set(publish(str(store)).withdrawn) >= {"small/index.html", "small/latest/report.html"}
    assert "no current report of this audit" in pages(store)["small/index.html"]


def test_a_statement_that_is_gone_is_seen_where_it_was_published(store: Path, tmp_path: Path) -> None:
    """The journal names a statement that was taken away, and nothing of the run is published any longer."""
    (uri,) = (store / "small").glob("20260105*/*")
    publish(str(store))
    shutil.rmtree(uri / "signoff")
    done = publish(str(store))
    assert done.stale == (f"small/{uri.parent.name}/{uri.name}/",)
    (left_out,) = done.left_out
    assert "statement" in str(left_out) and "[journal]" in str(left_out), left_out
    assert main(["publish", "--store", str(store)]) == 1


def test_a_file_that_the_latest_report_has_not_is_withdrawn(store: Path) -> None:
    publish(str(store))
    (store / "site/small/latest/report.pdf").write_bytes(b"of a run before")
    done = publish(str(store))
    assert done.withdrawn == ("small/latest/report.pdf",) and done.stale == ()
    assert (store / "site/small/latest/report.pdf").read_bytes() != b"of a run before"


def test_a_machine_that_signs_may_make_no_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.report.pdf.why_no_pdf", lambda: None)
    monkeypatch.setattr("audit_lib.report.pdf.render_pdf", lambda page, **options: b"%PDF")
    run = sealed(tmp_path, "one", report={"formats": ["pdf"]})
    with monkeypatch.context() as there:
        there.setattr("audit_lib.report.pdf.why_no_pdf", lambda: "no library")
        there.setattr("audit_lib.signoff.sign.verify_signed", lambda uri: verify_signed(uri, recompute={}))
        sign(run, tmp_path)
    assert verify_signed(run.uri).ok
    assert publish(str(tmp_path / "store")).left_out == ()
    assert not (tmp_path / "store/site/small/latest/report.pdf").exists()


def test_a_file_beside_the_index_that_is_none_of_the_site_is_named(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ["--store", str(store)]
    assert main(["publish", *root, "--base", "https://one.example.org/"]) == 0
    assert main(["publish", *root]) == 0, "its own files are none"
    assert "one.example.org" not in (store / "site/sitemap.xml").read_text(), "the address it had"
    (store / "site/evil.html").write_text("all is well")
    capsys.readouterr()
    assert main(["publish", *root]) == 1
    assert "NOTHING BEHIND site/evil.html: " in capsys.readouterr().out
    assert "evil.html" in pages(store)["index.html"]
    assert (store / "site/evil.html").read_text() == "all is well"


def test_feeds_of_two_sites_are_two(store: Path) -> None:
    ids = []
    for host in ("one", "two"):
        publish(str(store), base=f"https://{host}.example.org/")
        root = ET.fromstring((store / "site" / "feed.atom").read_bytes())
        ids.append(root.findtext("{http://www.w3.org/2005/Atom}id"))
    assert len(set(ids)) == 2
