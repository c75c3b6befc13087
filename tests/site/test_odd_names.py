"""Titles, names and remarks that try to be more than text: nothing of them is, in any output."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from audit_lib.check.document_reader import read_document
from audit_lib.check.pdf_tables import _name_encodings
from audit_lib.plain_text import quoted
from audit_lib.report import pdf
from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.site import publish
from tests.archive.cases import applicants, do, new_run
from tests.site.test_site import AT

TEXT = """<script>alert(1)</script> & "quo'tes" K\u00f6chin \u53a8\u5e08 {{ 7*7 }} ]]> --> %s"""
CONTROLS = "\x0b\x1b\u202e"
POSITIONS = (
    "=cmd|'/c calc'!A1",
    '<b onload="x()">K\u00f6chin</b> & "\u53a8\u5e08"',
    "P" * 300,
    "+1-2",
    "@sum(a1)",
)
BASE = "https://audits.example.org/"


class Page(HTMLParser):
    """Tags, attributes and text, as a browser takes them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    return published(tmp_path_factory.mktemp("odd"))


def published(folder: Path, *formats: str) -> tuple[Path, Run]:
    rows = applicants(120)
    for number, row in enumerate(rows):
        row["position"] = POSITIONS[number % len(POSITIONS)]
    run = new_run(
        folder,
        str(folder / "store"),
        rows=rows,
        title=TEXT + CONTROLS + "x" * 400,
        description=TEXT,
        source={"reason": f"={TEXT}"},
        measure={"metrics": ["impact_ratio"], "strata": [[], ["position"]]},
        report={"tool": TEXT, "auditor": TEXT, "formats": list(formats)},
    )
    do(run, until="evidence")
    generate_key(folder / "a.key")
    who = AuditorAnswers(
        auditor=f"Ada {TEXT}",
        organisation=f"=1+1 {TEXT}",
        attested=tuple(attestations(run)),
        remarks=f"=HYPERLINK(1)\n</p>{TEXT}",
    )
    sign_off(run, who, load_private_key(folder / "a.key"), at=AT)
    publish(str(folder / "store"), base=BASE)
    return folder / "store" / "site", run


def test_no_page_takes_them_for_markup(site: tuple[Path, Run]) -> None:
    root, _ = site
    pages = {
        path.relative_to(root).as_posix(): Page(path.read_text("utf-8")) for path in root.rglob("*.html")
    }
    assert len(pages) >= 6
    for name, page in pages.items():
        assert not {"script", "b", "iframe", "object"} & set(page.tags), name
        assert not [key for key, _ in page.attributes if key.startswith("on")], name
        assert not set(CONTROLS) & set(page.words), name
        untitled = name == "all-audits/attention.html" or name.endswith("/card.html")
        assert TEXT in page.words or untitled, name  # nothing needs attention; a card names the tool
        for key, value in page.attributes:
            assert key != "href" or not str(value).lower().startswith(("javascript:", "data:")), name
    report = next(page for name, page in pages.items() if name.endswith("latest/report.html"))
    assert all(position in report.words for position in POSITIONS)
    assert f"Ada {TEXT}" in report.words and f"</p>{TEXT}" in report.words


def test_no_cell_is_a_formula(site: tuple[Path, Run]) -> None:
    root, _ = site
    cells = 0
    for path in root.rglob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text("utf-8"))):
            for cell in row:
                cells += 1
                if cell[:1] in "=+-@\t\r" and cell:
                    float(cell)  # a number
    assert cells > 100
    table = (root / "small" / "latest" / "tables.csv").read_text("utf-8")
    assert all(f"position={position}" in table.replace('""', '"') for position in POSITIONS[:2])


def test_feeds_can_be_read_and_say_them_as_they_are(site: tuple[Path, Run]) -> None:
    root, run = site
    atom = ET.parse(root / "feed.atom").getroot()
    name = "{http://www.w3.org/2005/Atom}"
    (entry,) = atom.findall(f"{name}entry")
    assert str(entry.findtext(f"{name}title")).startswith(TEXT + "\N{REPLACEMENT CHARACTER}" * 3)
    assert f"signed by {quoted(f'Ada {TEXT}')} on " in str(entry.findtext(f"{name}summary"))
    (item,) = json.loads((root / "feed.json").read_bytes())["items"]
    assert item["title"].startswith(run.spec.title)
    assert item["_audit"]["signatures"][0]["auditor"] == f"Ada {TEXT}"
    addresses = [str(node.text) for node in ET.parse(root / "sitemap.xml").iter() if "loc" in node.tag]
    assert addresses and all(address.startswith(BASE) for address in addresses)


@pytest.mark.slow  # sets the pages of the sealed run and of the signed one
@pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
def test_the_pdf_holds_them_as_text(tmp_path: Path) -> None:
    pdfplumber = pytest.importorskip("pdfplumber", reason="reads the PDF")
    root, _ = published(tmp_path, "pdf")
    path = root / "small" / "latest" / "report.pdf"
    assert b"/JavaScript" not in path.read_bytes()
    words = read_document(path).text.replace("\n", " ")
    assert "<script>alert(1)</script> &" in words and "=cmd|" in words
    with pdfplumber.open(path) as document:
        _name_encodings(document.doc)  # a machine's fonts may lack letters
        for note in document.annots:
            assert not str(note.get("uri") or "").startswith("javascript")
        for page in document.pages:
            assert max((char["x1"] for char in page.chars), default=0) <= page.width - 36, "off the paper"
