"""Pairwise answers: points, wins and consistency, each case by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import DuplicateIdError, InputError, MissingColumnError, UndefinedMetricError
from audit_lib.metrics import pairwise_output_statistics as statistics_of
from audit_lib.metrics import pairwise_win_gap
from audit_lib.metrics.pairwise import consistent_winner, paired_answers
from audit_lib.pairs import pair_points
from tests.metrics import slow_pairs

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


def pairwise_output_statistics(answers):
    pairs = paired_answers(answers)
    return statistics_of(pairs.low_shown_first, pairs.high_shown_first)


def outcomes(answers, group, reference):
    """What `consistent_winner` says of the pairs between two groups, seen from the first."""
    pairs = paired_answers(answers)
    won = consistent_winner(pairs.low_shown_first, pairs.high_shown_first)
    low, high = pairs.ids[pairs.low], pairs.ids[pairs.high]
    ours = pd.Series(low).isin(group) & pd.Series(high).isin(reference)
    theirs = pd.Series(low).isin(reference) & pd.Series(high).isin(group)
    return np.concatenate([won[ours], -won[theirs]])


def win_share(answers, group, reference):
    return float((outcomes(answers, group, reference) == 1).mean())


def win_gap(answers, group, reference):
    return pairwise_win_gap(outcomes(answers, group, reference))


def points_of(answers):
    """Points and pairs of each candidate, by the rule that scoring and measuring share."""
    pairs = paired_answers(answers)
    low, n = pair_points(pairs.low_shown_first, pairs.high_shown_first), pairs.ids.size
    total = np.bincount(pairs.low, low, n) + np.bincount(pairs.high, 1 - low, n)
    count = np.bincount(pairs.low, minlength=n) + np.bincount(pairs.high, minlength=n)
    names = pairs.ids.tolist()
    return dict(zip(names, total.tolist(), strict=True)), dict(zip(names, count.tolist(), strict=True))


@st.composite
def round_robins(draw):
    """All pairs of up to five candidates, in both orders, in any row order."""
    names = ["a", "b", "c", "d", "e"][: draw(st.integers(2, 5))]
    rows = [(x, y, draw(ANSWER)) for x, y in itertools.permutations(names, 2)]
    return names, draw(st.permutations(rows))


@pytest.mark.parametrize(("answers", "expected"), CASES.items())
def test_points_of_one_pair(answers, expected):
    rows = table(("a", "b", answers[0]), ("b", "a", answers[1]))
    assert (
        points_of(rows)
        == slow_pairs.points(rows)
        == (dict(zip("ab", expected, strict=True)), {"a": 1, "b": 1})
    )
    found = pairwise_output_statistics(rows)
    assert found.mixed == (set(answers) in ({"first", "tie"}, {"second", "tie"}))
    assert (found.unparsed > 0) == ("unparsed" in answers)


def test_scores_are_points_a_pair():
    rows = [("a", "b", "first"), ("b", "a", "second"), ("a", "c", "tie"), ("c", "a", "first")]
    total, count = points_of(table(*rows))
    assert total == {"a": 1.25, "b": 0, "c": 0.75}
    assert {name: total[name] / count[name] for name in total} == {"a": 0.625, "b": 0, "c": 0.75}


def test_wins_by_hand():
    rows = [
        *[("a1", "b1", "first"), ("b1", "a1", "second")],  # a consistent win of a1
        *[("a1", "b2", "first"), ("b2", "a1", "first")],  # flipped
        *[("a2", "b1", "second"), ("b1", "a2", "first")],  # a consistent win of b1
        *[("a2", "b2", "first"), ("b2", "a2", "second")],  # a consistent win of a2
        *[("a1", "a2", "first"), ("a2", "a1", "second")],  # within the group: not compared
    ]
    group, reference = {"a1", "a2"}, {"b1", "b2"}
    assert win_share(table(*rows), group, reference) == 0.5
    assert win_share(table(*rows), reference, group) == 0.25
    assert win_gap(table(*rows), group, reference) == 0.25
    assert win_gap(pd.DataFrame(table(*rows)), ["a1"], ["b1", "b2"]) == 0.5


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
    statistics, (total, count) = pairwise_output_statistics(answers), points_of(answers)
    assert (total, count) == slow_pairs.points(answers)
    n_pairs = len(names) * (len(names) - 1) // 2
    assert sum(total.values()) == n_pairs == statistics.pairs
    assert all(pairs == len(names) - 1 for pairs in count.values())
    assert all(0 <= total[name] / count[name] <= 1 for name in names)
    assert statistics.regular + statistics.tie + statistics.unparsed == statistics.prompts == 2 * n_pairs
    group, reference = names[:1], names[1:]
    assert sorted(outcomes(answers, group, reference)) == sorted(
        slow_pairs.outcomes(answers, group, reference)
    )
    share = win_share(answers, group, reference)
    back = win_share(answers, reference, group)
    assert win_gap(answers, group, reference) == -win_gap(answers, reference, group)
    assert win_gap(answers, group, reference) == pytest.approx(share - back)
    assert share + back <= 1
    # Every pair is won consistently by one of the two, or inconsistent.
    consistent = sum(win_share(answers, [x], [y]) for x, y in itertools.permutations(names, 2))
    assert consistent == n_pairs - statistics.inconsistent


@given(round_robins())
def test_swapping_the_order_shown_changes_nothing(case):
    _, rows = case
    swap = {"first": "second", "second": "first", "tie": "tie", "unparsed": "unparsed"}
    mirrored = [(y, x, swap[answer]) for x, y, answer in rows]
    assert points_of(table(*rows)) == points_of(table(*mirrored))
    assert pairwise_output_statistics(table(*rows)) == pairwise_output_statistics(table(*mirrored))


def test_wrong_input_is_named():
    good = [("a", "b", "first"), ("b", "a", "tie")]
    with pytest.raises(MissingColumnError, match="'answer'"):
        paired_answers({"first": ["a"], "second": ["b"]})
    with pytest.raises(InputError, match="row 1: answer is none of first, second, tie, unparsed"):
        paired_answers(table(good[0], ("b", "a", "B")))
    with pytest.raises(InputError, match="row 0: this pair was asked in one order only"):
        paired_answers(table(good[0]))
    with pytest.raises(DuplicateIdError, match="row 2"):
        paired_answers(table(*good, good[0]))
    with pytest.raises(InputError, match="row 2: a candidate is paired with itself"):
        paired_answers(table(*good, ("c", "c", "tie")))
    with pytest.raises(InputError, match="row 1: no candidate id"):
        paired_answers(table(good[0], ("b", None, "tie")))
    with pytest.raises(InputError, match="columns of 2, 1 and 2 rows"):
        paired_answers({"first": ["a", "b"], "second": ["b"], "answer": ["tie", "tie"]})
    with pytest.raises(UndefinedMetricError, match="no prompts"):
        pairwise_output_statistics({"first": [], "second": [], "answer": []})
    with pytest.raises(UndefinedMetricError, match="no pair has one candidate"):
        win_gap(table(*good), ["a"], ["c"])
    with pytest.raises(InputError, match="expected 1, 0 or -1"):
        pairwise_win_gap([1, 2])


def test_a_missing_answer_is_no_answer():
    with pytest.raises(InputError, match="row 1: answer is none of"):
        pairwise_output_statistics({"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", pd.NA]})
