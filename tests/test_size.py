"""How large a file and a function may be: where more is wanted, a module or an object is missing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "audit_lib"
MOST_PARAMETERS, MOST_LINES = 8, 400


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters without self, cls, and what is passed on as *args or **kwargs."""
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"])) + len(node.args.kwonlyargs)


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.relative_to(PACKAGE).as_posix()
)
def test_files_and_functions_are_small(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= MOST_LINES
    large = {
        f"{node.name} ({count})"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (count := parameters(node)) > MOST_PARAMETERS
    }
    assert not large, f"more than {MOST_PARAMETERS} parameters: {', '.join(sorted(large))}"
