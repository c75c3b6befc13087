"""Commands about one person's data: ``audit access``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from audit_lib.cli.shared import AddCommand


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    access = command(
        "access",
        _access,
        "Write everything that a run holds about one applicant, for them",
        "Their rows of every table, what the model was asked and what it answered, and the proof that these are all "
        "of their score records. Rows that hold other applicants' texts are left out and counted. `audit "
        "verify-record` checks the file without the run. It holds personal data, and only its owner can read it.",
    )
    access.add_argument("run", help="URI or folder of a sealed run")
    access.add_argument("--application", required=True, metavar="ID", help="its application_id")
    access.add_argument("--out", default="access.json", help="file to write (default: %(default)s)")


def _access(options: argparse.Namespace) -> int:
    from audit_lib.archive.personal_data import check_personal_data, personal_data
    from audit_lib.errors import ConflictError
    from audit_lib.run import Run

    content = personal_data(Run.from_bundle(options.run.rstrip("/") or "/"), options.application)
    proved, questions = check_personal_data(content, options.out)
    out = Path(options.out)
    try:
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except FileExistsError:
        raise ConflictError(f"{out}: is there already; name another file") from None
    print(f"wrote {out}: {proved.records} score records with their proof, {questions} questions")
    return 0
