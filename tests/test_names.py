"""One word, one meaning: no two modules give a class or a type alias of the same name another meaning."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "audit_lib"
OF_A_DOCUMENT = "a section of a spec or a pack, and what a document says of it"
SHARED = {
    "Attestation": OF_A_DOCUMENT,
    "Demographics": OF_A_DOCUMENT,
    "Leakage": OF_A_DOCUMENT,
    "Report": OF_A_DOCUMENT,
    "RequiredField": OF_A_DOCUMENT,
    "Sample": OF_A_DOCUMENT,
    "Switch": OF_A_DOCUMENT,
    "Notice": "the notice that a law asks for, in a spec; what must be read first, on a page",
    "Source": "the section of a spec, and the part that reads what it names",
}


def named(tree: ast.Module) -> dict[str, str]:
    """Public classes and aliases of types of a module: name -> what it is, of an alias what it stands for."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = f"class at line {node.lineno}"
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id[:1].isupper()
            and not node.targets[0].id.isupper()
            and isinstance(node.value, ast.Subscript | ast.BinOp)
        ):
            found[node.targets[0].id] = ast.unparse(node.value)
    return {name: what for name, what in found.items() if not name.startswith("_")}


def shared_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Names with more than one meaning, and the modules that have them."""
    meanings: dict[str, dict[str, str]] = defaultdict(dict)
    for module, source in sources.items():
        for name, what in named(ast.parse(source)).items():
            meanings[name][module] = f"{module}: {what}" if what.startswith("class at") else what
    return {name: sorted(of) for name, of in meanings.items() if len(set(of.values())) > 1}


def test_a_name_has_one_meaning() -> None:
    sources = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    found = shared_names(sources)
    assert {name: of for name, of in found.items() if name not in SHARED} == {}
    assert SHARED.keys() <= found.keys(), "a name that is no longer shared needs no reason"


def test_two_meanings_are_found() -> None:
    floats = "Floats = NDArray[np.float64]\n"
    assert shared_names({"a.py": floats, "b.py": floats}) == {}
    assert shared_names({"a.py": "class Row: ...", "b.py": "class Row: ..."}) == {"Row": ["a.py", "b.py"]}
    assert shared_names({"a.py": "class Row: ...", "b.py": "Row = dict[str, int]"}) == {
        "Row": ["a.py", "b.py"]
    }
