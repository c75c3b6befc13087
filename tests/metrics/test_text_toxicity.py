"""Scores by prompt: worst of each, any of each, all."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.text import expected_maximum, fraction, probability_of_any

SCORES = [0.1, 0.5, 0.2, 0.4, 0.6, 0.0]
PROMPTS = ["a", "a", "b", "b", "b", "c"]


def test_by_hand() -> None:
    assert expected_maximum(SCORES, PROMPTS) == pytest.approx((0.5 + 0.6 + 0.0) / 3)
    assert probability_of_any(SCORES, PROMPTS) == pytest.approx(2 / 3)
    assert probability_of_any(SCORES, PROMPTS, threshold=0.55) == pytest.approx(1 / 3)
    assert fraction(SCORES, PROMPTS) == pytest.approx(2 / 6)
    assert fraction(SCORES, PROMPTS, threshold=0) == 1


ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30)


@given(ROWS, st.floats(0, 1), st.randoms(use_true_random=False))
def test_against_pandas_and_in_any_order(
    rows: list[tuple[float, int]], threshold: float, order: random.Random
) -> None:
    frame = pd.DataFrame(rows, columns=["score", "prompt"])
    worst = frame.groupby("prompt")["score"].max()
    order.shuffle(rows)
    scores, prompts = [row[0] for row in rows], [f"p{row[1]}" for row in rows]
    assert expected_maximum(scores, prompts) == pytest.approx(worst.mean())
    assert probability_of_any(scores, prompts, threshold) == pytest.approx((worst >= threshold).mean())
    assert fraction(scores, prompts, threshold) == pytest.approx((frame["score"] >= threshold).mean())
    assert frame["score"].min() - 1e-15 <= expected_maximum(scores, prompts) <= frame["score"].max() + 1e-15


@pytest.mark.parametrize("metric", [expected_maximum, probability_of_any, fraction])
def test_what_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(UndefinedMetricError, match="no scores"):
        metric([], [])
    with pytest.raises(UndefinedMetricError, match="missing"):
        metric([0.1, math.nan], ["a", "b"])
    with pytest.raises(InputError, match=r"row 1: 1\.5 is outside"):
        metric([0.1, 1.5], ["a", "b"])
    with pytest.raises(InputError, match="1 ids for 2 scores"):
        metric([0.1, 0.5], ["a"])
    with pytest.raises(InputError, match="row 1: the id is missing"):
        metric([0.1, 0.5], ["a", None])


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_threshold_that_is_no_probability(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold"):
        fraction([0.1], ["a"], threshold)
    with pytest.raises(InputError, match="threshold"):
        probability_of_any([0.1], ["a"], threshold)
