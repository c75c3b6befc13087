"""How long a report is to read: words, screens and PDF pages, half-empty ones among them, of two fixed runs.

    python -m benchmarks.page_length                 the demo, and 14 groups in 3 positions
    python -m benchmarks.page_length --keep FOLDER   and leave the pages there, to be looked at

Screens are those of Chromium, with what is folded left folded: 390 x 844 and 1440 x 900. Words are those of the page
without its style sheet, of a chart once. A PDF page is half empty where no text, that of charts included, stands on its
lower half, the last page aside; a heading is alone where it is the last line of its page. Needs Chromium, and the
extras `pdf` and `dev`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from audit_lib import pipeline
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.pdf import render_pdf
from audit_lib.run import Run
from audit_lib.starter import SPEC_NAME, write_starter
from audit_lib.window import Window
from benchmarks.report import large_run

SCREENS: Final = ((390, 844), (1440, 900))
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--allow-file-access-from-files",
)  # fmt: skip
_FRAMES = """<!doctype html><meta charset=utf-8><body>%s<p id="out"></p><script>
onload = () => {
  document.getElementById('out').textContent = JSON.stringify([...document.querySelectorAll('iframe')].map(f => {
    const d = f.contentDocument, box = e => e ? e.getBoundingClientRect() : null, top = e => e ? box(e).top : null;
    const first = d.querySelector('main section');
    const wide = [...d.querySelectorAll('table')].filter(t => t.offsetParent && t.scrollWidth > f.clientWidth - 16);
    return {height: d.documentElement.scrollHeight, width: d.documentElement.scrollWidth,
      verdict: box(first).bottom, table: top(d.querySelector('#selection table, #scoring table')),
      sideways: wide.length};
  }));
};
</script>"""
_PAPER_EDGE: Final = 60
"""Points at the foot of a page that hold its number."""


def demo_run(folder: Path) -> Run:
    """Make the demo that `audit init` writes, up to its metrics."""
    write_starter(folder)
    return _measured(
        pipeline.open_run(folder / SPEC_NAME, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    )


def _measured(run: Run) -> Run:
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics"):
        pipeline.run_stage(run, name)
    return run


def fourteen_groups(folder: Path) -> Run:
    """Make a run of 14 groups in 3 positions with every metric, up to its metrics."""
    return large_run(folder, positions=3, all_metrics=True)


RUNS: Final[dict[str, Callable[[Path], Run]]] = {
    "demo": demo_run,
    "14 groups in 3 positions": fourteen_groups,
}


@dataclass(frozen=True, slots=True)
class Length:
    """What one page takes."""

    words: int
    unfolded: int
    screens: dict[str, dict[str, Any]]
    pdf_pages: int
    half_empty: int
    lone_headings: int


class _Words(HTMLParser):
    """The words of a page, and of these the ones that nothing folds away."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []
        self.seen: list[str] = []
        self._skipped: list[str] = []
        self._folds = 0
        self._summary = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped:
            self._skipped += [tag] if tag == self._skipped[0] else []
        elif tag in ("style", "desc") or (tag == "div" and ("class", "narrow") in attrs):
            self._skipped.append(tag)
        self._folds += tag == "details" and ("open", None) not in attrs
        self._summary = self._summary or tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and tag == self._skipped[0]:
            self._skipped.pop()
        self._folds -= tag == "details" and self._folds > 0
        self._summary = self._summary and tag != "summary"

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            words = re.findall(r"\S*\w\S*", data)
            self.all += words
            self.seen += words if not self._folds or (self._summary and self._folds == 1) else []


def length_of(html: bytes, pdf: bytes, folder: Path) -> Length:
    """Measure a page; `folder` gets it as ``report.html`` and ``report.pdf``."""
    (folder / "report.html").write_bytes(html)
    (folder / "report.pdf").write_bytes(pdf)
    words = _Words()
    words.feed(html.decode())
    pages = list(_paper(folder / "report.pdf"))
    return Length(
        words=len(words.all),
        unfolded=len(words.seen),
        screens=screens(folder / "report.html"),
        pdf_pages=len(pages),
        half_empty=sum(half for half, _ in pages[:-1]),
        lone_headings=sum(alone for _, alone in pages),
    )


def screens(page: Path) -> dict[str, dict[str, Any]]:
    """Measure a page in a browser: its height in screens, where its verdict ends and its first table begins."""
    frames = "".join(
        f'<iframe title="{width}" src="{page.name}" style="width:{width}px;height:{height}px;border:0"></iframe>'
        for width, height in SCREENS
    )
    outer = page.parent / "frames.html"
    outer.write_text(_FRAMES % frames, encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [str(_CHROMIUM), *_FLAGS, f"--user-data-dir={profile}", "--window-size=1500,1900",
             "--virtual-time-budget=30000", "--dump-dom", outer.as_uri()],
            capture_output=True, text=True, timeout=240, check=True,
        )  # fmt: skip
    outer.unlink()
    found = json.loads(unescape(done.stdout.split('<p id="out">')[1].split("</p>")[0]))
    return {
        f"{width} x {height}": {
            "screens": one["height"] / height,
            "verdict ends at": one["verdict"] / height,
            "first table at": None if one["table"] is None else one["table"] / height,
            "tables wider than the screen": one["sideways"],
        }
        for (width, height), one in zip(SCREENS, found, strict=True)
    }


def _paper(path: Path) -> Iterator[tuple[bool, bool]]:
    """Yield of each page whether it is half empty, and whether it ends with a heading."""
    import pdfplumber

    with pdfplumber.open(path) as document:
        for page in document.pages:
            foot = page.height - _PAPER_EDGE
            lines = [one for one in page.extract_text_lines(return_chars=True) if one["bottom"] < foot]
            last = max(lines, key=lambda one: float(one["bottom"]), default=None)
            if last is None:
                yield True, False
            else:
                yield last["bottom"] < page.height / 2, _is_heading(last["chars"])


def _is_heading(chars: list[dict[str, Any]]) -> bool:
    return all("Bold" in char["fontname"] and char["size"] > 8.5 for char in chars if char["text"].strip())


@contextmanager
def _folder(keep: str | None, name: str) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    folder = Path(keep) / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def main() -> None:
    """Make the runs, render them, and print a line a figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--keep", help="a folder for the pages")
    keep = parser.parse_args().keep
    for name, make in RUNS.items():
        with _folder(keep, name) as folder, tempfile.TemporaryDirectory() as made:
            page = make_page(gather(make(Path(made))))
            found = length_of(render_html(page), render_pdf(page), folder)
        print(f"{name}: {found.words:,} words, {found.unfolded:,} of them not folded")
        print(
            f"  PDF: {found.pdf_pages} pages, {found.half_empty} half empty, {found.lone_headings} end with a heading"
        )
        for screen, one in found.screens.items():
            print(f"  {screen}: " + ", ".join(f"{what} {_printed(n)}" for what, n in one.items()))


def _printed(value: float | int | None) -> str:
    return "none" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
