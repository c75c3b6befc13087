"""``audit report``: a run's report again, in the forms, the language and under the law that somebody asks for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from audit_lib.cli.policies import kept_longer
from audit_lib.cli.shared import AddCommand, find_run, notify, store_option
from audit_lib.large_file import Content, bytes_of
from audit_lib.run import Run
from audit_lib.translation import LANGUAGES

_FORMS = ("html", "pdf", "json", "csv", "oscal", "card")


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    report = command(
        "report",
        _report,
        "Render the report of a measured run (again) into a folder, or a sealed run's in the forms asked for",
        "With --format: of a sealed run, beside its evidence and naming its digest. A run that is not sealed, failed, "
        "or does not verify is refused.",
    )
    report.add_argument("run", help="URI of a run, or the name of an audit in the store")
    report.add_argument(
        "--format",
        type=_forms,
        metavar="FORM[,FORM]",
        help=f"{', '.join(_FORMS)}: html and pdf are the report, its summary and the page for people who are assessed; "
        "csv its tables; card a badge and a piece of HTML for a careers page. The run is not touched",
    )
    report.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="read a sealed run's scores under another policy pack, and write its report into report-NAME; may be "
        "given several times. The run is not touched, and nobody has signed such a page",
    )
    where = report.add_mutually_exclusive_group()
    where.add_argument("--out", metavar="FOLDER", help="folder to write into (default: report)")
    where.add_argument(
        "--output",
        metavar="FILE",
        help="one form (html, pdf, json or csv: the tables) of a sealed run's report itself into this file, byte for "
        "byte as archived where it is; of a signed run the signed report",
    )
    report.add_argument(
        "--language",
        choices=tuple(LANGUAGES),
        help="of a sealed run: the pages in this language alone: "
        + ", ".join(f"{code} {name}" for code, name in LANGUAGES.items())
        + " (default: English, and the languages that the spec names)",
    )
    store_option(report)


def _forms(words: str) -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(part.strip() for part in words.split(",")))
    if unknown := [form for form in asked if form not in _FORMS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown) or words!r}: choose from {', '.join(_FORMS)}")
    return asked


def _report(options: argparse.Namespace) -> int:
    from audit_lib.errors import InputError

    if options.policy and (options.output or options.out):
        raise InputError(
            "--policy: each pack has a folder of its own, report-NAME; leave out --out and --output"
        )
    forms = options.format or (("html",) if options.language not in (None, "en") else None)
    if options.output is not None:
        return _archived(options, forms)
    run = find_run(options.run, options.store, notify)
    if options.policy:
        return _under(run, options, forms)
    _write(run, Path(options.out or "report"), _made(run, forms, options.language))
    return 0


def _made(run: Run, forms: tuple[str, ...] | None, language: str | None) -> Mapping[str, Content]:
    """Return all forms of a measured run, or some of a sealed one."""
    from audit_lib.report import report
    from audit_lib.report_forms import report_forms

    return report(run).artefacts if forms is None else report_forms(run, forms, language=language)


def _under(run: Run, options: argparse.Namespace, forms: tuple[str, ...] | None) -> int:
    """Write the report under other packs, a folder each."""
    from audit_lib.report.under_pack import under_pack
    from audit_lib.report_forms import report_forms

    for name in options.policy:
        made: Mapping[str, Content]
        if forms is None:
            made = under_pack(run, name).artefacts
        else:
            made = report_forms(run, forms, language=options.language, policy=name)
        _write(run, Path(f"report-{name}"), made)
        for line in kept_longer(run, name):
            print(f"note: {line}")
    return 0


def _archived(options: argparse.Namespace, forms: tuple[str, ...] | None) -> int:
    """Write one form of the report as it is archived."""
    from audit_lib.errors import InputError
    from audit_lib.signoff.archived_report import FORMS, archived_report

    if forms is None or len(forms) != 1 or forms[0] not in FORMS:
        raise InputError(
            f"--output: names the file of one form; say which with --format ({', '.join(FORMS)}), or a folder with "
            "--out"
        )
    run, path = find_run(options.run, options.store, notify), Path(options.output)
    _outside(run, path)
    path.write_bytes(archived_report(run, forms[0], options.language or "en"))
    print(f"wrote {path}")
    return 0


def _write(run: Run, folder: Path, files: Mapping[str, Content]) -> None:
    _outside(run, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(files.items()):
        (folder / name).write_bytes(bytes_of(content))
        print(f"wrote {folder / name}")


def _outside(run: Run, path: Path) -> None:
    """Refuse to write into the run."""
    from audit_lib.errors import InputError

    if "://" not in run.uri and path.resolve().is_relative_to(Path(run.uri).resolve()):
        raise InputError(f"{path}: lies in the run, which is sealed; name a place elsewhere")
