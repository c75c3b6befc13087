"""The how-to's code runs, and its images are what the sheet draws."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from benchmarks import figures_sheet
from tests.report.figure_cases import parse

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "howto" / "figures.md").read_text(encoding="utf-8")
IMAGES = ROOT / "docs" / "images" / "figures"
DATA = Path(os.environ.get("AUDIT_SHARED_DATA") or ROOT.parent / "shared") / "data"


def test_the_code_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    drawn: list[str] = []
    names: dict[str, object] = {}
    for block in blocks:
        lines = ast.parse(block, "figures.md").body
        last = ast.Expression(lines.pop().value) if isinstance(lines[-1], ast.Expr) else None
        exec(compile(ast.Module(lines, []), "figures.md", "exec"), names)
        if last is not None:
            drawn.append(eval(compile(last, "figures.md", "eval"), names))
    assert len(drawn) == 8, "one figure a section"
    for svg in [*drawn, (tmp_path / "scores.svg").read_text(encoding="utf-8")]:
        assert parse(svg).tag.endswith("svg")


def test_every_image_exists_and_is_shown() -> None:
    shown = {Path(name).name for name in re.findall(r'(?:src|srcset)="(\.\./images/[^"]+)"', PAGE)}
    assert shown == {path.name for path in IMAGES.glob("*.svg")}
    assert len(shown) == 16


def test_the_sheet_says_what_is_synthetic(tmp_path: Path) -> None:
    figures_sheet.main(["--synthetic", "--out", str(tmp_path)])
    files = sorted(tmp_path.glob("*.svg"))
    assert [f.name for f in files] == sorted(f.name for f in IMAGES.glob("*.svg"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "synthetic" in (parse(text)[0].text or "")
        assert len(text) < 60_000


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "bloomberg").is_dir(), reason="the recorded answers are not at hand")
def test_the_images_are_what_the_sheet_draws(tmp_path: Path) -> None:
    figures_sheet.main(["--data", str(DATA), "--out", str(tmp_path)])
    for file in sorted(tmp_path.glob("*.svg")):
        assert file.read_bytes() == (IMAGES / file.name).read_bytes(), file.name
