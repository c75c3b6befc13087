"""One tokenisation, whichever of its two ways runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import AuditError, InputError, LexiconError
from audit_lib.metrics.text.optional import text_extra
from audit_lib.metrics.text.tokens import _word_pattern, disjoint_words, encode, single_words, tokenise


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_byte_table_splits_ascii_as_the_pattern_does(text: str) -> None:
    assert tokenise(text) == _word_pattern().findall(text.lower())


@given(st.text())
def test_words_are_lower_case_and_stay_whole_when_split_again(text: str) -> None:
    words = tokenise(text)
    assert tokenise(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She\u2019s here\u2014now", ["she", "s", "here", "now"]),
        ("Jose\u0301 and Jos\u00e9", ["jos\u00e9", "and", "jos\u00e9"]),
        (
            "\u0939\u093f\u0928\u094d\u0926\u0940 \u0939\u0948",
            ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u0948"],
        ),
        ("snake_case, 3.5 GPA", ["snake", "case", "3", "5", "gpa"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words_of(text: str, words: list[str]) -> None:
    assert tokenise(text) == words


def test_texts_split_by_other_means_are_taken_as_they_are() -> None:
    corpus = encode([["New York", "x"], "new york"])
    assert list(corpus.vocabulary) == ["New York", "x", "new", "york"]
    assert corpus.starts.tolist() == [0, 2, 4]
    assert corpus.text_ids.tolist() == [0, 0, 1, 1]


def test_no_texts_and_empty_texts() -> None:
    assert encode([]).starts.tolist() == [0]
    assert encode(["", "a", ""]).text_ids.tolist() == [1]


@pytest.mark.parametrize("texts", ["one text", [3], [None], [["a", 3]]])
def test_what_is_no_list_of_texts_is_refused(texts: object) -> None:
    with pytest.raises(InputError):
        encode(texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [[], ["well-known"], ["African American"], [""], ["..."], [3], "she"])
def test_what_is_no_list_of_single_words_is_refused(words: object) -> None:
    with pytest.raises(LexiconError, match="female"):
        single_words(words, "female")  # type: ignore[arg-type]


def test_a_word_of_two_lists_is_refused() -> None:
    with pytest.raises(LexiconError, match=r"'they' is in a and in b"):
        disjoint_words({"a": ["she", "THEY"], "b": ["they"]})


def test_a_library_that_is_not_installed_is_named_with_its_cure() -> None:
    with pytest.raises(AuditError, match=r"need no_such_library; pip install 'audit-lib\[text\]'"):
        text_extra("no_such_library.part")
