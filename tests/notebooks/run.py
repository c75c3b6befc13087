"""Runs the cells of a notebook, one after another, as Jupyter would: the last expression of a cell is shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


def cells(path: Path, kind: str = "code") -> list[str]:
    """The texts of the cells of one kind."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == kind]


def run(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The names that a notebook leaves, and what each of its cells shows (None for nothing)."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, source in enumerate(cells(path)):
        tree = ast.parse(source, f"{path.name}, code cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, code cell {number}", "exec"), names)
        value = None
        if last is not None:
            value = eval(
                compile(ast.Expression(last.value), f"{path.name}, code cell {number}", "eval"), names
            )
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_(), "it shows itself"
        shown.append(value)
    return names, shown
