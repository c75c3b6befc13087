"""The page against WCAG 2.2 AA, by axe-core in a real browser: phone, tablet and desktop, light and dark."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest

from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.report import EarlierAudit, report
from audit_lib.report.blocks import Chart, Facts, FindingItem, FindingList, Page, Section, text
from audit_lib.report.finding_bar import finding_bar
from audit_lib.report.html import render_html
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


def drawn_page() -> str:
    """A page with a chart, and a finding with its bar."""
    dot = Dot(label="Black", value=0.71, low=0.6, high=0.84, printed="0.710 (0.600 to 0.840)", flagged=True)
    wide, narrow = (
        dot_chart("Ratios", "One row", [dot], span=(0, 1.2), guide=(0.8, "0.8"), width=width, names=names)
        for width, names in ((760, 160), (360, 0))
    )
    bar = finding_bar("Ratio", dot, span=(0, 1.2), origin=1, guide=0.8)
    blocks = (
        Chart(wide, narrow, "Ratios of one table"),
        FindingList((FindingItem(text("One ratio is below the line."), ("Ratios", "#ratios"), bar),)),
    )
    page = Page(
        title="Report", subtitle="One week", kicker="An audit", language="en", badges=(("Not signed", "flag"),),
        status=Facts((("Model", text("one")),), strip=True), sections=(Section("ratios", "Ratios", blocks),),
        footer=text("Made by a test."),
    )  # fmt: skip
    return render_html(page).decode()


@pytest.mark.slow
@needs_axe
def test_axe_leaves_no_contrast_of_a_page_with_charts_undecided(tmp_path: Path) -> None:
    for dark in (False, True):
        assert_accessible(drawn_page(), tmp_path, dark)
    without = drawn_page().replace("svg.chart tspan", ".none")
    with pytest.raises(AssertionError):  # without a ground none of them can be computed
        assert_accessible(without, tmp_path, dark=False)


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
