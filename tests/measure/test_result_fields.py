"""Fields of the kernels' results, by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from audit_lib.metrics import auc_by_group, impact_ratios, pairwise_output_statistics, standardised_effects
from audit_lib.metrics.pairwise import paired_answers


def test_the_rows_of_an_auc_by_group() -> None:
    scores, outcome = [0.1, 0.9, 0.4, 0.3, 0.2, 0.8], [0, 1, 1, 0, 1, 0]
    found = auc_by_group(scores, outcome, {"a": [1, 1, 1, 1, 0, 0], "b": [0, 0, 0, 0, 1, 1], "all": [1] * 6})
    rows = {row.group: row for row in found.rows}
    assert (rows["a"].auc, rows["a"].n, rows["a"].positives) == (1.0, 4, 2)
    assert (rows["b"].auc, rows["b"].n, rows["b"].positives) == (0.0, 2, 1)
    assert rows["all"].auc == found.overall == 6 / 9
    assert (found.gap, found.highest, found.lowest) == (1.0, "a", "b")


def test_the_rows_of_impact_ratios_are_exact() -> None:
    found = impact_ratios({"a": 1, "b": 2}, {"a": 3, "b": 3})
    rows = {row.category: row for row in found.rows}
    assert found.comparators == ("b",)
    assert rows["a"].rate == Fraction(1, 3)
    assert rows["a"].ratio == Fraction(1, 2)
    assert (rows["a"].selected, rows["a"].total, rows["a"].is_comparator) == (1, 3, False)
    assert rows["b"].ratio == 1
    assert rows["b"].is_comparator


def test_the_fields_of_standardised_effects() -> None:
    found = standardised_effects([1, 2, 2, 4], {"sex": ["man", "woman"] * 2}, [1, 1, 2, 2])
    sd = np.std([1, 2, 2, 4], ddof=1)
    (effect,) = found.effects
    assert (effect.factor, effect.level, effect.reference) == ("sex", "woman", "man")
    assert effect.estimate == pytest.approx(1.5 / sd)
    assert found.outcome_sd == pytest.approx(sd)
    assert (found.n, found.clusters, found.degrees_of_freedom) == (4, 2, 1)
    assert found.covariance.shape == (1, 1)
    assert effect.standard_error == pytest.approx(math.sqrt(found.covariance[0, 0]))
    assert found["sex", "woman"] is effect
    with pytest.raises(KeyError):
        found["sex", "other"]


def test_the_fields_of_pairwise_statistics() -> None:
    pairs = paired_answers({"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "first"]})
    found = pairwise_output_statistics(pairs.low_shown_first, pairs.high_shown_first)
    assert (found.prompts, found.regular, found.tie, found.unparsed) == (2, 2, 0, 0)
    assert (found.pairs, found.flipped, found.inconsistent) == (1, 1, 1)
    assert found.flipped_share == 1.0
