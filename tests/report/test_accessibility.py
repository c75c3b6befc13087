"""The page against WCAG 2.2 AA, by axe-core in a real browser: phone, tablet and desktop, light and dark."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest

from audit_lib.report import EarlierAudit, report
from audit_lib.run import Run
from tests.report.axe import AXE, FRAMES, PROBE, TAGS, assert_accessible, needs_axe
from tests.report.browser import dump
from tests.report.runs import made
from tests.report.test_use import ANSWERS, USE


@pytest.mark.slow
@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(run: Run, earlier: tuple[EarlierAudit, ...], tmp_path: Path, dark: bool) -> None:
    assert_accessible(report(run, earlier).artefacts["report.html"].decode(), tmp_path, dark)


@pytest.mark.slow
@needs_axe
def test_nor_on_a_page_with_facts_of_the_use_and_verdicts(tmp_path: Path) -> None:
    sections = {"groups": {"provenance": "self_reported"}, "report": {"policy": "us_ugesp"}}
    audit = made(tmp_path, **sections, use=USE, framework=ANSWERS)
    page = audit.stage("report").read("report.html").decode()
    assert all(f'id="{name}"' in page for name in ("periods", "framework")) and "all tests" in page
    assert_accessible(page, tmp_path, dark=True)


@pytest.mark.slow
@needs_axe
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


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    digits = colour.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def palettes() -> list[dict[str, str]]:
    """The page's colours: light, dark, printed by a browser, and on paper."""
    folder = files("audit_lib.report").joinpath("templates")
    sheets = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "paper.css"))
    found = re.findall(r":root \{(.*?)\}", sheets, re.S)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", body)) for body in found]


def test_words_of_charts_can_be_read_on_every_paper() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    found = palettes()
    assert len(found) == 4
    style = files("audit_lib.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    figures = files("audit_lib.figures").joinpath("figures.css").read_text(encoding="utf-8")
    said = [rule for rule in re.findall(r"\.chart[^{}]*\{[^}]*\}", style + figures) if "font-size" in rule]
    used = {name for rule in said for name in re.findall(r"fill: var\(--([a-z-]+)\)", rule)}
    assert used == {"ink", "soft"}
    for colours in found:
        assert (
            min(contrast(colours[name], colours[under]) for name in used for under in ("paper", "card"))
            >= 4.5
        )
