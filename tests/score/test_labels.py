"""Reading a label from text."""

from __future__ import annotations

import pytest

from audit_lib.score.labels import read_label
from audit_lib.score.thinking import without_thinking
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
    assert read_label("10 points", ["1", "10"]) == 1
    assert read_label("strong no", ["strong", "strong no"]) == 1


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
    ],
)
def test_what_is_thought_before_an_answer_is_none_of_it(text, said):
    assert without_thinking(text) == said
