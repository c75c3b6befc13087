"""axe-core over a page, in a real browser: phone, tablet and desktop."""

from __future__ import annotations

import importlib.util
import json
import shutil
from html import unescape
from pathlib import Path

import pytest

from tests.report.browser import CHROMIUM, dump

AXE = importlib.util.find_spec("axe_playwright_python")
WIDTHS = (390, 768, 1440)
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PROBE = """<script src="axe.min.js"></script><script>
document.querySelectorAll('details').forEach(d => { d.open = true });
axe.run(document, {runOnly: {type: 'tag', values: %s}, resultTypes: ['violations', 'incomplete']}).then(found => {
  // A contrast that cannot be computed is a fault here too.
  const unsure = found.incomplete.filter(v => v.id === 'color-contrast');
  const faults = [...found.violations, ...unsure];
  const said = faults.map(v => [v.id, v.nodes.length, v.nodes[0].html, v.nodes[0].failureSummary]);
  parent.postMessage([innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, found.passes.length, said], '*');
});
</script></body>"""
FRAMES = """<!doctype html><meta charset=utf-8><body>%s<p id="out">[]</p><script>
const all = [];
onmessage = e => { all.push(e.data); document.getElementById('out').textContent = JSON.stringify(all) };
</script>"""

needs_axe = pytest.mark.skipif(
    CHROMIUM is None or AXE is None, reason="needs Chromium, and axe-core (the extra `dev` has it)"
)


def assert_accessible(html: str, tmp_path: Path, dark: bool) -> None:
    """Fail with what axe-core finds at any of the widths."""
    assert AXE is not None and AXE.origin is not None
    shutil.copy(Path(AXE.origin).parent / "axe.min.js", tmp_path)
    (tmp_path / "report.html").write_text(html.replace("</body>", PROBE % json.dumps(TAGS)), encoding="utf-8")
    frames = "".join(
        f'<iframe title="{w}" src="report.html" style="width:{w}px;height:900px;border:0"></iframe>'
        for w in WIDTHS
    )
    (tmp_path / "frames.html").write_text(FRAMES % frames, encoding="utf-8")
    dom = dump(tmp_path / "frames.html", width=1440, dark=dark)
    results = json.loads(unescape(dom.split('<p id="out">')[1].split("</p>")[0]))
    assert sorted(width for width, *_ in results) == list(WIDTHS), "every width answered"
    assert all(is_dark is dark for _, is_dark, *_ in results), "the colour scheme is the one asked for"
    assert all(passes > 20 for _, _, passes, _ in results), "the rules ran"
    assert [(width, fault) for width, _, _, faults in results for fault in faults] == []
