"""What the batches of a gate answered: values of each unit, next to the deployed model's, and who was not answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.documents.gate import GateBatch
from audit_lib.gate.decision import GateQuestion
from audit_lib.gate.planned_gate import PlannedGate
from audit_lib.gate.questions import QuantityValues
from audit_lib.measure.rows.load import load_part
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.stage import scored_shards
from audit_lib.run import Run
from audit_lib.spec import AuditSpec


@dataclass(slots=True)
class AskedSoFar:
    """What was asked so far.

    Parameters
    ----------
    batches : list of GateBatch
        What was asked.
    own, changes : list of mapping
        Of each batch, the new model's values, and their changes from the deployed model's.
    answered : dict
        Group -> rows with an answer, and all.
    """

    batches: list[GateBatch] = field(default_factory=list)
    own: list[QuantityValues] = field(default_factory=list)
    changes: list[QuantityValues] = field(default_factory=list)
    answered: dict[str, tuple[int, int]] = field(default_factory=dict)


def add_batch(gate: PlannedGate, asked: AskedSoFar, number: int, requests: int) -> None:
    """Read what a batch adds."""
    run, scheme = gate.run, gate.scheme
    rows = load_part(run, [number], scheme.decision)
    asked.own.append(scheme.values(rows))
    scores = run.stage(f"scores/{number}")
    table = pq.read_table(scores.parquet("scores.parquet"), columns=["variant_id", "status"])
    found = {gate.units.of_variant[one] for one in table["variant_id"].to_pylist()}
    asked.batches.append(
        GateBatch(
            number=number,
            requests=requests,
            units=len(found),
            scores_sha256=scores.success().artefacts["scores.parquet"].sha256,
        )
    )
    for cell in {_cell(each): each for pair in scheme.spec.groups.comparisons() for each in pair}.values():
        known, total = _answered(rows, cell)
        before = asked.answered.get(_cell(cell), (0, 0))
        asked.answered[_cell(cell)] = (before[0] + known, before[1] + total)
    if isinstance(gate.deployed, Run):
        asked.changes.append(_changes(gate, gate.deployed, number, table))


def _answered(rows: Rows, cell: Mapping[str, str]) -> tuple[int, int]:
    known = ~np.isnan(rows.score) | (rows.decisions.selected >= 0)
    parts = [known[one] for one in rows.slices(cell)]
    return sum(int(one.sum()) for one in parts), sum(one.size for one in parts)


def _changes(gate: PlannedGate, deployed: Run, number: int, table: pa.Table) -> QuantityValues:
    """Return the changes from the deployed model's values, in the units that both answered as a whole."""
    scheme, unit = gate.scheme, gate.units.of_variant
    bad = {unit[one] for one in _unanswered_ids(table)}
    theirs = scored_shards(deployed)
    for shard in theirs:
        source = deployed.stage(f"scores/{shard}").parquet("scores.parquet")
        other = pq.read_table(source, columns=["variant_id", "status"])
        bad |= {unit[one] for one in _unanswered_ids(other) if one in unit}
    only = {one for one in table["variant_id"].to_pylist() if unit[one] not in bad}
    if not only:
        nothing = (np.zeros(0), np.zeros(0))
        return {q: [nothing for _ in scheme.spec.groups.comparisons()] for q in scheme.quantities}
    rule = deployed.spec.decision if "selection_rate" in scheme.quantities else scheme.decision
    new = scheme.values(load_part(gate.run, [number], scheme.decision, only))
    old = scheme.values(load_part(deployed, theirs, rule, only))
    return {
        quantity: [
            (one[0] - one[1], other[0] - other[1])
            for one, other in zip(new[quantity], old[quantity], strict=True)
        ]
        for quantity in new
    }


def _unanswered_ids(table: pa.Table) -> list[str]:
    rows = zip(table["variant_id"].to_pylist(), table["status"].to_pylist(), strict=True)
    return [variant for variant, status in rows if status not in ("ok", "unranked")]


def questions_of(gate: PlannedGate, asked: AskedSoFar) -> list[GateQuestion]:
    """Return every question with what was answered so far."""
    found = gate.scheme.questions(asked.own)
    return found + (gate.scheme.questions(asked.changes, "deployed") if asked.changes else [])


def why_unanswered(spec: AuditSpec, asked: AskedSoFar) -> str | None:
    """Return why so many answers are missing that nothing is called equivalent; None where they are not."""
    shares = [known / total for known, total in asked.answered.values() if total]
    if not shares:
        return "nobody of the groups that are compared was asked about"
    low, high = min(shares), max(shares)
    if low < spec.checks.minimum_answered_share:
        return f"{low:.1%} of a group's rows were answered, and at least {spec.checks.minimum_answered_share:g} must be"
    if high - low > spec.checks.maximum_answered_gap:
        most = spec.checks.maximum_answered_gap
        return f"{low:.1%} and {high:.1%} of two groups' rows were answered; at most {most:g} may lie between"
    return None


def _cell(levels: Mapping[str, str]) -> str:
    return "+".join(f"{axis}={level}" for axis, level in levels.items())
