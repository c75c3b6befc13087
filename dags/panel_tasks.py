"""The tasks of a panel: one audit a model, a gate before any of them is asked, and one comparison after all.

::

    preflight -> {plan -> sample -> perturb} of each model -> same_applicants -> {shards ... archive} of each -> compare
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import TaskGroup, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from audit_stages import audit_tasks_of
from audit_tasks import compared_asset, in_task, refuse_unknown_conf, small, store_root, tell, window_of
from failed_attempts import already_sealed
from placement import placement

from audit_lib.spec import Panel, read_spec


def opened_panel(path: str) -> Any:
    """Return the panel's runs over the window of this DAG run."""
    from audit_lib.panel import open_panel
    from audit_lib.window import Window

    context = get_current_context()
    params = context["params"]
    return open_panel(
        panel_at(path),
        Window.parse(*window_of(context)),
        store_root(),
        sample_size=params.get("sample_size"),
        names_per_cell=params.get("names_per_cell"),
        notify=tell,
    )


def panel_at(path: str) -> Panel:
    """Return the panel of a file, which was one when it was parsed."""
    found = read_spec(path)
    if not isinstance(found, Panel):
        raise AirflowFailException(f"{path}: is no panel any more; wait until it is parsed again")
    return found


@task(task_id="preflight")
def panel_preflight(path: str, offline: bool) -> None:
    """Look for all that any of the models needs before one of them is asked; those that are sealed need nothing."""
    from audit_lib.panel import require_panel_ready
    from audit_lib.window import Window

    context = get_current_context()
    with in_task():
        refuse_unknown_conf()
        panel = panel_at(path)
        waiting = [
            spec
            for spec, reference in zip(panel.members, panel.references, strict=True)
            if not already_sealed(reference, context)
        ]
        if not waiting:
            tell("all models of this panel are sealed: nothing is asked again")
            return
        unasked = offline or bool(context["params"].get("dry_run"))
        window = Window.parse(*window_of(context))
        require_panel_ready(waiting, store_root(), window=window, offline=unasked)


@task
def same_applicants(path: str) -> str:
    """Fail, before any model is asked, unless all would be asked about the same applicants in the same versions."""
    from audit_lib.panel import prepare

    with in_task():
        return small(prepare(opened_panel(path)))


@task(task_id="compare", trigger_rule="all_done")
def compare_models(path: str) -> dict[str, int]:
    """Compare the models that are sealed and record what became of the others."""
    from audit_lib.panel import compare_panel

    context = get_current_context()
    with in_task("compare"):
        if context["params"].get("dry_run"):
            raise AirflowSkipException("dry run: no model was asked, so there is nothing to compare")
        panel = opened_panel(path)
        record = compare_panel(panel)
        uri = panel.record(panel.last_number()).prefix
        context["outlet_events"][compared_asset(panel.key.audit)].extra = small(
            {"panel": panel.store.uri(uri), "failed": len(record.failed)}
        )
        # A model that failed has failed this DAG run by its own tasks; what is known of the others is published.
        for one in record.failed:
            tell(f"{one.name}: {one.state}" + "".join(f"; in {f.stage}: {f.message}" for f in one.faults[:1]))
        if record.why_no_comparison is not None:
            raise AirflowFailException(f"no comparison: {record.why_no_comparison}")
        return small({"models": len(record.members), "failed": len(record.failed)})


def panel_tasks_of(panel: Panel, *, offline: bool) -> None:
    """Make the tasks of a panel in the DAG that is open."""
    path = str(panel.path)

    def at(task_id: str) -> dict[str, Any]:
        return placement().options(task_id, panel.audit)

    ready = panel_preflight.override(**at("preflight"))(path, offline)
    same = same_applicants.override(**at("same_applicants"))(path)
    compared = compare_models.override(outlets=[compared_asset(panel.audit)], **at("compare"))(path)
    for name, spec, reference in zip(panel.names, panel.members, panel.references, strict=True):
        with TaskGroup(name, prefix_group_id=True):
            made = audit_tasks_of(spec, reference)
        ready >> [made.first, made.last]
        made.prepared >> same >> made.asking
        made.last >> compared
