"""Rates and impact ratios: the rule's own worked tables, and what they leave open."""

from __future__ import annotations

import csv
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_ratio
from hypothesis import assume, given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import impact_ratios, printed_agreement, round_half_up, scoring_rates
from audit_lib.results import Undefined

SHARED = Path(os.environ.get("AUDIT_SHARED_DATA", Path(__file__).parents[2].parent / "shared"))
EXAMPLES = SHARED / "law" / "examples"
needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the rule's tables are not on this machine")
COUNTS = st.lists(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1)


def printed_table(name):
    """Rows of one of the rule's tables, by (ethnicity, sex, race)."""
    with (EXAMPLES / f"ll144_{name}.csv").open(encoding="utf-8") as lines:
        return {(row["ethnicity"], row["sex"], row["race"]): row for row in csv.DictReader(lines)}


@needs_examples
@pytest.mark.parametrize(("family", "rows"), [("sex", 2), ("race_ethnicity", 7), ("intersectional", 14)])
def test_every_printed_selection_ratio_is_ours_rounded_half_up(family, rows):
    printed = printed_table(f"5-301b_selection_{family}")
    assert len(printed) == rows
    table = impact_ratios(
        {key: int(row["selected"]) for key, row in printed.items()},
        {key: int(row["applicants"]) for key, row in printed.items()},
    )
    for row in table.rows:
        text = printed[row.category]
        assert printed_agreement(row.ratio, text["impact_ratio_printed"]) == "rounded"
        assert printed_agreement(100 * row.rate, text["selection_rate_printed"]) == "rounded"
    assert len(table.comparators) == 1


@needs_examples
@pytest.mark.parametrize(("family", "rows"), [("sex", 2), ("race_ethnicity", 7), ("intersectional", 14)])
def test_every_printed_scoring_ratio_is_ours_rounded_half_up(family, rows):
    printed = printed_table(f"5-301c_scoring_{family}")
    assert len(printed) == rows
    # The rule prints rates, not counts: people are whole, so each rate has one numerator.
    scores, groups = [], []
    for key, row in printed.items():
        n = int(row["applicants"])
        above = round(float(row["scoring_rate_printed"].rstrip("%")) * n / 100)
        scores += [1.0] * above + [0.0] * (n - above)
        groups += [key] * n
    rates = scoring_rates(scores, groups)
    if family == "sex":
        assert {row.category[1]: (row.above, row.total) for row in rates.rows} == {
            "Male": (50, 92),
            "Female": (34, 76),
        }
        assert (rates.above, rates.sample, rates.median) == (84, 168, 0.5)
    agreement = Counter()
    for row in rates.impact_ratios().rows:
        text = printed[row.category]
        assert printed_agreement(row.ratio, text["impact_ratio_printed"]) == "rounded"
        agreement[printed_agreement(100 * row.rate, text["scoring_rate_printed"])] += 1
    # One rate of the race table is cut off, not rounded: 18 of 28, printed 64.2%.
    expected = {"rounded": rows - 1, "truncated": 1} if family == "race_ethnicity" else {"rounded": rows}
    assert agreement == expected


@needs_examples
def test_ratios_of_printed_rates_would_be_wrong():
    """Why counts are kept: nine of the rule's selection ratios cannot be had from its printed rates."""
    wrong = 0
    for family in ("sex", "race_ethnicity", "intersectional"):
        printed = printed_table(f"5-301b_selection_{family}")
        rates = {key: Fraction(row["selection_rate_printed"].rstrip("%")) for key, row in printed.items()}
        for key, row in printed.items():
            ratio = rates[key] / max(rates.values())
            wrong += printed_agreement(ratio, row["impact_ratio_printed"]) != "rounded"
    assert wrong == 9


def test_ratios_by_hand():
    table = impact_ratios({"men": 40, "women": 30}, {"men": 80, "women": 100})
    assert table["women"].rate == Fraction(3, 10)
    assert table["women"].ratio == Fraction(3, 5)
    assert table.ratios == {"men": 1.0, "women": 0.6}
    assert table.rates == {"men": 0.5, "women": 0.3}
    assert table.comparators == ("men",)
    assert [row.is_comparator for row in table.rows] == [True, False]
    with pytest.raises(KeyError):
        table["others"]


def test_four_fifths_is_compared_as_fractions():
    # 48 of 80 over 60 of 80 is 4/5 exactly; in floats 0.6 / 0.75 < 0.8.
    row = impact_ratios([48, 60], [80, 80]).rows[0]
    assert 0.72 / 0.9 < 0.8
    for threshold in ("0.8", 0.8, Fraction(4, 5)):
        assert not row.is_below(threshold)
        assert not impact_ratios([72, 90], [100, 100]).rows[0].is_below(threshold)
        assert impact_ratios([47, 60], [80, 80]).rows[0].is_below(threshold)


def test_ties_for_the_highest_rate_are_all_comparators():
    table = impact_ratios({"a": 1, "b": 2, "c": 1}, {"a": 2, "b": 4, "c": 4})
    assert table.comparators == ("a", "b")
    assert [row.ratio for row in table.rows] == [1, 1, Fraction(1, 2)]


def test_undefined_is_a_reason():
    table = impact_ratios([0, 0, 0], [5, 5, 0])
    assert table.rows[0].rate == 0
    assert table.rows[2].rate == Undefined("no member in this category")
    assert [row.ratio for row in table.rows] == [
        Undefined("the highest rate is 0"),
        Undefined("the highest rate is 0"),
        Undefined("no member in this category"),
    ]
    assert table.comparators == ()
    with pytest.raises(UndefinedMetricError, match="highest rate is 0"):
        table.rows[0].is_below("0.8")
    assert impact_ratios([0], [0]).rows[0].ratio == Undefined("no member in this category")


def test_a_fixed_comparator_can_be_exceeded():
    counts = {"men": 40, "women": 60}, {"men": 100, "women": 100}
    table = impact_ratios(*counts, comparator="men")
    assert table["women"].ratio == Fraction(3, 2)
    assert table.comparators == ("men",)
    nobody = impact_ratios({"men": 0, "women": 1}, {"men": 0, "women": 1}, comparator="men")
    assert nobody["women"].ratio == Undefined("the comparator has no member")
    assert nobody["men"].ratio == Undefined("no member in this category")
    zero = impact_ratios({"men": 0, "women": 1}, {"men": 9, "women": 1}, comparator="men")
    assert zero["women"].ratio == Undefined("the comparator's rate is 0")


def test_excluded_categories_keep_their_rate_and_compare_only_where_policy_says():
    selected, total = {"a": 3, "b": 40, "c": 20}, {"a": 4, "b": 100, "c": 100}
    table = impact_ratios(selected, total, exclude=["a"])
    assert table["a"].rate == Fraction(3, 4)
    assert table["a"].ratio == Undefined("excluded from the calculation")
    assert (table.comparators, table["c"].ratio) == (("b",), Fraction(1, 2))
    table = impact_ratios(selected, total, exclude=["a"], compare_excluded=True)
    assert (table.comparators, table["c"].ratio) == (("a",), Fraction(4, 15))


@given(COUNTS, st.randoms(use_true_random=False))
def test_ratios_are_bounded_and_do_not_depend_on_order(counts, random):
    selected, total = zip(*counts, strict=True)
    table = impact_ratios(selected, total)
    ratios = [row.ratio for row in table.rows if isinstance(row.ratio, Fraction)]
    assert all(0 <= ratio <= 1 for ratio in ratios)
    assert bool(ratios) == any(selected) == bool(table.comparators)
    rows = list(range(len(counts)))
    random.shuffle(rows)
    again = impact_ratios({i: selected[i] for i in rows}, {i: total[i] for i in rows})
    assert {row.category: row.ratio for row in again.rows} == {row.category: row.ratio for row in table.rows}


@given(COUNTS.filter(lambda counts: all(n for _, n in counts) and any(x for x, _ in counts)))
def test_the_smallest_ratio_is_fairlearns(counts):
    assume(sum(n for _, n in counts) > 1)  # the peer cannot read a single row
    groups = np.repeat(np.arange(len(counts)), [n for _, n in counts])
    chosen = np.concatenate([np.arange(n) < x for x, n in counts])
    expected = demographic_parity_ratio(chosen, chosen, sensitive_features=groups)
    found = min(impact_ratios([x for x, _ in counts], [n for _, n in counts]).ratios.values())
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("selected", "total", "message"),
    [
        ({"a": -1}, {"a": 2}, "selected, category 'a': expected a whole number of people, got -1"),
        ({"a": 1.5}, {"a": 2}, "category 'a'.* got 1.5"),
        ({"a": 1}, {"a": 2.25}, "total, category 'a'.* got 2.25"),
        ({"a": True}, {"a": 2}, "category 'a'.* got True"),
        ({"b": 3}, {"b": 2}, "category 'b': 3 selected of 2"),
        ({"a": 1}, {"b": 2}, "same categories"),
        ([1, 1], [2], "same categories"),
        (pd.Series([1, 1], index=["a", "a"]), {"a": 2}, "two rows are named 'a'"),
    ],
)
def test_counts_that_cannot_be_are_refused_by_row(selected, total, message):
    with pytest.raises(InputError, match=message):
        impact_ratios(selected, total)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="no category is named 'c'"):
        impact_ratios({"a": 1}, {"a": 2}, comparator="c")
    with pytest.raises(InputError, match="no category is named 'd'"):
        impact_ratios({"a": 1}, {"a": 2}, exclude=["d"])


def test_scoring_rates_by_hand():
    rates = scoring_rates([1, 2, 3, 4, 5, 6], ["a", "a", "b", "a", "b", "b"])
    assert (rates.median, rates.above, rates.tied, rates.sample) == (3.5, 3, 0, 6)
    assert [(row.category, row.above, row.total) for row in rates.rows] == [("a", 1, 3), ("b", 2, 3)]
    assert rates.impact_ratios()["a"].ratio == Fraction(1, 2)


def test_ties_at_the_median_are_not_above_it_and_are_counted():
    rates = scoring_rates([3, 3, 3, 4, 2], ["a", "a", "b", "b", "b"])
    assert (rates.median, rates.above, rates.tied) == (3, 1, 3)
    assert rates.tie_share == Fraction(3, 5)
    assert [row.tie_share for row in rates.rows] == [1, Fraction(1, 3)]
    assert [row.rate for row in rates.rows] == [0, Fraction(1, 3)]


def test_the_median_of_all_and_of_those_known():
    scores, groups = [1, 2, 3, 8, 9, 9, 9], ["a", "a", "b", "b", None, np.nan, None]
    everybody = scoring_rates(scores, groups)
    assert (everybody.median, everybody.unknown, everybody.sample) == (8, 3, 7)
    assert [row.above for row in everybody.rows] == [0, 0]
    known = scoring_rates(scores, groups, median="known")
    assert (known.median, known.unknown, known.sample) == (2.5, 3, 4)
    assert [row.above for row in known.rows] == [0, 2]
    assert (known.above, known.tied) == (2, 0)


def test_the_median_between_neighbouring_floats_is_exact():
    low = 1.0
    high = np.nextafter(low, 2)
    assert (low + high) / 2 in (low, high)  # the mean rounds onto one of them
    rates = scoring_rates([low, low, high, high], ["a", "a", "b", "b"])
    assert [row.above for row in rates.rows] == [0, 2]
    assert rates.tied == 0


def test_people_without_a_score_are_counted_by_group():
    rates = scoring_rates([1.0, np.nan, 3.0, np.nan, np.nan], ["a", "a", "b", "c", None])
    assert rates.unscored == 3
    assert [(row.category, row.total, row.unscored) for row in rates.rows] == [
        ("a", 1, 1),
        ("b", 1, 0),
        ("c", 0, 1),
    ]
    assert rates.rows[2].rate == Undefined("no member with a score")
    assert rates.impact_ratios()["c"].ratio == Undefined("no member in this category")


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["a", "b", None])), min_size=1, max_size=40))
def test_scoring_rates_follow_the_definition(people):
    scores, groups = zip(*people, strict=True)
    rates = scoring_rates(scores, groups)
    median = float(np.median(scores))
    assert rates.median == median
    for row in rates.rows:
        members = [s for s, g in people if g == row.category]
        assert row.rate == Fraction(sum(s > median for s in members), len(members))
        assert row.tied == sum(s == median for s in members)
    assert rates.above <= len(people) / 2


def test_scoring_refuses_wrong_input():
    with pytest.raises(UndefinedMetricError, match="no score to take the median of"):
        scoring_rates([np.nan], ["a"])
    with pytest.raises(UndefinedMetricError, match="no score"):
        scoring_rates([1.0], [None], median="known")
    with pytest.raises(UndefinedMetricError, match="infinity"):
        scoring_rates([-np.inf, np.inf], ["a", "b"])
    with pytest.raises(InputError, match="2 labels"):
        scoring_rates([1.0], ["a", "b"])
    with pytest.raises(InputError, match="median"):
        scoring_rates([1.0], ["a"], median="mean")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1, 8), 2, "0.13"),
        (Fraction(5, 1000), 2, "0.01"),
        (Fraction(4999, 10**6), 2, "0.00"),
        (Fraction(199, 200), 2, "1.00"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(0), 3, "0.000"),
    ],
)
def test_round_half_up(value, digits, text):
    assert round_half_up(value, digits) == text


@given(st.fractions(min_value=0, max_value=1000), st.integers(0, 6))
def test_rounding_is_the_nearest(value, digits):
    printed = round_half_up(value, digits)
    assert abs(Fraction(printed) - value) <= Fraction(1, 2 * 10**digits)
    assert printed_agreement(value, printed) == "rounded"


def test_printed_agreement():
    assert printed_agreement(Fraction(2, 3), ".67") == "rounded"
    assert printed_agreement(Fraction(2, 3), "0.66") == "truncated"
    assert printed_agreement(Fraction(2, 3), "0.65") == "differs"
    assert printed_agreement(Fraction(125, 2), "62.5") == "rounded"
    assert printed_agreement(100 * Fraction(18, 28), "64.2%") == "truncated"
    with pytest.raises(InputError, match="printed decimal"):
        printed_agreement(Fraction(1), "n/a")
    with pytest.raises(InputError, match="at least 0"):
        round_half_up(Fraction(-1), 2)
