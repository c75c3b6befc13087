"""The case of a pronoun, from its sentence."""

from __future__ import annotations

import pytest

from audit_lib.errors import InputError
from audit_lib.perturb.agreement import PARTS, part_of

POSSESSIVE, OBJECT, ALONE = "possessive", "object", "possessive_pronoun"


def part(marked: str) -> tuple[str, bool]:
    start = marked.index("[")
    end = marked.index("]") - 1
    return part_of(marked.replace("[", "").replace("]", ""), start, end)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I asked [her].", OBJECT),
        ("I asked [her]", OBJECT),
        ("I asked [her], twice.", OBJECT),
        ("I asked [her] to stay.", OBJECT),
        ("I told [her] that it works.", OBJECT),
        ("I thanked [HER] AND left.", OBJECT),
        ("They let [her] go first.", OBJECT),
        ("It made [her] feel at home.", OBJECT),
        ("It made [her] proud.", OBJECT),
        ("We met [her]\n\nNext section", OBJECT),
        ("We offered [her]\na post.", OBJECT),
        ("They call [her] Liz.", OBJECT),
        ("We thanked [her] repeatedly.", OBJECT),
        ("[Her] class is loud.", POSSESSIVE),
        ("It is in [her]\nclass.", POSSESSIVE),
        ("It is [her] own.", POSSESSIVE),
        ("[her] well-planned day", POSSESSIVE),
        ("[her] newly formed club", POSSESSIVE),
        ("[Her] “quiet” corner", POSSESSIVE),
        ("They found [her] notes.", POSSESSIVE),
        ("[His] class is loud.", POSSESSIVE),
        ("a friend of [his].", ALONE),
        ("a friend of [his] who sings", ALONE),
        ("The prize is [his] and mine.", ALONE),
        ("[His] was the best.", ALONE),
    ],
)
def test_what_follows_decides(sentence: str, expected: str) -> None:
    assert part(sentence)[0] == expected


@pytest.mark.parametrize(
    "sentence", ["I saw [her] work.", "They called [her] back.", "We gave [her] feedback."]
)
def test_what_the_words_leave_open_is_not_sure(sentence: str) -> None:
    assert part(sentence)[1] is False


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("We took [her] on last spring.", OBJECT), ("We promoted [her] last spring.", OBJECT),
        ("I met [her] June 3.", OBJECT), ("We saw [her] 4 years ago.", OBJECT), ("We hired [her] part-time.", OBJECT),
        ("No pupil likes [her] most.", OBJECT), ("Anyone who taught with [her] grew.", OBJECT),
        ("Pupils around [her] calm down.", OBJECT), ("Nobody near [her] complains.", OBJECT),
        ("Parents who meet [her] trust her.", OBJECT), ("Working beside [her] taught me much.", OBJECT),
        ("Training with [her] changed me.", OBJECT), ("The board elected [her] chair.", OBJECT),
        ("We lent [her] $40.", OBJECT), ("I had [her] tutor my son.", OBJECT), ("I know [her] well enough.", OBJECT),
        ("Guests like [his] always kind words.", POSSESSIVE), ("We bring [his] will to class.", POSSESSIVE),
        ("We admire [her] once shy pupils.", POSSESSIVE), ("I called [her] then principal.", POSSESSIVE),
    ],
)  # fmt: skip
def test_no_wrong_case_is_sure(sentence: str, right: str) -> None:
    """Each was read wrongly, and marked sure, when only the next word was looked at."""
    found, sure = part(sentence)
    assert found == right or not sure


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("[Her] even temper helps.", POSSESSIVE), ("[Her] then principal agreed.", POSSESSIVE),
        ("In [her] last semester she led.", POSSESSIVE), ("at [her] best", POSSESSIVE),
        ("with [her] part-time job", POSSESSIVE), ("She loves [her] pupils.", POSSESSIVE),
        ("I rely on [her] judgment.", POSSESSIVE), ("I trust [her] completely.", OBJECT),
        ("I met [her] once.", OBJECT), ("I treat [her] like family.", OBJECT), ("I know [her] well.", OBJECT),
        ("Half of it is [his] now.", ALONE), ("at [his] best", POSSESSIVE),
    ],
)  # fmt: skip
def test_what_the_words_settle_is_sure(sentence: str, expected: str) -> None:
    assert part(sentence) == (expected, True)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("she", "subject"), ("HE", "subject"), ("him", "object"), ("hers", ALONE), ("Herself", "reflexive"),
     ("himself", "reflexive"), ("their", POSSESSIVE), ("them", "object")],
)  # fmt: skip
def test_most_pronouns_show_their_case(word: str, expected: str) -> None:
    assert part_of(word, 0, len(word)) == (expected, True)
    assert expected in PARTS


def test_no_pronoun_is_an_error() -> None:
    with pytest.raises(InputError, match="no third-person pronoun from character 0 to 5"):
        part_of("class", 0, 5)
