"""The figure ``plain_list``: each estimate in a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from audit_lib.figures import Dot
from audit_lib.figures.by_metric import FIGURES

LINE = 24


@FIGURES("plain_list")
def plain_list(
    title: str,
    description: str,
    dots: Sequence[Dot],
    *,
    span: tuple[float, float],
    origin: float | None,
    width: int,
) -> str:
    """Write the label and the value of each row."""
    height = LINE * (len(dots) + 1)
    lines = "".join(
        f'<text x="0" y="{LINE * (row + 1)}">{escape(f"{dot.label}: {dot.printed}")}</text>'
        for row, dot in enumerate(dots)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="plain-list" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{escape(title)}</title><desc>{escape(description)}</desc>{lines}</svg>'
    )
