"""What is handed on: nothing of a list or a page becomes markup, a formula, a command to a terminal, or a path."""

from __future__ import annotations

import csv
import io
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.corpus.sweep import SweptPages
from audit_lib.corpus.sweep_files import sweep_files
from audit_lib.corpus.text_summary import summary_text
from tests.corpus.summaries import Made
from tests.corpus.test_sweep import Desk, moved
from tests.report.axe import assert_accessible, needs_axe

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
FORMULA = '=HYPERLINK("http://evil.example","x")'


@pytest.fixture
def swept(tmp_path: Path, reading_here: None) -> SweptPages:
    """Two sweeps of a list with names that mean harm, of which the second has news."""
    folder = tmp_path / "pages"
    folder.mkdir()
    evil = Made(words=f"{EVIL} <b>no bias was found</b>", head=f"Sales {FORMULA}")
    names = ["a.html", "b.html", "c.html", "d.html", "e.html"]
    for name in names:
        (folder / name).write_bytes(evil.html())
    rows = [
        (EVIL, "a.html", FORMULA, "@SUM(A1)"),
        (FORMULA, "b.html", "-2+3", "+1"),
        ("\u202eevil", "c.html", "", ""),
        ("Zoë 厨师", "d.html", "Acme, Inc.", "Blue; Lake"),
        ("Up", "../../../etc/passwd", "", ""),
        ("Root", "/etc/passwd", "", ""),
        ("Windows", "C:\\windows\\win.ini", "", ""),
        ("Plain", "e.html", "Acme, Inc.", "Blue; Lake"),
        ("Gone", "f.html", "", ""),
    ]
    made = io.StringIO()
    csv.writer(made).writerows([("employer", "file", "vendor", "auditor"), *rows])
    (folder / "list.csv").write_text(made.getvalue(), encoding="utf-8")
    desk = Desk(tmp_path, folder / "list.csv")
    desk.look()
    (folder / "e.html").write_bytes(moved().html())
    (folder / "d.html").unlink()
    return desk.look()


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_page_of_text_alone(swept: SweptPages) -> None:
    page = sweep_files(swept, "store")["index.html"].decode()
    read = Elements()
    read.feed(page)
    tags = [tag for tag, _ in read.found]
    assert tags.count("script") == 1
    assert {"img", "iframe", "object", "b", "link"}.isdisjoint(tags)
    assert not any(name.startswith("on") for _, attributes in read.found for name in attributes)
    assert "\u202e" not in page
    policy = next(a["content"] for tag, a in read.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and "default-src 'none'" in policy
    for tag in ("script", "style"):
        (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)
        assert f"'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" in policy
    assert EVIL.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;") in page, (
        "it is there, as text"
    )


def test_tables_run_nothing(swept: SweptPages) -> None:
    for name, content in sweep_files(swept, "store").items():
        if not name.endswith(".csv"):
            continue
        rows = list(csv.reader(io.StringIO(content.decode())))
        assert len({len(row) for row in rows}) == 1
        for cell in (cell for row in rows[1:] for cell in row):
            assert not cell.startswith(("=", "@", "\t", "\r")), (name, cell)
            assert not cell.startswith(("+", "-")) or re.fullmatch(r"[+-]\d+(\.\d+)?", cell), (name, cell)


def test_nothing_outside_of_the_folder_is_read(swept: SweptPages) -> None:
    found = {row.listed.employer: row for row in swept.sweep.pages}
    assert {found[name].state for name in ("Up", "Root", "Windows")} == {"not read"}
    assert "outside of the folder" in found["Up"].why
    assert "below the folder of the list" in found["Root"].why


def test_a_terminal_is_not_steered(swept: SweptPages) -> None:
    assert all(char.isprintable() or char == "\n" for char in summary_text(swept.sweep).replace("\ufffd", ""))


def test_every_finding_has_its_evidence(swept: SweptPages, tmp_path: Path) -> None:
    files = sweep_files(swept, "store")
    store = tmp_path / "store/_published/desk"
    known = {one.name: sha256(one.read_bytes()).hexdigest() for one in store.glob("snapshots/*")}
    findings = list(csv.DictReader(io.StringIO(files["findings.csv"].decode())))
    changes = list(csv.DictReader(io.StringIO(files["changes.csv"].decode())))
    assert findings and changes
    for line in findings:
        assert known[line["sha256"]] == line["sha256"] and line["snapshot"] == f"snapshots/{line['sha256']}"
    assert {line["kind"] for line in changes} == {"taken_down", "numbers_changed_silently"}
    for line in changes:
        assert line["sha256_before"] in known
        assert line["kind"] == "taken_down" or line["sha256"] in known
    written = json.loads(files["sweep.json"])
    assert written["schema"] == "audit-page-sweep/1" and len(written["pages"]) == 9


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], reading_here: None) -> None:
    folder = tmp_path / "pages"
    (folder / "Acme").mkdir(parents=True)
    (folder / "Acme" / "a.html").write_bytes(Made().html())
    command = ["check-corpus", str(folder), "--store", str(tmp_path / "s"), "--out", str(tmp_path / "out")]
    assert main([*command, "--as-of", "2026-06-01"]) == 1, "its tables by sex are missing"
    assert "The first look" in capsys.readouterr().out
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "changes.csv", "findings.csv", "groups.csv", "index.html", "pages.csv", "shared_counts.csv", "sweep.json",
    ]  # fmt: skip
    (folder / "Acme" / "a.html").write_bytes(b"")
    for derived in (tmp_path / "s").glob("_published/*/sweeps"):
        derived.rename(derived.with_name("earlier"))
    assert main([*command, "--format", "json"]) == 2, "nothing is known of the only page"
    assert json.loads(capsys.readouterr().out)["pages"][0]["unchecked"]
    for source, said in [
        (tmp_path / "nowhere", "is neither a folder of saved pages nor a list"),
        (tmp_path / "out" / "sweep.json", "its first row names the columns"),
    ]:
        assert main(["check-corpus", str(source), "--store", str(tmp_path / "s")]) == 2
        assert said in capsys.readouterr().err
    assert main(["check-corpus", str(folder), "--name", "../up", "--store", str(tmp_path / "s")]) == 2


@pytest.mark.slow  # a browser
@needs_axe
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(swept: SweptPages, tmp_path: Path, dark: bool) -> None:
    page = sweep_files(swept, "store")["index.html"].decode()
    # axe is a script of the test's own, which the page's policy rightly refuses.
    assert_accessible(re.sub(r"<meta http-equiv[^>]*>", "", page), tmp_path, dark)
