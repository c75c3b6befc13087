"""No DAG: its import error names each spec that cannot be loaded, and why, where Airflow shows such errors.

It is a file of its own since Airflow schedules no DAG of a file with an import error.
"""

from __future__ import annotations

from airflow.sdk import get_parsing_context
from audit_tasks import load_specs, parse_until

from audit_lib.errors import SpecError

if get_parsing_context().dag_id is None:  # a task's process looks for its own DAG alone
    _specs = load_specs(until=parse_until(), to_parse=True)
    _said = [*_specs.faults.values(), *(f"{path}: there was no time to load it" for path in _specs.left_out)]
    if _said:
        _specs_are = "1 spec is" if len(_said) == 1 else f"{len(_said)} specs are"
        raise SpecError("\n".join([f"{_specs_are} not loaded; all others are there", *_said]))
