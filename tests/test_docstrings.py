"""Public names are explained where they are defined; those of metrics and inference whole, with examples that run.

Public is what has no leading underscore, nor its class, module or folder. Everywhere: a docstring that begins with a
sentence. In `audit_lib.metrics` and `audit_lib.stats` also: every parameter of a function is in its docstring, or the
docstring names the function whose parameters these are (``as `other```); it shows an example; what it raises itself is
under Raises; every field of a class is described. Methods are shown by the example of their class or of what makes it.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WHOLE = ("metrics", "stats")
Public = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SENTENCE = re.compile(r"[A-Z0-9`\"'*(].*[.?:]", re.S)


def modules() -> list[Path]:
    return sorted(
        path
        for path in (ROOT / "audit_lib").rglob("*.py")
        if not any(part.startswith("_") and part != "__init__.py" for part in path.relative_to(ROOT).parts)
    )


def public(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Public]]:
    for node in body:
        if isinstance(node, Public) and not node.name.startswith("_"):
            yield owner + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{owner}{node.name}.")


def without_sentence(source: str) -> list[str]:
    """Public names without a docstring that begins with a sentence."""
    return [
        name
        for name, node in public(ast.parse(source).body)
        if not SENTENCE.fullmatch((ast.get_docstring(node) or "").split("\n\n")[0].strip())
    ]


def faults(source: str) -> list[str]:
    """What the docstrings of a module of metrics or inference leave out."""
    found = []
    for name, node in public(ast.parse(source).body):
        said = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            found += [f"{name}: field {field}" for field in _fields(node) if not _names(said, field)]
            continue
        if any(isinstance(part, ast.Raise) for part in _own(node)) and "Raises\n---" not in said:
            found.append(f"{name}: Raises")
        if "." in name:
            continue
        if not re.search(r"(\b[Aa]s (in|of|for)|those of) (:func:)?`", said):
            args = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found += [f"{name}: parameter {arg.arg}" for arg in args if not _names(said, arg.arg)]
        if ">>>" not in said:
            found.append(f"{name}: example")
    return found


def _names(said: str, name: str) -> bool:
    """Whether a docstring speaks of a name: as an entry of numpydoc, or in its text; one letter between backticks."""
    entry = re.search(rf"^ *(\w+, )*\*?{name}(, \w+)*( :|$)", said, re.M)
    text = said.split("Examples\n---")[0]
    places = re.findall(r"`+([^`]+)`+", text) if len(name) == 1 else [text]
    return entry is not None or any(re.search(rf"\b{name}\b", place) for place in places)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a function, without those of functions in it, and of what it tries itself."""
    tried = node.body if isinstance(node, ast.Try) and node.handlers else []
    for child in ast.iter_child_nodes(node):
        if child in tried:
            continue
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


def _fields(node: ast.ClassDef) -> list[str]:
    """Public annotated fields without a string of their own after them."""
    found = []
    for at, one in enumerate(node.body):
        after = node.body[at + 1] if at + 1 < len(node.body) else None
        told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not told:
            found.append(one.target.id)
    return [name for name in found if not name.startswith("_")]


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_public_names_are_explained(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not without_sentence(source), "a docstring that begins with a sentence is missing"
    if path.relative_to(ROOT).parts[1] in WHOLE:
        assert not faults(source), "described in the docstring, where it is not"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "audit_lib" / "metrics").rglob("*.py")), ids=lambda path: path.stem
)
def test_examples_of_metrics_run(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    assert not doctest.testmod(importlib.import_module(name)).failed


def test_what_is_missing_is_seen() -> None:
    source = (
        'def f(scores, level):\n    """Return it.\n\n    Parameters\n    ----------\n    scores : float\n"""\n'
        "    raise ValueError\n"
        'class A:\n    """What it is."""\n    x: int\n    def go(self): ...\n'
    )
    assert faults(source) == ["f: Raises", "f: parameter level", "f: example", "A: field x"]
    assert without_sentence(source) == ["A.go"]
