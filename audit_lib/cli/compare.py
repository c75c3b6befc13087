"""The command ``audit compare``: several archived runs of one design side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import Command, find_run, store_option


def add_command(command: Command) -> None:
    """Add the command to the parser's."""
    compare = command(
        "compare",
        _compare,
        "Compare archived runs of one design: other models, prompts or tasks",
        "Writes comparison.html, comparison.json and comparison.csv. Refuses runs whose applications, versions or "
        "rules of measurement differ, and says in what.",
    )
    compare.add_argument(
        "runs", nargs="+", metavar="RUN", help="URI or folder of a run, or the name of an audit"
    )
    compare.add_argument("--out", required=True, help="folder to write into; nothing in it is overwritten")
    store_option(compare)


def _compare(options: argparse.Namespace) -> int:
    from audit_lib.compare import compare
    from audit_lib.errors import ConflictError

    made = compare([find_run(uri, options.store) for uri in options.runs])
    out = Path(options.out)
    for name, content in made.items():
        if (out / name).exists() and (out / name).read_bytes() != content:
            raise ConflictError(
                f"{out / name}: is there already, and says something else; name another folder"
            )
    out.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (out / name).write_bytes(content)
        print(f"wrote {out / name}")
    return 0
