"""Masking finds whole words in any case and touches nothing else."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text import mask_protected_words, mentions_protected_words

GENDER = {"female": ["she", "her", "herself", "Mrs."], "male": ["he", "his", "Mr."]}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("She said HE is there.", "# said # is there."),
        ("herself, hers; ushers-her_x", "#, hers; ushers-#_x"),
        ("Mr. Hess and mrs. Hu, Mr", "# Hess and # Hu, Mr"),
        ("she's", "#'s"),
        ("he2 2he h\u00e9 he\u0301 \u00e9he", "he2 2he h\u00e9 he\u0301 \u00e9he"),
        ("\u0130 he \u0130she she", "\u0130 # \u0130she #"),
        ("", ""),
    ],
)
def test_masks(text: str, masked: str) -> None:
    assert mask_protected_words([text], GENDER, mask="#") == [masked]


def test_of_overlapping_entries_the_leftmost_and_longest_that_is_a_whole_word() -> None:
    entries = ["african", "african american", "american woman", "he", "he is"]
    assert mask_protected_words(["African American woman"], entries) == ["[MASK] woman"]
    assert mask_protected_words(["he isn"], entries) == ["[MASK] isn"]


def test_a_name_with_an_accent_is_found_in_both_of_its_forms_if_listed_so() -> None:
    assert mask_protected_words(["Jos\u00e9 Jose\u0301 Jose"], ["jos\u00e9", "jose\u0301"]) == [
        "[MASK] [MASK] Jose"
    ]


WORDS = st.sampled_from(["she", "He", "HERS", "here", "the", "x", "Sheila", "Her", "1he"])
GAPS = st.sampled_from([" ", ", ", "-", "'", "\n", "\u2014", "\t"])


@given(st.lists(st.tuples(WORDS, GAPS)))
def test_masking_is_a_whole_word_replacement(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in parts)
    expected = re.sub(r"\b(?:she|he|her)\b", "[MASK]", text, flags=re.IGNORECASE)
    assert mask_protected_words([text], ["she", "he", "her"]) == [expected]
    assert mentions_protected_words([text], ["she", "he", "her"]) == [expected != text]


@given(st.text())
def test_masking_twice_is_masking_once_and_removes_every_mention(text: str) -> None:
    entries = ["a", "be", "\u00df", "i\u0307"]
    try:
        once = mask_protected_words([text], entries, mask="#")
    except UndefinedMetricError:
        return  # where words have no spaces between them it is refused
    assert mask_protected_words(once, entries, mask="#") == once
    assert mentions_protected_words(once, entries) == [False]


@pytest.mark.parametrize("lexicon", [[], {}, {"f": []}, ["she", ""], ["she", None], "she", {"f": "she"}])
def test_a_lexicon_without_words_is_refused(lexicon: object) -> None:
    with pytest.raises(LexiconError):
        mask_protected_words(["text"], lexicon)  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", ["she", [["she"]], [None]])
def test_only_texts_are_masked(texts: object) -> None:
    with pytest.raises(InputError):
        mask_protected_words(texts, ["she"])  # type: ignore[arg-type]


NAMES = st.sampled_from(["José", "Zoë", "Nguyễn", "한국", "O'Brien", "African American", "ΝΙΚΟΣ", "İpek"])
FORMS = st.sampled_from(["NFC", "NFD"])


@given(NAMES, FORMS, FORMS, st.sampled_from([" ", "\u00a0", "\n", " \n  "]), st.sampled_from("'\u2019"))
def test_a_name_is_found_in_every_form_and_nothing_else_changes(name, ours, theirs, space, apostrophe):
    written = unicodedata.normalize(theirs, name.replace(" ", space).replace("'", apostrophe))
    before, after = unicodedata.normalize("NFD", "café  à "), unicodedata.normalize("NFC", ", très\u00a0bien")
    lexicon = [unicodedata.normalize(ours, name)]
    assert mask_protected_words([before + written + after], lexicon) == [before + "[MASK]" + after]
    assert mentions_protected_words([before + written + after], lexicon) == [True]
    # Letters around it, or a mark on its last letter, make it another word.
    others = [f"x{written}", f"{written}x", f"{written}\u0323", "nothing here"]
    assert mentions_protected_words(others, lexicon) == [False] * 4


def test_an_accent_makes_another_word():
    decomposed = unicodedata.normalize("NFD", "José")
    assert mentions_protected_words([decomposed, "José"], ["Jose"]) == [False, False]
    assert mentions_protected_words(["African\u2029American", "African, American"], ["African American"]) == [
        True,
        False,
    ]


def test_a_space_of_any_kind_stands_for_another() -> None:
    spaces = [character for character in map(chr, range(sys.maxunicode + 1)) if character.isspace()]
    texts = [f"an African{space}American woman" for space in spaces]
    assert set(mask_protected_words(texts, ["African American"])) == {"an [MASK] woman"}
