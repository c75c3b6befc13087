"""The stages in order: what the DAGs and the command line call.

::

    plan -> sample -> variants -> scores/<shard>* -> validation -> metrics -> report -> evidence

Each stage is done once: a complete one is skipped, so that a run which was killed goes on where it was. What changed
since the window before is derived afterwards, from all runs of the audit (`audit_lib.monitor.compare_windows`).
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from audit_lib.errors import (
    AuditError,
    EvidenceError,
    IncompleteRunError,
    NotFoundError,
    ValidationFailedError,
)
from audit_lib.run import SUCCESS, Run, StageFolder, StageOutput
from audit_lib.spec import AuditSpec, load_spec
from audit_lib.spec_check import check_parts
from audit_lib.store import open_store
from audit_lib.window import Window

COMMAND: Final = "audit run"
"""Who begins an attempt from the command line."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: the folder it writes, the function that makes its artefacts, and what it needs."""

    folder: str
    function: str  # "module:name", imported when the stage runs
    needs: tuple[str, ...] = ()


STAGES: Final = (
    Stage("plan", "audit_lib.plan:plan"),
    Stage("sample", "audit_lib.sample:sample", ("plan",)),
    Stage("variants", "audit_lib.score.shard_plan:variants", ("sample",)),
    Stage("scores", "audit_lib.score:score_shard", ("variants",)),
    Stage("validation", "audit_lib.validate:validate", ("variants", "scores")),
    Stage("metrics", "audit_lib.measure.stage:measure", ("validation",)),
    Stage("report", "audit_lib.report:report", ("metrics",)),
    Stage("evidence", "audit_lib.archive:archive", ("plan",)),
)
_BY_FOLDER: Final = {stage.folder: stage for stage in STAGES}


def _ignore(message: str) -> None:
    pass


def open_run(
    spec_path: str | Path,
    window: Window,
    root: str,
    *,
    sample_size: int | None = None,
    names_per_cell: int | None = None,
    notify: Callable[[str], None] = _ignore,
) -> Run:
    """Return the run of a spec over a window, with the spec's numbers overridden where given.

    An override changes the spec's digest, and so makes another run. Nothing is written. ``panel.yaml#NAME`` is one
    model of a panel.

    Raises
    ------
    SpecError
        If the spec is wrong.
    EvidenceError
        If something of the run was deleted or written over in a bucket that keeps versions.
    """
    spec = load_spec(spec_path)
    check_parts(spec)
    if sample_size is not None:
        spec = spec.override("sample", size=sample_size)
    if names_per_cell is not None:
        spec = spec.override("perturb", names_per_cell=names_per_cell)
    run = Run.open(spec, window, root, notify)
    _refuse_later_versions(run)
    if not run.stage("plan").is_complete():  # what was planned goes on, on any day
        _check_facts(spec, None, window)
    return run


def _refuse_later_versions(run: Run) -> None:
    """Refuse to go on with a run that somebody changed: what was hidden would be made again, as if it had not been."""
    if not run.store.root.startswith("s3://"):
        return
    from audit_lib.store.versions import FirstVersions, as_first_written

    first, _ = as_first_written(run.store.root)
    if isinstance(first, FirstVersions) and (later := first.later(run.prefix)):
        said = "\n".join(f"  {one.key}: {one.detail}" for one in later[:10])
        more = f"\n  and {len(later) - 10} more" if len(later) > 10 else ""
        raise EvidenceError(
            f"{run.uri}: was changed in its bucket, and a run is written once. Find who did it; `audit verify` checks "
            f"what was written first.\n{said}{more}"
        )


def load_run(
    uri: str, *, spec_path: str | Path | None = None, notify: Callable[[str], None] = _ignore
) -> Run:
    """Return a planned run from its URI; `spec_path` says where relative source paths start."""
    return Run.load(uri, notify, Path(spec_path).parent if spec_path else None)


def shards(run: Run) -> list[int]:
    """Return the shards that scoring is cut into. Their number never changes a score."""
    from audit_lib.score import shards as plan_shards

    _require(run, "variants")
    return plan_shards(run)


def run_stage(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
    """Do one stage (one shard of ``scores``), or find it complete; return its counts.

    Raises
    ------
    IncompleteRunError
        If a stage that it needs is not complete.
    """
    if name == "scores" and shard is not None:
        return ShardScorer(run).score(shard)
    stage = _BY_FOLDER[name]
    if name == "scores" or shard is not None:
        raise ValueError("the stage `scores`, and no other, is done shard by shard")
    folder = run.stage(stage.folder)
    if folder.is_complete():
        run.notify(f"{name}: complete, skipped")
        if name == "sample":
            from audit_lib.documents.sample import Sample
            from audit_lib.sample.read import changed_since

            for path in changed_since(run.spec, folder.read_document(Sample, "sample.json")):
                run.notify(
                    f"WARNING: {path}: the source changed since this run was sampled; this run keeps the "
                    "old data; change the spec or the store to audit the new"
                )
        if name == "evidence":
            from audit_lib.archive.entering import enter_sealed
            from audit_lib.signing.sign_run import is_signed, sign_result

            entry = enter_sealed(run)  # where that failed before
            if is_signed(run, "plan"):
                sign_result(run, entry)
        return folder.counts()
    for needed in stage.needs:
        _require(run, needed)
    if name == "metrics":
        from audit_lib.validate import require_valid

        require_valid(run)
    if name == "plan":
        from audit_lib.archive.store_record import record_store

        record_store(run)
    if name == "evidence":
        from audit_lib.archive.entering import refuse_second_sealing

        refuse_second_sealing(run)
    counts = _do(run, stage, name)
    if name == "evidence":
        from audit_lib.archive.entering import enter_sealed
        from audit_lib.signing.sign_run import sign_result

        sign_result(run, enter_sealed(run))
    return counts


@dataclass(slots=True)
class ShardScorer:
    """Scores shards one after another; that the model is about to be asked is looked after once, before the first."""

    run: Run
    _begun: bool = False

    def score(self, shard: int) -> dict[str, int]:
        """Score a shard, or find it complete; return its counts.

        Raises
        ------
        IncompleteRunError
            If the variants are not there.
        """
        run, stage = self.run, _BY_FOLDER["scores"]
        folder = run.stage(f"scores/{shard}")
        if folder.is_complete():
            run.notify(f"scores/{shard}: complete, skipped")
            return folder.counts()
        if not self._begun:
            self._begin()
        return _do(run, stage, f"scores/{shard}", shard)

    def _begin(self) -> None:
        """Record the store, enter the plan in the journal and sign it, and enter that the model is asked."""
        from audit_lib.archive.entering import enter_asked, enter_plan
        from audit_lib.archive.store_record import record_store
        from audit_lib.signing.sign_run import sign_plan

        for needed in _BY_FOLDER["scores"].needs:
            _require(self.run, needed)
        record_store(self.run)
        sign_plan(self.run, enter_plan(self.run))
        enter_asked(self.run)
        self._begun = True


def _do(run: Run, stage: Stage, label: str, shard: int | None = None) -> dict[str, int]:
    """Make the artefacts of a stage, or of one shard, and commit them."""
    module, function = stage.function.split(":")
    produce: Callable[..., StageOutput] = getattr(importlib.import_module(module), function)
    started, clock = datetime.now(UTC), time.monotonic()
    run.notify(f"{label}: started")
    output = produce(run) if shard is None else produce(run, shard)
    record = run.stage(label).commit(output, started, keep_existing=shard is not None)
    counts: dict[str, int] = dict(record.counts)
    summary = ", ".join(f"{key} {value}" for key, value in counts.items())
    run.notify(f"{label}: done in {time.monotonic() - clock:.1f} s{' - ' + summary if summary else ''}")
    return counts


def run_all(run: Run, *, dry_run: bool = False, by: str = COMMAND) -> None:
    """Do every stage in order. A dry run stops before the model is asked.

    An audit that fails its validation is archived, and then raises. One that fails elsewhere leaves a sealed
    record of the attempt (`audit_lib.archive.attempts`), with its error and all that was made until then.

    Raises
    ------
    ValidationFailedError
        If an expectation of severity ``error`` failed.
    """
    from audit_lib.archive import attempts
    from audit_lib.archive.seal_failures import seal_failure

    counted = not dry_run and not run.stage("evidence").is_complete()
    number = attempts.start(run, by) if counted else 0
    at, scorer = "plan", ShardScorer(run)
    try:
        for name, shard in _steps(run, dry_run):
            at = name if shard is None else f"{name}/{shard}"
            if shard is None:
                run_stage(run, name)
            else:
                scorer.score(shard)
    except ValidationFailedError:
        run_stage(run, "evidence")
        _compare_sealed(run)
        raise
    except BaseException as error:
        if number and not run.stage("evidence").is_complete():
            seal_failure(run, number, [attempts.fault_of(at, error)], attempts.outcome_of(error))
        raise
    if not dry_run:
        _compare_sealed(run)


def _compare_sealed(run: Run) -> None:
    """Compare a run that is sealed: what cannot be compared is told, and takes nothing from the run."""
    from audit_lib.monitor import compare_windows

    try:
        compare_windows(run.uri, run.notify)
    except AuditError as error:
        run.notify(f"WARNING: the run is sealed, and could not be compared with other windows: {error}")


def _steps(run: Run, dry_run: bool) -> Iterator[tuple[str, int | None]]:
    for name in ("plan", "sample", "variants"):
        yield name, None
    parts = shards(run)
    if dry_run:
        requests = run.stage("variants").counts().get("requests", 0)
        run.notify(f"dry run: {requests} requests in {len(parts)} shards would be scored")
        return
    for shard in parts:
        yield "scores", shard
    for name in ("validation", "metrics", "report", "evidence"):
        yield name, None


def _require(run: Run, name: str) -> None:
    folders = (
        [run.stage(f"scores/{shard}") for shard in shards(run)] if name == "scores" else [run.stage(name)]
    )
    if not folders:
        raise IncompleteRunError(
            f"{run.uri}: there is nothing to score; look at the stages sample and variants"
        )
    for folder in folders:
        if not folder.is_complete():
            raise IncompleteRunError(f"{folder.store.uri(folder.prefix)}: not complete; run this stage first")


def check(spec: AuditSpec, today: date | None = None) -> None:
    """Check what the spec's types cannot: that the parts it names exist and accept their options, and its facts agree.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    today : date, optional
        First day that an audit of it can have; by default what it is now in UTC.

    Raises
    ------
    SpecError
        If a part is not registered, an option is wrong, a column is not known, a file cannot be read, or stated facts
        of the tool's use contradict each other.
    GateError
        If the law of the policy does not let such an audit pass.
    LexiconError
        If a lexicon of the perturbation cannot be used.
    """
    check_parts(spec)
    _check_facts(spec, today)


def _check_facts(spec: AuditSpec, today: date | None, window: Window | None = None) -> None:
    from audit_lib.policies import policy_of
    from audit_lib.policies.contradictions import check_facts
    from audit_lib.policies.timeline import Timeline

    day = today or datetime.now(UTC).date()
    check_facts(Timeline(policy=policy_of(spec), spec=spec, audited=day, window=window))


def remarks(spec: AuditSpec) -> list[str]:
    """Return what a user ought to know of a spec that passes `check`, before anything is asked."""
    from audit_lib.measure.remarks import remarks
    from audit_lib.perturb.template_changes import several_changes

    return [*remarks(spec), *several_changes(spec, spec.read_design_files())]


def latest_run(audit: str, root: str) -> Run:
    """Return the archived run of `audit` with the latest window (and, within it, the latest sealed).

    Raises
    ------
    NotFoundError
        If the store has no archived run of that audit.
    """
    store = open_store(root)
    sealed = [
        key.removesuffix(f"/evidence/{SUCCESS}")
        for key in store.list(audit)
        if key.endswith(f"/evidence/{SUCCESS}")
    ]
    if not sealed:
        raise NotFoundError(f"{store.uri(audit)}: no archived run of this audit; `audit run` makes one")

    def age(prefix: str) -> tuple[datetime, datetime, str]:
        window = Window.from_label(prefix.split("/")[-2])
        return window.end, window.start, StageFolder(store, f"{prefix}/evidence").success().finished_at

    return Run.load(store.uri(max(sealed, key=age)))
