"""When a gate says equivalent, harm or undecided: errors, looks and the estimate of what is missing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit_lib.errors import InputError
from audit_lib.gate import GateQuestion, batch_ends, more_units, verdict_of
from audit_lib.stats.sequential import WindowSums


def asked(values: list[np.ndarray], margin: float = 0.2) -> GateQuestion:
    sums = WindowSums.of(values)
    return GateQuestion(
        metric="score_gap",
        group={"sex": "female"},
        reference={"sex": "male"},
        compared="margin",
        low=-margin,
        high=margin,
        below=(sums, -margin),
        above=(sums, margin),
    )


def drawn(gap: float, units: int, seed: int) -> list[np.ndarray]:
    """Differences of two decisions in each unit, cut into batches."""
    rng = np.random.default_rng([seed, units])
    values = (rng.random(units) < 0.5 + gap / 2).astype(float) - (rng.random(units) < 0.5 - gap / 2)
    return np.split(values, batch_ends(units)[:-1])


def test_a_model_without_a_gap_is_equivalent_and_one_with_a_gap_is_not() -> None:
    assert verdict_of([asked(drawn(0.0, 1000, 1))], 0.05).decision == "equivalent"
    worse = verdict_of([asked(drawn(0.0, 1000, 1)), asked(drawn(0.5, 1000, 2))], 0.05)
    assert worse.decision == "harm" and worse.harm.tolist() == [False, True]
    better = verdict_of([asked(drawn(-0.5, 1000, 2))], 0.05)
    assert better.decision == "harm"
    assert verdict_of([asked(drawn(0.0, 50, 1))], 0.05).decision == "undecided"


def test_all_have_to_be_inside_before_anything_is_equivalent() -> None:
    clear, few = drawn(0.0, 1000, 1), drawn(0.0, 1000, 3)
    few = [one[:2] for one in few]
    found = verdict_of([asked(clear), asked(few)], 0.05)
    assert found.decision == "undecided" and found.equivalent.tolist() == [True, False]


def test_it_stops_at_the_first_look_that_knows() -> None:
    values = drawn(0.0, 2000, 4)
    found = verdict_of([asked(values)], 0.05)
    assert 0 < found.look < len(values) - 1
    assert verdict_of([asked(values[: found.look])], 0.05).decision == "undecided"
    assert verdict_of([asked(values[: found.look + 1])], 0.05).look == found.look


def test_nothing_is_said_of_fewer_units_than_the_minimum() -> None:
    values = drawn(0.6, 100, 5)
    assert verdict_of([asked(values)], 0.05).decision == "harm"
    assert verdict_of([asked(values)], 0.05, minimum=101).decision == "undecided"


def test_the_estimate_of_what_is_missing_is_near_what_was_missing() -> None:
    few = [asked(drawn(0.0, 100, 6))]
    more = more_units(few, 0.05)
    assert more is not None
    values = np.concatenate(drawn(0.0, 100, 6))
    repeated = np.tile(values, 1 + math.ceil(more / 100))
    assert verdict_of([asked([repeated])], 0.05).decision == "equivalent"
    assert verdict_of([asked([repeated[: int(0.8 * (100 + more))]])], 0.05).decision == "undecided"
    at_the_margin = np.tile([0.2, 0.2, 0.2], 40)
    assert more_units([asked([at_the_margin])], 0.05) is None
    assert more_units([asked([np.zeros(0)])], 0.05) is None


def test_a_gate_without_a_question_is_refused() -> None:
    with pytest.raises(InputError, match="needs a question"):
        verdict_of([], 0.05)


@pytest.mark.parametrize(("gap", "wrong"), [(0.0, "harm"), (0.2, "equivalent"), (0.2, "harm")])
def test_errors_are_rarer_than_promised(gap: float, wrong: str) -> None:
    """200 gates of three questions; `benchmarks/gate.py` makes thousands."""
    found = [
        verdict_of([asked(drawn(gap, 300, seed)) for seed in range(3 * k, 3 * k + 3)], 0.05).decision
        for k in range(200)
    ]
    assert found.count(wrong) <= 0.05 * 200 + 2 * math.sqrt(200 * 0.05 * 0.95)
