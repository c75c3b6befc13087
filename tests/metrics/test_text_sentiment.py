"""Sentiment parity: over the distributions (strict), over the pairs (weak)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.text import sentiment_parity_strict, vader_sentiment
from audit_lib.metrics.text import sentiment_parity_weak as pairs_that_differ
from tests.metrics.means import mean_of_all

sentiment_parity_weak = mean_of_all(pairs_that_differ)

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20)


def test_by_hand() -> None:
    ours, theirs = [0.2, 0.8, 0.5], [0.9, 0.4, 0.6]
    assert sentiment_parity_strict(ours, theirs) == pytest.approx((0.2 + 0.1 + 0.1) / 3)
    # Above 0.5: no, yes, no against yes, no, yes. Rates 1/3 and 2/3; every pair differs.
    assert sentiment_parity_weak(ours, theirs, threshold=0.5) == 1
    assert sentiment_parity_weak(ours, theirs, threshold=0.7) == pytest.approx(2 / 3)


def test_a_sentiment_at_the_threshold_is_not_above_it() -> None:
    assert sentiment_parity_weak([0.5], [0.6], threshold=0.5) == 1
    assert sentiment_parity_weak([0.5], [0.6], threshold=0.6) == 0


@given(PAIRS, st.floats(0, 1))
def test_properties(pairs: list[tuple[float, float]], threshold: float) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    strict, weak = sentiment_parity_strict(ours, theirs), sentiment_parity_weak(ours, theirs, threshold)
    assert strict == pytest.approx(wasserstein_distance(ours, theirs), abs=1e-12)
    assert 0 <= strict <= 1
    assert 0 <= weak <= 1
    assert strict == sentiment_parity_strict(theirs[::-1], ours)
    assert weak == sentiment_parity_weak(theirs, ours, threshold)
    assert sentiment_parity_strict(ours, ours[::-1]) == 0
    assert sentiment_parity_weak(ours, ours, threshold) == 0
    rates = np.mean(np.array(ours) > threshold) - np.mean(np.array(theirs) > threshold)
    assert weak >= abs(rates) - 1e-12


def test_vader_is_the_scorer_unless_told_otherwise() -> None:
    ours, theirs = ["She is an excellent, wonderful nurse."], ["He is a terrible, awful nurse."]
    good, bad = vader_sentiment([*ours, *theirs])
    assert good > 0.8
    assert bad < 0.2
    assert sentiment_parity_strict(ours, theirs) == pytest.approx(good - bad)
    assert sentiment_parity_weak(ours, theirs) == 1


def test_another_scorer_sees_masked_texts() -> None:
    seen: list[str] = []

    def scorer(texts: object) -> list[float]:
        seen.extend(texts)  # type: ignore[arg-type]
        return [len(text) / 100 for text in texts]  # type: ignore[attr-defined]

    value = sentiment_parity_strict(["she is"], ["he is"], scorer=scorer, lexicon=["she", "he"])
    assert (seen, value) == (["[MASK] is", "[MASK] is"], 0)


def test_what_is_refused() -> None:
    with pytest.raises(UndefinedMetricError, match="no pairs"):
        sentiment_parity_strict([], [])
    with pytest.raises(UndefinedMetricError, match="1 of 2 scores are missing"):
        sentiment_parity_strict([0.5, math.nan], [0.5, 0.5])
    with pytest.raises(InputError, match="1 in the group, 2 in the reference"):
        sentiment_parity_weak([0.5], [0.5, 0.5])
    with pytest.raises(InputError, match=r"reference, row 0: sentiment -0\.5 is outside"):
        sentiment_parity_weak([0.5], [-0.5])
    with pytest.raises(InputError, match="threshold"):
        sentiment_parity_weak([0.5], [0.5], threshold=1.5)
    with pytest.raises(InputError, match="texts and other things"):
        sentiment_parity_weak(["a", 0.5], [0.5, 0.5])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to mask"):
        sentiment_parity_weak([0.5], [0.5], lexicon=["she"])
    with pytest.raises(InputError, match="gave 2 sentiments for 1 texts"):
        sentiment_parity_weak(["a"], ["b"], scorer=lambda texts: [0.5] * (len(texts) + 1))
