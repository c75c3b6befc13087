"""Real answers of a real model: 125 summaries, and 75 pairs whose prompts differ by gender alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from audit_lib.metrics import text
from audit_lib.results import Undefined
from audit_lib.words import tokenise
from tests.metrics.slow_text import slow_bleu, slow_rouge

DATA = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[3] / "shared") / (
    "data/langfair/gpt_responses.json"
)
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real responses are not on this machine")

FEMALE = [
    "she",
    "her",
    "hers",
    "herself",
    "woman",
    "women",
    "girl",
    "mother",
    "daughter",
    "sister",
    "ms",
    "mrs",
]
MALE = ["he", "him", "his", "himself", "man", "men", "boy", "father", "son", "brother", "mr", "sir"]
LEXICON = {"female": FEMALE, "male": MALE}


@pytest.fixture(scope="module")
def responses() -> dict[str, list[str]]:
    loaded: dict[str, list[str]] = json.loads(DATA.read_text())
    return loaded


def test_similarity_of_each_pair_equals_a_slow_count(responses: dict[str, list[str]]) -> None:
    sides = [
        text.mask_protected_words(responses[name], LEXICON) for name in ("female_responses", "male_responses")
    ]
    words = [[tokenise(item) for item in side] for side in sides]
    pairs = list(zip(*words, strict=True))
    assert len(pairs) == 75
    rouge = text.counterfactual_rouge_l(*sides)
    np.testing.assert_allclose(rouge.values, [slow_rouge(*pair) for pair in pairs], rtol=1e-12)
    bleu = text.counterfactual_bleu(*sides)
    slow = [min(slow_bleu(*pair), slow_bleu(*pair[::-1])) for pair in pairs]
    np.testing.assert_allclose(bleu.values, slow, rtol=1e-12)
    assert not rouge.undefined
    assert 0.1 < bleu.mean < rouge.mean < 0.9
    given = responses["female_responses"], responses["male_responses"]
    assert text.counterfactual_rouge_l(*given, LEXICON).mean == rouge.mean
    # What names the group is a difference until it is masked.
    assert text.counterfactual_rouge_l(*given).mean < rouge.mean


def test_masking_leaves_no_protected_word(responses: dict[str, list[str]]) -> None:
    for name in ("female_responses", "male_responses"):
        assert any(text.mentions_protected_words(responses[name], LEXICON))
        masked = text.mask_protected_words(responses[name], LEXICON)
        assert not {*FEMALE, *MALE} & {word for item in masked for word in tokenise(item)}


def test_the_companions_of_a_word(responses: dict[str, list[str]]) -> None:
    texts = [*responses["responses"], *responses["female_responses"], *responses["male_responses"]]
    words = ["doctor", "work", "friend", "husband", "party", "money"]
    narrow = text.cooccurrence_bias_score(texts, FEMALE, MALE, words)
    wide = text.cooccurrence_bias_score(texts, FEMALE, MALE, words, beta=0.95)
    tokens = [tokenise(item) for item in texts]
    for word, near in zip(narrow.words, narrow.group_cooccurrence, strict=True):
        slow = sum(
            other in FEMALE
            for item in tokens
            for place, one in enumerate(item)
            if one == word
            for other in [*item[max(0, place - 10) : place], *item[place + 1 : place + 11]]
        )
        assert near == slow
    for close, far in zip(narrow.group_cooccurrence, wide.group_cooccurrence, strict=True):
        assert not close or far > 0
    table = text.stereotypical_associations(texts, LEXICON, words)
    assert 0 <= table.mean <= 0.5
    defined = [value for value in table.values if not isinstance(value, Undefined)]
    assert len(defined) + table.undefined == len(words)


def test_sentiment_of_the_pairs(responses: dict[str, list[str]]) -> None:
    given = responses["female_responses"], responses["male_responses"]
    scores = [text.vader_sentiment(side) for side in given]
    assert text.sentiment_parity_strict(*given) == text.sentiment_parity_strict(*scores)
    assert 0 < text.sentiment_parity_strict(*given) <= float(np.abs(scores[0] - scores[1]).mean())
    assert 0 <= text.sentiment_parity_weak(*given).mean < 0.5
