"""What a sealed run adds to the sequences of its audit: a few sums for each group and its reference.

Groups are compared within units that are independent of each other. Where the versions of an application, or the
candidates of a round, are on both sides, each such application or round is a unit. Those on one side only are dealt to
blocks that hold both sides, as many as the rarer side has, in an order that their names give and nobody chose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.plan import Plan
from audit_lib.documents.sequence_name import Quantity
from audit_lib.documents.sequences import LeftOutQuantity, NamedSums, WindowSumsDocument
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable, decision_unit, score_unit
from audit_lib.measure.stage import scored_shards
from audit_lib.monitor.run_identity import identity_of
from audit_lib.monitor.served_models import served_names
from audit_lib.run import Run
from audit_lib.spec import UNDECIDED, AuditSpec
from audit_lib.stats.sequential_pairs import PairSums

__all__ = ["paired_means", "parts_of", "quantities", "question_of", "score_bounds", "window_sums"]

Floats = NDArray[np.float64]

_QUESTION: Final = ("task", "demographics", "groups", "perturb")
"""Parts of a spec that say who is compared with whom: with another, the numbers are of something else."""
_VERSION: Final = ("source", "model", "prompt", "score", "decision")
"""Parts that may change what is found, and that an audit of the same question may change: all others change nothing."""
_NO_EFFECT: Final = {"score": ("shards", "ledger", "canaries")}
_NO_BOUNDS: Final = (
    "the spec states no bounds of these scores, as `prompt.read: labels` does; decisions are followed"
)


def window_sums(run: Run) -> WindowSumsDocument:
    """Add up what the sequences need of a sealed run.

    Raises
    ------
    IncompleteRunError
        If it has no complete scores, or is not sealed.
    EvidenceError
        If a document of it is not what its stage writes.
    """
    spec = run.spec
    rows, _ = load_rows(run, scored_shards(run))
    bounds = score_bounds(spec)
    sums: list[NamedSums] = []
    left_out: list[LeftOutQuantity] = []
    for quantity, variable in quantities(rows, spec, bounds):
        if isinstance(variable, str):
            left_out.append(LeftOutQuantity(quantity=quantity, reason=variable))
        else:
            sums += [
                _sums(quantity, variable, group, reference) for group, reference in spec.groups.comparisons()
            ]
    sections, files = _spec_and_files(run)
    return WindowSumsDocument(
        audit=run.key.audit,
        run=identity_of(run),
        question=parts_of(sections, files, _QUESTION),
        version=parts_of(sections, files, _VERSION) | {"served": ", ".join(served_names(run))},
        unit=decision_unit(spec),
        score_range=bounds,
        sums=tuple(sums),
        left_out=tuple(left_out),
    )


def question_of(run: Run) -> dict[str, str]:
    """Return the digest of each part of a run's spec that says who is compared with whom."""
    return parts_of(*_spec_and_files(run), _QUESTION)


def _spec_and_files(run: Run) -> tuple[dict[str, Any], Mapping[str, str]]:
    sections: dict[str, Any] = run.stage("plan").read_json("spec.json")
    return sections, run.stage("plan").read_document(Plan, "plan.json").inputs


def quantities(
    rows: Rows, spec: AuditSpec, bounds: tuple[float, float] | None
) -> Iterator[tuple[Quantity, Variable | str]]:
    """Yield what is followed, its values from 0 to 1; or why it is not."""
    if spec.task in UNDECIDED:
        yield "selection_rate", f"task {spec.task} decides nothing"
    else:
        yield "selection_rate", Variable.of(rows, rows.decisions.selected, decision_unit(spec))
    if rows.decisions_only or spec.task in UNDECIDED:
        yield "score", "no scores: only decisions were recorded, or texts"
    elif bounds is None:
        yield "score", _NO_BOUNDS
    else:
        low, high = bounds
        scaled = np.clip((rows.score - low) / (high - low), 0.0, 1.0)  # within rounding of the bounds
        yield "score", Variable.of(rows, scaled, score_unit(spec))


def score_bounds(spec: AuditSpec) -> tuple[float, float] | None:
    """Return the lowest and the highest possible score; None where the spec states no bounds."""
    if spec.prompt is None or spec.task != "pointwise" or spec.prompt.read != "labels":
        return None
    low, high = min(spec.prompt.relevance), max(spec.prompt.relevance)
    return (low, high) if low < high else None


def _sums(
    quantity: Quantity, variable: Variable, group: Mapping[str, str], reference: Mapping[str, str]
) -> NamedSums:
    ours, theirs = variable.side(group), variable.side(reference)
    mine, other = paired_means(variable, group, reference)
    pairs = PairSums.of([(mine, other)])
    return NamedSums(
        quantity=quantity,
        group=dict(group),
        reference=dict(reference),
        rows=int(ours.values.size),
        reference_rows=int(theirs.values.size),
        units=int(pairs.n[0]),
        group_sum=float(pairs.group[0]),
        reference_sum=float(pairs.comparator[0]),
        group_squares=float(pairs.group_squares[0]),
        reference_squares=float(pairs.comparator_squares[0]),
        products=float(pairs.products[0]),
    )


def paired_means(
    variable: Variable, group: Mapping[str, str], reference: Mapping[str, str]
) -> tuple[Floats, Floats]:
    """Return the means of a group and of its reference in each independent unit that holds both."""
    sides = [variable.side(cell) for cell in (group, reference)]
    counts = [np.bincount(side.clusters, minlength=variable.units) for side in sides]
    totals = [np.bincount(side.clusters, side.values, variable.units) for side in sides]
    both = (counts[0] > 0) & (counts[1] > 0)
    alone = [np.flatnonzero((count > 0) & ~both) for count in counts]
    blocks = min(len(one) for one in alone)
    found = [total[both] / count[both] for total, count in zip(totals, counts, strict=True)]
    if blocks:
        names = variable.unit_names()
        for side, units in enumerate(alone):
            ordered = np.array(sorted(units.tolist(), key=lambda unit: _shuffled(names[unit])))
            block = np.arange(len(units)) * blocks // len(units)
            total, count = (np.bincount(block, part[side][ordered], blocks) for part in (totals, counts))
            found[side] = np.concatenate([found[side], total / count])
    return found[0], found[1]


def _shuffled(name: Any) -> bytes:
    return hashlib.sha256(str(name).encode()).digest()


def parts_of(sections: Mapping[str, Any], files: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the digest of each part of a spec with the files it names, without what has no effect on a number."""
    found = {}
    for name in names:
        part = sections.get(name)
        if isinstance(part, dict):
            part = {key: value for key, value in part.items() if key not in _NO_EFFECT.get(name, ())}
        own = {key: digest for key, digest in files.items() if key.split(".")[0] == name}
        found[name] = sha256(canonical_json([part, own]))
    return found
