"""The page in a real browser: nothing sticks out of a phone's screen, nothing is logged as an error."""

from __future__ import annotations

import json
import shutil
import subprocess
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from audit_lib.report.html import render_html
from audit_lib.report.page import page_in
from audit_lib.run import Run
from benchmarks.page_length import screens
from tests.archive.cases import do, new_run
from tests.report.readings_cases import one_position, reported, signed
from tests.report.runs import made

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 768, 1440])
@pytest.mark.parametrize("odd", [False, True], ids=["plain", "long names"])
def test_nothing_is_wider_than_the_screen(run: Run, tmp_path: Path, width: int, odd: bool) -> None:
    if odd:
        run = made(tmp_path, title="x" * 400, source={"reason": "y" * 400}, report={"tool": "z" * 400})
    page = tmp_path / "report.html"
    probe = "<script>document.title = document.documentElement.scrollWidth + ' ' + innerWidth</script></body>"
    page.write_text(
        run.stage("report").read("report.html").decode().replace("</body>", probe), encoding="utf-8"
    )
    # Headless windows are at least 500 pixels wide, so the phone is a frame of its width.
    frame = tmp_path / "frame.html"
    frame.write_text(
        f"<iframe src='report.html' style='width:{width}px;height:900px;border:0' id='f'></iframe><script>"
        "onload = () => { const d = f.contentDocument; document.title = 'ready'; document.body.insertAdjacentHTML("
        "'beforeend', `<p id=out>${d.documentElement.scrollWidth} ${f.clientWidth}</p>`) }</script>",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
         f"--window-size={max(width, 500)},1000", "--virtual-time-budget=5000", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    content, screen = done.stdout.split('<p id="out">')[1].split("</p>")[0].split()
    assert int(content) <= int(screen) == width


WIDER = """<!doctype html><script>
onload = () => setTimeout(() => {
  const wide = [];
  for (const f of document.querySelectorAll("iframe")) {
    const d = f.contentDocument;
    d.querySelectorAll("details").forEach(one => one.open = true);
    if (d.documentElement.scrollWidth > f.clientWidth) wide.push([f.width, f.title, "page"]);
    for (const t of d.querySelectorAll("table"))
      if (t.getBoundingClientRect().width > t.parentElement.clientWidth + 1)
        wide.push([f.width, f.title, t.caption.innerText]);
  }
  const n = [...document.querySelectorAll("iframe")].map(f => f.contentDocument.querySelectorAll("table").length);
  document.body.insertAdjacentHTML("beforeend", `<p id=out>${JSON.stringify([Math.min(...n), wide])}</p>`);
}, 500)</script><body>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("language", ["en", "es"])
def test_no_table_is_cut_off_at_any_width(language: str, tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store"), report={"tool": "Ranks applications."}))
    assert (
        main(["report", run.uri, "--format", "html", "--language", language, "--out", str(tmp_path / "o")])
        == 0
    )
    pages = sorted((tmp_path / "o").glob("*.html"))
    assert len(pages) == 3
    frame = tmp_path / "o" / "frames.html"
    frame.write_text(
        WIDER
        + "".join(
            f'<iframe src="{page.name}" title="{page.name}" width="{width}" height="900" style="border:0"></iframe>'
            for page in pages
            if "applicant" not in page.name  # it has no table
            for width in (360, 390, 481, 500, 600, 641, 700, 768, 1025, 1200, 1440)
        ),
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
         "--window-size=1500,1000", "--virtual-time-budget=9000", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    tables, wide = json.loads(unescape(done.stdout.split('<p id="out">')[1].split("</p>")[0]))
    assert tables >= 2 and wide == []


def _stands_over(number: dict[str, Any], note: dict[str, Any]) -> bool:
    """Whether a number is in the line above a note, in the same column."""
    return (
        number["page"] == note["page"]
        and 0 < note["top"] - number["top"] < 20
        and number["x0"] < note["x1"] + 30
        and note["x0"] - 30 < number["x1"]
    )


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_on_paper_a_note_is_smaller_than_the_number_it_stands_under(run: Run, tmp_path: Path) -> None:
    pdfplumber = pytest.importorskip("pdfplumber", reason="reads what was printed")
    page, printed = tmp_path / "report.html", tmp_path / "printed.pdf"
    page.write_bytes(run.stage("report").read("report.html"))
    subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer",
         f"--print-to-pdf={printed}", page.as_uri()],
        capture_output=True, timeout=240, check=True,
    )  # fmt: skip
    with pdfplumber.open(printed) as document:
        words = [
            w | {"page": page.page_number}
            for page in document.pages
            for w in page.extract_words(extra_attrs=["size"])
        ]
    notes = [
        a | {"number": above[-1]}
        for a, b in pairwise(words)
        if (a["text"], b["text"]) == ("highest", "rate")
        and a["top"] == b["top"]
        and (above := [w for w in words if w["text"] == "1.000" and _stands_over(w, a)])
    ]
    assert notes
    assert all(note["size"] < note["number"]["size"] for note in notes)
    assert min(note["size"] for note in notes) > 6, "and can be read"


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_rate_and_ratio_of_every_row_are_on_the_screen(tmp_path: Path, width: int) -> None:
    run = made(tmp_path, n=640, groups={"provenance": "self_reported"})
    (tmp_path / "report.html").write_bytes(run.stage("report").read("report.html"))
    frame = tmp_path / "frame.html"
    frame.write_text(
        f"<iframe src='report.html' style='width:{width}px;height:900px;border:0' id='f'></iframe><script>"
        "onload = () => { const d = f.contentDocument;"
        "const tables = '#selection > .table tbody tr, #scoring > .table tbody tr';"
        f"const rows = [...d.querySelectorAll({width} < 640 ? 'tbody tr' : tables)];"
        "const ends = rows.map(r => r.lastElementChild.getBoundingClientRect().right);"
        "document.body.insertAdjacentHTML('beforeend', `<p id=out>${rows.length} ${Math.max(...ends)}</p>`) }</script>",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
         f"--window-size={max(width, 500)},1000", "--virtual-time-budget=5000", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    rows, end = done.stdout.split('<p id="out">')[1].split("</p>")[0].split()
    assert int(rows) > 20 and float(end) <= width


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("language", ["en", "es"])
def test_the_verdict_is_one_screen_and_the_first_table_begins_on_the_second_of_a_phone(
    language: str, tmp_path: Path
) -> None:
    page, _ = page_in(language, signed(reported(one_position(tmp_path))))
    (tmp_path / "report.html").write_bytes(render_html(page))
    phone, desk = screens(tmp_path / "report.html").values()
    assert phone["first table at"] < 2 and desk["verdict ends at"] < 1.05
