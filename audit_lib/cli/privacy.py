"""Commands about one person's data: ``audit access`` and ``audit erase``."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import AddCommand, counted, run_at, write_private


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

    erase = command(
        "erase",
        _erase,
        "Erase an applicant: delete the key that their rows are encrypted with",
        "In all runs of the audit, whose spec has privacy.keys: applicant. Every digest still verifies, and numbers "
        "are computed again from rows without texts and ids. It cannot be undone. What was handed on in the clear, the "
        "source, and backups of the keys are elsewhere: erase there too.",
    )
    erase.add_argument("run", help="URI or folder of a run of the audit")
    erase.add_argument("--application", required=True, metavar="ID", help="its application_id")
    erase.add_argument("--reason", required=True, help="why, for the record; name nobody in it")


def _erase(options: argparse.Namespace) -> int:
    from audit_lib.errors import InputError
    from audit_lib.privacy.applicant_keys import KEYS, configured_keys

    audit = run_at(options.run).key.audit
    keys = configured_keys(audit)
    if keys is None:
        raise InputError(f"{KEYS} is not set: there are no keys here to erase")
    before = keys.erasure(keys.name_of(options.application))
    made = keys.erase(options.application, options.reason)  # also again: the first may have been killed
    if before is not None:
        print(f"already erased on {before.at}: key {made.key} of audit {audit}; the reason given then stands")
        return 0
    print(f"erased: key {made.key} of audit {audit}, on {made.at}")
    print("left: rows without texts and ids (evidence/redacted), and whatever was handed on before")
    return 0


def _access(options: argparse.Namespace) -> int:
    from audit_lib.archive.personal_data import check_personal_data, personal_data

    content = personal_data(run_at(options.run), options.application)
    proved, questions = check_personal_data(content, options.out)
    write_private(Path(options.out), content)
    print(
        f"wrote {options.out}: {counted(proved.records, 'score record')} with proof, "
        f"{counted(questions, 'question')}"
    )
    return 0
