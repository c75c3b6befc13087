"""What lies where in a run: the sealed stages, the folder of each artefact, and a file's digest."""

from __future__ import annotations

from typing import Final

from audit_lib.run import SUCCESS, Run

SEALED: Final = ("plan", "sample", "variants", "scores", "validation", "metrics", "report")
"""Stages under the manifest, in the order they run; ``evidence`` is its own, and ``monitor`` comes later."""
_NUMBERED: Final = ("scores/", "signoff/", "attempts/")
STARTED: Final = "_STARTED"
"""The file that says when an attempt began."""


def stage_of(path: str) -> str:
    """Return the stage folder that an artefact's path lies in.

    Examples
    --------
    >>> stage_of("scores/3/scores.parquet"), stage_of("plan/inputs/perturb.names")
    ('scores/3', 'plan')
    """
    return "/".join(path.split("/")[: 2 if path.startswith(_NUMBERED) else 1])


def complete_stages(run: Run) -> list[str]:
    """Return the folders of the complete sealed stages, each shard of ``scores`` by itself, in order."""
    done = {path.removesuffix(f"/{SUCCESS}") for path in run.list() if path.endswith(f"/{SUCCESS}")}
    order = {stage: place for place, stage in enumerate(SEALED)}
    found = [stage for stage in done if stage_of(stage) == stage and stage.split("/")[0] in order]
    return sorted(found, key=lambda stage: (order[stage.split("/")[0]], len(stage), stage))
