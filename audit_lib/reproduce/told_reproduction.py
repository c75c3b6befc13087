"""A reproduction in words: what it will ask and what differs before, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from audit_lib.documents.reproduction import (
    ConditionDifference,
    MetricsComparison,
    NumberChange,
    Reproduction,
)
from audit_lib.reproduce.causes import short
from audit_lib.results import Undefined
from audit_lib.translation import percent_of

if TYPE_CHECKING:
    from audit_lib.reproduce.reproduce_run import PlannedReproduction

_HEADS: Final = {"reproduced": "REPRODUCED", "differs": "DIFFERS", "nothing_to_ask": "NOTHING TO ASK AGAIN"}
_SURE: Final = {
    "sure": "sure",
    "by_experiment": "by experiment",
    "only_difference": "the only difference",
    "cannot_tell": "cannot tell",
}
_SHOWN: Final = 12


def planned_lines(planned: PlannedReproduction) -> Iterator[str]:
    """Yield what will be asked, what it costs at most, and what is not as it was."""
    asked, model = planned.part.asked, planned.run.spec.model
    yield f"model      {model.name} ({model.backend})"
    drawn = (
        ""
        if asked.seed is None
        else f" ({asked.units:,} of {asked.of_units:,} {asked.unit} by seed {asked.seed})"
    )
    yield f"asked      {asked.requests:,} of {asked.of_requests:,} requests, by the run's own packs and shards{drawn}"
    yield from planned.estimate.lines()
    yield f"           if answers differ, each experiment asks up to {planned.further_requests:,} requests more"
    if planned.here.overrides:
        yield "set here   " + ", ".join(f"{key}={value}" for key, value in planned.here.overrides.items())
    yield from condition_lines(planned.conditions)


def condition_lines(conditions: Sequence[ConditionDifference]) -> Iterator[str]:
    """Yield a line for each thing that is not as it was, those that may move a score first."""
    matter = [one for one in conditions if one.matters]
    if not matter:
        yield "differs    nothing that takes part in scoring (model, template, options, software, processor)"
    for one in matter[:_SHOWN]:
        yield f"differs    {one.kind}: {one.what}: {short(one.archived)} there, {short(one.here)} here"
    if len(matter) > _SHOWN:
        yield f"           and {len(matter) - _SHOWN} more (all are in the record)"
    if others := len(conditions) - len(matter):
        yield f"           {others} installed packages that take no part in scoring are others"


def told(record: Reproduction) -> str:
    """Return a reproduction as text for a terminal."""
    lines = [
        f"{_HEADS[record.outcome]}: {record.reason}",
        f"  audit {record.run.audit}, window {record.run.window}",
        f"  manifest SHA-256 {record.run.manifest_sha256}",
    ]
    if record.asked is not None:
        lines.append(f"  asked {record.asked.requests:,} of {record.asked.of_requests:,} requests again")
    lines += [f"  {line}" for line in (*_scores(record), *_subset(record), *_experiments(record))]
    lines += [f"  cause: {one.kind} ({_SURE[one.certainty]}): {one.detail}" for one in record.causes]
    if record.outcome != "nothing_to_ask":
        lines += [f"  {line}" for line in _metrics(record.metrics)]
    return "\n".join(lines)


def _scores(record: Reproduction) -> Iterator[str]:
    one, floor = record.scores, record.floor
    if one is None or floor is None:
        return
    yield (
        f"answers: {one.equal:,} equal, {one.within_floor:,} within the floor, {one.same_reading:,} in other words, "
        f"{one.beyond_floor:,} beyond the floor, {one.missing_here:,} missing here, {one.missing_there:,} missing "
        f"there, {one.other_status:,} unanswered for another reason"
    )
    if floor.probability is None:
        yield f"floor: {floor.source}"
    else:
        share = "none" if floor.share is None else f"{floor.share:.2g}"
        yield f"floor: {floor.probability:.2g} in probability, {share} in a label's share; {floor.source}"
    if one.within_allowed and floor.allowed_probability is not None:
        yield (
            f"of those beyond the floor {one.within_allowed:,} are within what the audit's validation allowed "
            f"({floor.allowed_probability:.2g} in probability)"
        )
    if one.largest_probability_gap is not None and one.largest_share_gap is not None:
        yield (
            f"largest difference: {one.largest_probability_gap:.2g} in probability, {one.largest_share_gap:.2g} in a "
            "label's share"
        )
    if (test := record.sampling) is not None:
        said = "differ by more than" if test.differs else "differ by no more than"
        yield (
            f"sampled: {test.draws:,} draws {said} drawing again explains (p {min(test.p_mean, test.p_spread):.3g} of "
            f"two tests, {test.alpha:g} for both)"
        )


def _subset(record: Reproduction) -> Iterator[str]:
    if (bound := record.subset) is not None and record.asked is not None:
        yield (
            f"a part was asked: {bound.differ:,} of {bound.drawn:,} drawn {record.asked.unit} differ, so with "
            f"{percent_of(bound.level)} confidence at most {100 * bound.upper:.2g}% of all "
            f"{record.asked.of_units:,} could; which of the others differ, and what they do to the report, is not known"
        )


def _experiments(record: Reproduction) -> Iterator[str]:
    for one in record.experiments:
        yield f"tried: {one.what} ({one.answers} answers): {one.found}"


def _metrics(found: MetricsComparison | Undefined) -> Iterator[str]:
    if isinstance(found, Undefined):
        yield f"report: {found.reason}"
        return
    yield (
        f"report: {found.changed:,} of {found.compared:,} numbers and verdicts are others, {found.printed:,} print "
        "differently"
    )
    if not found.verdicts:
        yield "report: no verdict would change"
    shown = [*found.verdicts[:_SHOWN], *found.numbers[: max(0, _SHOWN - len(found.verdicts))]]
    yield from (f"would change: {_change(one)}" for one in shown)
    if (more := len(found.verdicts) + len(found.numbers) - len(shown)) > 0:
        yield f"and {more:,} more (all are in the record)"


def _change(one: NumberChange) -> str:
    return f"{one.where}: {_value(one.archived)} -> {_value(one.here)}"


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else short(value)
