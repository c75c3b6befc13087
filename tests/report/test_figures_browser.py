"""The figures in a real browser, with its own fonts: no label lies on another or outside its figure."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from audit_lib.figures import figure_style
from tests.report.figure_cases import CASES

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
PROBE = """<script>
const bad = [];
for (const svg of document.querySelectorAll('svg')) {
  const seen = [], [, , w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
  for (const text of svg.querySelectorAll('text')) {
    const b = text.getBBox(), box = [b.x, b.y + 2, b.x + b.width, b.y + b.height - 2];
    if (box[0] < -1 || box[2] > w + 1 || box[3] > h) bad.push('outside: ' + text.textContent);
    for (const [other, o] of seen)
      if (box[0] < o[2] - 1 && o[0] < box[2] - 1 && box[1] < o[3] - 1 && o[1] < box[3] - 1)
        bad.push(text.textContent + ' on ' + other);
    seen.push([text.textContent, box]);
  }
}
document.body.insertAdjacentHTML('beforeend', '<p id="out"></p>');
document.getElementById('out').textContent =
  document.querySelectorAll('svg text').length + ' texts; ' + bad.join('; ');
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [360, 760])
def test_labels_do_not_overlap_where_they_are_shown(tmp_path: Path, width: int) -> None:
    style = files("audit_lib.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    drawn = "".join(f'<div style="width:{width}px">{draw(width=width)}</div>' for draw in CASES.values())
    page = tmp_path / "figures.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{style}{figure_style()}</style><body>{drawn}{PROBE}",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=800,1000",
         "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    texts, _, bad = done.stdout.rpartition('<p id="out">')[2].split("</p>")[0].partition(";")
    assert int(texts.split()[0]) > 200, "the figures were shown"
    assert not bad.strip()
