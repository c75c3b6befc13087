"""Languages that metrics cannot read: named by letters and commonest words, never by a guess at one short word."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.languages import not_english, unspaced_script
from audit_lib.measure.estimates.texts import judged
from audit_lib.measure.rows.texts import ClassifiedAnswers, TextRows
from audit_lib.measure.rows.word_lists import Words
from audit_lib.metrics.text import (
    cooccurrence_bias_score,
    counterfactual_bleu,
    counterfactual_rouge_l,
    stereotypical_associations,
)
from audit_lib.metrics.text.sentiment import sentiment_parity_strict, vader_sentiment

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
def test_word_metrics_refuse_them_by_name_and_row(text: str, script: str) -> None:
    pairs = (["She is a nurse here", text], ["He is a nurse here", text])
    for metric in (counterfactual_rouge_l, counterfactual_bleu):
        for lexicon in (None, ["she", "he"]):
            with pytest.raises(UndefinedMetricError, match=f"group_texts, row 1: written in {script}"):
                metric(*pairs, lexicon)
    with pytest.raises(UndefinedMetricError, match=f"row 0: written in {script}"):
        cooccurrence_bias_score([text], ["he"], ["she"], ["nurse"])
    with pytest.raises(UndefinedMetricError, match=f"row 0: written in {script}"):
        stereotypical_associations([text], {"m": ["he"], "f": ["she"]}, ["nurse"])


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
    from audit_lib.score.classifiers import classifier
    from audit_lib.spec import TextClassifier

    texts = ["A wonderful candidate.", "Eine wunderbare Kandidatin und sehr nett.", "很好"]
    section = TextClassifier(name="mood", kind="vader")
    said = list(classifier.get("vader")(section, None).classify(texts))
    values = np.array([one.scores.get("sentiment", np.nan) for one in said])
    assert np.isnan(values).tolist() == [False, True, True]
    held = TextRows(
        row=np.arange(3), sibling=np.arange(3), text=np.array(texts, object), items=np.array([()] * 3, object),
        judged=(ClassifiedAnswers(name="mood", label="sentiment", measures="sentiment", values=values, kind="vader"),),
        words=Words(protected={}, targets=()),
    )  # fmt: skip
    with pytest.raises(
        UndefinedMetricError, match=r"'mood' cannot read 2 of 3 answers \(Chinese characters 1, German 1\)"
    ):
        judged(held, "sentiment")


@pytest.mark.parametrize("kind", ["words", "lexicon"])
def test_word_classifiers_say_nothing_of_scripts_without_spaces(kind: str) -> None:
    from audit_lib.score.classifiers import classifier
    from audit_lib.spec import TextClassifier

    options = {"words": "w.csv"} if kind == "lexicon" else {}
    made = classifier.get(kind)(TextClassifier(name="x", kind=kind, options=options), b"word\nnurse\n")
    chinese, english = made.classify(["很好的护士", "a nurse"])
    assert not chinese.scores and chinese.vector is None
    assert english.scores or english.vector
