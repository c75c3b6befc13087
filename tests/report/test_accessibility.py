"""The page against WCAG 2.2 AA, by axe-core in a real browser: phone, tablet and desktop, light and dark."""

from __future__ import annotations

import importlib.util
import json
import shutil
from html import unescape
from pathlib import Path

import pytest

from audit_lib.report import EarlierAudit, report
from audit_lib.run import Run
from tests.report.browser import CHROMIUM, dump
from tests.report.runs import made
from tests.report.test_use import ANSWERS, USE

AXE = importlib.util.find_spec("axe_playwright_python")
WIDTHS = (390, 768, 1440)
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PROBE = """<script src="axe.min.js"></script><script>
document.querySelectorAll('details').forEach(d => { d.open = true });
axe.run(document, {runOnly: {type: 'tag', values: %s}, resultTypes: ['violations']}).then(found => {
  const said = found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html, v.nodes[0].failureSummary]);
  parent.postMessage([innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, found.passes.length, said], '*');
});
</script></body>"""
FRAMES = """<!doctype html><meta charset=utf-8><body>%s<p id="out">[]</p><script>
const all = [];
onmessage = e => { all.push(e.data); document.getElementById('out').textContent = JSON.stringify(all) };
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.skipif(AXE is None, reason="axe-core is not installed (the extra `dev` has it)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(run: Run, earlier: tuple[EarlierAudit, ...], tmp_path: Path, dark: bool) -> None:
    assert_accessible(report(run, earlier).artefacts["report.html"].decode(), tmp_path, dark)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.skipif(AXE is None, reason="axe-core is not installed (the extra `dev` has it)")
def test_nor_on_a_page_with_facts_of_the_use_and_verdicts(tmp_path: Path) -> None:
    sections = {"groups": {"provenance": "self_reported"}, "report": {"policy": "us_ugesp"}}
    audit = made(tmp_path, **sections, use=USE, framework=ANSWERS)
    page = audit.stage("report").read("report.html").decode()
    assert all(f'id="{name}"' in page for name in ("periods", "framework")) and "all tests" in page
    assert_accessible(page, tmp_path, dark=True)


def assert_accessible(html: str, tmp_path: Path, dark: bool) -> None:
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


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.skipif(AXE is None, reason="axe-core is not installed (the extra `dev` has it)")
def test_axe_would_find_a_fault(tmp_path: Path) -> None:
    assert AXE is not None and AXE.origin is not None
    shutil.copy(Path(AXE.origin).parent / "axe.min.js", tmp_path)
    bad = "<!doctype html><html><body><p style='color:#ccc;background:#fff'>faint</p><img src='x'></body></html>"
    (tmp_path / "report.html").write_text(bad.replace("</body>", PROBE % json.dumps(TAGS)), encoding="utf-8")
    (tmp_path / "frames.html").write_text(
        FRAMES % '<iframe title="1" src="report.html"></iframe>', encoding="utf-8"
    )
    dom = dump(tmp_path / "frames.html")
    ((_, _, _, faults),) = json.loads(unescape(dom.split('<p id="out">')[1].split("</p>")[0]))
    assert {"color-contrast", "image-alt", "html-has-lang"} <= {fault[0] for fault in faults}
