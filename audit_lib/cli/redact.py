"""The command ``audit redact``: dossiers become templates, with a review file of each for a person."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from audit_lib.cli.shared import AddCommand

_FIELDS: Final = ("name", "first_name", "last_name", "email", "phone", "address", "sex")
_LISTS: Final = ("other_names", "colleges")


def add_command(command: AddCommand) -> None:
    """Add the command to the parser's."""
    redact = command(
        "redact",
        _redact,
        "Make templates of dossiers: names, pronouns and the like become slots",
        "Writes templates/, coverage.json (status and counts, nothing personal) and review/ (PRIVATE: the dossiers, "
        "every span marked). A second reader looks at every result; what it finds, and every doubt, makes a dossier "
        "`review`. Exit code 0: every dossier is ok. 1: at least one needs a person to look (review). 2: at least one "
        "was refused and has no template, or the command could not run.",
    )
    redact.add_argument("files", nargs="+", metavar="FILE", help=".txt, .md, .pdf or .docx")
    redact.add_argument("--out", required=True, help="folder to write into; nothing is overwritten")
    redact.add_argument(
        "--applicants", metavar="CSV",
        help=f"what is known of each: columns file, and any of {', '.join(_FIELDS)}; {', '.join(_LISTS)} with ;",
    )  # fmt: skip
    redact.add_argument("--name", default="", help="the applicant's full name (of one dossier)")
    redact.add_argument("--first-name", default="", help="where the full name does not show it")
    redact.add_argument("--last-name", default="", help="where the full name does not show it")
    redact.add_argument(
        "--other-names", nargs="+", default=[], metavar="NAME", help="nicknames, former names"
    )
    redact.add_argument("--email", default="", help="the applicant's e-mail")
    redact.add_argument("--phone", default="", help="the applicant's phone")
    redact.add_argument("--address", default="", help="the applicant's address")
    redact.add_argument(
        "--colleges", nargs="+", default=[], metavar="COLLEGE", help="as the dossier writes them"
    )
    redact.add_argument(
        "--sex", default="", choices=("female", "male"), help="which of she and he is the applicant"
    )
    redact.add_argument(
        "--slots", nargs="*", metavar="SLOT",
        help="slots to leave open (default: those that a persona fills); the others take neutral words, and with no "
        "SLOT all do: a blind text, for an audit without `perturb`",
    )  # fmt: skip
    redact.add_argument(
        "--also", nargs="+", default=[], metavar="KIND", help="kinds whose doubtful places are redacted too"
    )
    redact.add_argument(
        "--check", nargs="*", choices=("spacy", "presidio"), metavar="MODEL",
        help="models that look too, spacy and presidio (default: those that are installed); without both no dossier "
        "is ok",
    )  # fmt: skip


def _redact(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.errors import ConflictError, InputError
    from audit_lib.perturb.documents import read_dossier
    from audit_lib.perturb.redact import PERSONA_SLOTS, redact
    from audit_lib.perturb.redaction.review import review, review_html
    from audit_lib.perturb.rereading.reread import installed, reread

    checks = installed() if options.check is None else options.check
    known = _applicants(options)
    out = Path(options.out)
    if out.exists() and any(out.iterdir()):
        raise ConflictError(f"{out}: not empty; name a new folder, so that no earlier review is lost")
    (out / "templates").mkdir(parents=True)
    private = out / "review"
    private.mkdir()
    private.chmod(0o700)

    def keep(name: str, content: bytes) -> None:
        """Write a private file, which nobody else on the machine may read."""
        path = private / name
        path.touch(mode=0o600)
        path.write_bytes(content)

    rows: list[dict[str, Any]] = []
    listed = []
    for number, file in enumerate(options.files, start=1):
        label = f"dossier-{number:04d}"  # a file's name may hold the applicant's
        listed.append({"dossier": label, "file": file})
        row: dict[str, Any] = {"dossier": label, "status": "ok"}
        rows.append(row)
        try:
            dossier = read_dossier(file)
            redacted = redact(dossier.text, known[file], also=options.also, checks=checks)
            template = redacted.template_with(PERSONA_SLOTS if options.slots is None else options.slots)
        except InputError as error:
            row |= {"status": "refused", "error": type(error).__name__, "message": str(error)}
            continue
        except OSError as error:
            row |= {
                "status": "refused",
                "error": "unreadable",
                "message": error.strerror or type(error).__name__,
            }
            continue
        unread = dossier.pages_without_text
        again = reread(redacted, known[file], pages_unread=unread)
        row |= {
            "status": again.status, "reasons": list(again.reasons), "found_again": len(again.findings),
            "not_looked": list(again.not_looked),
            "format": dossier.format, "pages_without_text": len(dossier.pages_without_text),
            "checks": list(redacted.checks), "candidates": redacted.candidates,
            "doubts": len(redacted.doubts), "coverage": redacted.coverage(),
        }  # fmt: skip
        (out / "templates" / f"{label}.txt").write_bytes(template.encode())
        keep(f"{label}.json", pretty_json(review(redacted, pages_unread=unread, reread=again)))
        keep(f"{label}.html", review_html(redacted, label, unread, again).encode())
    (out / "coverage.json").write_bytes(pretty_json({"dossiers": rows}))
    keep("files.json", pretty_json({"files": listed}))
    return _print(rows, out)


def _print(rows: list[dict[str, Any]], out: Path) -> int:
    for row in rows:
        spans = sum(kind["redacted"] for kind in row.get("coverage", {}).values())
        detail = (
            f"{row['error']}: {row['message']}"
            if row["status"] == "refused"
            else "; ".join((f"{spans} spans redacted", *row["reasons"]))
        )
        print(f"{row['dossier']}  {row['status']}: {detail}")
    counts = {status: sum(row["status"] == status for row in rows) for status in ("ok", "review", "refused")}
    print(
        f"{len(rows)} dossiers: {counts['ok']} ok, {counts['review']} to review, {counts['refused']} refused; read "
        f"{out / 'review'} (private) before use"
    )
    return 2 if counts["refused"] else 1 if counts["review"] else 0


def _applicants(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is known of each file's applicant.

    Raises
    ------
    InputError
        If one applicant is given for several files, or the table lacks a file or names it twice.
    """
    from audit_lib.errors import InputError
    from audit_lib.perturb.persona import read_lexicon
    from audit_lib.perturb.redact import Applicant
    from audit_lib.registry import did_you_mean

    given = {field: getattr(options, field) for field in _FIELDS}
    given |= {field: tuple(getattr(options, field)) for field in _LISTS}
    if not options.applicants:
        if any(given.values()) and len(options.files) > 1:
            raise InputError(
                "--name and the like are of one dossier; give --applicants CSV for several files"
            )
        return {file: Applicant(**given) for file in options.files}
    if any(given.values()):
        raise InputError("give --applicants, or --name and the like, and not both")
    path = Path(options.applicants)
    table = read_lexicon(path.read_bytes(), "--applicants", ("file",), path.name)
    for column in table[0]:
        if column not in (columns := ["file", *_FIELDS, *_LISTS]):
            raise InputError(f"--applicants: column {column!r} is not known{did_you_mean(column, columns)}")
    found: dict[str, Any] = {}
    for file in options.files:
        mine = [row for row in table if row["file"] in (file, Path(file).name)]
        if len(mine) != 1:
            number = options.files.index(file) + 1
            raise InputError(
                f"--applicants: {len(mine)} rows for file {number} of {len(options.files)}, and it needs one"
            )
        row = {k: v for k, v in mine[0].items() if k in _FIELDS and v}
        lists = {k: tuple(p.strip() for p in mine[0].get(k, "").split(";") if p.strip()) for k in _LISTS}
        try:
            found[file] = Applicant(**row, **lists)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"--applicants: row {table.index(mine[0]) + 1}: {error}") from None
    return found
