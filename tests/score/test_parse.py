"""Ratings from generated texts: each rule with an example, and what must never be guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.reading.ratings import RatingScale, read_rating

FIVE = RatingScale(labels=("1", "2", "3", "4", "5"), relevance=(1.0, 2.0, 3.0, 4.0, 5.0))
WORDS = RatingScale(labels=("Reject", "Hire", "Strong hire"), relevance=(0.0, 1.0, 2.0))
LETTERS = RatingScale(labels=("F", "A"), relevance=(0.0, 1.0))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("4", 4),
        (" **4**\n", 4),
        ("4/5", 4),
        ("4 out of 5.", 4),
        ("Overall: 4", 4),
        ("Experience is 6 years.\nOverall rating: 4 / 5\nThank you!", 4),
        ("I would rate this applicant 4.", 4),
        ("I would give 3.5 out of 5 here", 3.5),
        ("Score: 4\nOverall: 4", 4),
        ("4 stars", 4),
        ("Rating: 4 out of 5 stars", 4),
        ("**4 (hire)**", 4),
        ("So the answer is\n$\\boxed{4}$", 4),
        ("\\boxed{4}", 4),
        ("<think>Overall: 2? I'm sorry, I cannot</think>4", 4),
    ],
)
def test_numbers(text, score):
    assert read_rating(text, "number", FIVE).score == score


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Between 3 and 4.", "given as a rating"),
        ("4/10", "out of another number than 5"),
        ("7", "not on the scale"),
        ("-4", "not on the scale"),
        ("80%", "no number"),
        ("1-5", "no number"),
        ("Fit: 3\nOverall: 4", "several numbers"),
        ("Interview at 10:30", "given as a rating"),
        ("4 (or 5)", "given as a rating"),
        ("4 years", "given as a rating"),
        ("A good applicant.", "no number"),
        ("", "the text is empty"),
        (None, "the text is empty"),
    ],
)
def test_what_is_no_number_of_the_scale(text, why):
    found = read_rating(text, "number", FIVE)
    assert (found.score, found.status) == (None, "unparsed")
    assert why in found.detail


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"overall": 4}', 4),
        ('Sure!\n```json\n{"experience": 2, "overall": 4.0}\n```\nHope it helps {really}.', 4),
        ('{"overall": "4"} and again {"overall": 4}', 4),
        ('{"ratings": {"overall": 2}}', None),
        ('{"overall": 4} or {"overall": 5}', None),
        ('{"overall": true}', None),
        ('{"overall": null}', None),
        ('{"overall": NaN}', None),
        ('{"overall": 9}', None),
        ('{"overall": 4', None),
        ('{"Overall": 4}', None),
        ("[4]", None),
        ("{" * 5000, None),
    ],
)
def test_json(text, score):
    found = read_rating(text, "json:overall", FIVE)
    assert found.score == score
    assert (found.status == "ok") == (score is not None) == (found.detail is None)


@pytest.mark.parametrize("text", ['{"overall": 1, "overall": 5}', '{"a": {"x": 1, "x": 1}, "overall": 4}'])
def test_json_that_gives_a_key_twice_is_no_rating(text):
    found = read_rating(text, "json:overall", FIVE)
    assert (found.score, found.detail) == (None, "a JSON object in the text gives a key twice")


def test_a_path_into_json():
    assert read_rating('{"ratings": {"overall": 2}}', "json:ratings.overall", FIVE).score == 2


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Strong hire", 2),
        ("Hire, since the experience fits.", 1),
        ("The resume is solid.\n\n**Decision: Strong Hire.**", 2),
        ("I would not hire this applicant.", None),
        ("Decision: Hire\nDecision: Reject", None),
        ("Maybe", None),
    ],
)
def test_phrases(text, score):
    assert read_rating(text, "phrase", WORDS).score == score


def test_a_label_in_json_and_a_scale_of_words():
    assert read_rating('{"grade": "a"}', "json:grade", LETTERS).score == 1
    assert (
        read_rating('{"grade": "B"}', "json:grade", LETTERS).detail
        == "the value is no number and none of the labels"
    )


def test_labels_that_are_numbers_of_another_meaning_take_no_number_between():
    scale = RatingScale(labels=("1", "2", "3"), relevance=(0.0, 0.5, 1.0))
    assert read_rating("2", "number", scale).score == 0.5
    assert read_rating("0.5", "number", scale).detail == "the rating is not on the scale"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I'm sorry, but I can't rate applicants.", "refused"),
        ("As an AI, I do not judge people.", "refused"),
        ("I cannot help with that", "refused"),
        ("As an AI, I would say 4", "ok"),
        ("The applicant said: I'm sorry", "unparsed"),
        ("Sorrel is a plant", "unparsed"),
    ],
)
def test_a_refusal_is_a_text_without_a_rating_that_begins_by_declining(text, status):
    assert read_rating(text, "number", FIVE).status == status


@given(st.text(max_size=80), st.sampled_from(["number", "phrase", "json:overall"]))
def test_any_text_gives_a_score_on_the_scale_or_a_reason_without_its_words(text, how):
    found = read_rating(text, how, FIVE)
    if found.status == "ok":
        assert 1 <= found.score <= 5
    else:
        assert found.score is None and found.detail
        assert len(text) < 12 or text not in found.detail


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I'm sorry, but I cannot rate someone with 3 years of experience.", "refused"),
        ("The candidate has 4 years of experience and I will not recommend them", "refused"),
        ("Candidate 2", "unparsed"),
        ("$5", "unparsed"),
        ("1. Great communicator", "unparsed"),
        ("I would rate this applicant 4", "ok"),
    ],
)
def test_a_number_that_is_not_given_as_a_rating_is_none(text: str, status: str) -> None:
    five = RatingScale(labels=("1", "2", "3", "4", "5"), relevance=(1, 2, 3, 4, 5))
    assert read_rating(text, "number", five).status == status


@pytest.mark.parametrize(
    "text",
    [
        "Rating: 4 (out of 10)",
        "Rating: 4, on a scale of 10",
        "Rating:\n\n4\n\n(On a scale of 1-10)",
        "Rating (1-10): 4",
        "4\nThis is on a 10-point scale.",
        "On a scale of 1 to 10, I rate this a 4.",
        "I would not give this a 5.",
        "I don't rate this a 5.",
        "I rate this below 3.",
        "Not below 3/5",
        "Rating: at least 3",
        "I'd rate it 3 to 4",
        "I'd rate it between 3 and 4",
        "I rate it 3, maybe 4.",
        "I give 3 reasons for hiring",
        "Overall he has 2 degrees.",
        "Overall he has 2.",
        "Overall, 4 years of experience",
        "Overall 3 of the 5 requirements",
        "He meets 4 out of 5 requirements.",
        "Score: 4\nMax: 10",
    ],
)
def test_a_number_of_prose_that_is_not_clearly_the_rating_is_none(text: str) -> None:
    found = read_rating(text, "number", FIVE)
    assert (found.score, found.status) == (None, "unparsed")


@pytest.mark.parametrize(
    "text",
    [
        "On a scale of 1 to 5, I rate this a 4.",
        "I rate this a 4, because he has 5 years of it.",
        "I would rate Ann Lee a 4.",
        "I would rate \u00c9loi Lee 4.",
        "I don't think more is needed. I'd give her a rating of 4!",
        "My score is 4",
        "Overall it is a 4 - a good fit",
        "Rating (1-5): 4",
        "He gets 4/5 overall.",
    ],
)
def test_a_number_that_ends_a_clause_after_a_word_of_rating_is_one(text: str) -> None:
    assert read_rating(text, "number", FIVE).score == 4


@pytest.mark.parametrize("text", ["3.5", "4/10", "3-4", "4 out of 10", "3 or 4"])
def test_a_label_that_is_a_number_is_not_read_from_the_first_digits(text: str) -> None:
    assert read_rating(text, "phrase", FIVE).status == "unparsed"


@pytest.mark.parametrize("how", ["number", "phrase", "json:overall"])
@pytest.mark.parametrize("text", ["1 " * 50_000, "rating 1 " * 20_000, "a" * 100_000 + "\n4"])
def test_a_text_of_more_than_can_be_read_in_time_is_not_read(text: str, how: str) -> None:
    found = read_rating(text, how, FIVE)
    assert found.status == "unparsed" and "at most 50000 are read" in str(found.detail)


def test_blanks_and_thoughts_make_no_text_too_long() -> None:
    assert read_rating(" " * 100_000 + "4" + "\n" * 100_000, "number", FIVE).score == 4
    assert read_rating("<think>" + "2? " * 50_000 + "</think>Overall: 4", "number", FIVE).score == 4


def test_only_what_stands_just_before_a_number_makes_it_a_rating() -> None:
    assert read_rating("I rate" + " this" * 20 + " a 4.", "number", FIVE).status == "unparsed"


def test_a_number_beyond_all_floats_is_no_exception() -> None:
    five = RatingScale(labels=("1", "2", "3", "4", "5"), relevance=(1, 2, 3, 4, 5))
    assert read_rating('{"overall": ' + "9" * 400 + "}", "json:overall", five).status == "unparsed"


def test_stars_are_out_of_five() -> None:
    ten = RatingScale(labels=tuple(map(str, range(1, 11))), relevance=tuple(map(float, range(1, 11))))
    assert "in stars" in str(read_rating("4 stars", "number", ten).detail)
    assert read_rating("4 out of 10 stars", "number", ten).score == 4
