"""Sweeps of folders and of a real server: what changed is found, and nothing else is said to have."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from audit_lib.corpus.kept_sweeps import KeptSweeps
from audit_lib.corpus.listed_pages import read_corpus
from audit_lib.corpus.polite_fetch import FetchManners
from audit_lib.corpus.sweep import SweepOptions, SweptPages, sweep_pages
from audit_lib.corpus.text_summary import news, summary_text
from audit_lib.documents.published_pages import SeenPage
from tests.corpus.summaries import COUNTS, Made
from tests.corpus.web_site import HOST, Page, Site, web_site

MONDAY = datetime(2026, 6, 1, 5, tzinfo=UTC)


class Desk:
    """Somebody who looks at a folder or list once a week."""

    def __init__(self, home: Path, source: Path, store: str = "") -> None:
        self.store, self.source, self.week = store or str(home / "store"), source, 0
        self.said: list[str] = []

    def look(self, seconds: float = 60.0) -> SweptPages:
        now = MONDAY + timedelta(weeks=self.week)
        self.week += 1
        self.said = []
        manners = FetchManners(between=0.0, private_hosts=frozenset({HOST}))
        options = SweepOptions(
            policy="nyc_ll144", as_of=now.date(), manners=manners, page_seconds=seconds, processes=1
        )
        kept = KeptSweeps(self.store, "desk", self.said.append)
        return sweep_pages(read_corpus(str(self.source)), kept, options, now, self.said.append)


def rows(swept: SweptPages) -> dict[str, SeenPage]:
    return {row.listed.employer: row for row in swept.sweep.pages}


def kinds(swept: SweptPages, *, new: bool = True) -> dict[str, list[str]]:
    return {
        row.listed.employer: found
        for row in swept.sweep.pages
        if (found := [one.kind for one in row.changes if one.is_new or not new])
    }


def moved(by: int = 1) -> Made:
    """A summary with one number of people changed, and what follows from it."""
    counts = list(COUNTS)
    counts[2] = (counts[2][0], counts[2][1] + by)
    return Made(counts=counts)


CHANGES = {
    "Silent": (Made(), moved(), ["numbers_changed_silently"]),
    "Renewed": (Made(), replace(moved(), date="2026-05-20"), ["numbers_changed_with_date"]),
    "Date alone": (Made(), Made(date="2026-05-20"), ["date_moved_without_numbers"]),
    "Words": (Made(), Made(words="Historical data of ours."), ["other_words"]),
    "Layout": (Made(), Made(style="<style>p{color:red}</style>"), []),
    "Caption": (Made(), Made(head="Results by race/ethnicity, all positions"), ["other_words"]),
    "Same": (Made(), Made(), []),
    "Replaced": (Made(), None, ["no_longer_readable"]),
    "Tables": (Made(), None, ["no_longer_readable"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "pages"
    made.mkdir()
    return made


@pytest.mark.usefixtures("reading_here")
def test_a_week_of_changes_in_a_folder(folder: Path, tmp_path: Path) -> None:
    for name, (before, _, _) in CHANGES.items():
        (folder / f"{name}.html").write_bytes(before.csv() if name == "Tables" else before.html())
    (folder / "Gone.html").write_bytes(Made().html())
    desk = Desk(tmp_path, folder)
    assert kinds(desk.look()) == {}, "the first look has nothing to compare with"
    for name, (_, after, _) in CHANGES.items():
        (folder / f"{name}.html").write_bytes(b"<html><p>Welcome</p>" if after is None else after.html())
    (folder / "Gone.html").unlink()
    (folder / "New.html").write_bytes(Made().html())
    swept = desk.look()
    expected = {name: found for name, (_, _, found) in CHANGES.items() if found}
    assert kinds(swept) == {**expected, "Gone": ["taken_down"]}
    (silent,) = rows(swept)["Silent"].changes
    assert [(one.row, one.column, one.before, one.now) for one in silent.numbers] == [
        ("Black or African American", "selected", "187", "188"),
        ("Black or African American", "rate", "0.348", "0.349"),
    ]
    assert "still 2026-03-14" in silent.message
    assert silent.before is not None and silent.now is not None
    for one in (silent.before, silent.now):
        assert (tmp_path / "store/_published/desk" / one.key).is_file()
    # A week in which nothing happens has no news, and reads nothing again.
    third = desk.look()
    assert kinds(third) == {}
    assert rows(third)["Gone"].state == "taken down"
    assert rows(third)["Gone"].since == rows(swept)["Gone"].since
    assert desk.said == ["check-corpus: 9 snapshots were read before, and did not change"]
    (folder / "Gone.html").write_bytes(moved().html())
    (folder / "Replaced.html").write_bytes(moved(2).html())
    assert kinds(desk.look()) == {
        "Gone": ["came_back", "numbers_changed_silently"],
        "Replaced": ["readable_again", "numbers_changed_silently"],
    }


@pytest.mark.usefixtures("reading_here")
def test_a_file_with_another_name_was_not_taken_down(folder: Path, tmp_path: Path) -> None:
    (folder / "Acme").mkdir()
    for name in ("Acme/2025.html", "Alone.html"):
        (folder / name).write_bytes(Made().html())
    desk = Desk(tmp_path, folder)
    desk.look()
    (folder / "Acme/2025.html").rename(folder / "Acme/2026.html")
    (folder / "Alone.html").rename(folder / "Somebody else.html")
    swept = desk.look()
    assert kinds(swept) == {"Alone": ["taken_down"]}, "another employer's page is another page"
    assert "Acme/2025.html: is Acme/2026.html now, with the same bytes" in swept.sweep.told
    assert kinds(desk.look()) == {}


@pytest.mark.usefixtures("reading_here")
def test_a_page_without_end_is_bounded(folder: Path, tmp_path: Path) -> None:
    row = b"<tr><td>Male</td><td>10</td><td>5</td><td>50%</td><td>1.00</td></tr>"
    names = ("Sex", "Applicants", "Selected", "Selection rate", "Impact ratio")
    head = f"<table><tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>".encode()
    (folder / "many.html").write_bytes(b"<html>" + head + row * 6000 + b"</table>")
    (folder / "long.html").write_bytes(Made(head="x" * 500_000, words="y" * 500_000).html())
    swept = Desk(tmp_path, folder).look()
    assert "more than 20,000 numbers" in rows(swept)["many"].unchecked
    assert rows(swept)["long"].unchecked == ""
    assert max(len(str(one.as_dict())) for one in swept.facts.values()) < 100_000


@pytest.mark.usefixtures("reading_here")
def test_age(folder: Path, tmp_path: Path) -> None:
    for day in ("2025-05-31", "2025-06-01", "2025-06-05", "2026-06-02"):
        (folder / f"{day}.html").write_bytes(Made(date=day).html())
    desk = Desk(tmp_path, folder)
    assert kinds(desk.look()) == {"2025-05-31": ["over_a_year_old"], "2026-06-02": ["audit_in_the_future"]}
    second = desk.look()
    assert kinds(second) == {"2025-06-01": ["over_a_year_old"], "2025-06-05": ["over_a_year_old"]}
    assert kinds(second, new=False)["2025-05-31"] == ["over_a_year_old"], "it is still so, and no news"
    assert [row.listed.employer for row, _ in news(second.sweep)] == ["2025-06-01", "2025-06-05"]


def test_odd_files_hide_no_other(folder: Path, tmp_path: Path) -> None:
    odd = {
        "empty.pdf": b"",
        "blank.html": b"  \n ",
        "broken.pdf": b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog",
        "zip.docx": b"PK\x03\x04nothing of a package",
        "binary": bytes(range(256)) * 40,
        "no table.html": b"<html><p>We love fairness.</p></html>",
        "half.html": Made().html()[:400],
        "picture.png": b"\x89PNG\r\n\x1a\n broken",
    }
    for name, content in odd.items():
        (folder / name).write_bytes(content)
    (folder / "Good.html").write_bytes(Made().html())
    (folder / "Wrong ending.pdf").write_bytes(Made().html())
    (folder / "Tables.csv").write_bytes(Made().csv())
    (folder / "Küche 厨师.html").write_bytes(Made().html().replace(b"utf-8", b"latin-1"))
    (folder / "utf16.html").write_bytes(Made().html().decode().encode("utf-16"))
    os.mkfifo(folder / "pipe.html")
    (folder / "outside.html").symlink_to("/etc/passwd")
    (folder / "loop.html").symlink_to(folder / "loop.html")
    (folder / ".hidden").write_bytes(b"x")
    os.chmod(folder, 0o755)
    swept = Desk(tmp_path, folder).look()
    found = {row.listed.page: row for row in swept.sweep.pages}
    read = {name for name, row in found.items() if row.state == "seen" and not row.unchecked}
    assert read == {"Good.html", "Wrong ending.pdf", "Tables.csv", "Küche 厨师.html", "utf16.html"}
    assert {name for name, row in found.items() if row.state == "not read"} == {
        "pipe.html", "outside.html", "loop.html",
    }  # fmt: skip
    assert all(row.why or row.unchecked for name, row in found.items() if name not in read)
    assert str(tmp_path) not in "".join(row.unchecked for row in found.values())
    assert any("hidden" in line for line in swept.sweep.told)
    assert "root:" not in str(swept.sweep.as_dict())


def test_a_reader_that_hangs_is_stopped_and_says_nothing_of_the_page(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.html").write_bytes(Made().html())
    (folder / "b.html").write_bytes(Made().html())
    desk = Desk(tmp_path, folder)
    desk.look()
    (folder / "a.html").write_bytes(moved().html())
    with monkeypatch.context() as patch:
        patch.setattr("audit_lib.corpus.sweep._WORKER", "tests.corpus.hanging_worker")
        patch.setattr("audit_lib.worker_processes._START_S", 0.5)
        stopped = desk.look(seconds=1.0)
    assert kinds(stopped) == {}
    assert "took more than 1 s" in rows(stopped)["a"].unchecked
    assert rows(stopped)["b"].unchecked == ""
    assert kinds(desk.look()) == {"a": ["numbers_changed_silently"]}, "compared with the last that was read"


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as made:
        yield made


def listed(folder: Path, site: Site, *paths: str) -> Path:
    lines = ["employer,url,vendor,auditor", *(f"Of {p},{site.url('/' + p)},Acme,Lake" for p in paths)]
    path = folder / "list.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.usefixtures("reading_here")
def test_a_week_of_changes_on_a_server(site: Site, folder: Path, tmp_path: Path) -> None:
    page = Page(Made().html(), headers={"ETag": '"1"', "Content-Type": "text/html"})
    names = ("same", "silent", "gone", "dead", "busy", "led")
    site.pages = {f"/{name}": page for name in names}
    desk = Desk(tmp_path, listed(folder, site, *names, "never"))
    first = desk.look()
    assert rows(first)["Of never"].state == "not reached"
    assert "it was never seen" in rows(first)["Of never"].why
    assert kinds(first) == {"Of never": ["not_reached"]}
    site.pages |= {
        "/silent": Page(moved().html(), headers={"ETag": '"2"'}),
        "/gone": Page(status=404),
        "/dead": Page(status=410),
        "/busy": Page(status=500),
        "/led": Page(status=301, headers={"Location": "/home"}),
        "/home": Page(b"<html><h1>Welcome</h1></html>"),
    }
    site.asked.clear()
    second = desk.look()
    assert kinds(second) == {
        "Of silent": ["numbers_changed_silently"],
        "Of gone": ["taken_down"],
        "Of dead": ["taken_down"],
        "Of busy": ["not_reached"],
        "Of led": ["no_longer_readable", "leads_elsewhere"],
    }
    assert rows(second)["Of same"].why == "not changed, as its server says"
    assert [one.headers.get("If-None-Match") for one in site.asked if one.path == "/same"] == ['"1"']
    assert site.paths().count("/robots.txt") == 1
    third = desk.look()
    assert kinds(third) == {}
    assert rows(third)["Of gone"].state == "taken down"
    assert rows(third)["Of gone"].snapshot == rows(first)["Of gone"].snapshot
    # Nobody's word that nothing changed is taken for longer than four weeks.
    desk.week += 3
    site.asked.clear()
    desk.look()
    assert [one.headers.get("If-None-Match") for one in site.asked if one.path == "/same"] == [None]


@pytest.mark.usefixtures("reading_here")
def test_a_host_that_does_not_answer_has_taken_nothing_down(folder: Path, tmp_path: Path) -> None:
    with web_site() as site:
        site.pages["/a"] = Page(Made().html())
        desk = Desk(tmp_path, listed(folder, site, "a"))
        desk.look()
    swept = desk.look()
    (row,) = swept.sweep.pages
    assert row.state == "not reached"
    assert kinds(swept) == {"Of a": ["not_reached"]}
    assert news(swept.sweep) == [], "that a host does not answer is no change of a page"
    assert row.snapshot is not None


@pytest.mark.usefixtures("reading_here")
def test_one_page_of_several_employers_is_asked_for_once(site: Site, folder: Path, tmp_path: Path) -> None:
    site.pages["/vendor"] = Page(Made().html())
    url = site.url("/vendor")
    (folder / "list.csv").write_text(
        f"\ufeffEmployer;URL\nA;{url}\nB;{url}#part\nA;{url}\n;{url}\nC;ftp://x/y\nD;\n", encoding="utf-8"
    )
    swept = Desk(tmp_path, folder / "list.csv").look()
    assert site.paths() == ["/robots.txt", "/vendor"]
    assert [(row.listed.employer, row.state) for row in swept.sweep.pages] == [
        ("A", "seen"), ("B", "seen"), ("(no name)", "not read"), ("C", "not read"), ("D", "not read"),
    ]  # fmt: skip
    assert swept.sweep.told[0] == f"row 4: A, {url}: listed before; looked at once"
    (shared,) = swept.sweep.shared
    assert shared.same_bytes and [one.employer for one in shared.pages] == ["A", "B"]
    text = summary_text(swept.sweep)
    assert "names no employer" in text and "not an address of a web page" in text


@pytest.mark.usefixtures("reading_here")
def test_a_list_that_changes(site: Site, folder: Path, tmp_path: Path) -> None:
    site.pages = {"/a": Page(Made().html()), "/b": Page(Made().html())}
    desk = Desk(tmp_path, listed(folder, site, "a", "b"))
    desk.look()
    site.pages["/a"] = Page(moved().html())
    desk.source.write_text(f"employer,url,vendor\nNew name of A,{site.url('/a')},Other vendor\n")
    swept = desk.look()
    assert kinds(swept) == {"New name of A": ["numbers_changed_silently"]}, "the address is what it was"
    assert any("listed before, and not any more" in line for line in swept.sweep.told)


@pytest.mark.usefixtures("reading_here")
def test_a_store_that_was_changed_is_found(folder: Path, tmp_path: Path) -> None:
    (folder / "a.html").write_bytes(Made().html())
    desk = Desk(tmp_path, folder)
    first = desk.look()
    kept = tmp_path / "store/_published/desk"
    snapshot = first.sweep.pages[0].snapshot
    assert snapshot is not None
    os.chmod(kept / snapshot.key, 0o644)
    (kept / snapshot.key).write_bytes(moved().html())
    for derived in kept.glob("checks/*/*.json"):
        derived.unlink()
    (folder / "a.html").write_bytes(moved(3).html())
    swept = desk.look()
    before = swept.facts[snapshot.sha256]
    assert "its digest differs" in before.unchecked and before.stopped
    assert kinds(swept) == {}, "what is not what was kept is compared with nothing"


@pytest.mark.usefixtures("reading_here")
def test_as_of_is_the_day_asked(folder: Path, tmp_path: Path) -> None:
    (folder / "a.html").write_bytes(Made().html())
    options = SweepOptions(policy="nyc_ll144", as_of=date(2028, 1, 1), processes=1)
    kept = KeptSweeps(str(tmp_path / "store"), "x", print)
    swept = sweep_pages(read_corpus(str(folder)), kept, options, MONDAY, print)
    assert kinds(swept) == {"a": ["over_a_year_old"]}


@pytest.mark.usefixtures("reading_here")
def test_a_bucket_keeps_what_a_folder_keeps(s3: str, site: Site, folder: Path, tmp_path: Path) -> None:
    site.pages = {"/a": Page(Made().html(), headers={"ETag": '"1"'}), "/b": Page(Made().html())}
    desk = Desk(tmp_path, listed(folder, site, "a", "b"), s3)
    first = desk.look()
    site.pages["/b"] = Page(moved().html())
    second = desk.look()
    assert kinds(second) == {"Of b": ["numbers_changed_silently"]}
    assert rows(second)["Of a"].why == "not changed, as its server says"
    kept = KeptSweeps(s3, "desk", print)
    for row in (*first.sweep.pages, *second.sweep.pages):
        assert row.snapshot is not None
        content = kept.store.get(row.snapshot.key)
        assert hashlib.sha256(content).hexdigest() == row.snapshot.sha256
    latest = kept.latest()
    assert latest == second.sweep, "what is written down is what is read"
