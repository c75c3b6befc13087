"""Answers to the same fixed prompts in two runs."""

from __future__ import annotations

from audit_lib.documents.canaries import CanaryAnswer
from audit_lib.monitor.canaries import compare_canaries


def entry(digest: str, **values):
    answer = {
        "status": "ok",
        "model": "m",
        "system_fingerprint": "a",
        "label_probabilities": (0.25, 0.5),
        "text": "Y",
    }
    return CanaryAnswer(request_digest=digest, **answer | values)


def test_no_change():
    found = compare_canaries([entry("a"), entry("b")], [entry("b"), entry("a")]).as_dict()
    assert found == {
        "compared": 2,
        "text_changed": 0,
        "status_changed": 0,
        "served_changed": 0,
        "largest_probability_change": 0.0,
        "largest_score_change": {"undefined": "no canary has a score of the model's own in both runs"},
    }


def test_each_kind_of_change_is_counted_and_only_what_both_asked():
    previous = [entry("a"), entry("b"), entry("c"), entry("gone")]
    current = [
        entry("a", text="N", label_probabilities=(0.5, 0.375)),
        entry("b", system_fingerprint="z"),
        entry("c", status="refused", label_probabilities=None),
        entry("new", text="else"),
    ]
    found = compare_canaries(previous, current).as_dict()
    assert found == {
        "compared": 3,
        "text_changed": 1,
        "status_changed": 1,
        "served_changed": 1,
        "largest_probability_change": 0.25,
        "largest_score_change": {"undefined": "no canary has a score of the model's own in both runs"},
    }


def test_texts_have_no_probabilities():
    texts = [entry("a", label_probabilities=None)]
    found = compare_canaries(texts, texts).as_dict()
    assert found["largest_probability_change"] == {
        "undefined": "no canary has label probabilities in both runs"
    }
    assert compare_canaries([], texts).compared == 0


def test_a_score_of_the_model_s_own_is_compared_and_one_that_was_not_kept_is_not():
    previous, current = [entry("a", score=0.5), entry("b")], [entry("a", score=0.25), entry("b", score=9.0)]
    assert compare_canaries(previous, current).largest_score_change == 0.25
