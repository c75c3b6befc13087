"""``audit attach``: what a service says of a run's signed statement, put next to it."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import AddCommand, run_at


def add_commands(command: AddCommand) -> None:
    """Add the command to the parser."""
    attach = command(
        "attach",
        _attach,
        "Put a Sigstore bundle or a transparency service's receipt next to a run's signed statement",
        "It is checked against the trust file first. A receipt is of RFC 9942, over the bytes of "
        "signatures/MOMENT.dsse.json. Exit code 1: it does not hold, and nothing was written.",
    )
    attach.add_argument("run", help="URI or folder of a run")
    attach.add_argument("moment", choices=("plan", "result"), help="whose statement it is about")
    attach.add_argument("file", help="the bundle (JSON) or the receipt (CBOR)")
    attach.add_argument("--trust", nargs="+", required=True, metavar="FILE", help="versions of a trust file")


def _attach(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from audit_lib.errors import EvidenceError, InputError
    from audit_lib.signing.attestations import attach
    from audit_lib.signing.trust import read_trust

    try:
        content = Path(options.file).read_bytes()
    except OSError as error:
        raise InputError(f"{options.file}: cannot be read ({error.strerror})") from None
    run, trust = run_at(options.run), read_trust([Path(one) for one in options.trust], datetime.now(UTC))
    try:
        path = attach(run, options.moment, content, trust)
    except EvidenceError as error:
        print(f"{options.file}: NOT ATTACHED: {error}")
        return 1
    print(f"attached {run.uri}/{path}")
    return 0
