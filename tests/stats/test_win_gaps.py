"""The interval of a win gap: by hand, by simulation where nearly all pairs are won, and where it is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import wilson, win_gap_interval


def test_one_pair_a_round_is_newcombe_s_square_and_add_of_two_wilson_scores() -> None:
    outcomes = np.repeat([1, -1, 0], [300, 150, 50])
    found = win_gap_interval(outcomes, np.arange(500))
    w, one = 0.6, wilson(300, 500)
    z, other = 0.3, wilson(150, 500)
    r = np.corrcoef(outcomes == 1, outcomes == -1)[0, 1]
    a, b = w - one.low, other.high - z
    assert found.low == pytest.approx(w - z - np.sqrt(a * a + b * b - 2 * r * a * b), abs=5e-4)
    a, b = one.high - w, z - other.low
    assert found.high == pytest.approx(w - z + np.sqrt(a * a + b * b - 2 * r * a * b), abs=5e-4)


def test_the_other_side_has_the_mirrored_interval() -> None:
    rng = np.random.default_rng(1)
    outcomes, rounds = rng.choice([1, -1, 0], 120, p=[0.5, 0.2, 0.3]), np.arange(120) // 4
    there, back = win_gap_interval(outcomes, rounds), win_gap_interval(-outcomes, rounds)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


@pytest.mark.parametrize("rounds", [30, 60, 100])
def test_it_covers_where_nearly_all_pairs_are_won_and_t_does_not(rounds: int) -> None:
    rng, repeats = np.random.default_rng(rounds), 1000
    held = plain = 0
    for _ in range(repeats):
        shares = rng.dirichlet(np.array([0.9, 0.02, 0.08]) * 7 / 3, rounds).cumsum(axis=1)
        u = rng.random((rounds, 4))
        outcomes = np.where(u < shares[:, :1], 1, np.where(u < shares[:, 1:2], -1, 0))
        found = win_gap_interval(outcomes.ravel(), np.repeat(np.arange(rounds), 4))
        held += found.low <= 0.88 <= found.high
        means = outcomes.mean(axis=1)
        half = t.ppf(0.975, rounds - 1) * means.std(ddof=1) / rounds**0.5
        plain += abs(means.mean() - 0.88) <= half
    assert held / repeats >= 0.93
    assert plain < held
    assert rounds > 60 or plain / repeats < 0.93


def test_what_is_no_outcome_and_what_has_no_spread_is_refused() -> None:
    with pytest.raises(InputError, match="neither 1, -1 nor 0"):
        win_gap_interval([2], [1])
    with pytest.raises(UndefinedMetricError, match="one cluster"):
        win_gap_interval([1, 0], [1, 1])
    with pytest.raises(UndefinedMetricError, match="same rate"):
        win_gap_interval([1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3])
    with pytest.raises(UndefinedMetricError, match=r"2 clusters, .* are worth 2.0 of one size"):
        win_gap_interval([1, 0, 1, 1], [1, 1, 2, 2])


@pytest.mark.parametrize("outcomes", [[], [1, -1, 1]])
def test_one_round_or_none_has_no_interval(outcomes: list[int]) -> None:
    with pytest.raises(UndefinedMetricError, match="in one cluster"):
        win_gap_interval(outcomes, [0] * len(outcomes))
