"""Which models answered two runs: a log, or an endpoint, may change its model while the spec keeps one name."""

from __future__ import annotations

from typing import Any

from audit_lib.run import Run


def compare_served_models(before: Run, run: Run) -> dict[str, Any]:
    """Compare the names under which models answered the rows of two runs.

    Rows that name no model say nothing of it; where a run has no others, nothing can be compared.

    Returns
    -------
    dict
        ``previous`` and ``current``: the names, in order; ``changed``: whether they differ, or None where one is empty.
    """
    previous, current = _names(before), _names(run)
    changed = previous != current if previous and current else None
    return {"previous": previous, "current": current, "changed": changed}


def _names(run: Run) -> list[str]:
    if run.spec.model.answers_are_recorded:
        models = run.stage("sample").read_json("sample.json").get("models") or []
        return sorted({one["model"] for one in models if one["sampled"] and one["audited"] and one["model"]})
    records = [path.rsplit("/", 1)[0] for path in run.list("scores") if path.endswith("/served.json")]
    return sorted({one["model"] for stage in records for one in run.stage(stage).read_json("served.json")})
