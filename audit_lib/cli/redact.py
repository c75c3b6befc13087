"""The command ``audit redact``: dossiers become templates, with a review file of each for a person."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from audit_lib.cli.common import Command

_FIELDS: Final = ("name", "first_name", "last_name", "email", "phone", "address", "sex")
_LISTS: Final = ("other_names", "colleges")


def add_command(command: Command) -> None:
    """Add the command to the parser's."""
    redact = command(
        "redact",
        _redact,
        "Make templates of dossiers: names, pronouns and the like become slots",
        "Writes templates/, coverage.json (counts, nothing personal) and review/ (PRIVATE: the dossiers, every span "
        "marked). Exit code 1: a dossier could not be redacted, never names its applicant, presents two, or has pages "
        "that need OCR.",
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
        "--check", nargs="+", default=[], choices=("spacy", "presidio"), help="models that look for more"
    )


def _redact(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.errors import ConflictError, InputError
    from audit_lib.perturb.documents import read_dossier
    from audit_lib.perturb.redact import PERSONA_SLOTS, redact
    from audit_lib.perturb.redaction.review import review, review_html

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
            redacted = redact(dossier.text, known[file], also=options.also, checks=options.check)
            template = redacted.template_with(PERSONA_SLOTS if options.slots is None else options.slots)
        except InputError as error:
            row |= {"status": type(error).__name__, "message": str(error)}
            continue
        except OSError as error:
            row |= {"status": "unreadable", "message": error.strerror or type(error).__name__}
            continue
        if redacted.candidates > 1:
            row["status"] = "several candidates"
        elif not redacted.names_found:
            row["status"] = "name not found"
        elif dossier.pages_without_text:
            row["status"] = "pages need OCR"
        row |= {
            "format": dossier.format, "pages_without_text": len(dossier.pages_without_text),
            "checks": list(redacted.checks), "candidates": redacted.candidates,
            "doubts": len(redacted.doubts), "coverage": redacted.coverage(),
        }  # fmt: skip
        (out / "templates" / f"{label}.txt").write_bytes(template.encode())
        unread = dossier.pages_without_text
        keep(f"{label}.json", pretty_json(review(redacted, pages_unread=unread)))
        keep(f"{label}.html", review_html(redacted, label, unread).encode())
    (out / "coverage.json").write_bytes(pretty_json({"dossiers": rows}))
    keep("files.json", pretty_json({"files": listed}))
    return _print(rows, out)


def _print(rows: list[dict[str, Any]], out: Path) -> int:
    for row in rows:
        spans = sum(kind["redacted"] for kind in row.get("coverage", {}).values())
        detail = row.get("message") or f"{spans} spans redacted, {row['doubts']} doubtful places left"
        if unread := row.get("pages_without_text"):
            detail += f"; pages without text, not read: {unread}"
        print(f"{row['dossier']}  {row['status']}: {detail}")
    faults = sum(row["status"] != "ok" for row in rows)
    print(f"{len(rows) - faults} of {len(rows)} without a fault; read {out / 'review'} (private) before use")
    return 1 if faults else 0


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
