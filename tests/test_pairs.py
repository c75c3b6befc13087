"""The rule of pairs: a pair deals out one point, whoever of the two it is seen from."""

from __future__ import annotations

import doctest
from itertools import product

import numpy as np
import pytest

import audit_lib.pairs
from audit_lib.errors import InputError
from audit_lib.pairs import FIRST, SECOND, TIE, UNPARSED, mirrored, pair_points


def test_the_examples_run():
    result = doctest.testmod(audit_lib.pairs)
    assert result.attempted >= 2 and result.failed == 0


def test_both_sides_share_one_point():
    for one, other in product(range(4), repeat=2):
        ours, theirs = pair_points([one], [other])[0], pair_points([other], [one])[0]
        assert ours + theirs == 1.0 and ours * 4 == int(ours * 4)


def test_the_papers_cases():
    assert pair_points([FIRST, SECOND, SECOND, TIE], [SECOND, FIRST, SECOND, TIE]).tolist() == [
        1,
        0,
        0.5,
        0.5,
    ]


def test_an_answer_said_from_the_other_side_twice_is_itself():
    codes = np.array([FIRST, SECOND, TIE, UNPARSED])
    assert mirrored(mirrored(codes)).tolist() == codes.tolist()


@pytest.mark.parametrize("codes", [[4], [-1], [0.5], ["first"]])
def test_what_is_no_answer(codes):
    with pytest.raises(InputError, match="codes 0 to 3"):
        pair_points(codes, codes)
