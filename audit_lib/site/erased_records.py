"""How many score records of a published run cannot be recomputed any more: those of people whose data were erased."""

from __future__ import annotations

from audit_lib.archive.kept_rows import without_erased
from audit_lib.archive.kept_rows_check import ROW_BY_ROW
from audit_lib.archive.manifest import MANIFEST
from audit_lib.documents.evidence import Manifest
from audit_lib.privacy.applicant_keys import configured_keys
from audit_lib.run import SUCCESS, Run


def erased_records(run: Run) -> int:
    """Return the number of score records that no key reads any more; 0 where no keys are here to say.

    Of a task whose scores are each of several people (pairwise) all count, as soon as one of them was erased.
    """
    keys = configured_keys(run.key.audit)
    tree = run.stage("evidence").read_document(Manifest, MANIFEST).record_tree
    if keys is None or tree is None or run.spec.privacy is None or run.spec.privacy.keys == "none":
        return 0
    if run.spec.task not in ROW_BY_ROW:
        return tree.records
    kept = without_erased(run, keys)
    shards = [path.rsplit("/", 1)[0] for path in run.list("scores") if path.endswith(f"/{SUCCESS}")]
    return tree.records - sum(len(kept.stage(one).read_table("scores.parquet")) for one in shards)
