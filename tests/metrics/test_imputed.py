"""Bounds by probabilities of groups: a linear program over all joint distributions gives the same."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import imputed_gap_bounds, imputed_rate_bounds, imputed_ratio_bounds

GROUPS = "abcd"


def cells(seed: int, groups: int, n: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(groups, 0.7), n)
    people = rng.integers(1, 50, n)
    return dict(zip(GROUPS, shares.T, strict=False)), rng.integers(0, people + 1), people


class Program:
    """Selected people of each cell and group: not negative, at most the members, and together the selected."""

    def __init__(self, shares: dict[str, np.ndarray], selected: np.ndarray, people: np.ndarray) -> None:
        table = np.array(list(shares.values())).T  # cells x groups
        self.members = table * people[:, None]
        self.size = self.members.size
        self.limits = [(0, most) for most in self.members.ravel()]
        self.sums = np.kron(np.eye(len(people)), np.ones(table.shape[1]))
        self.selected = selected
        self.groups = table.shape[1]

    def rate(self, group: int) -> np.ndarray:
        """Coefficients of the group's rate."""
        of = np.zeros_like(self.members)
        of[:, group] = 1 / self.members[:, group].sum()
        return of.ravel()

    def least(self, aim: np.ndarray) -> float:
        found = linprog(aim, A_eq=self.sums, b_eq=self.selected, bounds=self.limits)
        assert found.success
        return float(found.fun)

    def range(self, aim: np.ndarray) -> tuple[float, float]:
        return self.least(aim), -self.least(-aim)

    def ratio(self, group: int, *, most: bool) -> float:
        """The end of rate over the highest rate, by Charnes and Cooper's change of variables."""
        ends = []
        for top in range(self.groups):  # whose rate is the highest and, by the change, 1
            if top == group:
                continue
            aim = np.append(self.rate(group), 0.0)
            equal = np.vstack([np.column_stack([self.sums, -self.selected]), np.append(self.rate(top), 0.0)])
            less = [
                np.append(self.rate(one) - self.rate(top), 0.0) for one in range(self.groups) if one != top
            ]
            less += list(np.column_stack([np.eye(self.size), -self.members.ravel()]))
            found = linprog(
                -aim if most else aim, A_eq=equal, b_eq=[*np.zeros(len(self.selected)), 1.0], A_ub=less,
                b_ub=np.zeros(len(less)), bounds=[(0, None)] * (self.size + 1),
            )  # fmt: skip
            if found.success:
                ends.append(-found.fun if most else found.fun)
        own = self.least_shortfall(group)
        return max([*ends, *([1.0] if own else [])]) if most else min([*ends, 1.0])

    def least_shortfall(self, group: int) -> bool:
        """Whether the group may have the highest rate."""
        others = [one for one in range(self.groups) if one != group]
        less = [self.rate(one) - self.rate(group) for one in others]
        found = linprog(
            np.zeros(self.size),
            A_eq=self.sums,
            b_eq=self.selected,
            A_ub=less,
            b_ub=np.zeros(len(less)),
            bounds=self.limits,
        )
        return bool(found.success)


@pytest.mark.parametrize(("seed", "groups", "n"), [*product(range(6), (2, 3, 4), (1, 5))])
def test_rates_and_gaps_are_the_ends_of_a_linear_program(seed: int, groups: int, n: int) -> None:
    shares, selected, people = cells(seed, groups, n)
    program, bounds = Program(shares, selected, people), imputed_rate_bounds(shares, selected, people)
    for number, group in enumerate(shares):
        assert bounds[group] == pytest.approx(program.range(program.rate(number)), abs=1e-9)
        for other, reference in enumerate(shares):
            if other != number:
                aim = program.rate(number) - program.rate(other)
                assert imputed_gap_bounds(bounds[group], bounds[reference]) == pytest.approx(
                    program.range(aim), abs=1e-9
                )


@pytest.mark.parametrize(("seed", "groups", "n"), [*product(range(6), (2, 3, 4), (1, 4))])
def test_ratios_to_the_highest_hold_a_linear_program_and_with_two_groups_are_it(
    seed: int, groups: int, n: int
) -> None:
    shares, selected, people = cells(seed, groups, n)
    if not selected.any():
        return
    program = Program(shares, selected, people)
    bounds = imputed_ratio_bounds(imputed_rate_bounds(shares, selected, people))
    for number, group in enumerate(shares):
        low, high = bounds[group]
        assert low == pytest.approx(program.ratio(number, most=False), abs=1e-7)
        most = program.ratio(number, most=True)
        assert high >= most - 1e-7
        if groups == 2:
            assert high == pytest.approx(most, abs=1e-7)


def test_certain_membership_is_the_rate_and_none_is_all_that_is_possible() -> None:
    known = imputed_rate_bounds({"a": [1, 0], "b": [0, 1]}, [3, 6], [10, 10])
    assert known == {"a": (0.3, 0.3), "b": (0.6, 0.6)}
    unknown = imputed_rate_bounds({"a": [0.5], "b": [0.5]}, [10], [20])
    assert unknown["a"] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (
            {"a": [0.5, -0.1], "b": [0.5, 1.1]},
            "1 of 2 have a probability that is missing, no number, below 0 or above 1",
        ),
        ({"a": [0.5, np.nan], "b": [0.5, 0.5]}, "1 of 2 have a probability that is missing, no number"),
        ({"a": [0.5, 0.3], "b": [0.5, 0.5]}, "1 of 2 do not sum to 1 over the groups, such as one with 0.8"),
        ({"a": [1.0, 1.0]}, "two groups or more"),
        ({"a": [0.5], "b": [0.5]}, "give one a cell"),
    ],
)
def test_shares_that_are_none_are_refused_and_never_changed(
    shares: dict[str, list[float]], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        imputed_rate_bounds(shares, [1, 1], [2, 2])


def test_what_does_not_exist_is_undefined() -> None:
    with pytest.raises(UndefinedMetricError, match="nobody belongs to the group"):
        imputed_rate_bounds({"a": [0.0], "b": [1.0]}, [1], [2])
    with pytest.raises(UndefinedMetricError, match="nobody is selected"):
        imputed_ratio_bounds(imputed_rate_bounds({"a": [0.5], "b": [0.5]}, [0], [2]))
    with pytest.raises(InputError, match="more"):
        imputed_ratio_bounds({"a": (0.1, 0.2)})
    with pytest.raises(InputError, match="from 0 to all its people"):
        imputed_rate_bounds({"a": [0.5], "b": [0.5]}, [3], [2])
