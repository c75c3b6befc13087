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
