"""Reading a label from text."""

from __future__ import annotations

import pytest

from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.thinking import MOST_READ, TooLongError, readable, without_thinking
from audit_lib.spec.scoring import PromptTemplate


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
        ("<think>No? Yes!</think>\n\nYes", 1),
        ("No, wait.</think>Yes", 1),
        ("<thinking>Yes", None),
    ],
)
def test_the_answer_must_begin_with_the_label(text, label):
    assert read_label(text, ["No", "Yes"]) == label


def test_the_longest_label_that_fits_is_meant():
    assert read_label("10: all there", ["1", "10"]) == 1
    assert read_label("strong no", ["strong", "strong no"]) == 1


FIVE = ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "text",
    [
        *("3.5", "4.5 out of 5", "2/10", "**2**/10", "(4)/10", "3 or 4", "3, or 4", "3, 4", "3 to 4", "3-4"),
        *(
            "3 \u2013 4",
            "1,000",
            "5%",
            "4\u00bd",
            "4th",
            "4 years",
            "2 (out of 10)",
            "2 (out of ten)",
            "4:30",
        ),
        *("-4", "10", "1. Great communicator", "1) Great communicator", "4, maybe 5"),
    ],
)
def test_the_first_digits_of_something_else_are_no_label(text):
    assert read_label(text, FIVE) is None


@pytest.mark.parametrize(
    "text",
    [
        "4",
        "4.",
        "4/5",
        "4 out of 5.",
        "**4** out of **5**",
        "(4)",
        "4\n5",
        "4: good",
        "4 - good",
        "4 (good)",
        "4!",
    ],
)
def test_a_number_that_stands_by_itself_or_out_of_the_top_is_one(text):
    assert read_label(text, FIVE) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Hire or Reject?",
        "Hire? No",
        "Hire/Reject",
        "Hire, Reject",
        "Hire-not",
        "**Hire** / **Reject**",
        "Hire her not",
    ],
)
def test_a_label_that_does_not_end_is_none(text):
    assert read_label(text, ["Reject", "Hire"]) is None


@pytest.mark.parametrize(
    "text", ["Yes, No", "No. Yes.", "Yes; no", "Yes - no", "No-one", "Yes or no", "Yes's"]
)
def test_two_labels_on_a_line_or_half_a_word_are_none(text):
    assert read_label(text, ["No", "Yes"]) is None


def test_words_may_follow_a_label_that_has_ended():
    texts = ("Yes, no issues", "No: 3 gaps", "Yes because", "Yes!")
    assert [read_label(text, ["No", "Yes"]) for text in texts] == [1, 0, 1, 1]
    assert read_label("A) Ann Lee", ["A", "B"]) == 0
    assert read_label("A) and B)", ["A", "B"]) is None


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        ("", True),
        (" is the stronger candidate.", True),
        (" is better", True),
        (", by far", True),
        (" because of the skills", True),
        (" (better fit)", True),
        (" is weaker than the other", False),
        (" Jones", False),
        ("'s resume is better", False),
        (" and the other", False),
    ],
)
def test_long_and_short_names_are_read_alike(rest, read):
    names = ["Mei", "Latoya", "Maria del Carmen Rodriguez"]
    assert [read_label(f"{name}{rest}", names) for name in names] == ([0, 1, 2] if read else [None] * 3)


@pytest.mark.parametrize("labels", [[" Yes", "Yes"], ["Yes", "yes "], ["", "Yes"], ["No", " "], ["Yes"]])
def test_labels_that_no_answer_tells_apart_are_refused(labels):
    with pytest.raises(ValueError, match="two or more different answers, none of them empty"):
        PromptTemplate(template="t.yaml", labels=labels, relevance=[0.0, 1.0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>a</think>b", "b"),
        ("a<THINK>b</Think>c<thinking>d</thinking>e", "ace"),
        ("a</think>b", "b"),
        ("a<think>b", "a"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("I think: yes", "I think: yes"),
        ("<think>" * 100_000, ""),
        ("</think>" * 100_000 + "a", "a"),
        ("<think></think>a" * 50_000, "a" * 50_000),
    ],
)
def test_what_is_thought_before_an_answer_is_none_of_it(text, said):
    assert without_thinking(text) == said


def test_blanks_are_cut_short_and_what_is_longer_than_can_be_read_is_not_read():
    assert readable("a" + " " * 100_000 + "b\n" + "\n \t\n" * 100_000 + "c") == "a" + " " * 8 + "b\n\nc"
    assert readable("    1. a\n\n  b\r\n") == "    1. a\n\n  b\r\n"
    assert readable("<think>" + "x" * 100_000 + "</think>" + "y" * MOST_READ) == "y" * MOST_READ
    with pytest.raises(TooLongError, match="50001 characters, and at most 50000 are read"):
        readable("y" * (MOST_READ + 1))
