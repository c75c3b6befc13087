"""Dependencies flow one way: a stage never imports a later one, and nothing below imports a stage."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "audit_lib"
STAGES = ["plan", "sample", "perturb", "score", "validate", "measure", "report", "archive", "monitor"]
ABOVE = {
    "bag",
    "check",
    "cli",
    "compare",
    "corpus",
    "dataframe",
    "events",
    "gate",
    "oscal",
    "panel",
    "pipeline",
    "preflight",
    "report_forms",
    "reproduce",
    "signoff",
    "signing",
    "site",
    "spec_check",
    "spec_schema",
    "starter",
    "validity",
    "verify_all",
}
BELOW_DOCUMENTS = {"canonical", "documents", "errors", "plain_text", "results", "stats", "typed_json"}
BELOW_METRICS = {
    "errors",
    "languages",
    "metrics",
    "pairs",
    "results",
    "segmentation",
    "typed_json",
    "whole_words",
    "words",
}
"""All that a kernel may import: it knows no run, no spec and no file."""
ASKS_INFERENCE = {"effects"}
"""Kernels' results that ask `stats` for their interval and p, when they are asked for them."""
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
    if part in ABOVE or relative.as_posix() == "__init__.py":
        return
    assert not used & ABOVE, f"{relative} imports what stands above it"
    if part in STAGES:
        later = set(STAGES[STAGES.index(part) + 1 :])
        assert not used & later or relative.as_posix() in VERIFIERS, (
            f"{relative} imports a later stage: {used & later}"
        )
    elif part != "__init__":
        assert not used & set(STAGES), f"{relative} imports a stage: {used & set(STAGES)}"


def needed_at_run_time(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below a node, those inside functions too; not those for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            yield from needed_at_run_time(child)


def test_the_package_itself_imports_nothing_of_its_own() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    names = {getattr(node, "module", None) or node.names[0].name for node in needed_at_run_time(tree)}
    assert not {name for name in names if name.startswith("audit_lib")}, "names are imported when first used"


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Module -> the modules that it imports, of those given."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        names: set[str] = set()
        for node in needed_at_run_time(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif node.module:
                full = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                names |= {name if name in sources else node.module for name in full.values()}
        graph[module] = (names & sources.keys()) - {module}
    return graph


def circle(sources: Mapping[str, str]) -> list[str]:
    """The modules of one circle of imports, the first again at the end; empty where there is none."""
    try:
        TopologicalSorter(import_graph(sources)).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_circle_of_imports() -> None:
    sources = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    found = circle({name: path.read_text(encoding="utf-8") for name, path in sources.items()})
    assert not found, f"modules import each other: {' -> '.join(found)}; put what they share below both"


@pytest.mark.parametrize(
    ("sources", "is_one"),
    [
        ({"p.a": "import p.b", "p.b": "from p.a import x"}, True),
        ({"p.a": "from p import b", "p.b": "def f():\n    from p.c import x", "p.c": "import p.a"}, True),
        ({"p.a": "from p import b", "p.b": "if TYPE_CHECKING:\n    from p.a import X"}, False),
        ({"p.a": "import p.b, p.c", "p.b": "import p.c", "p.c": "import json"}, False),
    ],
)
def test_circles_are_seen(sources: dict[str, str], is_one: bool) -> None:
    assert bool(circle(sources)) is is_one


@pytest.mark.parametrize("path", sorted((PACKAGE / "documents").glob("*.py")), ids=lambda p: p.name)
def test_documents_know_no_stage_and_no_run(path: Path) -> None:
    assert imports(path) <= BELOW_DOCUMENTS


@pytest.mark.parametrize("path", sorted((PACKAGE / "metrics").rglob("*.py")), ids=lambda p: p.stem)
def test_a_kernel_knows_arrays_only(path: Path) -> None:
    assert imports(path) <= BELOW_METRICS | ({"stats"} if path.stem in ASKS_INFERENCE else set())


@pytest.mark.parametrize("path", sorted((PACKAGE / "stats").rglob("*.py")), ids=lambda p: p.stem)
def test_inference_knows_no_run(path: Path) -> None:
    assert imports(path) <= BELOW_METRICS | {"seeds", "stats"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "figures").glob("*.py")), ids=lambda p: p.name)
def test_figures_are_drawn_without_a_run(path: Path) -> None:
    assert imports(path) <= {"errors", "figures", "metrics", "registry", "results", "translation"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "translation").glob("*.py")), ids=lambda p: p.name)
def test_texts_know_nothing_that_is_said_in_them(path: Path) -> None:
    assert imports(path) <= {"translation"}
