"""The page: accessible at three widths, in light and dark, and free of scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.validity import study_of, validity_files
from tests.report.axe import assert_accessible, needs_axe
from tests.validity.panels import lines, panel


@needs_axe
@pytest.mark.slow  # a browser opens the page at three widths
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_accessible(tmp_path: Path, dark: bool) -> None:
    made = panel(list(lines(rounds=20)))
    assert_accessible(validity_files(study_of(made), made)["validity.html"].decode(), tmp_path, dark)


def test_every_figure_of_the_paper_is_drawn_wide_and_narrow() -> None:
    made = panel()
    page = validity_files(study_of(made), made)["validity.html"].decode()
    for title in (
        "Correlation with the demographic parity gap, by quota", "Correlation with the equal opportunity gap, by quota",
        "Correlation with the demographic parity gap at k = 1, by group", "RABBI against the measured gap",
        "Earth mover&#x27;s distance against the measured gap", "Does the metric list the fairest models first?",
        "Models ranked by Score gap and by the measured gap", "Shape of the score distributions",
        "Scores by group: m4",
    ):  # fmt: skip
        assert page.count(f"<title>{title}") % 2 == 0 < page.count(f"<title>{title}"), title


def test_more_models_than_colours_are_told_apart_by_group() -> None:
    made = panel(list(lines(models=9, jobs=1, rounds=12)))
    page = validity_files(study_of(made), made)["validity.html"].decode()
    start = page.index("<title>RABBI against the measured gap</title>")
    svg = page[start : page.index("</svg>", start)]
    assert ">Asian women</tspan></text>" in svg and ">m9</tspan>" not in svg
