"""Pairs between a group and its reference: who faced whom, and what the answers look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.metrics import PairwiseAnswers
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.scored import Rows
from audit_lib.spec import AuditSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Faced:
    """Pairs between a group and its reference, seen from the group.

    Parameters
    ----------
    pairs : PairAnswers
        The pairs.
    outcome : ndarray of int
        1 where the group's candidate won in both orders, -1 where the reference's did, else 0.
    round : ndarray of int
        The pool of each pair.
    n_group, n_reference : int
        Candidates a side.
    """

    pairs: PairAnswers
    outcome: NDArray[np.int64]
    round: NDArray[np.int32]
    n_group: int
    n_reference: int


def faced(rows: Rows, pairs: PairAnswers, group: Mapping[str, str], reference: Mapping[str, str]) -> Faced:
    """Return the pairs of a stratum that have one candidate in the group and one in the reference."""
    size = 1 + max(int(values.max(initial=0)) for values in (rows.place, pairs.one, pairs.other))
    side = np.zeros(size, dtype=np.int8)
    side[rows.place[rows.members(group)]] = 1
    side[rows.place[rows.members(reference)]] = -1
    rounds = np.full(size, -1, dtype=np.int32)
    rounds[rows.place] = rows.round
    between = pairs.take(side[pairs.one] * side[pairs.other] == -1)
    ours = np.where(side[between.one] == 1, between.one, between.other)
    theirs = np.where(side[between.one] == 1, between.other, between.one)
    return Faced(
        pairs=between,
        outcome=side[between.one] * between.winner(),
        round=rounds[between.one],
        n_group=int(np.unique(ours).size),
        n_reference=int(np.unique(theirs).size),
    )


def pair_table(rows: Rows, spec: AuditSpec) -> Iterator[PairwiseAnswers]:
    """Yield what the answers look like (the paper's Table 2): over all pairs, then for each comparison of the spec."""
    if rows.pairs is None:
        return
    here = np.zeros(1 + max(int(v.max(initial=0)) for v in (rows.place, rows.pairs.other)), dtype=bool)
    here[rows.place] = True
    everybody = rows.pairs.take(here[rows.pairs.one] & here[rows.pairs.other])
    yield _statistics(rows, everybody)
    for group, reference in spec.groups.comparisons():
        yield _statistics(rows, faced(rows, rows.pairs, group, reference).pairs, group, reference)


def _statistics(
    rows: Rows,
    pairs: PairAnswers,
    group: Mapping[str, str] | None = None,
    reference: Mapping[str, str] | None = None,
) -> PairwiseAnswers:
    counts = pairs.statistics()
    prompts, both = counts.prompts > 0, counts.pairs > 0
    return PairwiseAnswers(
        stratum=dict(rows.levels),
        group=None if group is None else dict(group),
        reference=None if reference is None else dict(reference),
        prompts=counts.prompts,
        regular=counts.regular,
        tie=counts.tie,
        unparsed=counts.unparsed,
        pairs=counts.pairs,
        flipped=counts.flipped,
        inconsistent=counts.inconsistent,
        mixed=counts.mixed,
        regular_share=counts.regular_share if prompts else None,
        tie_share=counts.tie_share if prompts else None,
        unparsed_share=counts.unparsed_share if prompts else None,
        flipped_share=counts.flipped_share if both else None,
        inconsistent_share=counts.inconsistent_share if both else None,
    )
