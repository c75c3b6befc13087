"""Pairwise answers: points, wins and consistency, each case by hand."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import DuplicateIdError, InputError, MissingColumnError, UndefinedMetricError
from audit_lib.metrics import (
    pairwise_output_statistics,
    pairwise_scores,
    pairwise_win_gap,
    pairwise_win_share,
)

ANSWER = st.sampled_from(["first", "second", "tie", "unparsed"])
# (answer with a shown first, answer with b shown first) -> (points of a, points of b).
CASES = {
    ("first", "second"): (1, 0),
    ("second", "first"): (0, 1),
    ("first", "first"): (0.5, 0.5),
    ("second", "second"): (0.5, 0.5),
    ("tie", "tie"): (0.5, 0.5),
    ("first", "tie"): (0.75, 0.25),
    ("tie", "second"): (0.75, 0.25),
    ("tie", "first"): (0.25, 0.75),
    ("first", "unparsed"): (0.75, 0.25),
    ("unparsed", "first"): (0.25, 0.75),
    ("unparsed", "unparsed"): (0.5, 0.5),
    ("tie", "unparsed"): (0.5, 0.5),
}


def table(*rows):
    first, second, answer = zip(*rows, strict=True)
    return {"first": list(first), "second": list(second), "answer": list(answer)}


@st.composite
def round_robins(draw):
    """All pairs of up to five candidates, in both orders, in any row order."""
    names = ["a", "b", "c", "d", "e"][: draw(st.integers(2, 5))]
    rows = [(x, y, draw(ANSWER)) for x, y in itertools.permutations(names, 2)]
    return names, draw(st.permutations(rows))


@pytest.mark.parametrize(("answers", "points"), CASES.items())
def test_points_of_one_pair(answers, points):
    found = pairwise_scores(table(("a", "b", answers[0]), ("b", "a", answers[1])))
    assert found.candidates == ("a", "b")
    assert found.points == points
    assert found.pairs == (1, 1)
    assert found.mixed == (set(answers) in ({"first", "tie"}, {"second", "tie"}))
    assert found.unparsed == ("unparsed" in answers)


def test_scores_are_points_a_pair():
    rows = [("a", "b", "first"), ("b", "a", "second"), ("a", "c", "tie"), ("c", "a", "first")]
    found = pairwise_scores(table(*rows))
    assert found.points == (1.25, 0, 0.75)
    assert found.scores == (0.625, 0, 0.75)


def test_wins_by_hand():
    rows = [
        *[("a1", "b1", "first"), ("b1", "a1", "second")],  # a consistent win of a1
        *[("a1", "b2", "first"), ("b2", "a1", "first")],  # flipped
        *[("a2", "b1", "second"), ("b1", "a2", "first")],  # a consistent win of b1
        *[("a2", "b2", "first"), ("b2", "a2", "second")],  # a consistent win of a2
        *[("a1", "a2", "first"), ("a2", "a1", "second")],  # within the group: not compared
    ]
    group, reference = {"a1", "a2"}, {"b1", "b2"}
    assert pairwise_win_share(table(*rows), group, reference) == 0.5
    assert pairwise_win_share(table(*rows), reference, group) == 0.25
    assert pairwise_win_gap(table(*rows), group, reference) == 0.25
    assert pairwise_win_gap(pd.DataFrame(table(*rows)), ["a1"], ["b1", "b2"]) == 0.5


def test_statistics_by_hand():
    rows = [
        *[("a", "b", "first"), ("b", "a", "second")],  # consistent
        *[("a", "c", "first"), ("c", "a", "first")],  # flipped
        *[("b", "c", "tie"), ("c", "b", "first")],  # mixed
        *[("a", "d", "unparsed"), ("d", "a", "first")],
    ]
    found = pairwise_output_statistics(table(*rows))
    assert (found.prompts, found.regular, found.tie, found.unparsed) == (8, 6, 1, 1)
    assert (found.pairs, found.flipped, found.inconsistent, found.mixed) == (4, 1, 3, 1)
    assert found.regular_share == 0.75
    assert found.tie_share == 0.125
    assert found.unparsed_share == 0.125
    assert found.flipped_share == 0.25
    assert found.inconsistent_share == 0.75


@given(round_robins())
def test_identities_of_round_robins(case):
    names, rows = case
    answers = table(*rows)
    scores, statistics = pairwise_scores(answers), pairwise_output_statistics(answers)
    n_pairs = len(names) * (len(names) - 1) // 2
    assert sum(scores.points) == n_pairs == statistics.pairs
    assert all(pairs == len(names) - 1 for pairs in scores.pairs)
    assert all(0 <= score <= 1 for score in scores.scores)
    assert statistics.regular + statistics.tie + statistics.unparsed == statistics.prompts == 2 * n_pairs
    group, reference = names[:1], names[1:]
    share = pairwise_win_share(answers, group, reference)
    back = pairwise_win_share(answers, reference, group)
    assert pairwise_win_gap(answers, group, reference) == -pairwise_win_gap(answers, reference, group)
    assert pairwise_win_gap(answers, group, reference) == pytest.approx(share - back)
    assert share + back <= 1
    # Every pair is won consistently by one of the two, or inconsistent.
    consistent = sum(pairwise_win_share(answers, [x], [y]) for x, y in itertools.permutations(names, 2))
    assert consistent == n_pairs - statistics.inconsistent


@given(round_robins())
def test_swapping_the_order_shown_changes_nothing(case):
    _, rows = case
    swap = {"first": "second", "second": "first", "tie": "tie", "unparsed": "unparsed"}
    mirrored = [(y, x, swap[answer]) for x, y, answer in rows]
    assert pairwise_scores(table(*rows)) == pairwise_scores(table(*mirrored))
    assert pairwise_output_statistics(table(*rows)) == pairwise_output_statistics(table(*mirrored))


def test_wrong_input_is_named():
    good = [("a", "b", "first"), ("b", "a", "tie")]
    with pytest.raises(MissingColumnError, match="'answer'"):
        pairwise_scores({"first": ["a"], "second": ["b"]})
    with pytest.raises(InputError, match="row 1: answer is none of first, second, tie, unparsed"):
        pairwise_scores(table(good[0], ("b", "a", "B")))
    with pytest.raises(InputError, match="row 0: this pair was asked in one order only"):
        pairwise_scores(table(good[0]))
    with pytest.raises(DuplicateIdError, match="row 2"):
        pairwise_scores(table(*good, good[0]))
    with pytest.raises(InputError, match="row 2: a candidate is paired with itself"):
        pairwise_scores(table(*good, ("c", "c", "tie")))
    with pytest.raises(InputError, match="row 1: no candidate id"):
        pairwise_scores(table(good[0], ("b", None, "tie")))
    with pytest.raises(InputError, match="columns of 2, 1 and 2 rows"):
        pairwise_scores({"first": ["a", "b"], "second": ["b"], "answer": ["tie", "tie"]})
    with pytest.raises(UndefinedMetricError, match="no prompts"):
        pairwise_output_statistics({"first": [], "second": [], "answer": []})
    with pytest.raises(UndefinedMetricError, match="no pair has one candidate"):
        pairwise_win_share(table(*good), ["a"], ["c"])
    with pytest.raises(InputError, match="1 candidates are in the group and in the reference"):
        pairwise_win_gap(table(*good), ["a", "b"], ["b"])


def test_a_missing_answer_is_no_answer():
    with pytest.raises(InputError, match="row 1: answer is none of"):
        pairwise_output_statistics({"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", pd.NA]})


def test_a_text_is_no_group():
    table = {"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "second"]}
    with pytest.raises(InputError, match="group: expected a collection"):
        pairwise_win_share(table, "a", ["b"])
