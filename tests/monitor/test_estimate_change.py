"""The change of a number between two runs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from audit_lib.monitor.estimate_change import change_interval, compare_estimates
from audit_lib.results import Estimate, Interval, Undefined

_NUMBER = st.floats(-10, 10)
_WIDTH = st.floats(0, 5)
Z = float(norm.ppf(0.975))


def estimate(
    value: float | Undefined,
    interval: Interval | Undefined | tuple[float, float],
    n: int = 100,
    **parameters: str,
) -> Estimate:
    if isinstance(interval, tuple):
        interval = Interval(low=interval[0], high=interval[1], method="m")
    return Estimate(metric="rate", value=value, interval=interval, n=n, method="m", parameters=parameters)


@pytest.mark.parametrize(
    ("previous", "current", "low", "high"),
    [  # Newcombe (1998), Statistics in Medicine 17, table II, method 10
        ((48, 80), (56, 70), 0.0524, 0.3339),
        ((3, 10), (9, 10), 0.1705, 0.8090),
        ((2, 7), (6, 7), 0.0582, 0.8062),
        ((0, 29), (5, 56), -0.0381, 0.1926),
        ((0, 20), (0, 10), -0.1611, 0.2775),
        ((0, 10), (10, 10), 0.6075, 1.0000),
    ],
)
def test_published_values(
    previous: tuple[int, int], current: tuple[int, int], low: float, high: float
) -> None:
    def wilson(successes: int, n: int) -> tuple[float, tuple[float, float]]:
        p = successes / n
        middle, half = p + Z**2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        return p, ((middle - half) / (1 + Z**2 / n), (middle + half) / (1 + Z**2 / n))

    found = change_interval(*wilson(*previous), *wilson(*current))
    assert found == pytest.approx((low, high), abs=6e-5)


@given(_NUMBER, _NUMBER, st.floats(0.01, 3), st.floats(0.01, 3))
def test_symmetric_intervals_give_the_usual_one(p: float, c: float, s_p: float, s_c: float) -> None:
    low, high = change_interval(p, (p - Z * s_p, p + Z * s_p), c, (c - Z * s_c, c + Z * s_c))
    half = Z * math.sqrt(s_p**2 + s_c**2)
    assert (low, high) == pytest.approx((c - p - half, c - p + half), abs=1e-9)


@given(_NUMBER, _NUMBER, _WIDTH, _WIDTH, _WIDTH, _WIDTH)
def test_swapping_the_runs_mirrors_the_interval(
    p: float, c: float, a: float, b: float, e: float, f: float
) -> None:
    before, now = (p - a, p + b), (c - e, c + f)
    low, high = change_interval(p, before, c, now)
    assert change_interval(c, now, p, before) == pytest.approx((-high, -low))
    assert low <= c - p <= high
    # Intervals that do not touch are a change; ones that hold each other's value are none.
    if now[0] > before[1]:
        assert low > 0 or low == pytest.approx(0, abs=1e-9)


def test_an_infinite_limit_excludes_nothing_on_its_side() -> None:
    low, high = change_interval(1.0, (0.5, math.inf), 9.0, (8.0, 10.0))
    assert low == -math.inf and math.isfinite(high)


def compared(previous: Estimate, current: Estimate) -> dict[str, Any]:
    return compare_estimates(previous, current).as_dict()


class TestCompare:
    def test_a_change_within_both_intervals(self) -> None:
        found = compared(estimate(0.5, (0.4, 0.6), 80), estimate(0.55, (0.45, 0.65), 90))
        assert found["change"] == pytest.approx(0.05)
        assert found["exceeds"] is False
        assert (found["n_previous"], found["n_current"]) == (80, 90)
        assert found["interval"]["low"] == pytest.approx(0.05 - math.hypot(0.1, 0.1))

    def test_a_change_beyond_both_intervals(self) -> None:
        found = compared(estimate(0.5, (0.45, 0.55)), estimate(0.8, (0.75, 0.85)))
        assert found["exceeds"] is True and found["interval"]["low"] > 0
        back = compared(estimate(0.8, (0.75, 0.85)), estimate(0.5, (0.45, 0.55)))
        assert back["exceeds"] is True and back["interval"]["high"] < 0

    @pytest.mark.parametrize("which", ["previous", "current"])
    def test_an_undefined_number(self, which: str) -> None:
        missing = estimate(Undefined("nobody"), Undefined("nobody"), 0)
        there = estimate(0.5, (0.4, 0.6))
        pair = (missing, there) if which == "previous" else (there, missing)
        found = compared(*pair)
        assert found["change"] == {"undefined": f"{which} run: nobody"}
        assert found["interval"] == found["change"] and found["exceeds"] is None

    def test_a_missing_interval_leaves_the_change(self) -> None:
        found = compared(estimate(0.5, (0.4, 0.6)), estimate(1.0, Undefined("the comparator itself")))
        assert found["change"] == 0.5
        assert found["interval"] == {"undefined": "no interval in the current run: the comparator itself"}
        assert found["exceeds"] is None

    def test_another_comparator_is_not_tested(self) -> None:
        found = compared(
            estimate(0.5, (0.4, 0.5), comparator="Male"), estimate(0.9, (0.8, 1.0), comparator="Female")
        )
        assert found["change"] == pytest.approx(0.4)
        assert found["interval"] == {"undefined": "the runs compare with different groups"}

    @pytest.mark.parametrize("other", [{"level": 0.9}, {"kind": "simultaneous"}])
    def test_intervals_of_another_sort_are_not_mixed(self, other: dict[str, object]) -> None:
        changed = Interval(low=0.4, high=0.6, method="m", **other)  # type: ignore[arg-type]
        found = compared(estimate(0.5, (0.4, 0.6)), estimate(0.5, changed))
        assert found["change"] == 0.0 and found["exceeds"] is None
        assert "another level or kind" in found["interval"]["undefined"]

    def test_infinite_limits_read_as_none(self) -> None:
        found = compared(estimate(1.0, (0.5, math.inf)), estimate(9.0, (8.0, 10.0)))
        assert found["interval"]["low"] is None
        assert found["exceeds"] is False
