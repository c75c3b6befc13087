"""The published site: stable, idempotent, without dead links, and honest about what it leaves out."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.documents.sign_off import Superseded
from audit_lib.errors import InputError, NotFoundError
from audit_lib.policies import load_policy
from audit_lib.policies.clocks import valid_until
from audit_lib.run import Run
from audit_lib.signoff import (
    AuditorAnswers,
    attestations,
    generate_key,
    load_private_key,
    load_public_key,
    sign_off,
)
from audit_lib.site import publish
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run, reseal
from tests.report.axe import assert_accessible, needs_axe

NEXT = Window.parse("2026-01-12", "2026-01-19")
AT = datetime(2126, 2, 2, 9, 30, tzinfo=UTC)  # later than any seal of a test


def sealed(tmp_path: Path, name: str, window: Window | None = None, **sections: object) -> Run:
    folder = tmp_path / name
    folder.mkdir()
    store = str(tmp_path / "store")
    run = new_run(folder, store, **({"window": window} if window else {}), **sections)  # type: ignore[arg-type]
    return do(run, until="evidence")


def sign(run: Run, tmp_path: Path, **options: object) -> None:
    key = tmp_path / "a.key"
    if not key.exists():
        generate_key(key)
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, who, load_private_key(key), at=AT, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two windows of one audit, the first signed, and the key."""
    folder = tmp_path_factory.mktemp("site")
    first = sealed(folder, "one")
    sealed(folder, "two", NEXT, rows=applicants(shift=0.3))
    sign(first, folder)
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "store"


def pages(store: Path) -> dict[str, str]:
    site = store / "site"
    return {p.relative_to(site).as_posix(): p.read_text("utf-8") for p in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_file(store: Path) -> None:
    publish(str(store))
    own = {name: page for name, page in pages(store).items() if not name.endswith("/report.html")}
    links = [(name, link) for name, page in own.items() for link in re.findall(r'href="([^"#][^"]*)"', page)]
    assert len(links) >= 15
    reached = {
        posixpath.normpath(posixpath.join(posixpath.dirname(name), link.partition("#")[0]))
        for name, link in links
    }
    shown = {name for name in pages(store) if name.endswith("/report.html") and "/latest/" not in name}
    assert shown and shown <= reached, "a report that no page leads to"
    for name, link in links:
        assert not urlsplit(link).scheme, f"{name} points away: {link}"
        target, _, place = posixpath.normpath(posixpath.join(posixpath.dirname(name), link)).partition("#")
        assert (store / "site" / target).is_file(), f"{name}: {link}"
        assert not place or f'id="{place}"' in own[target], f"{name}: {link}"


def test_publishing_again_writes_nothing(store: Path) -> None:
    first = publish(str(store))
    before = {p: p.stat().st_mtime_ns for p in (store / "site").rglob("*") if p.is_file()}
    again = publish(str(store))
    assert first.written == first.files == len(before) and again.written == 0
    assert before == {p: p.stat().st_mtime_ns for p in before}


def test_the_address_of_a_report_shows_the_signed_one_once_there_is_one(store: Path) -> None:
    publish(str(store))
    (first,) = (store / "site" / "small").glob("20260105*/*/report.html")
    (second,) = (store / "site" / "small").glob("20260112*/*/report.html")
    assert "Signed 2126-02-02" in first.read_text("utf-8")
    assert "Not signed" in second.read_text("utf-8")
    latest = store / "site" / "small" / "latest" / "report.html"
    assert latest.read_bytes() == second.read_bytes()
    assert (first.parent / "signoff" / "1" / "statement.dsse.json").is_file()


def test_a_superseded_run_is_kept_and_marked(store: Path, tmp_path: Path) -> None:
    (uri,) = (store / "small").glob("20260105*/*")
    wrong = Run.load(str(uri))
    other = sealed(tmp_path, "corrected", measure={"small_cell": 6})
    sign(other, tmp_path, supersede="wrong small-cell rule", corrects=wrong)
    publish(str(store))
    page = pages(store)["small/index.html"]
    assert "superseded by a later signed audit" in page and "wrong small-cell rule" in page
    assert (store / "site" / wrong.key.prefix / "report.html").is_file()


def test_a_false_claim_to_supersede_marks_nobody(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (uri,) = (store / "small").glob("20260105*/*")
    victim = Run.load(str(uri))
    claim = {"statement_sha256": "0" * 64, "run": f"{victim.key.prefix}/signoff/1", "reason": "x"}
    other = sealed(tmp_path, "forged", measure={"small_cell": 6})
    monkeypatch.setattr("audit_lib.signoff.sign._superseded", lambda earlier, why: Superseded(**claim))
    sign(other, tmp_path)
    done = publish(str(store))
    assert any("claims to supersede" in reason for reason in done.left_out)
    assert "superseded by a later signed audit" not in pages(store)["small/index.html"]


def test_only_runs_of_trusted_keys_are_shown_as_signed_where_keys_are_given(
    store: Path, tmp_path: Path
) -> None:
    publish(str(store))
    assert "not checked" in pages(store)["small/index.html"]
    own = load_public_key(tmp_path / "a.key.pub")
    publish(str(store), trusted=[own])
    assert "not checked" not in pages(store)["small/index.html"]
    stranger = load_public_key(generate_key(tmp_path / "b.key"))
    assert "none of the keys given" in " ".join(publish(str(store), trusted=[stranger]).left_out)


def test_the_feeds_name_every_run_and_its_signature(store: Path) -> None:
    publish(str(store), base="https://audits.example.org/x")
    feed = json.loads((store / "site" / "feed.json").read_bytes())
    assert [item["_audit"]["status"].split(" by")[0] for item in feed["items"]].count("signed") == 1
    assert all(item["url"].startswith("https://audits.example.org/x/small/") for item in feed["items"])
    atom = ET.fromstring((store / "site" / "feed.atom").read_bytes())
    name = "{http://www.w3.org/2005/Atom}"
    assert len(atom.findall(f"{name}entry")) == 2
    assert all(e.findtext(f"{name}updated") for e in [atom, *atom.findall(f"{name}entry")])
    assert len({e.findtext(f"{name}id") for e in atom.findall(f"{name}entry")}) == 2
    sitemap = (store / "site" / "sitemap.xml").read_text()
    assert "https://audits.example.org/x/small/latest/report.html" in sitemap
    assert "Sitemap: https://audits.example.org/x/sitemap.xml" in (store / "site" / "robots.txt").read_text()


def test_the_trend_shows_both_windows_and_what_changed(store: Path, tmp_path: Path) -> None:
    sealed(tmp_path, "three", Window.parse("2026-01-19", "2026-01-26"), model={"name": "another model"})
    publish(str(store))
    page = pages(store)["small/trend.html"]
    for window in ("2026-01-05 to 2026-01-12", "2026-01-12 to 2026-01-19", "2026-01-19 to 2026-01-26"):
        assert window in page
    assert "another model or version of it" in page


def test_a_run_whose_evidence_does_not_hold_is_left_out_and_named(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = (store / "small").glob("20260112*/*/metrics/metrics.json")
    path.write_bytes(path.read_bytes() + b" ")
    assert main(["publish", "--store", str(store)]) == 1
    assert "NOT PUBLISHED small/20260112" in capsys.readouterr().out
    assert not list((store / "site" / "small").glob("20260112*"))
    assert "Runs that are not shown" in pages(store)["index.html"]


@pytest.mark.parametrize(("name", "place", "why"), [
    (
        "metrics/metrics.json", ("demographics", "unknown_values"),
        r".*metrics\.json: demographics\.unknown_values: input should be an object",
    ),
    ("report/report.json", ("inputs",), r".*report\.json: inputs: input should be an object"),
    ("report/report.json", ("measured_at",), r".*report\.json: measured_at: input should be a valid string"),
])  # fmt: skip
def test_a_run_of_which_no_page_can_be_made_stops_no_other(
    store: Path, name: str, place: tuple[str, ...], why: str
) -> None:
    """Whoever owns the store can make all digests agree with a file that is none."""
    (uri,) = (store / "small").glob("20260112*/*")
    document = json.loads((uri / name).read_bytes())
    *outer, last = place
    inner = document
    for key in outer:
        inner = inner[key]
    inner[last] = None
    (uri / name).write_bytes(pretty_json(document))
    reseal(uri)
    shutil.rmtree(store / "small/journal")  # which has the digest of the manifest that was sealed
    (reason,) = publish(str(store)).left_out
    assert re.match(f"small/{uri.parent.name}/{uri.name}: {why}", reason)
    page = pages(store)["index.html"]
    assert "Runs that are not shown" in page and uri.name in page
    assert "2026-01-05 to 2026-01-12" in pages(store)["small/trend.html"]


def test_a_failed_audit_is_listed_without_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = applicants()
    for row in rows[:12]:
        row["recorded_score"] = None
    sealed(tmp_path, "one", rows=rows)
    assert main(["publish", "--store", str(tmp_path / "store")]) == 0
    assert "NO REPORT small: every run failed its validation" in capsys.readouterr().out
    made = pages(tmp_path / "store")
    for name in ("index.html", "small/index.html"):
        assert "no valid report: every run failed its validation" in made[name]
        assert "trend.html" not in made[name]
    assert "small/trend.html" not in made


def test_an_empty_store_is_refused_and_left_empty(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nothing was published"):
        publish(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_is_no_address(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no address"):
        publish(str(tmp_path), base="audits.example.org")


def test_publishing_says_until_when_each_audit_is_valid(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "assigned"
    folder.mkdir()
    do(new_run(folder, str(store), audit="trial", groups={"provenance": "assigned"}), until="evidence")
    later = next((store / "small").glob("20260112*/*"))
    small, _ = publish(str(store)).validity
    assert (small.audited, small.last_day) == (None, None), "the latest run is not signed yet"
    assert "no audit to rely on: no independent auditor has signed it" in small.on(date(2026, 11, 22))
    sign(Run.load(str(later)), tmp_path)
    small, _ = publish(str(store)).validity
    assert small.audited is not None and small.last_day is not None
    assert small.last_day == valid_until(load_policy("nyc_ll144"), small.audited)
    page = (store / "site" / "small" / "latest" / "report.html").read_text("utf-8")
    assert f"<dt>No use after</dt><dd>{small.last_day}" in page
    feed = json.loads((store / "site" / "feed.json").read_bytes())
    facts = [item["_audit"] for item in feed["items"]]
    assert {(f["audit"], f["no_use_after"]) for f in facts} == {
        ("small", str(small.last_day)),
        ("trial", None),
    }

    def said(day: date) -> list[str]:
        assert main(["publish", "--store", str(store), "--as-of", str(day)]) == 0, (
            "too old is named, no failure"
        )
        return capsys.readouterr().out.splitlines()[1:]

    valid = f"small: audit of {small.audited}, valid until {small.last_day}"
    none = "trial: no audit to rely on: the demographics are assigned: an experiment is no audit of people"
    assert said(small.last_day) == [f"{valid} (5-301(a); 20-871(a)(1); FAQ II.4)", none]
    past, again = said(small.last_day + timedelta(days=1))
    assert past.startswith(f"WARNING {valid}, which is past on ") and past.endswith("audit again")
    assert again == none


@pytest.mark.slow
@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_on_the_site_s_own_pages(store: Path, tmp_path: Path, dark: bool) -> None:
    publish(str(store))
    own = {path: page for path, page in pages(store).items() if not path.endswith("/report.html")}
    orders = ("index", "attention", "by-name", "by-next", "by-validity")
    assert set(own) == {
        "index.html", "small/attempts.html", "small/index.html", "small/trend.html",
        *(f"all-audits/{name}.html" for name in orders),
    }  # fmt: skip
    for number, page in enumerate(own.values()):
        (folder := tmp_path / str(number)).mkdir()
        assert_accessible(page, folder, dark)
