"""Where the tasks of audits run: queue, pool, executor and pod, by the operator's own file (``AUDIT_PLACEMENT``).

::

    rules:
      - {tasks: [sample, validate, measure], queue: memory}
      - {tasks: [score], backends: [transformers, vllm], queue: gpu, pool: gpu}

Each rule is about the tasks, audits and backends that it names, or about all; of two that say the same thing the later
one holds. None of it is in a spec, which is the auditor's and is signed: where a task runs changes no byte of a run.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from audit_lib.errors import SpecError
from audit_lib.spec.section import Name, SpecSection
from audit_lib.spec.text import faults, read_spec_text, read_yaml

Task = Literal[
    "preflight", "plan", "sample", "perturb", "same_applicants", "shards", "score", "validate", "measure", "report",
    "archive", "compare",
]  # fmt: skip
Text = Annotated[str, Field(min_length=1)]
MOST_SCORING_TASKS = 256
"""More would not fit into an XCom, whose size is bounded."""


class Rule(SpecSection):
    """Where some tasks run."""

    tasks: Annotated[list[Task], Field(min_length=1)] | None = None
    audits: Annotated[list[Name], Field(min_length=1)] | None = None
    backends: Annotated[list[Name], Field(min_length=1)] | None = None
    queue: Text | None = None
    pool: Text | None = None
    pool_slots: Annotated[int, Field(ge=1)] | None = None
    executor: Text | None = None
    pod_template_file: Text | None = None
    pod_override: dict[str, Any] | None = None

    def is_about(self, task: str, audit: str, backend: str | None) -> bool:
        """Return whether a task is one of those that the rule names."""
        return all(
            named is None or value in named
            for named, value in ((self.tasks, task), (self.audits, audit), (self.backends, backend))
        )


class Placement(SpecSection):
    """The operator's file."""

    scoring_tasks: Annotated[int, Field(ge=1, le=MOST_SCORING_TASKS)] = 16
    rules: tuple[Rule, ...] = ()

    def options(self, task: str, audit: str, backend: str | None = None) -> dict[str, Any]:
        """Return what Airflow's operator of a task is told, beyond what the audit says itself."""
        found: dict[str, Any] = {}
        for rule in self.rules:
            if rule.is_about(task, audit, backend):
                found |= rule.model_dump(exclude={"tasks", "audits", "backends"}, exclude_none=True)
        pod = {name: found.pop(name) for name in ("pod_template_file", "pod_override") if name in found}
        if "pod_override" in pod:
            # An import of seconds, which only a file with this key pays; a template is a path alone.
            from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator

            pod["pod_override"] = PodGenerator.deserialize_model_dict(pod["pod_override"])
        return found | ({"executor_config": pod} if pod else {})


@cache
def placement() -> Placement:
    """Return the operator's file; without one, every task is where Airflow puts it.

    Raises
    ------
    SpecError
        If it cannot be read, or says what it cannot say.
    """
    named = os.environ.get("AUDIT_PLACEMENT")
    if not named:
        return Placement()
    path = Path(named)
    if not path.is_file():
        raise SpecError(
            f"AUDIT_PLACEMENT: {path} is not there; every machine that runs tasks needs it, as it needs the specs"
        )
    try:
        return Placement.model_validate(read_yaml(read_spec_text(path), path, what="placement"))
    except ValidationError as error:
        raise SpecError(f"AUDIT_PLACEMENT: {path}: {'; '.join(faults(error, Placement))}") from None
