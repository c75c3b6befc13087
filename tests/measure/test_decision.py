"""Decisions are whole, independent of row order, and count what the lot decided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError
from audit_lib.measure.rows.decision import Decisions, decide
from audit_lib.measure.rows.pools import Pools
from audit_lib.spec import Decision

TOP_2 = Decision(rule="top_k", k=2, round="round_id")


def made(
    scores: list[float | None],
    rule: Decision,
    rounds: list[int] | None = None,
    recorded: list[int] | None = None,
) -> Decisions:
    n = len(scores)
    codes = np.array([0] * n if rounds is None else rounds)
    score = np.array(scores, dtype=float)
    return decide(score, codes, Pools.of(score, codes), np.array(recorded or [-1] * n), rule, seed=1)


def test_a_tie_at_the_last_place_goes_to_one_and_is_counted() -> None:
    out = made([3, 1, 1, 1, 0], TOP_2)
    assert out.selected.sum() == 2
    assert out.selected[0] == 1
    assert out.tied_at_cutoff.tolist() == [False, True, True, True, False]
    assert out.rank.tolist() == [1, 2, 2, 2, 5]


def test_a_tie_that_decides_nothing_is_not_counted() -> None:
    assert not made([3, 3, 1, 1], TOP_2).tied_at_cutoff.any()


def test_who_has_no_score_takes_no_place() -> None:
    out = made([None, 1, None], TOP_2)
    assert out.selected.tolist() == [-1, 1, -1]
    assert out.rank.tolist() == [0, 1, 0]


def test_an_unscored_row_is_no_tie() -> None:
    assert not made([1, 1, None], TOP_2).tied_at_cutoff.any()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=40))
def test_each_round_selects_the_best_k_or_all(pairs: list[tuple[int, int]]) -> None:
    rounds, scores = np.array([r for r, _ in pairs]), np.array([float(s) for _, s in pairs])
    out = made(scores.tolist(), TOP_2, rounds.tolist())
    for code in np.unique(rounds):
        pool, chosen = scores[rounds == code], out.selected[rounds == code] == 1
        assert chosen.sum() == min(2, pool.size)
        assert pool.size <= 2 or pool[chosen].min() >= pool[~chosen].max()
        lots = out.tied_at_cutoff[rounds == code]
        straddles = pool.size > 2 and pool[chosen].min() == pool[~chosen].max()
        assert lots.any() == straddles
        assert (pool[lots] == pool[chosen].min()).all()


def test_the_lot_is_fair_and_seeded() -> None:
    rounds = np.repeat(np.arange(2000), 4)
    score, none = np.zeros(rounds.size), np.full(rounds.size, -1)
    pools = Pools.of(score, rounds)
    wins, again, other = (
        decide(score, rounds, pools, none, TOP_2, seed=seed).selected.reshape(-1, 4) for seed in (5, 5, 6)
    )
    assert (wins == again).all()
    assert (wins != other).any()
    assert np.abs(wins.mean(axis=0) - 0.5).max() < 0.05


def test_a_row_in_no_round() -> None:
    with pytest.raises(InputError, match="round_id"):
        made([1, 2], TOP_2, [0, -1])


def test_median_and_threshold_are_strict_and_not() -> None:
    assert made([1, 2, 3], Decision(rule="above_median")).selected.tolist() == [0, 0, 1]
    assert made([1, 2, 3], Decision(rule="threshold", threshold=2)).selected.tolist() == [0, 1, 1]


def test_recorded_decisions_may_be_missing_for_some_but_not_for_all() -> None:
    rule = Decision(rule="recorded")
    with pytest.raises(InputError, match="recorded_selected"):
        made([1, 2], rule)
    assert made([1, None], rule, recorded=[-1, 1]).selected.tolist() == [-1, 1]
