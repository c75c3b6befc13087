"""What ``audit validate``, ``audit plan`` and ``audit run`` do with a panel: a spec with a list of models."""

from __future__ import annotations

import argparse
import tempfile
from typing import TYPE_CHECKING

from audit_lib import pipeline
from audit_lib.cli.shared import notify
from audit_lib.errors import AuditError

if TYPE_CHECKING:
    from audit_lib.panel import PanelRun
    from audit_lib.spec import Panel
    from audit_lib.window import Window

HELP = (
    "With `models:` in place of `model:` the spec is a panel: each model is audited over the same sample, versions and "
    "seeds, and the runs are compared. panel.yaml#NAME is one of its models."
)


def validate_panel(options: argparse.Namespace, panel: Panel, window: Window) -> int:
    """Check every model's spec and what this machine lacks for it, and say what asking them takes."""
    from audit_lib.panel import require_panel_ready
    from audit_lib.sample.read import first_columns

    for spec in panel.members:
        pipeline.check(spec)
    require_panel_ready(panel.members, options.store, offline=options.offline, load=False)
    for spec in panel.members:
        first_columns(spec)
    groups = len(panel.members[0].groups.cells())
    print(f"{options.spec}: valid. {panel.title}; a panel of {len(panel.members)} models; {groups} groups")
    shared = dict.fromkeys(remark for spec in panel.members for remark in pipeline.remarks(spec))
    for remark in shared:
        print(f"note: {remark}")
    try:
        with tempfile.TemporaryDirectory(prefix="audit-panel-") as folder:
            _print_costs(_prepared(options, panel, window, folder))
    except AuditError as error:
        print(f"note: requests were not counted: {error}")
    return 0


def plan_panel(options: argparse.Namespace, panel: Panel, window: Window) -> int:
    """Print what each model is asked and what it costs, and all of them together."""
    from audit_lib.preflight import preflight

    with tempfile.TemporaryDirectory(prefix="audit-panel-") as folder:
        made = _prepared(options, panel, window, folder)
        spec = panel.members[0]
        print(
            f"panel      {panel.title}; {len(spec.groups.cells())} groups; {spec.score.shards} shards a model"
        )
        _print_costs(made)
        for one in panel.members:
            for fault in preflight(one, offline=True):
                print(f"NOT READY  {one.model.name}: {fault.what}")
    return 0


def run_panel(options: argparse.Namespace, panel: Panel, window: Window) -> int:
    """Audit every model and compare them; 1 if one of them failed."""
    from audit_lib.archive.seal_failures import is_sealed, seal_refusal, unopened_run
    from audit_lib.panel import open_panel, require_panel_ready
    from audit_lib.panel import run_panel as run_all

    changed = {"sample_size": options.sample_size, "names_per_cell": options.names_per_cell}
    placed = [
        unopened_run(reference, window, options.store, **changed, notify=notify)
        for reference in panel.references
    ]
    open_ones = [
        spec
        for spec, place in zip(panel.members, placed, strict=True)
        if place is None or not is_sealed(place)
    ]
    try:
        if open_ones:
            unasked = options.offline or options.dry_run
            require_panel_ready(open_ones, options.store, window=window, offline=unasked)
        made = open_panel(panel, window, options.store, **changed, notify=notify)
    except AuditError as error:
        for place in placed:
            if place is not None and not options.dry_run:
                seal_refusal(place, "preflight", error, pipeline.COMMAND)
        raise
    notify(f"panel {made.uri}")
    record = run_all(made, dry_run=options.dry_run)
    if record is None:
        _print_costs(made)
        return 0
    folder = made.record(made.last_number())
    for one in record.members:
        print(f"{one.name:<28}  {one.state:<17}  {made.store.uri(one.run)}")
        for fault in one.faults[:1]:
            print(f"{'':<28}  in {fault.stage}: {fault.message}")
    print(f"\nrecord      {folder.store.uri(folder.prefix)}/panel.json")
    print(f"page        {folder.store.uri(folder.prefix)}/panel.html")
    if record.why_no_comparison is not None:
        print(f"no comparison: {record.why_no_comparison}")
    print(f"evidence    audit verify {made.uri}")
    return 1 if record.failed or record.why_no_comparison is not None else 0


def _prepared(options: argparse.Namespace, panel: Panel, window: Window, folder: str) -> PanelRun:
    """Draw the sample and make the versions of every model in a folder that is thrown away."""
    from audit_lib.panel import open_panel, prepare

    made = open_panel(
        panel,
        window,
        folder,
        sample_size=getattr(options, "sample_size", None),
        names_per_cell=getattr(options, "names_per_cell", None),
    )
    prepare(made)
    return made


def _print_costs(made: PanelRun) -> None:
    """Print a line a model and one for all: requests, calls, tokens, money."""
    from audit_lib.panel import costs_of
    from audit_lib.score.remote.cost import RULE

    costs = costs_of(made)
    print(f"{'model':<28}  {'requests':>10}  {'calls':>10}  {'tokens':>12}  {'money':>10}")
    for name, one in zip(made.names, costs, strict=True):
        money = "no prices" if one.money is None else f"{one.money:,.2f}"
        tokens = one.prompt_tokens + one.completion_tokens
        print(f"{name:<28}  {one.requests:>10,}  {one.calls:>10,}  {tokens:>12,}  {money:>10}")
    priced = [one.money for one in costs if one.money is not None]
    money = f"{sum(priced):,.2f}" if priced else "no prices"
    total = (
        sum(one.requests for one in costs),
        sum(one.calls for one in costs),
        sum(one.prompt_tokens + one.completion_tokens for one in costs),
    )
    print(f"{'all models':<28}  {total[0]:>10,}  {total[1]:>10,}  {total[2]:>12,}  {money:>10}")
    if priced and len(priced) < len(costs):
        print(f"money is of {len(priced)} of {len(costs)} models; the others have no prices in their options")
    print(f"tokens: {RULE}")
