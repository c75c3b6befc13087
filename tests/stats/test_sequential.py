"""Evidence over many looks: by whole enumeration, by another way of adding up, and by histories drawn at random."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import InputError
from audit_lib.stats.sequential import (
    WindowSums,
    confidence_sequence,
    e_bh,
    evidence_above,
    evidence_below,
)
from audit_lib.stats.sequential_change import evidence_of_change, evidence_since
from audit_lib.stats.sequential_pairs import PairSums

unit = st.floats(-1.0, 1.0, allow_nan=False)
histories = st.lists(st.lists(unit, max_size=6), min_size=3, max_size=8)


def plain_log_e(values: list[float], null: float, low: float, centre: float) -> float:
    """Add up the evidence value by value, as the papers write it."""
    bets = [0.9 / math.sqrt(2.0) ** k for k in range(19)]
    stakes = [1.0 / (1.0 + (math.log2(bet / 0.14) / 1.5) ** 2) for bet in bets]
    won = 0.0
    for bet, stake in zip(bets, stakes, strict=True):
        log_e = 0.0
        for x in values:
            log_e += bet * (x - null) / (centre - low)
            log_e -= (-math.log(1.0 - bet) - bet) * ((x - centre) / (centre - low)) ** 2
        won += stake * math.exp(log_e)
    return math.log(won / sum(stakes))


@given(histories, unit)
def test_evidence_is_that_of_the_values_one_by_one(windows: list[list[float]], null: float) -> None:
    sums = WindowSums.of(windows)
    found = evidence_above(sums, null)
    for look in range(len(windows)):
        values = [x for window in windows[: look + 1] for x in window]
        assert found[look] == pytest.approx(plain_log_e(values, null, -1.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("centre", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("support", [(0.0, 1.0), (0.0, 0.3, 1.0), (0.2, 0.9)])
def test_its_mean_is_at_most_one_whatever_the_distribution(support: tuple[float, ...], centre: float) -> None:
    # Every sequence of four values, with its probability: each window's law depends on the values before it.
    for weights in itertools.product((0.1, 0.4, 0.9), repeat=len(support)):
        p = np.array(weights) / sum(weights)
        mean = float(p @ support)
        told = 0.0
        for path in itertools.product(range(len(support)), repeat=3):
            sums = WindowSums.of([[support[i]] for i in path], low=0.0, high=1.0, centre=centre)
            probability = float(np.prod(p[list(path)]))
            told += probability * math.exp(evidence_above(sums, mean)[-1])
        assert told <= 1.0 + 1e-12


@settings(max_examples=30)
@given(histories)
def test_the_interval_is_what_the_evidence_leaves(windows: list[list[float]]) -> None:
    sums = WindowSums.of(windows)
    bound = math.log(2 / 0.1)
    for look, interval in enumerate(confidence_sequence(sums, 0.9)):
        assert -1.0 <= interval.low <= interval.high <= 1.0
        if interval.low > -1.0:
            assert evidence_above(sums, interval.low)[look] == pytest.approx(bound, abs=1e-6)
        if interval.high < 1.0:
            assert evidence_below(sums, interval.high)[look] == pytest.approx(bound, abs=1e-6)


@settings(max_examples=20)
@given(histories, st.randoms(use_true_random=False))
def test_windows_may_arrive_in_any_order_and_size(windows: list[list[float]], random: object) -> None:
    shuffled = list(windows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one = WindowSums.of([[x for window in windows for x in window]])
    for other in (WindowSums.of(windows), WindowSums.of(shuffled)):
        assert evidence_below(other, 0.1)[-1] == pytest.approx(evidence_below(one, 0.1)[-1], abs=1e-9)
        assert confidence_sequence(other)[-1].low == pytest.approx(confidence_sequence(one)[-1].low, abs=1e-9)


def brute_change(
    windows: list[list[float]], baseline: int, floor: float, marked: tuple[int, ...] = ()
) -> float:
    """Evidence at the last look: each start and mean of a fine grid, straight from the definition."""
    looks = len(windows)
    sides = []
    for sign in (1.0, -1.0):
        turned = [[sign * x for x in window] for window in windows]

        def least(mean: float, turned: list[list[float]] = turned) -> float:
            found = 0.0
            for start in range(baseline, looks):
                before = [-x for window in turned[:start] for x in window]
                after = [x for window in turned[start:] for x in window]
                k = start - baseline + 1
                told = plain_log_e(before, -mean, -1.0, 0.0) + plain_log_e(after, mean + floor, -1.0, 0.0)
                v = marked.index(start) + 1 if start in marked else 0
                found += math.exp(told) * (1 / (k * (k + 1)) + (1 / (v * (v + 1)) if v else 0)) / 2
            return found

        sides.append(min(least(mean) for mean in np.linspace(-0.5, 1.0, 301)))
    return math.log(sum(sides) / 2.0)


@pytest.mark.parametrize(("floor", "marked"), [(0.0, ()), (0.1, (1, 3)), (0.0, (3, 4))])
def test_change_is_the_definition_with_the_least_favourable_mean(
    floor: float, marked: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(5)
    windows = [rng.uniform(-0.2, 0.4, 6).tolist() for _ in range(3)]
    windows += [rng.uniform(0.4, 1.0, 40).tolist() for _ in range(2)]
    found = evidence_of_change(WindowSums.of(windows), baseline=2, floor=floor, marked=marked)
    after = tuple(place for place in marked if place >= 2)
    assert found.log_e[-1] > 0.2
    # The least favourable mean is looked for on a grid there.
    assert found.log_e[-1] == pytest.approx(brute_change(windows, 2, floor, after), abs=2e-2)
    assert np.isneginf(found.log_e[:2]).all()
    assert found.since[:2].tolist() == [-1, -1]


def drawn(rng: np.random.Generator, rates: list[float], people: int) -> WindowSums:
    """Windows of pairs of people: one of the group, selected at the rate, less one of the comparator, at half."""
    values = [(rng.random(people) < rate).astype(float) - (rng.random(people) < 0.5) for rate in rates]
    return WindowSums.of(values)


def test_no_change_raises_no_alarm_and_a_step_does() -> None:
    rng = np.random.default_rng(11)
    bound = math.log(20)
    still = [evidence_of_change(drawn(rng, [0.5] * 40, 50), 4).log_e.max() > bound for _ in range(30)]
    assert sum(still) <= 3  # at most 5% of 30, and two Monte Carlo errors
    moved = [evidence_of_change(drawn(rng, [0.5] * 10 + [0.2] * 20, 50), 4) for _ in range(10)]
    assert all(found.log_e.max() > bound for found in moved)
    assert 8 <= float(np.median([found.since[-1] for found in moved])) <= 12


def test_a_slow_drift_is_found() -> None:
    rng = np.random.default_rng(12)
    rates = [0.5] * 10 + [0.5 - 0.005 * k for k in range(60)]
    found = [evidence_of_change(drawn(rng, rates, 100), 4).log_e.max() > math.log(20) for _ in range(10)]
    assert all(found)


def test_a_change_below_the_floor_is_none() -> None:
    windows = [[0.1, -0.1] * 50] * 5 + [[0.2, 0.0] * 50] * 40
    assert evidence_of_change(WindowSums.of(windows), 5).log_e[-1] > math.log(20)
    assert evidence_of_change(WindowSums.of(windows), 5, floor=0.1).log_e[-1] < 0


def test_evidence_since_is_the_average_over_starts() -> None:
    rng = np.random.default_rng(3)
    windows = [rng.uniform(-0.6, 0.2, 30).tolist() for _ in range(4)] + [rng.uniform(0.1, 1, 9).tolist()] * 2
    found = evidence_since(WindowSums.of(windows), 0.1)
    for look in range(6):
        told = [
            math.exp(plain_log_e([x for w in windows[start : look + 1] for x in w], 0.1, -1.0, 0.0))
            / ((start + 1) * (start + 2))
            for start in range(look + 1)
        ]
        assert found.log_e[look] == pytest.approx(math.log(sum(told)), abs=1e-9)
        assert found.since[look] == int(np.argmax(told))


def test_e_bh_against_every_choice_of_how_many() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        values = rng.exponential(40.0, size=rng.integers(1, 12))
        told = [k for k in range(1, values.size + 1) if np.sort(values)[-k] >= values.size / (0.1 * k)]
        expected = np.zeros(values.size, dtype=bool)
        if told:
            expected[np.argsort(values)[-max(told) :]] = True
        assert e_bh(np.log(values), 0.1).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: WindowSums.of([[0.2, 1.2]]), "window 1: a value is not between -1.0 and 1.0"),
        (lambda: WindowSums.of([[math.nan]]), "window 1: a value is not between"),
        (lambda: WindowSums.of([[0.5]], low=0.0, high=1.0, centre=0.0), "the centre 0.0 is not between them"),
        (lambda: evidence_of_change(WindowSums.of([[0.0]]), 0), "give the number of its windows"),
        (lambda: evidence_of_change(WindowSums.of([[0.0]]), 1, floor=-0.1), "floor is -0.1"),
        (lambda: e_bh([0.0, math.nan]), "an e-value is no number"),
        (lambda: e_bh([0.0], level=1.5), "level is 1.5"),
    ],
)
def test_what_cannot_be_is_refused(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


def test_ratios_hold_at_every_look() -> None:
    rng = np.random.default_rng(21)
    missed = 0
    for _ in range(30):
        rounds = [rng.random((30, 2)) < (0.3, 0.5) for _ in range(15)]
        looks = PairSums.of([(one[:, 0], one[:, 1]) for one in rounds]).ratios(0.9)
        missed += not all(one.low <= 0.6 <= one.high for one in looks)
        assert all(one.low < one.high for one in looks)
    assert missed <= 3 + 2 * math.sqrt(30 * 0.09)


def test_the_difference_of_pairs_is_that_of_their_values() -> None:
    rng = np.random.default_rng(22)
    rounds = [(rng.random(k), rng.random(k)) for k in (4, 0, 7)]
    pairs = PairSums.of(rounds)
    for ratio in (1.0, 0.8, 2.5):
        plain = WindowSums.of([a - ratio * b for a, b in rounds], low=-ratio)
        found = pairs.against(ratio)
        assert found.total == pytest.approx(plain.total)
        assert found.squares == pytest.approx(plain.squares)
    last = pairs.ratios()[-1]
    bound = math.log(2 / 0.05)
    for limit, evidence in ((last.low, evidence_above), (last.high, evidence_below)):
        if 0 < limit < math.inf:
            assert evidence(pairs.against(limit), 0.0)[-1] == pytest.approx(bound, abs=0.01)


def test_a_group_that_is_never_selected_has_a_ratio_from_nothing() -> None:
    last = PairSums.of([(np.zeros(400), np.tile([0.0, 1.0], 200))]).ratios()[-1]
    assert last.low == 0.0
    assert 0 < last.high < 0.1
    assert PairSums.of([([0.0, 0.0], [0.0, 0.0])]).ratios()[-1].high == math.inf
