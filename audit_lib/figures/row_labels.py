"""Labels of rows: in a column beside them, or above each where the figure is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.figures.drawing import TEXT, Drawing, fit, text_width

_WIDE = 560


def label_room(labels: Sequence[str], width: int) -> float:
    """Pixels of the column of labels; 0 where they go above their rows."""
    if width < _WIDE:
        return 0.0
    return min(max(text_width(label) for label in labels) + 8, 0.32 * width)


def row_label(drawing: Drawing, label: str, room: float, top: float, height: float) -> None:
    """The label of a row that begins at `top`."""
    if room:
        drawing.text("name", room, top + height / 2 + 4, fit(label, room - 4), "end")
    else:
        drawing.text("name", 4, top + 14, fit(label, drawing.width - 8, TEXT))
