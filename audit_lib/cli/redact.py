"""The command ``audit redact``: dossiers become templates, with a review file of each for a person."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit_lib.cli.shared import AddCommand

if TYPE_CHECKING:
    from audit_lib.perturb.redact import Applicant
    from audit_lib.perturb.redaction.rows import Line

_FIELDS: Final = ("name", "first_name", "last_name", "email", "phone", "address", "sex")
_LISTS: Final = ("other_names", "colleges")


def add_command(command: AddCommand) -> None:
    """Add the command to the parser's."""
    redact = command(
        "redact",
        _redact,
        "Make templates of dossiers: names, pronouns and the like become slots",
        "Writes templates/ (of a table prompts.jsonl), coverage.json (status and counts, nothing personal) and review/ "
        "(PRIVATE: the dossiers, "
        "every span marked). A second reader looks at every result; what it finds, and every doubt, makes a dossier "
        "`review`. Exit code 0: every dossier is ok. 1: at least one needs a person to look (review). 2: at least one "
        "was refused and has no template, or the command could not run.",
    )
    redact.add_argument("files", nargs="*", metavar="FILE", help=".txt, .md, .pdf or .docx")
    redact.add_argument(
        "--jsonl", metavar="FILE",
        help="in place of files: a table of dossiers (.jsonl or .csv), a row each; writes prompts.jsonl",
    )  # fmt: skip
    redact.add_argument(
        "--columns", nargs="+", default=[], metavar="COLUMN",
        help="with --jsonl: columns that are redacted; the first shows the applicant's name, unless --known does",
    )  # fmt: skip
    redact.add_argument(
        "--known", nargs="+", default=[], metavar="FIELD=COLUMN",
        help="with --jsonl: columns, or paths into them such as applicant.given, that say what is known: "
        f"{', '.join((*_FIELDS, *_LISTS))}",
    )  # fmt: skip
    redact.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN",
        help="with --jsonl: columns that prompts keep as they are; all others are left out, as they may name somebody",
    )  # fmt: skip
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
    from audit_lib.perturb.redact import PERSONA_SLOTS, redact
    from audit_lib.perturb.redaction.review import review, review_html
    from audit_lib.perturb.rereading.reread import installed, reread

    checks = installed() if options.check is None else options.check
    given = _given(options)
    out = Path(options.out)
    if out.exists() and any(out.iterdir()):
        raise ConflictError(f"{out}: not empty; name a new folder, so that no earlier review is lost")
    out.mkdir(parents=True, exist_ok=True)
    if options.jsonl:
        (out / "prompts.jsonl").touch()
    else:
        (out / "templates").mkdir()
    private = out / "review"
    private.mkdir()
    private.chmod(0o700)

    def keep(name: str, content: bytes) -> None:
        """Write a private file, which nobody else on the machine may read."""
        path = private / name
        path.touch(mode=0o600)
        path.write_bytes(content)

    def write(label: str, content: str) -> None:
        if options.jsonl:
            with (out / "prompts.jsonl").open("ab") as table:
                table.write(f"{content}\n".encode())
        else:
            (out / "templates" / f"{label}.txt").write_bytes(content.encode())

    def one(
        label: str, text: str, applicant: Applicant, unread: Sequence[int] = ()
    ) -> tuple[str, dict[str, Any]]:
        """Redact a text and keep its review; return the template, and what to say of it."""
        redacted = redact(text, applicant, also=options.also, checks=checks)
        template = redacted.template_with(PERSONA_SLOTS if options.slots is None else options.slots)
        again = reread(redacted, applicant, pages_unread=unread)
        keep(f"{label}.json", pretty_json(review(redacted, pages_unread=unread, reread=again)))
        keep(f"{label}.html", review_html(redacted, label, unread, again).encode())
        return template, {
            "status": again.status, "reasons": list(again.reasons), "found_again": len(again.findings),
            "not_looked": list(again.not_looked), "checks": list(redacted.checks), "candidates": redacted.candidates,
            "doubts": len(redacted.doubts), "coverage": redacted.coverage(),
        }  # fmt: skip

    rows: list[dict[str, Any]] = []
    listed = []
    for number, (source, made) in enumerate(given, start=1):
        label = f"dossier-{number:04d}"  # a file's name may hold the applicant's
        listed.append({"dossier": label, **source})
        row: dict[str, Any] = {"dossier": label, "status": "ok"}
        rows.append(row)
        try:
            content, told = made(label, one)
        except InputError as error:
            row |= {"status": "refused", "error": type(error).__name__, "message": str(error)}
        except OSError as error:
            row |= {
                "status": "refused",
                "error": "unreadable",
                "message": error.strerror or type(error).__name__,
            }
        else:
            row |= told
            write(label, content)
    (out / "coverage.json").write_bytes(pretty_json({"dossiers": rows}))
    keep("files.json", pretty_json({"files": listed}))
    return _print(rows, out)


Redactor = Callable[..., tuple[str, dict[str, Any]]]
Made = Callable[[str, Redactor], tuple[str, dict[str, Any]]]


def _given(options: argparse.Namespace) -> list[tuple[dict[str, Any], Made]]:
    """Return where each dossier is from, and what makes its template: of files, or of the rows of a table.

    Raises
    ------
    InputError
        If neither or both are given, or options of the one are given with the other.
    """
    from audit_lib.errors import InputError

    if bool(options.files) == bool(options.jsonl):
        raise InputError("give files, or a table with --jsonl, and not both")
    of_rows = [name for name in ("columns", "known", "keep") if getattr(options, name)]
    if options.jsonl:
        if options.applicants or any(getattr(options, name) for name in (*_FIELDS, *_LISTS)):
            raise InputError("--jsonl: say what is known of each applicant by --known FIELD=COLUMN")
        return list(_rows(options))
    if of_rows:
        raise InputError(f"--{of_rows[0]} is for --jsonl")
    known = _applicants(options)
    return [({"file": file}, _of_file(file, known[file])) for file in options.files]


def _of_file(file: str, applicant: Applicant) -> Made:
    from audit_lib.perturb.documents import read_dossier

    def made(label: str, one: Redactor) -> tuple[str, dict[str, Any]]:
        dossier = read_dossier(file)
        template, told = one(label, dossier.text, applicant, dossier.pages_without_text)
        shape = {"format": dossier.format, "pages_without_text": len(dossier.pages_without_text)}
        return template, told | shape

    return made


def _rows(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Made]]:
    from audit_lib.errors import InputError
    from audit_lib.perturb.redaction.rows import (
        RedactedColumns,
        applicant_of_row,
        prompt_of,
        read_lines,
        worst,
    )

    known = {}
    for pair in options.known:
        name, equals, column = pair.partition("=")
        if not equals or name not in (*_FIELDS, *_LISTS):
            raise InputError(
                f"--known {pair!r}: write FIELD=COLUMN, with one of {', '.join((*_FIELDS, *_LISTS))}"
            )
        known[name] = column
    columns = RedactedColumns(texts=options.columns, known=known, kept=options.keep)
    lines = read_lines(Path(options.jsonl))
    columns.check(lines)

    def of(line: Line) -> Made:
        def made(label: str, one: Redactor) -> tuple[str, dict[str, Any]]:
            applicant = applicant_of_row(line, columns, _LISTS)
            found = {
                name: one(f"{label}.{number}", str(line.cells[name]), applicant)
                for number, name in enumerate(columns.texts, start=1)
            }
            told = worst({name: said for name, (_, said) in found.items()})
            templates = {name: template for name, (template, _) in found.items()}
            return prompt_of(label, line, columns, templates, told["status"]), told

        return made

    for line in lines:
        yield {"file": options.jsonl, "line": line.number}, of(line)


def _print(rows: list[dict[str, Any]], out: Path) -> int:
    for row in rows:
        parts = row["columns"].values() if "columns" in row else (row,)
        spans = sum(kind["redacted"] for part in parts for kind in part.get("coverage", {}).values())
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
