"""Dependencies flow one way: a stage never imports a later one, and nothing below imports a stage."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "audit_lib"
STAGES = ["plan", "sample", "perturb", "score", "validate", "measure", "report", "archive", "monitor"]
ABOVE = {"check", "cli", "compare", "oscal", "pipeline", "preflight", "signoff", "site", "starter"}
# Recomputing is what verification is: it calls the stages whose output it checks.
VERIFIERS = {"archive/verify.py"}


def imports(path: Path) -> set[str]:
    """First names below audit_lib that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"{node.module}.{a.name}" for a in node.names]
                if node.module == "audit_lib"
                else [node.module]
            )
        found |= {name.split(".")[1] for name in names if name.startswith("audit_lib.")}
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.relative_to(PACKAGE).as_posix()
)
def test_nothing_runs_back_up(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    part = relative.parts[0].removesuffix(".py")
    used = imports(path)
    if part in ABOVE:
        return
    assert not used & ABOVE, f"{relative} imports what stands above it"
    if part in STAGES:
        later = set(STAGES[STAGES.index(part) + 1 :])
        assert not used & later or relative.as_posix() in VERIFIERS, (
            f"{relative} imports a later stage: {used & later}"
        )
    elif part != "__init__":
        assert not used & set(STAGES), f"{relative} imports a stage: {used & set(STAGES)}"
