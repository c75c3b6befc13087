"""Measure the figures of the README and of docs/: ``python -m benchmarks [NAME ...]``.

Without a name: `pipeline` and `measure`, which need nothing but the project. ``--help`` lists all of them. Others may
need data, a model, a peer's own environment, or arguments (``python -m benchmarks.NAME --help``), and say so.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

DEFAULT = ("pipeline", "measure")


def programs() -> dict[str, str]:
    """Return the name of each benchmark that can be run, and what its file says of it."""
    found: dict[str, str] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path != Path(__file__) and '\nif __name__ == "__main__":' in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ")
    return found


def main(names: list[str]) -> int:
    """Run benchmarks one after another, each in a process of its own."""
    known = programs()
    if not set(names) <= set(known):
        print(__doc__)
        for name, words in known.items():
            print(f"{name:<28}{words}")
        return 0 if "--help" in names else 2
    worst = 0
    for name in names or DEFAULT:
        print(f"\n## {name}\n", flush=True)
        worst = max(
            worst, subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
        )
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
