"""Reproduce a sealed run: plan what is asked and what differs before, ask, compare, attribute, and write the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.archive.environment import ENVIRONMENT, environment
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.environment import environment_bytes
from audit_lib.documents.reproduction import (
    PREDICATE,
    ConditionDifference,
    NoiseFloor,
    ReproducedRun,
    Reproduction,
    ReproductionCause,
    SamplingTest,
    SubsetBound,
)
from audit_lib.documents.sign_off import TYPE
from audit_lib.reproduce.asking_again import (
    RECORD,
    ModelHere,
    ask_again,
    claim,
    describe_model,
    estimate_part,
    order_of_reproduction,
    prepare,
    refuse_finished,
    require_model,
    require_whole,
    table_of,
)
from audit_lib.reproduce.causes import attribute_differences, served_sides
from audit_lib.reproduce.compared_answers import (
    SHOWN,
    ComparedAnswer,
    answers_of,
    compare_answers,
    largest,
    recorded_floor,
    score_gap,
    summarised,
)
from audit_lib.reproduce.conditions import condition_differences, described_models
from audit_lib.reproduce.drawn_part import DrawnPart, draw_part, subset_bound
from audit_lib.reproduce.experiments import Reproduced, experiments, most_requests
from audit_lib.reproduce.number_changes import compare_metrics
from audit_lib.reproduce.sampled_answers import judge_sampled
from audit_lib.reproduce.sealed_bundle import SealedBundle
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.score.backends import backend
from audit_lib.score.remote.cost import CostEstimate
from audit_lib.signing.signers import PAYLOAD_TYPE, configured_signer, sign_payload
from audit_lib.store import Store

NOTHING_TO_ASK: Final = (
    "the scores are answers that were recorded before this audit: they are the record, and there is no model to ask "
    "again. That the published numbers follow from them is what `audit verify` shows, and it verifies"
)
_PART: Final = "metrics need all answers, and a part was asked"
_SAME: Final = "every answer is equal, so every number is the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReproduction:
    """What would be asked, of which model, and what is known to differ before.

    Attributes
    ----------
    bundle : SealedBundle
    here : ModelHere
    run : Run
        The sealed run's files with the model here: what the estimate is of.
    out : Store
        The folder of the reproduction; nothing is written into it yet.
    part : DrawnPart
    described : mapping of str to object
        The model here.
    environment : bytes
        ``environment.json`` of this machine.
    conditions : list of ConditionDifference
    estimate : CostEstimate
    """

    bundle: SealedBundle
    here: ModelHere
    run: Run
    out: Store
    part: DrawnPart
    described: Mapping[str, Any]
    environment: bytes
    conditions: list[ConditionDifference]
    estimate: CostEstimate

    @property
    def costs(self) -> bool:
        """Whether the model is reached over a network, where asking costs money."""
        return not backend.get(self.run.spec.model.backend).local

    @property
    def further_requests(self) -> int:
        """The most that each experiment asks besides, if answers differ."""
        return most_requests(self.part, alone=backend.get(self.run.spec.model.backend).answers_alone)


def plan_reproduction(
    bundle: SealedBundle,
    here: ModelHere,
    out: Store,
    *,
    size: int | None = None,
    seed: int = 0,
    notify: Callable[[str], None] = lambda message: None,
) -> PlannedReproduction:
    """Plan a reproduction: nothing is asked; a local model is loaded, to say which it is.

    Parameters
    ----------
    bundle : SealedBundle
        Of a run whose model can be asked.
    here : ModelHere
        What differs from the spec's model on purpose.
    out : Store
        The folder of the reproduction.
    size : int, optional
        Ask so many requests, drawn by `seed`; all by default.
    seed : int
    notify : callable

    Raises
    ------
    WithheldError
        If the bundle is a copy without the prompts or answers.
    PreflightError
        If something is missing that asking needs.
    SpecError
        If an option is wrong.
    ConflictError
        If `out` holds a finished reproduction.
    """
    refuse_finished(out)
    require_whole(bundle.run)
    spec = here.of(bundle.run.spec)
    require_model(spec)
    described = describe_model(spec)
    installed = environment(bundle.run, ())
    run = replace(bundle.run, spec=spec, notify=notify)
    part = draw_part(run, size, seed)
    return PlannedReproduction(
        bundle=bundle,
        here=here,
        run=run,
        out=out,
        part=part,
        described=described,
        environment=environment_bytes(installed),
        conditions=condition_differences(bundle, described, installed),
        estimate=estimate_part(run, part),
    )


def reproduce(planned: PlannedReproduction) -> Reproduction:
    """Ask what was planned, compare, attribute what differs, and write the record.

    Raises
    ------
    BackendError
        If the model cannot be asked to the end; the same call goes on where it was.
    EvidenceError
        If this version of the library makes other requests of the archived variants.
    """
    archived, part = planned.bundle.run, planned.part
    configured_signer()  # what cannot sign says so before anything is asked
    digest = sha256(planned.environment)
    claim(planned.out, order_of_reproduction(planned.bundle, part, planned.described, digest))
    planned.out.put(ENVIRONMENT, planned.environment)
    run = prepare(planned.bundle, planned.run.spec, planned.out, planned.run.notify)
    shards = ask_again(run, part)
    floor, table = recorded_floor(archived), table_of(part)
    answers = compare_answers(answers_of(archived, shards, table), answers_of(run, shards, table), floor)
    answers, sampling = judge_sampled(archived.spec, answers)
    tried = []
    found = Reproduced(run=run, archived=archived, here=planned.here, part=part, floor=floor, answers=answers)
    for one in experiments(found) if sampling is None else ():
        run.notify(f"reproduce: {one.what}: {one.found}")
        tried.append(one)
    conditions = [*planned.conditions, *served_sides(archived, run, shards).differences()]
    causes = attribute_differences(answers, conditions, tried, local=not planned.costs)
    scores = summarised(answers, floor)
    if part.drawn is not None:
        metrics: Any = Undefined(_PART)
    elif scores.equal == scores.compared:
        metrics = Undefined(_SAME)
    else:
        metrics = compare_metrics(archived, Run(archived.spec, run.key, run.store, run.notify, run.folder))
    record = Reproduction(
        run=_run_of(planned.bundle),
        made_at=_now(),
        outcome="differs" if scores.differ else "reproduced",
        reason=_reason(answers, floor, sampling, causes),
        model={**planned.described},
        environment_sha256=digest,
        overrides=planned.here.overrides,
        conditions=tuple(conditions),
        asked=part.asked,
        floor=floor,
        scores=scores,
        sampling=sampling,
        subset=_bound(part, answers),
        largest=tuple(score_gap(one) for one in largest(answers)[:SHOWN]),
        experiments=tuple(tried),
        causes=tuple(causes),
        metrics=metrics,
    )
    _write_record(run.store, planned.bundle, record)
    return record


def nothing_to_ask(bundle: SealedBundle, out: Store) -> Reproduction:
    """Write and return the record of a run whose scores are themselves the record."""
    refuse_finished(out)
    described = next(iter(described_models(bundle.run).values()), {})
    installed = environment_bytes(environment(bundle.run, ()))
    out.put(ENVIRONMENT, installed)
    record = Reproduction(
        run=_run_of(bundle),
        made_at=_now(),
        outcome="nothing_to_ask",
        reason=NOTHING_TO_ASK,
        model=described,
        environment_sha256=sha256(installed),
        overrides={},
        conditions=(),
        asked=None,
        floor=None,
        scores=None,
        sampling=None,
        subset=None,
        largest=(),
        experiments=(),
        causes=(),
        metrics=Undefined("no model was asked"),
    )
    _write_record(out, bundle, record)
    return record


def _write_record(out: Store, bundle: SealedBundle, record: Reproduction) -> None:
    """Write ``reproduction.json``, and a signed statement of it if a signer is configured.

    Raises
    ------
    BackendError, InputError
        If the signer cannot be used; the record is written then, and not signed.
    """
    content = pretty_json(record.as_dict())
    out.put(RECORD, content)
    signer = configured_signer()
    if signer is None:
        return
    name = RECORD.removesuffix(".json")
    statement = {
        "_type": TYPE,
        "subject": [
            {"name": "evidence/manifest.json", "digest": {"sha256": bundle.manifest_sha256}},
            {"name": RECORD, "digest": {"sha256": sha256(content)}},
        ],
        "predicateType": PREDICATE,
        "predicate": {"outcome": record.outcome, "made_at": record.made_at},
    }
    envelope = sign_payload(canonical_json(statement), PAYLOAD_TYPE, [signer])
    out.put(f"{name}.pub", signer.public_pem)
    out.put(f"{name}.dsse.json", envelope)


def _run_of(bundle: SealedBundle) -> ReproducedRun:
    return ReproducedRun(
        audit=bundle.manifest.audit,
        window=bundle.manifest.window,
        spec_digest=bundle.manifest.spec_digest,
        outcome=bundle.manifest.outcome,
        manifest_sha256=bundle.manifest_sha256,
    )


def _bound(part: DrawnPart, answers: Sequence[ComparedAnswer]) -> SubsetBound | None:
    """Return the bound by the drawn units alone; answers that came with their packs are compared and not counted."""
    if part.drawn is None:
        return None
    unit_of = {r.key: part.unit_of(r) for packs in part.packs.values() for pack in packs for r in pack}
    differing = {unit_of[one.key] for one in answers if one.differs and one.key in part.drawn}
    return subset_bound(part.asked.units, len(differing))


def _reason(
    answers: Sequence[ComparedAnswer],
    floor: NoiseFloor,
    sampling: SamplingTest | None,
    causes: Sequence[ReproductionCause],
) -> str:
    scores = summarised(answers, floor)
    if scores.differ:
        first = f"{scores.differ:,} of {scores.compared:,} answers are not reproduced"
        return f"{first}; {'; '.join(f'{one.kind} ({one.certainty})' for one in causes)}"
    if scores.equal == scores.compared:
        return f"all {scores.compared:,} answers are equal"
    if sampling is not None:
        return f"{scores.compared:,} sampled answers differ by no more than drawing them again explains"
    near = f"{scores.within_floor:,} within the recorded noise floor ({floor.probability or 0:.2g} in probability)"
    words = f", {scores.same_reading:,} in other words that say the same" if scores.same_reading else ""
    return f"{scores.equal:,} of {scores.compared:,} answers are equal, {near}{words}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
