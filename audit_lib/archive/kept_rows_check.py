"""Rows that can still be read where other people of the run were erased: from question to answer to score."""

from __future__ import annotations

from typing import Final

from audit_lib.archive.artefact_differences import compare
from audit_lib.archive.findings import Work
from audit_lib.archive.kept_rows import without_erased
from audit_lib.archive.records_check import check_questions
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import AuditError, StoreUnreachableError
from audit_lib.large_file import bytes_of
from audit_lib.privacy.applicant_keys import configured_keys
from audit_lib.run import Run

ROW_BY_ROW: Final = ("pointwise", "listwise")
"""Tasks whose scores each follow from one request; a pairwise score is of all pairs, erased ones too."""


def check_kept_rows(work: Work, run: Run, shards: list[str], manifest: Manifest | None) -> int:
    """Check the score records of people who were not erased; return how many were checked.

    Parameters
    ----------
    work : Work
        Takes the findings.
    run : Run
        Encrypted, and not all of it can be read.
    shards : list of str
        Stages that hold scores.
    manifest : Manifest or None
        Of the run.
    """
    from audit_lib.score import asked_of, score_shard, scores_again
    from audit_lib.score.requests import questions
    from audit_lib.score.shard_plan import requests_in

    keys = configured_keys(run.key.audit)
    if keys is None or manifest is None or run.spec.task not in ROW_BY_ROW:
        return 0
    kept = without_erased(run, keys)
    checked, stage = 0, "scores"
    try:
        for stage in shards:
            number, path = int(stage.split("/")[1]), f"{stage}/scores.parquet"
            what = asked_of(kept, number, whole=False)
            scores = kept.stage(stage).read_table("scores.parquet")
            made = scores_again(kept, number, what)
            if run.spec.model.answers_are_recorded:
                made = {**made, **score_shard(kept, number, what).artefacts}
            check_questions(
                scores,
                questions(requests_in(what.packs)),
                path,
                lambda where, detail: work.find("recomputation", where, detail),
            )
            if (content := made.get("scores.parquet")) is None:
                continue  # texts, of which no score follows
            difference = compare(path, kept.stage(stage).read("scores.parquet"), bytes_of(content))
            if difference is not None:
                for text in difference.exceeds:
                    work.find("recomputation", path, text)
            checked += len(scores)
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("recomputation", stage, f"rows that were not erased cannot be checked: {error}")
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find(
            "recomputation", stage, f"rows that were not erased cannot be checked ({type(error).__name__})"
        )
    return checked
