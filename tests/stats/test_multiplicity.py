from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from audit_lib.errors import InputError
from audit_lib.results import Undefined
from audit_lib.stats import benjamini_hochberg, holm
from tests.peers import multipletests

families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(families)
def test_benjamini_hochberg_agrees_with_scipy(p_values):
    assert benjamini_hochberg(p_values).p_values == pytest.approx(
        false_discovery_control(p_values), abs=1e-12
    )


@given(families)
def test_agrees_with_statsmodels(p_values):
    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        theirs = multipletests(p_values, method=method)[1]
        assert ours(p_values).p_values == pytest.approx(theirs.tolist(), abs=1e-12)


def test_benjamini_hochberg_1995_example():
    # their section 3.2: fifteen p-values; at q = 0.05 the four smallest are found, by Bonferroni three
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
    ]  # fmt: skip
    assert sum(q <= 0.05 for q in benjamini_hochberg(p).p_values) == 4
    assert sum(q <= 0.05 for q in holm(p).p_values) == 3


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
def test_tables_count_as_long_as_something_of_them_is_left(tested):
    p_values, tables = [p for p, _ in tested], [table for _, table in tested]
    expected, reached, left = {}, 0.0, list(range(len(tested)))
    while left:
        first = min(left, key=p_values.__getitem__)
        reached = max(reached, min(1.0, p_values[first] * len({tables[i] for i in left})))
        expected[first] = reached
        left.remove(first)
    assert holm(p_values, tables).p_values == pytest.approx([expected[i] for i in range(len(tested))])


def test_tables_are_given_one_each():
    with pytest.raises(InputError, match="1 tables for 2 p-values"):
        holm([0.1, 0.2], ["sex"])
    with pytest.raises(InputError, match="1 families for 2 p-values"):
        holm([0.1, 0.2], families=["sex"])


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=7))
def test_families_share_the_error_as_the_closure_of_weighted_bonferroni_tests(tested):
    """Every set of hypotheses has a test of its own; a hypothesis is ruled out where all sets that hold it are."""
    p_values, families = [p for p, _ in tested], [law for _, law in tested]
    weights = [1 / families.count(law) for law in families]
    sets = [[i for i in range(len(tested)) if number >> i & 1] for number in range(1, 2 ** len(tested))]
    of_sets = [min(p_values[i] * sum(weights[j] for j in one) / weights[i] for i in one) for one in sets]
    expected = [
        min(1.0, max(p for one, p in zip(sets, of_sets, strict=True) if i in one)) for i in range(len(tested))
    ]
    assert holm(p_values, families=families).p_values == pytest.approx(expected, abs=1e-12)


def test_a_table_shares_its_family_s_half_with_no_estimate():
    p_values = [0.004, 0.03, *[0.5] * 98]
    families = ["law", "law", *["rest"] * 98]
    assert holm(p_values, ["race", "race", *range(98)], families).p_values[:2] == pytest.approx([0.008, 0.06])
    assert holm(p_values, ["race", "race", *range(98)]).p_values[0] == pytest.approx(0.004 * 99)
    assert holm(p_values[:2], ["race", "race"], families[:2]).p_values == (0.004, 0.03)


@given(families, st.randoms())
def test_order_does_not_matter(p_values, random):
    order = list(range(len(p_values)))
    random.shuffle(order)
    for adjust in (holm, benjamini_hochberg):
        straight = adjust(p_values).p_values
        shuffled = adjust([p_values[i] for i in order]).p_values
        assert shuffled == tuple(straight[i] for i in order)


@given(families)
def test_adjusting_never_helps_a_finding_and_holm_is_the_stricter(p_values):
    strict, loose = holm(p_values).p_values, benjamini_hochberg(p_values).p_values
    for raw, a, b in zip(p_values, strict, loose, strict=True):
        assert raw - 1e-15 <= b <= a + 1e-12
        assert a <= 1.0


def test_undefined_tests_keep_their_place_and_do_not_count():
    reason = Undefined("no one in the group")
    result = holm([0.01, reason, 0.04])
    assert result.family_size == 2
    assert result.p_values == (0.02, reason, 0.04)
    assert result.as_dict()["p_values"][1] == {"undefined": "no one in the group"}


def test_an_empty_family():
    assert holm([]).family_size == 0
    assert benjamini_hochberg([Undefined("none")]).family_size == 0


def test_refuses_what_is_not_a_p_value():
    with pytest.raises(InputError, match="p-value 1 of the family is 1.2"):
        holm([0.1, 1.2])
    with pytest.raises(InputError, match="nan"):
        benjamini_hochberg([float("nan")])
