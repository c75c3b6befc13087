"""The command ``look``: fetch the pages of an employer's website that a spec names."""

from __future__ import annotations

import argparse

from audit_lib.cli.shared import AddCommand


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    pages = command(
        "look",
        _look,
        "Fetch the pages that use.website of a spec names, and note when, and their SHA-256",
        "Write the file's name into use.website.seen: the checklist then says when which page was seen. Exit code 1: a "
        "page did not come.",
    )
    pages.add_argument("spec", help="YAML file of the audit")
    pages.add_argument("--out", required=True, metavar="FILE", help="where to write what was seen, as JSON")


def _look(options: argparse.Namespace) -> int:
    from pathlib import Path

    from audit_lib.canonical import pretty_json
    from audit_lib.look import look
    from audit_lib.spec import load_spec

    found = look(load_spec(options.spec))
    Path(options.out).write_bytes(pretty_json(found.as_dict()))
    for page in found.pages:
        print(
            f"use.website.{page.key}: {page.url}: {page.fault or f'{page.bytes} bytes, SHA-256 {page.sha256}'}"
        )
    return 1 if any(page.fault for page in found.pages) else 0
