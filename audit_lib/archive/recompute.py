"""Stages computed again from the evidence, and compared with what was archived."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from audit_lib.archive.artefact_differences import compare, each_number
from audit_lib.archive.files_check import listed_in
from audit_lib.archive.findings import EvidenceFindingKind, Work
from audit_lib.archive.layout import stage_of
from audit_lib.archive.records_check import (
    SCORED,
    check_counts,
    check_questions,
    sampled_counts,
    sampled_too,
    scored_counts,
)
from audit_lib.archive.served_check import check_model
from audit_lib.archive.withheld_check import RECOMPUTABLE, digest_here
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import AuditError, MissingPackageError, StoreUnreachableError, WithheldError
from audit_lib.large_file import Content, bytes_of, sha256_of
from audit_lib.records import SAMPLING_ERROR
from audit_lib.run import SUCCESS, Run, StageOutput

Recompute = Mapping[str, Callable[[Run], StageOutput]]

_RECOMPUTED: Final = {
    "plan": "audit_lib.archive.recompute:_plan_again",
    "variants": "audit_lib.archive.recompute:_variants_again",
    "validation": "audit_lib.validate:validate_again",
    "metrics": "audit_lib.measure.stage:measure",
    "report": "audit_lib.report:report",
}

_NUMBERS: Final = "metrics/metrics.json"
_LATER: Final = ("metrics/scores.csv",)
"""Artefacts that earlier versions did not write."""


def stages_computed_again(functions: Recompute | None, present: set[str]) -> list[str]:
    """Return the stages of those that are there that are computed again, in the order in which they are told."""
    return [stage for stage in (_RECOMPUTED if functions is None else functions) if stage in present]


def recompute_stage(
    work: Work, run: Run, manifest: Manifest | None, stage: str, functions: Recompute | None = None
) -> None:
    """Compute a stage again, and compare what comes out."""
    if functions is None and stage not in RECOMPUTABLE[work.readable]:
        work.unrecomputed.append(stage)
        return
    try:
        function = functions[stage] if functions is not None else _resolve(_RECOMPUTED[stage])
        output = function(run)
    except StoreUnreachableError:
        raise
    except WithheldError:
        work.unrecomputed.append(stage)
        return
    except MissingPackageError as error:
        work.find("stopped", stage, f"was not checked: {error}")
        return
    except AuditError as error:
        work.find("recomputation", stage, f"cannot be computed again: {error}")
        return
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("recomputation", stage, "cannot be computed again", error)
        return
    work.recomputed.append(stage)
    before = len(work.findings)
    _compare(work, stage, output, manifest)
    if functions is None:
        # Where other artefacts come out here, so may other counts, and the record is not to be blamed for it.
        kind: EvidenceFindingKind = "recomputation" if len(work.findings) > before else "record"
        check_counts(run, stage, output.counts, lambda path, detail: work.find(kind, path, detail), _no_other)


def check_sample(work: Work, run: Run) -> None:
    """The counts of the sample's record, against the sample."""

    def check() -> None:
        check_counts(
            run,
            "sample",
            sampled_counts(run),
            lambda path, detail: work.find("record", path, detail),
            sampled_too,
        )
        work.recomputed.append("sample")

    _checked(work, "scores", check)


def check_shard(work: Work, run: Run, stage: str, manifest: Manifest | None) -> None:
    """A shard's scores against the archived questions; recorded ones are made again, they need no model."""

    def check() -> None:
        if not _comes_out_by_columns(work, run, stage, manifest):
            _check_rows(work, run, stage, manifest)
        work.recomputed.append(stage)

    _checked(work, stage, check)


def _checked(work: Work, stage: str, check: Callable[[], None]) -> None:
    try:
        check()
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("recomputation", stage, f"cannot be checked: {error}")
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("recomputation", stage, "cannot be checked", error)


def _comes_out_by_columns(work: Work, run: Run, stage: str, manifest: Manifest | None) -> bool:
    """Whether all of a shard of recorded decisions comes out again, byte for byte, a column at a time.

    Its rows, its model and what it was asked are then those of the variants. Where anything differs, or it takes
    more than columns, the rows say what it is.
    """
    from audit_lib.score import score_columns

    made = score_columns(run, int(stage.split("/")[1]))
    if made is None:
        return False
    listed = {path for path in listed_in(manifest) if stage_of(path) == stage}
    contents = {f"{stage}/{name}": content for name, content in made.artefacts.items()}
    there = {path for path in work.digests if stage_of(path) == stage and path != f"{stage}/{SUCCESS}"}
    if contents.keys() != there or listed - there:
        return False
    for path, content in contents.items():
        if work.digests[path] not in (sha256_of(content), sha256_of(work.as_stored(path, content))):
            return False
    check_counts(
        run,
        stage,
        made.counts,
        lambda path, detail: work.find("record", path, detail),
        SCORED.__contains__,
    )
    return True


def _check_rows(work: Work, run: Run, stage: str, manifest: Manifest | None) -> None:
    from audit_lib.score import asked_of, score_shard, scores_again
    from audit_lib.score.requests import questions
    from audit_lib.score.shard_plan import requests_in

    def find(path: str, detail: str) -> None:
        work.find("record", path, detail)

    number = int(stage.split("/")[1])
    what = asked_of(run, number)
    scores = run.stage(stage).read_table("scores.parquet")
    made = scores_again(run, number, what)
    answers = run.stage(stage).read_table("pairs.parquet") if "pairs.parquet" in made else None
    check_counts(run, stage, scored_counts(scores, answers), find, SCORED.__contains__)
    check_model(run, stage, scores, answers, find)
    _check_made(work, stage, made)
    check_questions(
        scores,
        questions(requests_in(what.packs)),
        f"{stage}/scores.parquet",
        lambda path, detail: work.find("recomputation", path, detail),
    )
    if run.spec.model.answers_are_recorded:
        _compare(work, stage, score_shard(run, number, what), manifest)


def _check_made(work: Work, stage: str, made: Mapping[str, Content]) -> None:
    """What follows from a shard's answers must be there as it follows."""
    uncertainty = f"{stage}/{SAMPLING_ERROR}"
    if uncertainty in work.digests and SAMPLING_ERROR not in made:
        work.find("recomputation", uncertainty, "does not follow from the evidence")
    for name, content in made.items():
        path = f"{stage}/{name}"
        if path not in work.digests:
            work.find("recomputation", path, "follows from the evidence, and is not there")
        elif work.digests[path] not in (sha256_of(content), sha256_of(work.as_stored(path, content))):
            _report_difference(work, path, content)


def _no_other(name: str) -> bool:
    return False


def _compare(work: Work, stage: str, output: StageOutput, manifest: Manifest | None) -> None:
    made = {f"{stage}/{name}" for name in output.artefacts}
    for path in sorted(path for path in listed_in(manifest) if stage_of(path) == stage and path not in made):
        work.find("recomputation", path, "does not follow from the evidence")
    for name, content in sorted(output.artefacts.items()):
        path = f"{stage}/{name}"
        digest, where = digest_here(work, path)
        if path in _LATER and digest is None and path not in listed_in(manifest):
            work.notes.append(f"{path}: is not there; runs that earlier versions made have none")
        elif digest is None:
            work.find("recomputation", where, "follows from the evidence, and is not there")
        elif digest not in (sha256_of(content), sha256_of(work.as_stored(where, content))):
            _report_difference(work, where, content)


def _report_difference(work: Work, path: str, recomputed: Content) -> None:
    try:
        difference = compare(path, work.as_made(path), bytes_of(recomputed))
        if path == _NUMBERS:
            work.numbers = _say_numbers(json.loads(work.as_made(path)), json.loads(bytes_of(recomputed)))
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("recomputation", path, "cannot be read", error)
        return
    if difference is None:
        return
    for text in difference.exceeds:
        work.find("recomputation", path, text)
    if not difference.exceeds and not difference.numbers:
        work.notes.append(f"{path}: the same rows come out again, in other bytes (another writer version)")
    if difference.numbers:
        work.notes.append(
            f"{path}: {difference.numbers} numbers computed here differ in their last digits, by at most "
            f"{difference.largest:.1g} of their size (another processor or library does that)"
        )


def _say_numbers(archived: Any, recomputed: Any) -> str:
    """Tell how many numbers come out again though the document as a whole does not."""
    found = list(each_number(archived, recomputed))
    other = [path for path, same in found if same is False]
    alone = sum(same is None for _, same in found)
    said = f"of its {len(found):,} numbers in {_NUMBERS} {len(found) - len(other) - alone:,} come out again"
    if other:
        said += f", {len(other):,} come out otherwise ({', '.join(other[:3])}{', ...' if other[3:] else ''})"
    return said + (f", and {alone:,} are of a kind that is not computed here" if alone else "")


def _variants_again(run: Run) -> StageOutput:
    from audit_lib.perturb import perturb
    from audit_lib.score.shard_plan import is_planned, variants

    return variants(run) if is_planned(run) else perturb(run)  # earlier versions did not plan the shards


def _plan_again(run: Run) -> StageOutput:
    from audit_lib.plan import plan
    from audit_lib.plan.earlier_reports import EARLIER
    from audit_lib.plan.journal_before import JOURNAL

    archived = run.stage("plan")
    there = archived.success().artefacts
    # What came before this run is not in it; the journal is held against its own chain.
    earlier, journal = (archived.read(name) if name in there else b"" for name in (EARLIER, JOURNAL))
    return plan(run, run.spec.read_design_files(), earlier, journal)


def _resolve(function: str) -> Callable[[Run], StageOutput]:
    module, name = function.split(":")
    found: Callable[[Run], StageOutput] = getattr(importlib.import_module(module), name)
    return found
