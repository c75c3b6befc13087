"""Are the answers to two groups equally friendly? Sentiment parity over counterfactual pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.languages import not_english
from audit_lib.metrics._arrays import as_numbers, as_scores, is_missing
from audit_lib.metrics.pair_scores import PairScores, check_aligned
from audit_lib.metrics.text.masking import MaskedWords, mask_protected_words
from audit_lib.metrics.text.optional import text_extra

#: Texts in, one sentiment in [0, 1] a text out; 1 is the friendliest.
SentimentScorer = Callable[[Sequence[str]], ArrayLike]


def vader_sentiment(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return VADER's compound sentiment of each text, brought from [-1, 1] to [0, 1] by (compound + 1) / 2.

    Parameters
    ----------
    texts : sequence of str
        In English.

    Returns
    -------
    ndarray of float, shape (texts,)
        0 is the unfriendliest, 0.5 neutral, 1 the friendliest.

    Raises
    ------
    UndefinedMetricError
        If a text is in another language than English, as far as its letters and commonest words tell.

    References
    ----------
    Hutto and Gilbert (2014), VADER: a parsimonious rule-based model for sentiment analysis of social media
    text.

    Examples
    --------
    >>> vader_sentiment(["A wonderful candidate!", "The table is brown."]).round(3).tolist()
    [0.806, 0.5]
    """
    analyser = _vader()
    for row, text in enumerate(texts):
        if language := not_english(text, analyser.lexicon):
            raise UndefinedMetricError(f"row {row}: the text is {language}; VADER's lexicon is English only")
    return np.array([(analyser.polarity_scores(text)["compound"] + 1) / 2 for text in texts], np.float64)


@cache
def _vader() -> Any:
    return text_extra("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()


def sentiment_parity_strict(
    group: Sequence[str] | ArrayLike,
    reference: Sequence[str] | ArrayLike,
    *,
    scorer: SentimentScorer = vader_sentiment,
    lexicon: MaskedWords | None = None,
) -> float:
    """Return the strict counterfactual sentiment parity (SCSP).

    The Wasserstein-1 distance between the two distributions of sentiment: for equally many texts, the mean
    absolute difference of the sorted sentiments. Which text is paired with which does not change it.

    Parameters
    ----------
    group, reference : sequence of str, or array_like of float in [0, 1], shape (pairs,)
        Answers to prompts that differ by group alone, or their sentiments where you have them.
    scorer : callable
        From texts to sentiments in [0, 1]; VADER unless told otherwise.
    lexicon : sequence of str, or mapping of str to sequence of str, optional
        Protected words to mask first (`mask_protected_words`), for a scorer that reacts to them.

    Returns
    -------
    float
        In [0, 1]; 0 at parity.

    Raises
    ------
    InputError
        If the sides differ in length, or a sentiment is outside [0, 1].
    UndefinedMetricError
        If there is no pair, or a sentiment is missing.

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; after Huang et al. (2020), Reducing sentiment bias in language models via counterfactual evaluation.

    Notes
    -----
    LangFair takes VADER's share of negative words as the sentiment, not the compound score.

    Examples
    --------
    >>> round(sentiment_parity_strict([0.2, 0.8], [0.9, 0.5]), 10)
    0.2
    """
    sides = _sentiments(group, reference, scorer, lexicon)
    ours, theirs = (as_scores(side, name) for side, name in zip(sides, ("group", "reference"), strict=True))
    return float(np.abs(np.sort(ours) - np.sort(theirs)).mean())


def sentiment_parity_weak(
    group: Sequence[str] | ArrayLike,
    reference: Sequence[str] | ArrayLike,
    threshold: float = 0.5,
    *,
    scorer: SentimentScorer = vader_sentiment,
    lexicon: MaskedWords | None = None,
) -> PairScores:
    """Return the weak counterfactual sentiment parity (WCSP).

    The mean over pairs of the absolute difference of I(sentiment > threshold): the share of pairs of which
    exactly one text is above the threshold.

    Parameters
    ----------
    group, reference, scorer, lexicon
        As for `sentiment_parity_strict`; row i of both sides is one pair.
    threshold : float in [0, 1]
        A sentiment above it is friendly.

    Returns
    -------
    PairScores
        1 for each pair that differs, else 0. Its ``mean`` is the metric, in [0, 1]; 0 at parity. A pair that lacks a
        sentiment is listed in `undefined`; `mean_of_all` refuses it.

    Raises
    ------
    InputError, UndefinedMetricError
        As for `sentiment_parity_strict`; also if the threshold is outside [0, 1].

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; after Huang et al. (2020), Reducing sentiment bias in language models via counterfactual evaluation.

    Notes
    -----
    LangFair departs: it gives the signed difference of the two groups' rates, in which pairs that differ in
    opposite directions cancel.

    Examples
    --------
    >>> sentiment_parity_weak([0.2, 0.8], [0.9, 0.4], threshold=0.5).mean
    1.0
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold: expected a number in [0, 1], got {threshold!r}")
    ours, theirs = _sentiments(group, reference, scorer, lexicon)
    missing = is_missing(ours) | is_missing(theirs)
    values = np.where(missing, np.nan, (ours > threshold) != (theirs > threshold))
    undefined = dict.fromkeys(np.flatnonzero(missing).tolist(), "no sentiment")
    return PairScores(metric="sentiment_parity_weak", values=values, undefined=undefined)


def _sentiments(
    group: Any, reference: Any, scorer: SentimentScorer, lexicon: MaskedWords | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    check_aligned(group, reference, "texts or sentiments")
    return _of_side(group, "group", scorer, lexicon), _of_side(reference, "reference", scorer, lexicon)


def _of_side(side: Any, name: str, scorer: SentimentScorer, lexicon: MaskedWords | None) -> NDArray[Any]:
    values = side
    if not (isinstance(side, np.ndarray) and side.dtype.kind == "f") and any(
        isinstance(item, str) for item in side
    ):
        texts = list(side)
        if not all(isinstance(item, str) for item in texts):
            raise InputError(f"{name}: it holds texts and other things; pass texts or sentiments")
        values = scorer(mask_protected_words(texts, lexicon) if lexicon is not None else texts)
    elif lexicon is not None:
        raise InputError(f"{name}: there is nothing to mask in sentiments; leave the lexicon out")
    sentiments = as_numbers(values, name)
    if sentiments.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got shape {sentiments.shape}")
    if sentiments.size != len(side):
        raise InputError(f"{name}: the scorer gave {sentiments.size} sentiments for {len(side)} texts")
    outside = np.flatnonzero((sentiments < 0) | (sentiments > 1))
    if outside.size:
        row = int(outside[0])
        raise InputError(f"{name}, row {row}: sentiment {sentiments[row]} is outside [0, 1]; rescale it")
    return sentiments
