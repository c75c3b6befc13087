"""Seals an attempt that failed: from what its tasks left, and from the states of those that could leave nothing."""

from __future__ import annotations

from typing import Any

from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from audit_tasks import FAULT, store_root, tell, window_of

STAGES = {"perturb": "variants", "validate": "validation", "measure": "metrics"}
"""Tasks whose stage has another name."""


def by_whom(context: Any) -> str:
    """Return the name under which a DAG run makes its attempt."""
    return f"airflow {context['dag'].dag_id} {context['dag_run'].run_id}"


def already_sealed(spec_path: str, context: Any) -> bool:
    """Whether the evidence of the run that this DAG run is about is there; not, where it names no window."""
    from audit_lib.archive.seal_failures import is_sealed

    try:
        run = opened(None, spec_path, context)
    except AirflowSkipException:
        return False
    return run is not None and is_sealed(run)


def seal_failed_attempt(run_uri: str | None, spec_path: str, context: Any) -> dict[str, Any] | None:
    """Seal the attempt of this DAG run if a task of it failed; return what its event says, or None.

    Raises
    ------
    AirflowSkipException
        If there is no place for it: no spec that can be loaded, no window, or no store that takes it. The task that
        failed has said why.
    """
    from audit_lib.archive.attempts import FOLDER, RECORD, start
    from audit_lib.archive.seal_failures import seal_failure
    from audit_lib.errors import AuditError

    faults = faults_of(context)
    if not faults:
        return None
    run = opened(run_uri, spec_path, context)
    if run is None:
        raise AirflowSkipException(
            "the spec cannot be loaded, so there is no run to seal: see the task that failed"
        )
    try:
        number = start(run, by_whom(context), goes_on=True)
        sealed = seal_failure(run, number, faults)
    except AuditError as error:
        tell(f"WARNING: the failed attempt could not be sealed: {error}")
        sealed = False
    if not sealed:
        raise AirflowSkipException("the failed attempt could not be sealed: see the task that failed")
    window = run.key.window
    return {
        "run": run.uri,
        "manifest": f"{run.uri}/{FOLDER}/{number}/{RECORD}",
        "window_start": window.start.isoformat(),
        "window_end": window.end.isoformat(),
        "reported": False,
        "outcome": "failed",
        "stage": faults[0].stage,
    }


def opened(run_uri: str | None, spec_path: str, context: Any) -> Any:
    """Return the run, or the place that a run would have whose plan could not be made; None if it has none."""
    from audit_lib.archive.seal_failures import unopened_run
    from audit_lib.errors import AuditError
    from audit_lib.pipeline import load_run
    from audit_lib.window import Window

    params = context["params"]
    try:
        if run_uri is not None:
            return load_run(run_uri, spec_path=spec_path, notify=tell)
        return unopened_run(
            spec_path,
            Window.parse(*window_of(context)),
            store_root(),
            sample_size=params.get("sample_size"),
            names_per_cell=params.get("names_per_cell"),
            notify=tell,
        )
    except (AuditError, AirflowFailException) as error:
        raise AirflowSkipException(f"nothing to archive: {error}") from None


def faults_of(context: Any) -> list[Any]:
    """Return what went wrong in the tasks that failed for good, in the order of the tasks in the DAG."""
    from audit_lib.archive.attempts import fault
    from audit_lib.documents.evidence import AttemptFault
    from audit_lib.typed_json import decode_value

    task, dag, run = context["ti"], context["dag"], context["dag_run"]
    states = task.get_task_states(dag_id=dag.dag_id, run_ids=[run.run_id]).get(run.run_id, {})
    order = {name: place for place, name in enumerate(upstream(dag, task.task_id))}
    found = []
    for name, state in states.items():
        of_task, _, index = name.rpartition("_")
        if name in order:
            of_task, at = name, -1
        elif of_task in order and index.isdecimal():
            at = int(index)
        else:
            continue
        if str(state) == "failed":
            found.append((order[of_task], at, of_task))
    faults = []
    for _, at, name in sorted(found):
        left = task.xcom_pull(task_ids=name, key=FAULT, map_indexes=at if at >= 0 else None)
        stage = STAGES.get(name.split(".")[-1], name) if at < 0 else f"{name}[{at}]"
        gone = "its process ended without a word: killed, out of memory, or its machine lost; see its log"
        faults.append(
            decode_value(AttemptFault, left, name)
            if isinstance(left, dict)
            else fault(stage, "TaskFailed", gone)
        )
    return faults


def upstream(dag: Any, task_id: str) -> list[str]:
    """Return the tasks that come before a task, in order."""
    before = {each.task_id for each in dag.task_dict[task_id].get_flat_relatives(upstream=True)}
    return [each.task_id for each in dag.topological_sort() if each.task_id in before]
