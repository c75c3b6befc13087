"""Languages that metrics cannot read: named by letters and commonest words, never by a guess at one short word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit_lib import segmentation
from audit_lib.errors import SpecError, UndefinedMetricError
from audit_lib.languages import ENGLISH, not_english
from audit_lib.measure.estimates.texts import judged
from audit_lib.measure.metric import metric
from audit_lib.measure.rows.texts import ClassifiedAnswers, TextRows
from audit_lib.measure.rows.word_lists import Words
from audit_lib.metrics.text import (
    cooccurrence_bias_score,
    counterfactual_bleu,
    counterfactual_rouge_l,
    mask_protected_words,
    mentions_protected_words,
    stereotypical_associations,
)
from audit_lib.metrics.text.sentiment import sentiment_parity_strict, vader_sentiment
from audit_lib.score.classifiers import check_classifiers, classifier
from audit_lib.segmentation import unspaced_script
from audit_lib.spec import TextClassifier
from audit_lib.words import segmented

UNSPACED = {
    "这位候选人非常适合这个职位": "Chinese characters",
    "この候補者は素晴らしい": "Japanese",
    "ผู้สมัครคนนี้เหมาะสมมาก": "Thai",
    "ຜູ້ສະໝັກຄົນນີ້ດີ": "Lao",
    "បេក្ខជននេះល្អណាស់": "Khmer",
    "ဒီလျှောက်ထားသူကောင်းတယ်": "Burmese",
}


@pytest.mark.parametrize(("text", "script"), UNSPACED.items(), ids=UNSPACED.values())
def test_scripts_without_spaces_are_named(text: str, script: str) -> None:
    assert unspaced_script(text) == script
    assert unspaced_script(f"OK: {text}.") == script


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 + 3",
        "좋은 후보자입니다",
        "хороший кандидат",
        "مرشح جيد",
        "अच्छा उम्मीदवार",
        "I met 李明 in Boston last year.",
    ],
)
def test_scripts_with_spaces_are_read(text: str) -> None:
    assert unspaced_script(text) == ""


@pytest.mark.parametrize(("text", "script"), UNSPACED.items(), ids=UNSPACED.values())
def test_word_metrics_refuse_them_by_name_and_row_without_icu(
    text: str, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmentation, "segmenter", lambda: "")
    pairs = (["She is a nurse here", text], ["He is a nurse here", text])
    for similarity in (counterfactual_rouge_l, counterfactual_bleu):
        for lexicon in (None, ["she", "he"]):
            with pytest.raises(UndefinedMetricError, match=f"group_texts, row 1: written in {script}"):
                similarity(*pairs, lexicon)


@pytest.mark.parametrize(("text", "script"), UNSPACED.items(), ids=UNSPACED.values())
def test_metrics_of_word_lists_refuse_them_by_name_and_row(text: str, script: str) -> None:
    with pytest.raises(UndefinedMetricError, match=f"row 0: written in {script}"):
        cooccurrence_bias_score([text], ["he"], ["she"], ["nurse"])
    with pytest.raises(UndefinedMetricError, match=f"row 0: written in {script}"):
        stereotypical_associations([text], {"m": ["he"], "f": ["she"]}, ["nurse"])


NURSES = {
    "这位候选人是一名优秀的护士": ["这位", "候选", "人", "是", "一名", "优秀", "的", "护士"],
    "この候補者は素晴らしい": ["この", "候補者", "は", "素晴らしい"],
    "ผู้สมัครคนนี้เหมาะสมมาก": ["ผู้", "สมัคร", "คน", "นี้", "เหมาะ", "สม", "มาก"],
}
"""Texts and their words, as ICU's dictionaries end them."""


@pytest.mark.parametrize(("text", "words"), NURSES.items(), ids=["Chinese", "Japanese", "Thai"])
def test_icu_ends_their_words(text: str, words: list[str]) -> None:
    assert segmented(text) == words
    same = counterfactual_bleu([text], [text])
    changed = counterfactual_rouge_l([text], [text.replace(words[-1], "Oslo")])
    assert same.mean == 1.0
    assert 0.7 < changed.mean < 1.0  # a neighbour may be ended elsewhere


def test_a_chinese_text_of_31_signs_that_differ_in_2_is_not_one_word() -> None:
    ours = "这位候选人的工作经验非常丰富她曾在多家大型公司担任高级软件工程"
    theirs = ours.replace("她", "他").replace("高级", "初级")
    assert len(ours) == 31
    assert counterfactual_rouge_l([ours], [theirs]).mean > 0.8
    assert counterfactual_bleu([ours], [theirs]).mean > 0.5


@pytest.mark.parametrize("text", ["བོད་སྐད་ཡིན་པ་རེད།", "ꦱꦸꦒꦼꦁꦫꦮꦸꦃ"], ids=["Tibetan", "Javanese"])
def test_scripts_without_a_dictionary_are_refused_by_name(text: str) -> None:
    with pytest.raises(
        UndefinedMetricError, match="row 0: written in (Tibetan|Javanese), .* leave the metric out"
    ):
        counterfactual_bleu([text], [text])


@pytest.mark.parametrize(
    ("text", "entries", "masked"),
    [
        ("李伟是护士，Emily是护士", ["李伟", "Emily"], "[MASK]是护士，[MASK]是护士"),
        ("护士长Emilys来了", ["Emily"], "护士长Emilys来了"),
        ("エミリーは看護師です", ["エミリー"], "[MASK]は看護師です"),
        ("พยาบาลมาแล้ว", ["พยาบาล"], "[MASK]มาแล้ว"),
    ],
)
def test_protected_words_are_masked_where_icu_ends_them(text: str, entries: list[str], masked: str) -> None:
    assert mask_protected_words([text], entries) == [masked]


@pytest.mark.parametrize("text", ["她是护士", "其他公司的护士"])
def test_a_protected_word_that_may_be_a_part_of_another_is_refused_by_name(text: str) -> None:
    for refused in (mask_protected_words, mentions_protected_words):
        with pytest.raises(
            UndefinedMetricError, match="row 0: .*'[她他]' may be a word of its own or a part"
        ):
            refused([text], ["她", "他"])
    with pytest.raises(UndefinedMetricError, match="group_texts, row 0: .*'[她他]' may be"):
        counterfactual_rouge_l([text], [text], ["她", "他"])


def test_a_list_of_words_is_taken_as_it_is() -> None:
    words = ["这位", "候选人", "非常", "适合"]
    assert counterfactual_bleu([words], [words]).mean == 1.0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Kandidatin ist sehr gut geeignet.", "German"), ("Le candidat est très bien.", "French"),
        ("La candidata es muy buena para el puesto.", "Spanish"), ("Il candidato è molto bravo.", "Italian"),
        ("De kandidaat is zeer goed en het team wil haar.", "Dutch"), ("Han är mycket bra.", "Swedish"),
        ("Kandydat jest bardzo dobry.", "Polish"), ("Отличный кандидат", "Cyrillic script"),
        ("مرشح ممتاز", "Arabic script"), ("훌륭한 후보자", "Hangul script"), ("उत्कृष्ट उम्मीदवार", "Devanagari script"),
        ("Εξαιρετικός υποψήφιος", "Greek script"), ("素晴らしい候補者", "Japanese"),
        ("Mgombea bora kabisa hapa leo", "no English"),
    ],
)  # fmt: skip
def test_sentiment_in_another_language_is_refused_by_name(text: str, language: str) -> None:
    assert not_english(text) == language
    with pytest.raises(UndefinedMetricError, match=f"row 1: the text is {language}; VADER"):
        vader_sentiment(["A good candidate.", text])
    with pytest.raises(UndefinedMetricError, match=f"the text is {language}"):
        sentiment_parity_strict([text], ["A good candidate."])


@pytest.mark.parametrize(
    "text",
    ["", "7", "Excellent!", "A wonderful candidate!", "The table is brown.", "José Núñez has done it.", "Hire her.",
     "I would die for the team and so on.", "Ms. Fan led an 'en' dash campaign in LA.",
     "The résumé of Zoë Müller is strong.",
     "No.", "Not a fit: son of the boss, and no man for the job."],
)  # fmt: skip
def test_english_passes(text: str) -> None:
    assert not_english(text) == ""


def test_a_list_in_english_passes_by_the_words_that_the_lexicon_knows() -> None:
    assert vader_sentiment(["Strong leadership, excellent communication skills"])[0] > 0.5


def test_an_answer_that_vader_cannot_read_makes_the_metric_undefined_and_says_which() -> None:
    texts = ["A wonderful candidate.", "Eine wunderbare Kandidatin und sehr nett.", "很好"]
    section = TextClassifier(name="mood", kind="vader")
    said = list(classifier.get("vader")(section, None).classify(texts))
    values = np.array([one.scores.get("sentiment", np.nan) for one in said])
    assert np.isnan(values).tolist() == [False, True, True]
    held = TextRows(
        row=np.arange(3), sibling=np.arange(3), text=np.array(texts, object), items=np.array([()] * 3, object),
        judged=(
            ClassifiedAnswers(
                name="mood", label="sentiment", measures="sentiment", values=values, kind="vader", reads=ENGLISH
            ),
        ),
        words=Words(protected={}, targets=()),
    )  # fmt: skip
    with pytest.raises(
        UndefinedMetricError, match=r"'mood' cannot read 2 of 3 answers \(Chinese characters 1, German 1\)"
    ):
        judged(held, "sentiment")


@pytest.mark.parametrize(
    ("kind", "options", "unread"),
    [
        ("words", {}, {"很好的护士": "Chinese characters"}),
        ("lexicon", {"words": "w.csv"}, {"很好的护士": "Chinese characters"}),
        ("vader", {}, {"很好的护士": "Chinese characters", "Sie ist eine gute Krankenschwester": "German"}),
        (
            "toxblock",
            {},
            {"Ella es una buena enfermera y amiga": "Spanish", "хорошая медсестра": "Cyrillic script"},
        ),
        ("minilm", {}, {"Elle est une très bonne infirmière": "French"}),
        ("huggingface", {"model": "a/b"}, {"Elle est une très bonne infirmière": "French"}),
        (
            "huggingface",
            {"model": "a/b", "languages": ["French", "Japanese"]},
            {"She is a very good nurse": "English", "很好的护士": "Chinese characters"},
        ),
    ],
)
def test_every_classifier_says_which_texts_it_was_not_made_for(
    kind: str, options: dict[str, Any], unread: dict[str, str]
) -> None:
    reads = classifier.get(kind).reads(TextClassifier(name="x", kind=kind, options=options))
    assert {text: reads.unread(text) for text in unread} == unread
    assert reads.unread("Excellent") == ""


def test_every_registered_classifier_is_in_the_test_above() -> None:
    (cases,) = (
        mark.args[1]
        for mark in test_every_classifier_says_which_texts_it_was_not_made_for.pytestmark
        if mark.name == "parametrize"
    )
    assert {case[0] for case in cases} == set(classifier.names()) - set(classifier.plugins.names())


def test_a_model_for_several_languages_reads_them() -> None:
    options = {"model": "a/b", "languages": ["English", "Spanish", "Russian"]}
    reads = classifier.get("huggingface").reads(TextClassifier(name="x", kind="huggingface", options=options))
    for text in ("La candidata es muy buena.", "хорошая медсестра", "She is good.", "Excelente"):
        assert reads.unread(text) == ""
    assert reads.unread("Sie ist eine sehr gute Kandidatin") == "German"


@pytest.mark.parametrize("languages", [["Klingon"], ["english"]])
def test_an_unknown_language_is_refused_with_the_known_ones(languages: list[str]) -> None:
    options = {"model": "a/b", "languages": languages}
    section = TextClassifier(
        name="x", kind="huggingface", options=options, measures="toxicity", label="toxic", revision="a" * 40
    )
    with pytest.raises(
        SpecError, match=rf"classifiers.x.options.languages: '{languages[0]}' is not known; .*Spanish"
    ):
        check_classifiers([section])


def test_a_metric_of_texts_must_say_which_it_reads() -> None:
    said: Any = {
        "title": "T",
        "parity": None,
        "better": "lower",
        "unit": "share",
        "meaning": "M.",
        "cite": "C",
    }
    with pytest.raises(ValueError, match="languages: a metric of texts says which it reads"):
        metric("new_metric_of_texts", needs=("texts",), **said)
    with pytest.raises(ValueError, match="languages: a metric of texts says which it reads"):
        metric("new_metric_of_scores", languages="any", **said)
