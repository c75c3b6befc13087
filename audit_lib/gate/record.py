"""The record of a gate: what was asked, found and decided. The same gate gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.documents.gate import GateAnswer, GateRecord
from audit_lib.gate.answers import AskedSoFar
from audit_lib.gate.decision import GateQuestion, GateVerdict, more_units
from audit_lib.gate.planned_gate import PlannedGate
from audit_lib.gate.questions import RATIOS, GateScheme
from audit_lib.monitor.run_identity import identity_of
from audit_lib.results import Interval, Undefined
from audit_lib.run import Run
from audit_lib.stats.sequential import confidence_sequence


def record_of(
    gate: PlannedGate,
    asked: AskedSoFar,
    questions: Sequence[GateQuestion],
    verdict: GateVerdict,
    why_not: str | None,
    minimum: int,
) -> GateRecord:
    """Return the record of a gate."""
    spec, run = gate.scheme.spec, gate.run
    decision = verdict.decision
    if decision == "equivalent" and why_not is not None:
        decision = "undecided"
    shares = [known / total for known, total in asked.answered.values() if total]
    more = more_units(questions, spec.measure.alpha, minimum) if decision == "undecided" else 0
    units = max(max(int(one.units[-1]) for one in questions), 1)
    requests = sum(one.requests for one in asked.batches)
    reason = {
        "equivalent": f"every number lies inside its margin; said wrongly with a probability of at most "
        f"{spec.measure.alpha:g}",
        "harm": f"a number lies beyond its margin; said of a model inside all of them with a probability of at most "
        f"{spec.measure.alpha:g}",
        "undecided": why_not or "the prompts that were asked do not tell",
    }[decision]
    unknown = Undefined("no number of prompts that could be named decides it, if gaps stay what they are")
    blocked = Undefined("answers are missing: more prompts do not help") if why_not is not None else None
    return GateRecord(
        audit=spec.audit,
        window=run.key.window.label,
        model=spec.model.name,
        spec_digest=run.key.spec_digest,
        baseline=gate.baseline,
        deployed=identity_of(gate.deployed) if isinstance(gate.deployed, Run) else gate.deployed,
        seed=spec.seed,
        alpha=spec.measure.alpha,
        minimum=minimum,
        limit=gate.limit,
        planned_requests=sum(gate.counts.values()),
        answered_share=min(shares) if shares else Undefined("nobody was asked about"),
        batches=tuple(asked.batches),
        answers=tuple(
            _answer(one, verdict, place, gate.scheme, asked) for place, one in enumerate(questions)
        ),
        left_out=gate.scheme.left_out,
        decision=decision,
        reason=reason,
        more_units=blocked or (unknown if more is None else more),
        more_prompts=blocked or (unknown if more is None else -(-more * requests // units)),
    )


def _answer(
    one: GateQuestion, verdict: GateVerdict, place: int, scheme: GateScheme, asked: AskedSoFar
) -> GateAnswer:
    units = int(one.units[-1])
    nothing = Undefined("nobody of both groups in one unit")
    estimate: float | Undefined = nothing
    interval: Interval | Undefined = nothing
    if units and one.metric in RATIOS:
        pairs = scheme.pairs(asked.own, one)
        if (under := float(pairs.comparator.sum())) > 0:
            estimate = float(pairs.group.sum()) / under
        interval = pairs.together.ratios(1.0 - scheme.spec.measure.alpha)[-1]
    elif units:
        scale = one.high / one.above[1]
        sums = one.below[0]
        estimate = scale * float(sums.total.sum()) / units
        last = confidence_sequence(sums, 1.0 - scheme.spec.measure.alpha)[-1]
        interval = Interval(
            low=scale * last.low, high=scale * last.high, level=last.level, method=last.method
        )
    return GateAnswer(
        metric=one.metric,
        group=one.group,
        reference=one.reference,
        compared=one.compared,
        low=one.low,
        high=one.high,
        units=units,
        estimate=estimate,
        interval=interval,
        inside=float(one.inside()[-1]),
        outside=float(one.outside()[:, -1].max()),
        equivalent=bool(verdict.equivalent[place]),
        harm=bool(verdict.harm[place]),
    )
