"""The command ``audit compare``: several archived runs of one design side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import AddCommand, find_run, store_option, write_new


def add_command(command: AddCommand) -> None:
    """Add the command to the parser's."""
    compare = command(
        "compare",
        _compare,
        "Compare archived runs of one design: other models, prompts or tasks",
        "Writes comparison.html, comparison.json, comparison.csv and differences.csv, and validity.json where it can "
        "be studied which metric foretells the gaps. Refuses runs whose applications, versions or rules of "
        "measurement differ, and says in what.",
    )
    compare.add_argument(
        "runs", nargs="+", metavar="RUN", help="URI or folder of a run, or the name of an audit"
    )
    compare.add_argument("--out", required=True, help="folder to write into; nothing in it is overwritten")
    store_option(compare)


def _compare(options: argparse.Namespace) -> int:
    from audit_lib.compare import compare

    write_new(Path(options.out), compare([find_run(uri, options.store) for uri in options.runs]))
    return 0
