"""A gate that is planned: what it asks, in which order, of which model, next to which, and what that costs at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from pydantic import ValidationError

from audit_lib.documents.drift import RunIdentity
from audit_lib.errors import AuditError, InputError, SpecError
from audit_lib.gate.batches import GateUnits
from audit_lib.gate.questions import GateScheme
from audit_lib.large_file import Content
from audit_lib.monitor.baseline import read_baselines
from audit_lib.monitor.history import read_history
from audit_lib.monitor.window_sums import question_of
from audit_lib.pipeline import run_stage
from audit_lib.progress import ignore
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.score.backends import backend
from audit_lib.score.estimate import estimate_cuts
from audit_lib.score.remote.cost import CostEstimate
from audit_lib.score.requests import elicitation
from audit_lib.score.shard_plan import read_shard, shard_counts, variants
from audit_lib.spec import AuditSpec
from audit_lib.spec.scoring import Model
from audit_lib.spec.text import faults, read_spec_text, read_yaml
from audit_lib.store import open_store
from audit_lib.window import Window

FOLDER: Final = "gates"
_UNCOMPARED: Final = "scores of the deployed model on the same prompts are not in the store"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGate:
    """A gate that is planned and has asked nothing yet.

    Parameters
    ----------
    run : Run
        The run of the new model, with its variants in batches.
    scheme : GateScheme
        What is asked.
    units : GateUnits
        Of its rows.
    counts : mapping of int to int
        Requests of each batch.
    baseline : int
        Number of the decision that says which model is deployed.
    deployed : Run or Undefined
        The deployed model's sealed run on the same prompts, or why there is none.
    estimate : CostEstimate
        The most that asking can take.
    limit : int or None
        The most requests that are asked.
    """

    run: Run
    scheme: GateScheme
    units: GateUnits
    counts: Mapping[int, int]
    baseline: int
    deployed: Run | Undefined
    estimate: CostEstimate
    limit: int | None


def read_model(text: str, spec: AuditSpec) -> Model:
    """Return the new model: a YAML file with what stands in the section `model`, or a name for the spec's own section.

    Raises
    ------
    SpecError
        If the file is no such section.
    """
    if not text.endswith((".yaml", ".yml")):
        return Model.model_validate(
            spec.model.model_dump(mode="json") | {"name": text, "revision": None, "served": None}
        )
    path = Path(text)
    content: Any = read_yaml(read_spec_text(path), path)
    content = content.get("model", content) if isinstance(content, dict) else content
    try:
        return Model.model_validate(content)
    except ValidationError as error:
        raise SpecError("\n".join(f"{path}: model.{one}" for one in faults(error, Model))) from None


def open_gate(
    spec: AuditSpec,
    model: Model,
    root: str,
    *,
    window: Window | None = None,
    limit: int | None = None,
    notify: Callable[[str], None] = ignore,
) -> PlannedGate:
    """Plan a gate: check that there is something to compare with, draw the sample, and say what it can cost at most.

    Parameters
    ----------
    spec : AuditSpec
        The audit's.
    model : Model
        The new one.
    root : str
        The store of the audit.
    window : Window, optional
        Whose prompts are asked; that of the last run of the baseline by default.
    limit : int, optional
        The most requests that are asked; all of the sample by default.
    notify : callable, optional
        Is told how far it is.

    Raises
    ------
    InputError
        If there is no baseline or no margin, if the spec asks another question than the baseline, or the limit does not
        hold the first batch.
    """
    store = open_store(root)
    baselines = read_baselines(store, spec.audit)
    if not baselines:
        raise InputError(
            f"{spec.audit}: no baseline: nobody has decided which windows show the deployed model; decide it with "
            f"`audit baseline set {spec.audit}`"
        )
    baseline = baselines[-1]
    window = window or Window.from_label(baseline.runs[-1].window)
    new = spec.override("model", **model.model_dump(mode="json")).override("score", canaries=[])
    scheme = GateScheme.of(new)
    run = Run.open(new, window, store.uri(f"{spec.audit}/{FOLDER}"), notify)
    for name in ("plan", "sample"):
        run_stage(run, name)
    asked = question_of(run)
    if other := [name for name, digest in asked.items() if baseline.question.get(name) != digest]:
        raise InputError(
            f"{spec.audit}: asks another question than its baseline: {', '.join(other)} of the spec differ; decide a "
            "baseline of runs with this spec"
        )
    folder = run.stage("variants")
    if not folder.is_complete():
        started = datetime.now(UTC)
        made = variants(run, lambda rows, asked: _units(rows, scheme).batches(asked))
        folder.commit(made, started)
    units = _units(folder.content("variants.parquet"), scheme)
    counts = _within(shard_counts(run), limit)
    return PlannedGate(
        run=run,
        scheme=scheme,
        units=units,
        counts=counts,
        baseline=baseline.number,
        deployed=_deployed(root, spec.audit, run, baseline.runs, asked),
        estimate=_estimate(run, counts),
        limit=limit,
    )


def _units(rows: Content, scheme: GateScheme) -> GateUnits:
    return GateUnits.of(rows, scheme.columns, scheme.spec.seed)


def _within(counts: Mapping[int, int], limit: int | None) -> dict[int, int]:
    kept: dict[int, int] = {}
    for number, requests in sorted(counts.items()):
        if limit is not None and sum(kept.values()) + requests > limit:
            break
        kept[number] = requests
    if not kept:
        raise InputError(
            f"--limit {limit}: does not hold the first batch, which asks {counts[min(counts)]} prompts"
        )
    return kept


def _estimate(run: Run, counts: Mapping[int, int]) -> CostEstimate:
    task = elicitation.get(run.spec.task)(run.spec)
    cuts = {number: read_shard(run, number).packs for number in counts}
    with closing(backend.get(run.spec.model.backend)(run.spec.model)) as answering:
        return estimate_cuts(run, task, cuts, answering)


def _deployed(
    root: str, audit: str, run: Run, pinned: Sequence[RunIdentity], asked: Mapping[str, str]
) -> Run | Undefined:
    """Return the deployed model's run on the same prompts: one of the baseline, else the one sealed last.

    Which model is deployed is what the last run of the baseline asked.
    """
    store = open_store(root)
    last = pinned[-1]
    is_deployed = Run.load(store.uri(f"{audit}/{last.window}/{last.spec_digest[:16]}")).spec.model
    here = [one for one in read_history(store, audit).complete if one.window == run.key.window]
    of_baseline = {one.spec_digest[:16] for one in pinned if one.window == run.key.window.label}
    why = _UNCOMPARED
    for one in sorted(here, key=lambda one: (one.design in of_baseline, one.sealed_at), reverse=True):
        try:
            found = Run.load(store.uri(one.prefix))
            if question_of(found) != asked:
                why = "the run of this window asks another question"
            elif found.spec.model != is_deployed:
                why = "the run of this window asked another model than the last run of the baseline"
            elif _ids(found) != _ids(run):
                why = "the run of this window was asked other prompts"
            else:
                return found
        except AuditError as error:
            why = f"{one.prefix}: cannot be read: {error}"
    return Undefined(why)


def _ids(run: Run) -> list[str]:
    source = run.stage("variants").parquet("variants.parquet")
    found: list[str] = pq.read_table(source, columns=["variant_id"])["variant_id"].to_pylist()
    return sorted(found)
