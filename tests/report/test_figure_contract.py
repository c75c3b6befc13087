"""What every figure of estimates must do: those shipped here, and those of installed packages."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from audit_lib.figures.by_metric import FIGURES, draw
from audit_lib.figures.dots import Dot

ROWS = [
    Dot(label="women against men", value=0.2, low=0.1, high=0.3, printed="+0.200"),
    Dot(label="a < b & c", value=-0.1, low=None, high=None, printed="-0.100"),
]


@pytest.mark.parametrize("width", [760, 360])
@pytest.mark.parametrize("origin", [0.0, None])
@pytest.mark.parametrize("name", [name for name, _ in FIGURES])
def test_a_figure_is_one_picture_with_a_name_that_says_every_row(
    name: str, origin: float | None, width: int
) -> None:
    svg = draw(name, "Gaps < 1", "Made up & short", ROWS, span=(-0.4, 0.4), origin=origin, width=width)
    root = ElementTree.fromstring(svg)
    assert root.tag.rpartition("}")[2] == "svg" and root.get("role") == "img"
    texts = {
        kind: [
            "".join(node.itertext()).strip() for node in root.iter() if node.tag.rpartition("}")[2] == kind
        ]
        for kind in ("title", "desc", "text", "script", "a", "image")
    }
    assert "Gaps < 1" in texts["title"] and "Made up & short" in texts["desc"]
    said = " ".join(texts["text"])
    for row in ROWS:
        assert row.printed in said and row.label in said
    assert not texts["script"] and not texts["a"] and not texts["image"]
    assert (root.get("viewBox") or "").split()[2] == str(width)
    assert svg == draw(
        name, "Gaps < 1", "Made up & short", ROWS, span=(-0.4, 0.4), origin=origin, width=width
    )
