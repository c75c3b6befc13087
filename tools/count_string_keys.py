"""Count the places that read a document by a key in quotes: ``x["key"]`` and ``x.get("key")``.

A key in quotes is spelled anew at each place, and no type checker knows it; a typed document has fields instead.

    python tools/count_string_keys.py [--list] [FOLDER_OR_FILE ...]

Without arguments: the parts of the library that only read documents, and the whole library. `Literal["..."]` is a type,
and assigning to or deleting a key makes a document rather than reads one: neither is counted.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).parent.parent / "audit_lib"
READERS = ("report", "compare", "monitor", "site", "oscal.py")
"""What reads documents that others wrote."""


def string_keys(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the key of each place in the source of a module."""
    for node in ast.walk(ast.parse(source)):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            literal = isinstance(node.value, ast.Name) and node.value.id == "Literal"
            key = None if literal else node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            key = node.args[0] if node.args else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield node.lineno, key.value


def files_of(places: list[Path]) -> list[Path]:
    """Return the modules in some folders, and files themselves."""
    return sorted(path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place]))


def counts(parts: tuple[str, ...] = READERS) -> dict[str, int]:
    """Return part of the library -> its string keys."""
    return {
        part: sum(
            len(list(string_keys(path.read_text(encoding="utf-8")))) for path in files_of([LIBRARY / part])
        )
        for part in parts
    }


def main(arguments: list[str]) -> None:
    """Print the counts."""
    listed = "--list" in arguments
    places = [Path(name) for name in arguments if name != "--list"]
    for path in files_of(places or ([LIBRARY / part for part in READERS] if listed else [])):
        found = list(string_keys(path.read_text(encoding="utf-8")))
        if found:
            print(f"{len(found):5d} {path}")
        for line, key in found if listed else ():
            print(f"      {path}:{line}: {key}")
    if not places:
        found = counts()
        for part, number in found.items():
            print(f"{number:5d} {part}")
        print(f"{sum(found.values()):5d} in all of these")
        print(f"{counts(('.',))['.']:5d} in the library")


if __name__ == "__main__":
    main(sys.argv[1:])
