"""Which models answered two runs: a log, or an endpoint, may change its model while the spec keeps one name."""

from __future__ import annotations

from audit_lib.documents.drift import ServedModels
from audit_lib.documents.evidence import ServedModel
from audit_lib.documents.sample import Sample
from audit_lib.run import Run


def compare_served_models(before: Run, run: Run) -> ServedModels:
    """Compare the names under which models answered the rows of two runs.

    Rows that name no model say nothing of it; where a run has no others, nothing can be compared.

    Returns
    -------
    ServedModels
        The names, in order, and whether they differ; None where one run has none.
    """
    previous, current = served_names(before), served_names(run)
    changed = previous != current if previous and current else None
    return ServedModels(previous=previous, current=current, changed=changed)


def served_names(run: Run) -> tuple[str, ...]:
    """Return the names under which models answered a run, in order."""
    if run.spec.model.answers_are_recorded:
        models = run.stage("sample").read_document(Sample, "sample.json").models or ()
        return tuple(sorted({one.model for one in models if one.sampled and one.audited and one.model}))
    records = [path.rsplit("/", 1)[0] for path in run.list("scores") if path.endswith("/served.json")]
    found = (run.stage(stage).read_document(tuple[ServedModel, ...], "served.json") for stage in records)
    return tuple(sorted({one.model for answered in found for one in answered}))
