"""Tells whether a new model may take the place of the deployed one, before it is released.

Start it with the name of an audit and the new model: a YAML file on the workers with a section `model`, or a name for
the section that the audit has. The run succeeds where the model is equivalent, and fails where there is evidence of
harm or too little of anything; its log says why, and the record is in the store (`audit gate`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException
from audit_tasks import in_task, load_specs, refuse_unknown_conf, small, store_root, tell


@task(retries=0)
def ask() -> dict[str, Any]:
    """Ask the new model until it is decided; fail unless it is equivalent."""
    from audit_lib.cli.gate import cost_lines, verdict_lines
    from audit_lib.gate import ask_gate, open_gate, read_model
    from audit_lib.preflight import require_ready
    from audit_lib.spec import Panel
    from audit_lib.window import Window

    with in_task():
        refuse_unknown_conf()
        given = get_current_context()["params"]
        if not given["audit"] or not given["model"]:
            raise AirflowFailException("start this DAG with the name of an audit and the new model")
        found = load_specs(given["audit"]).audits.get(given["audit"])
        if found is None or isinstance(found[1], Panel):
            raise AirflowFailException(f"{given['audit']}: no audit of one model has this name")
        model = read_model(given["model"], found[1])
        require_ready(found[1].override("model", **model.model_dump(mode="json")), load=False)
        ends = given["window_start"], given["window_end"]
        if (ends[0] is None) != (ends[1] is None):
            raise AirflowFailException("window_start and window_end go together: give both, or neither")
        window = None if ends[0] is None else Window.parse(*ends)
        planned = open_gate(found[1], model, store_root(), window=window, limit=given["limit"], notify=tell)
        for line in cost_lines(planned):
            tell(line)
        record, where = ask_gate(planned)
        for line in verdict_lines(record):
            tell(line)
        if record.decision != "equivalent":
            raise AirflowFailException(f"{record.decision}: {record.reason}; {where}")
        return small({"decision": record.decision, "record": where})


with DAG(
    "gate",
    description="May a new model take the place of the deployed one?",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    params={
        "audit": Param(None, type=["null", "string"], title="Audit", description="Its name."),
        "model": Param(None, type=["null", "string"], title="New model", description="YAML file, or a name."),
        "window_start": Param(None, type=["null", "string"], title="Start of the window"),
        "window_end": Param(None, type=["null", "string"], title="End of the window"),
        "limit": Param(None, type=["null", "integer"], minimum=1, title="Most prompts that are asked"),
    },
    tags=["audit", "gate"],
):
    ask()
