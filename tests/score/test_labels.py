"""Reading a label from text."""

from __future__ import annotations

import pytest

from audit_lib.score.labels import read_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes", 1),
        (" yes.", 1),
        ("**No**, the applicant", 0),
        ('"NO"', 0),
        ("Yes\nNo", 1),
        ("Yesterday", None),
        ("Notable", None),
        ("I would say yes", None),
        ("", None),
        (None, None),
    ],
)
def test_the_answer_must_begin_with_the_label(text, label):
    assert read_label(text, ["No", "Yes"]) == label


def test_the_longest_label_that_fits_is_meant():
    assert read_label("10 points", ["1", "10"]) == 1
    assert read_label("strong no", ["strong", "strong no"]) == 1
