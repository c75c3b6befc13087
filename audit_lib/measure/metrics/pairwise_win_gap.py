"""Pairwise win gap: who wins in both orders, when a member of the group meets one of the reference?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.group_pairs import Faced, faced
from audit_lib.measure.rows.scored import Codes, Rows, compact
from audit_lib.metrics.pairwise import pairwise_win_gap
from audit_lib.policies import Policy
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import require_variance, t_test
from audit_lib.stats.effective_wilson import flat_limit
from audit_lib.stats.two_sided import TwoSidedVariance
from audit_lib.stats.win_gaps import win_gap_interval

_METHOD = "consistent wins of the group less the reference's, over their pairs; clustered by round"


@metric(
    "pairwise_win_gap",
    title="Pairwise win gap",
    parity=0.0,
    meaning="Share of pairs that the group wins in both orders, minus the share that its reference wins.",
    better="parity",
    unit="share",
    needs=("pairs",),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute share(A, B) - share(B, A) of every group A against its reference B.

    ``share(A, B)`` is the share of pairs with one candidate on each side that A's wins in both orders (Chen, Ji and
    Evans, arXiv:2408.01285), so the gap is ``sum of outcomes / pairs`` with outcomes 1, -1 and 0. Pairs of one pool
    depend on each other: influence values ``(outcome - gap) / pairs`` are summed within rounds for the test and the
    standard error. The interval puts those of the two shares together (`audit_lib.stats.win_gap_interval`): the gap
    plus or minus t standard errors is too short where nearly all pairs are won. Where one side wins every pair it is
    Clopper and Pearson's over rounds, and the test is the exact sign test of the rounds.

    Raises
    ------
    UndefinedMetricError
        If no pairs were asked: any task but pairwise.
    """
    if rows.pairs is None:
        raise UndefinedMetricError(
            "no pair was asked about: only task pairwise compares candidates two by two"
        )
    return Measured(
        estimates=[
            _estimate(rows, faced(rows, rows.pairs, group, reference), group, reference, spec)
            for group, reference in spec.groups.comparisons()
        ]
    )


def _estimate(
    rows: Rows, between: Faced, group: Mapping[str, str], reference: Mapping[str, str], spec: AuditSpec
) -> Compared:
    pairs = int(between.outcome.size)
    value: float | Undefined
    interval: Interval | Undefined
    error: float | Undefined
    tests: tuple[TestResult, ...] = ()
    rounds, count = compact(between.round)
    if pairs == 0:
        value = interval = error = Undefined(
            "no pair has one candidate of the group and one of the reference"
        )
    else:
        value = pairwise_win_gap(between.outcome)
        try:
            spread = _spread(between, value, rounds, count)
            require_variance(spread)
            interval = win_gap_interval(between.outcome, rounds, spec.measure.level)
            error = math.sqrt(spread.variance)
            tests = (t_test(value, error, spread.df, count, "cluster influence function"),)
        except UndefinedMetricError as undefined:
            interval = error = Undefined(str(undefined))
            if abs(value) == 1 and count > 1:
                interval, tests = _always(value, count, spec.measure.level)
    small = min(between.n_group, between.n_reference) < spec.measure.small_cell
    return Compared(
        metric="pairwise_win_gap",
        value=value,
        interval=interval,
        standard_error=error,
        n=pairs,
        n_group=between.n_group,
        n_reference=between.n_reference,
        clusters=count,
        method=_METHOD,
        group=dict(group),
        reference=dict(reference),
        stratum=dict(rows.levels),
        parameters={
            "wins": int((between.outcome > 0).sum()),
            "losses": int((between.outcome < 0).sum()),
        },
        flags=("small_cell",) if small else (),
        tests=tests,
    )


def _always(value: float, rounds: int, level: float) -> tuple[Interval, tuple[TestResult, ...]]:
    """Interval and test where one side wins every pair of every round, which leaves no spread to measure."""
    reach = 2 * flat_limit(rounds, level)
    low, high = (-1.0, -1.0 + reach) if value < 0 else (1.0 - reach, 1.0)
    method = f"Clopper-Pearson over {rounds} rounds, conservative"
    test = TestResult(
        name="round_sign_test",
        p_value=2.0 ** (1 - rounds),
        n=rounds,
        method="exact: without a difference, a round is as likely to go wholly the other way",
    )
    return Interval(low=low, high=high, level=level, method=method), (test,)


def _spread(between: Faced, gap: float, rounds: Codes, count: int) -> TwoSidedVariance:
    if count < 2:
        raise UndefinedMetricError(f"{count} round: no variance between rounds to measure")
    influence = (between.outcome - gap) / between.outcome.size
    sums = np.bincount(rounds, influence, count)
    variance = count / (count - 1) * float(np.square(sums).sum())
    if variance <= 1e-24:  # rounding alone
        variance = 0.0
    return TwoSidedVariance(
        variance=variance,
        df=float(count - 1),
        clusters=count,
        clusters_group=count,
        clusters_reference=count,
    )
