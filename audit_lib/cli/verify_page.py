"""The command ``verify-page``: a published page and the statement that signs it."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import AddCommand, json_option

_AGENT = "audit verify-page"


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    page = command(
        "verify-page",
        _verify_page,
        "Check that an auditor whom you believe signed a published page, from the page and its statement alone",
        "PAGE is a file that you downloaded, or its address on the public site; the run is not needed. Exit code 0: "
        "signed, and these are the bytes. 1: not so. 2: it could not be decided. That the numbers follow from the "
        "evidence is for `audit verify`, with the run.",
    )
    page.add_argument("page", help="report.html, report.pdf, report.json or a table: a file or its address")
    page.add_argument(
        "statement",
        nargs="?",
        help="statement.dsse.json, as it lies next to the page (default: look for it there)",
    )
    page.add_argument(
        "--trust",
        nargs="+",
        required=True,
        metavar="FILE",
        help="public keys of auditors, got from them; or a trust file, or several versions of it, the oldest first",
    )
    json_option(page, "the verdict")


def _verify_page(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from audit_lib.errors import UncheckedError
    from audit_lib.signing.keys import need_extra
    from audit_lib.signing.trust import read_trusted
    from audit_lib.signoff.page_verification import verify_page

    need_extra()
    now = datetime.now(UTC)
    trusted, trust = read_trusted([Path(path) for path in options.trust], now)
    content = _content(options.page)
    if content is None:
        raise UncheckedError(f"{options.page}: is not there")
    where = options.statement or _next_to(options.page)
    statement = _content(where)
    if statement is None and options.statement is not None:
        raise UncheckedError(f"{where}: is not there")
    found = verify_page(content, statement, trusted, trust, name=options.page, now=now)
    print(found.json() if options.format == "json" else found.summary())
    return found.exit_code


def _next_to(page: str) -> str:
    from audit_lib.signoff.sign_off_files import STATEMENT
    from audit_lib.web_page import is_address

    if is_address(page):
        return f"{page.split('?')[0].split('#')[0].rsplit('/', 1)[0]}/{STATEMENT}"
    return str(Path(page).with_name(STATEMENT))


def _content(where: str) -> bytes | None:
    """Return what is at a path or an address; None where nothing is."""
    from audit_lib.errors import UncheckedError
    from audit_lib.web_page import MOST, fetch, is_address

    if is_address(where):
        found = fetch(where, agent=_AGENT)
        if found.content is None and found.status not in (404, 410):
            raise UncheckedError(f"{where}: {found.fault}")
        return found.content
    path = Path(where)
    if not path.exists():
        return None
    if not path.is_file():
        raise UncheckedError(f"{where}: is no file")
    if path.stat().st_size > MOST:
        raise UncheckedError(f"{where}: larger than {MOST // 2**20} MiB, which no page of ours is")
    return path.read_bytes()
