"""``audit presign``: links with which a regulator reads one run without an account at the store."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from audit_lib.cli.shared import AddCommand, positive


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    presign = command(
        "presign",
        _presign,
        "Write links with which somebody reads one run in a bucket, without an account there",
        "A file for curl, which fetches the run and the journal of its audit into folders: `curl --config FILE`. "
        "Whoever has the file can read the run until the links end, and change nothing.",
    )
    presign.add_argument("run", help="URI of a run: s3://bucket/prefix/audit/window/design")
    presign.add_argument(
        "--hours", type=positive, default=24, metavar="N", help="for how long, at most 168 (default: 24)"
    )
    presign.add_argument(
        "--out", required=True, metavar="FILE", help="file to write, which only you can read"
    )


def _presign(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime, timedelta

    from audit_lib.archive.manifest import MANIFEST
    from audit_lib.canonical import sha256
    from audit_lib.errors import ConflictError, InputError
    from audit_lib.journal import FOLDER
    from audit_lib.store import open_store
    from audit_lib.store.s3 import S3Store
    from audit_lib.store.s3_links import curl_config, presigned_links

    parts = options.run.rstrip("/").rsplit("/", 3)
    store = open_store(parts[0] or "/")
    if len(parts) < 4 or not isinstance(store, S3Store):
        raise InputError(
            f"{options.run}: is no run in a bucket (s3://bucket/audit/window/design); of a folder, hand on what "
            "`audit export` makes"
        )
    run, audit, now = "/".join(parts[1:]), parts[1], datetime.now(UTC)
    links = presigned_links(store, [run, f"{audit}/{FOLDER}"], timedelta(hours=options.hours), now)
    sealed = f"{run}/evidence/{MANIFEST}"
    digest = sha256(store.get(sealed)) if sealed in links.objects else "none: the run is not sealed"
    about = [
        f"Run {run} and the journal of its audit, {len(links.objects)} files.",
        f"Valid until {links.until:%Y-%m-%d %H:%M} UTC.",
        "Whoever has these links can read the run, which may hold personal data. They can change nothing.",
        "curl --config THIS_FILE",
        f"audit verify {run}",
        f"manifest SHA-256 {digest}",
        "Listings of the store itself, to see that no file was left out here:",
    ]
    out = Path(options.out)
    content = curl_config(links, about)
    try:
        with open(out, "x", encoding="utf-8", opener=_private) as file:
            file.write(content)
    except FileExistsError:
        raise ConflictError(f"{out}: is there already; name another file") from None
    print(f"wrote {out}: {len(links.objects)} links, valid until {links.until:%Y-%m-%d %H:%M} UTC")
    return 0


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
