"""Running a panel: nobody is asked before every model could be; one that fails later stops no other."""

from __future__ import annotations

import traceback
from collections.abc import Sequence

from audit_lib import pipeline
from audit_lib.compare.output_statistics import asked_of
from audit_lib.compare.same_design import design_of
from audit_lib.documents.comparison import Asked
from audit_lib.documents.panel import PanelRecord
from audit_lib.errors import AuditError, PreflightError
from audit_lib.panel.panel_run import PanelRun
from audit_lib.panel.panel_stage import compare_panel
from audit_lib.preflight import preflight
from audit_lib.spec import AuditSpec
from audit_lib.window import Window


def require_panel_ready(
    specs: Sequence[AuditSpec],
    root: str | None = None,
    *,
    window: Window | None = None,
    offline: bool = False,
    load: bool = True,
) -> None:
    """Look for all that any of the models needs.

    Parameters
    ----------
    specs : sequence of AuditSpec
        Those that are to be run.
    root, window, offline, load
        As of `audit_lib.preflight.preflight`.

    Raises
    ------
    PreflightError
        With the faults of all models, each with the model's name; what all of them lack is told once.
    """
    found = {
        spec.model.name: preflight(spec, root, window=window, offline=offline, load=load) for spec in specs
    }
    shared = [
        fault for fault in next(iter(found.values()), []) if all(fault in own for own in found.values())
    ]
    told = [fault.what for fault in shared]
    told += [f"{name}: {fault.what}" for name, own in found.items() for fault in own if fault not in shared]
    if told:
        lines = "\n".join(f"  {number}. {one}" for number, one in enumerate(told, start=1))
        raise PreflightError(
            f"the panel is not ready, and none of its questions was asked of a model yet:\n{lines}",
            may_pass=all(fault.may_pass for own in found.values() for fault in own),
        )


def prepare(panel: PanelRun) -> str:
    """Plan, sample and make the versions for every model; return the digest of what they share.

    Raises
    ------
    InputError
        If the models would not be asked about the same applicants in the same versions; says in what they differ.
    """
    for name, run in zip(panel.names, panel.runs, strict=True):
        panel.notify(f"model {name}: run {run.uri}")
        for stage in ("plan", "sample", "variants"):
            pipeline.run_stage(run, stage)
    return design_of(panel.runs)


def costs_of(panel: PanelRun) -> tuple[Asked, ...]:
    """Return what asking each model takes. Nothing is asked."""
    return tuple(map(asked_of, panel.runs))


def run_panel(panel: PanelRun, *, dry_run: bool = False) -> PanelRecord | None:
    """Run every model's audit, and compare those that are sealed.

    Parameters
    ----------
    panel : PanelRun
        From `open_panel`.
    dry_run : bool
        Whether to stop before any model is asked.

    Returns
    -------
    PanelRecord or None
        What became of each model; None of a dry run.

    Raises
    ------
    InputError
        If the models would be asked about other applicants or versions. Nobody was asked then.
    """
    prepare(panel)
    costs = costs_of(panel)
    if dry_run:
        panel.notify(f"dry run: {len(panel.runs)} models would be asked")
        return None
    told = [f"{name} {cost.requests:,}" for name, cost in zip(panel.names, costs, strict=True)]
    panel.notify(f"requests: {', '.join(told)}; {sum(cost.requests for cost in costs):,} in all")
    for name, run in zip(panel.names, panel.runs, strict=True):
        if run.stage("evidence").is_complete():
            panel.notify(f"model {name}: sealed already")
            continue
        try:
            pipeline.run_all(run)
        except AuditError as error:
            panel.notify(f"model {name}: FAILED: {error}")
        except Exception:  # noqa: BLE001 - a fault of one model must not take the others' runs, which were paid for
            panel.notify(f"model {name}: FAILED:\n{traceback.format_exc()}")
    return compare_panel(panel)
