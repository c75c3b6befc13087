"""The command line: ``audit init | validate | schema | plan | run | show | report | verify | check-report | ...``.

Exit codes: 0 done, 1 findings (an audit or its evidence failed), 2 wrong input.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib import __version__, cli_experiment, cli_redact, cli_signoff, pipeline
from audit_lib.errors import AuditError, EvidenceError, NotFoundError, ValidationFailedError

if TYPE_CHECKING:
    from audit_lib.run import Run

DEFAULT_STORE = ".audit/store"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    action: Callable[[argparse.Namespace], int] = options.action
    try:
        return action(options)
    except (ValidationFailedError, EvidenceError) as error:
        print(f"audit: {error}", file=sys.stderr)
        return 1
    except AuditError as error:
        print(f"audit: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"audit: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("audit: stopped; run the same command again to go on where it was", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="audit",
        description="Audit how a language model allocates opportunities, and keep evidence that recomputes.",
        epilog="A first audit:  audit init my_audit && cd my_audit && audit run audit.yaml --window 2026-01-05 "
        "2026-01-12",
    )
    parser.add_argument("--version", action="version", version=f"audit_lib {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")

    def command(
        name: str, action: Callable[[argparse.Namespace], int], text: str, more: str = ""
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=f"{text}. {more}".strip())
        sub.set_defaults(action=action)
        return sub

    init = command("init", _init, "Write a commented spec and small inputs that run as they are")
    init.add_argument(
        "folder", nargs="?", default=".", help="where to (default: here); nothing is overwritten"
    )

    check = command(
        "validate", _validate, "Check a spec and the files it names; every fault is named with its key"
    )
    check.add_argument("spec", help="YAML file")

    schema = command("schema", _schema, "Print the JSON Schema of a spec, for editors, or of report.json")
    schema.add_argument("--report", action="store_true", help="the schema of report.json instead")

    run = command(
        "run",
        _run,
        "Run an audit, all stages",
        "Complete stages are found and skipped: a run that was stopped goes on where it was.",
    )
    run.add_argument("spec", help="YAML file")
    run.add_argument(
        "--window",
        nargs=2,
        metavar=("START", "END"),
        required=True,
        help="half-open window [START, END) of ISO 8601 dates or instants; UTC where no offset is given",
    )
    _store_option(run)
    run.add_argument(
        "--sample-size", type=_positive, help="draw this many prompts instead of the spec's number"
    )
    run.add_argument("--names-per-cell", type=_positive, help="names of each group a prompt is shown under")
    run.add_argument("--dry-run", action="store_true", help="plan, sample and make variants; ask no model")

    plan = command(
        "plan",
        _plan,
        "Print what an audit will take: groups, requests, tokens, money and time",
        "Reads the data and makes the prompts in a temporary folder; nothing is kept, and no model is asked.",
    )
    plan.add_argument("spec", help="YAML file")
    plan.add_argument(
        "--window",
        nargs=2,
        metavar=("START", "END"),
        required=True,
        help="half-open window, as for `audit run`",
    )
    plan.add_argument("--sample-size", type=_positive, help="as for `audit run`")
    plan.add_argument("--names-per-cell", type=_positive, help="as for `audit run`")

    show = command("show", _show, "Print the tables of a run, and where its report is")
    show.add_argument(
        "run", help="URI of a run, or the name of an audit in the store (its latest archived run)"
    )
    _store_option(show)

    report = command("report", _report, "Render the report of a measured run (again) into a folder")
    report.add_argument("run", help="URI of a run, or the name of an audit in the store")
    report.add_argument("--out", default="report", help="folder to write into (default: report)")
    _store_option(report)

    verify = command(
        "verify",
        _verify,
        "Verify archived evidence",
        "Hashes every artefact again and recomputes every published number from the archived scores.",
    )
    verify.add_argument("bundle", help="URI or folder of a run; a copy of the folder will do")
    verify.add_argument("--as-of", type=_date, help="day of use, for which the audit must be recent enough")
    verify.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="KEY.pub",
        help="public keys of auditors, got from them; a sign-off by another key is then a finding",
    )

    cli_signoff.add_commands(command, _store_option)
    cli_experiment.add_commands(command)
    cli_redact.add_command(command)

    checked = command(
        "check-report",
        _check_report,
        "Check anyone's published summary of a bias audit",
        "Rebuilds every printed rate and ratio from its counts and looks for what the law asks for. "
        "Exit code 1: an error or a warning was found; 2: the file cannot be read.",
    )
    checked.add_argument("file", help="saved HTML page, CSV tables or PDF")
    checked.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    checked.add_argument("--as-of", type=_date, help="day for which the audit must be recent enough")

    advice = command(
        "recommend",
        _recommend,
        "Say which metrics apply to a use of a model, which do not, and why",
        "From the framework section of a spec, or from answers given here. Exit code 1: the spec measures what does "
        "not apply, or lacks what does.",
    )
    advice.add_argument("spec", nargs="?", help="YAML file with a framework section")
    advice.add_argument("--task", help="generation, classification or recommendation")
    advice.add_argument("--ftu", choices=("yes", "no"), help="yes: no prompt mentions a protected word")
    advice.add_argument(
        "--answers", nargs="+", default=[], metavar="KEY=VALUE", help="such as human_review=no"
    )
    advice.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser


def _store_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        default=os.environ.get("AUDIT_STORE", DEFAULT_STORE),
        help=f"folder or s3://bucket/prefix of all runs (default: AUDIT_STORE, else {DEFAULT_STORE})",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a date such as 2026-01-31") from None


def _init(options: argparse.Namespace) -> int:
    from audit_lib.starter import SPEC_NAME, write_starter

    folder = Path(options.folder)
    for path in write_starter(folder):
        print(f"wrote {path}")
    print(f"next: audit validate {folder / SPEC_NAME}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from audit_lib.spec import AuditSpec

    spec = AuditSpec.load(options.spec)
    pipeline.check(spec)
    print(
        f"{options.spec}: valid. {spec.title}; {len(spec.groups.cells())} groups; digest {spec.digest()[:16]}"
    )
    return 0


def _schema(options: argparse.Namespace) -> int:
    if options.report:
        from audit_lib.canonical import pretty_json
        from audit_lib.report.schema import report_schema

        print(pretty_json(report_schema()).decode(), end="")
    else:
        print(pipeline.json_schema_text(), end="")
    return 0


def notify(message: str) -> None:
    """Tell people how far it is."""
    print(message, file=sys.stderr, flush=True)


def _run(options: argparse.Namespace) -> int:
    from audit_lib.run import Window

    run = pipeline.open_run(
        options.spec,
        Window.parse(*options.window),
        options.store,
        sample_size=options.sample_size,
        names_per_cell=options.names_per_cell,
        notify=notify,
    )
    notify(f"run {run.uri}")
    try:
        pipeline.run_all(run, dry_run=options.dry_run)
    except ValidationFailedError:
        notify(f"the failed run is archived: {run.uri}")
        raise
    if not options.dry_run:
        _print_run(run)
    return 0


def _plan(options: argparse.Namespace) -> int:
    import tempfile

    from audit_lib.run import Window
    from audit_lib.score import estimate

    with tempfile.TemporaryDirectory(prefix="audit-plan-") as folder:
        run = pipeline.open_run(
            options.spec,
            Window.parse(*options.window),
            folder,
            sample_size=options.sample_size,
            names_per_cell=options.names_per_cell,
        )
        for name in ("plan", "sample", "variants"):
            pipeline.run_stage(run, name)
        spec = run.spec
        print(f"audit      {spec.title}; {len(spec.groups.cells())} groups; {spec.score.shards} shards")
        print(f"model      {spec.model.name} ({spec.model.backend})")
        print("\n".join(estimate(run).lines()))
    return 0


def _find(options: argparse.Namespace) -> Run:
    return find_run(options.run, options.store)


def find_run(uri: str, store: str, notify: Callable[[str], None] = lambda message: None) -> Run:
    """Return a run by its URI, or an audit's latest one by its name.

    Raises
    ------
    NotFoundError
        If there is none.
    ValidationFailedError
        If the audit failed its validation.
    """
    from audit_lib.run import SUCCESS, Run
    from audit_lib.store import open_store
    from audit_lib.validate import require_valid

    if "/" not in uri:
        run = replace(pipeline.latest_run(uri, store), notify=notify)
    elif open_store(uri).exists(f"plan/{SUCCESS}"):
        run = Run.from_bundle(uri, notify)  # also a copy, wherever it lies
    else:
        raise NotFoundError(
            f"{uri}: no run is here (no plan/{SUCCESS}); name its folder, or an audit in the store without '/'"
        )
    if run.stage("validation").is_complete():
        try:
            require_valid(run)
        except ValidationFailedError as error:
            raise ValidationFailedError(f"{run.uri}: the audit failed its validation: {error}") from None
    return run


def _show(options: argparse.Namespace) -> int:
    _print_run(_find(options))
    return 0


def _print_run(run: Run) -> None:
    from audit_lib.policies import policy_of
    from audit_lib.report.text import tables_text

    print(tables_text(run.stage("metrics").read_json("metrics.json"), policy_of(run.spec)))
    print(f"\nreport    {run.uri}/report/report.html")
    print(f"evidence  audit verify {run.uri}")


def _report(options: argparse.Namespace) -> int:
    from audit_lib.report import report

    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(report(_find(options)).artefacts.items()):
        (folder / name).write_bytes(content)
        print(f"wrote {folder / name}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from audit_lib.archive.verify import verify
    from audit_lib.run import Run
    from audit_lib.signoff import load_public_key, verify_sign_offs

    trusted = [load_public_key(Path(path)) for path in options.trust]
    verification = verify(options.bundle)
    print(verification.summary())
    if not verification.ok:
        return 1
    if options.as_of is not None:
        _check_age(Run.from_bundle(options.bundle.rstrip("/") or "/"), options.as_of)
    signed = verify_sign_offs(Run.from_bundle(options.bundle.rstrip("/") or "/"), trusted)
    print(signed.summary())
    return 0 if signed.ok else 1


def _check_age(run: Run, on: date) -> None:
    from datetime import datetime

    from audit_lib.policies import policy_of
    from audit_lib.policies.clocks import valid_until
    from audit_lib.policies.gates import check_validity

    policy = policy_of(run.spec)
    audited = datetime.fromisoformat(run.stage("metrics").success()["finished_at"]).date()
    check_validity(policy, audited, on)
    print(f"audit of {audited}, valid until {valid_until(policy, audited)}: may be relied on on {on}")


def _check_report(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.check import check_report
    from audit_lib.check.text import report_text

    report = check_report(options.file, as_of=options.as_of)
    as_json = options.format == "json"
    print(pretty_json(report.as_dict()).decode() if as_json else report_text(report), end="")
    return 0 if report.ok else 1


def _recommend(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.framework import read_answers, recommend, recommend_for, recommendation_text
    from audit_lib.spec import AuditSpec

    short = [f"{key}={value}" for key in ("task", "ftu") if (value := getattr(options, key)) is not None]
    answers = read_answers([*short, *options.answers])
    found = recommend_for(AuditSpec.load(options.spec), answers) if options.spec else recommend(answers)
    print(
        pretty_json(found.as_dict()).decode() if options.format == "json" else recommendation_text(found),
        end="",
    )
    return 1 if found.warnings else 0


if __name__ == "__main__":
    raise SystemExit(main())
