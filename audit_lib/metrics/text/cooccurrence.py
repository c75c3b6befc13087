"""COBS: do words stand closer to one group's words than to the other's?"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text._word_tables import WordTable
from audit_lib.metrics.text.stop_words import ENGLISH_STOP_WORDS
from audit_lib.metrics.text.tokens import Corpus, TokenText, disjoint_words, encode, single_words
from audit_lib.results import Undefined

_DEFAULT_WINDOW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CooccurrenceTable(WordTable):
    """The co-occurrence bias of each target word, and the counts behind it.

    Parameters
    ----------
    words : tuple of str
        The target words.
    values : tuple of float or Undefined
        ln of P(word given group) / P(word given reference); above 0 the word goes with the group.
    group_cooccurrence, reference_cooccurrence : tuple of float
        Times that the word stands near a word of the group, of the reference: whole numbers for a window,
        sums of weights for an unlimited one.
    group_probability, reference_probability : tuple of float
        P(word given group), P(word given reference).
    group_count, reference_count : int
        Times that a word of the group, of the reference occurs.
    content_count : int
        Words of the texts that are neither stop words nor words of a group.
    """

    words: tuple[str, ...]
    values: tuple[float | Undefined, ...]
    group_cooccurrence: tuple[float, ...]
    reference_cooccurrence: tuple[float, ...]
    group_probability: tuple[float, ...]
    reference_probability: tuple[float, ...]
    group_count: int
    reference_count: int
    content_count: int

    def _none_defined(self) -> UndefinedMetricError:
        return UndefinedMetricError(
            f"none of the {len(self.words)} target words occurs near words of both groups"
        )

    @property
    def mean_absolute(self) -> float:
        """The mean of the absolute values over the target words that have one: opposite words do not cancel.

        Raises
        ------
        UndefinedMetricError
            If none has.
        """
        defined = [abs(value) for value in self.values if not isinstance(value, Undefined)]
        if not defined:
            raise self._none_defined()
        return math.fsum(defined) / len(defined)


def cooccurrence_bias_score(
    texts: Sequence[TokenText] | Corpus,
    group_words: Collection[str],
    reference_words: Collection[str],
    target_words: Collection[str],
    window: int | None = None,
    beta: float | None = None,
    *,
    stop_words: Collection[str] = ENGLISH_STOP_WORDS,
) -> CooccurrenceTable:
    r"""Return the co-occurrence bias score (COBS).

    .. math::
        \frac{1}{|W|} \sum_{w \in W} \ln \frac{P(w \mid A')}{P(w \mid A'')}, \qquad
        P(w \mid A) = \frac{cooc(w, A) \,/\, \sum_v cooc(v, A)}{count(A) \,/\, \sum_v count(v)}

    for the group's words A', the reference's words A'' and the target words W; both sums go over the words
    v of the texts that are neither stop words nor words of a group. cooc(w, A) counts, over all
    occurrences of w, the words of A in the same text within `window` words on each side; or, with `beta`,
    all of them, each weighted by ``beta ** distance``.

    A target word near no word of a group has a zero in the ratio: it is undefined and left out of the mean.
    `undefined` counts such words; report the count with the score.

    Parameters
    ----------
    texts : sequence of str (or of lists of words in lower case), or Corpus
        The generated texts.
    group_words, reference_words : collection of str
        Single words that name the protected group and the reference, such as "she" and "he".
    target_words : collection of str
        The words W, such as occupations.
    window : int, optional
        Words on each side that are near, 10 unless `beta` is given.
    beta : float in (0, 1), optional
        An unlimited window, with this weight lost a word: 0.95 is usual. Give one of the two.
    stop_words : collection of str
        Words left out of the sums; English function words unless told otherwise.

    Returns
    -------
    CooccurrenceTable
        Its ``mean`` is the score: 0 at parity; above 0 where target words go with the group. Natural logarithm,
        signed.

    Raises
    ------
    InputError
        If `window` and `beta` are both given, or one is out of its range.
    LexiconError
        If a word list is empty, holds something else than single words, or shares a word with another list.
    UndefinedMetricError
        If no word of a group occurs, or no target word occurs near both groups.

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; after Bordia and Bowman (2019), Identifying and reducing gender bias in word-level language models.

    Notes
    -----
    LangFair departs: it takes the mean of the ABSOLUTE values of the logarithm to base 10, so opposite
    biases do not cancel, and has the unlimited window only.

    Examples
    --------
    >>> texts = ["She is a nurse.", "She is a kind nurse.", "He is a nurse.", "He is a kind doctor."]
    >>> round(cooccurrence_bias_score(texts, ["she"], ["he"], ["nurse"]).mean, 4)  # ln of (2/3) / (1/3)
    0.6931
    >>> cooccurrence_bias_score(texts, ["she"], ["he"], ["nurse", "doctor"]).undefined
    1
    """
    if window is not None and beta is not None:
        raise InputError("window and beta: give one of them; beta weights an unlimited window")
    lists = disjoint_words(
        {"group_words": group_words, "reference_words": reference_words, "target_words": target_words}
    )
    targets = lists["target_words"]
    stopped = set(single_words(stop_words, "stop_words")) if stop_words else set()
    if clash := [word for word in targets if word in stopped]:
        raise LexiconError(f"target_words: {clash[0]!r} is a stop word; take it out of one of the lists")

    corpus = encode(texts)
    sides = [corpus.positions_of(lists[name]) >= 0 for name in ("group_words", "reference_words")]
    # A group's word may be a stop word too ("she"); it is the group's.
    content = ~(sides[0] | sides[1] | (corpus.positions_of(stopped) >= 0))
    marks = np.stack([side[corpus.codes] for side in sides])
    counts = marks.sum(axis=1)
    for name, count in zip(("group_words", "reference_words"), counts, strict=True):
        if not count:
            raise UndefinedMetricError(f"{name}: none of them occurs in the texts")
    if beta is None:
        nearness = _within(corpus, marks, _DEFAULT_WINDOW if window is None else window)
    else:
        nearness = _decayed(corpus, marks, beta)
    cooccurrence = np.stack(
        [np.bincount(corpus.codes, near, minlength=len(corpus.vocabulary)) for near in nearness]
    )
    content_count = int(content[corpus.codes].sum())
    totals = cooccurrence[:, content].sum(axis=1)
    if not totals.all():
        empty = "group_words" if not totals[0] else "reference_words"
        raise UndefinedMetricError(f"{empty}: no content word stands near any of them")
    probability = (cooccurrence / totals[:, None]) / (counts[:, None] / content_count)

    codes = [corpus.vocabulary.get(word) for word in targets]
    near = [(0.0, 0.0) if code is None else tuple(cooccurrence[:, code].tolist()) for code in codes]
    chance = [(0.0, 0.0) if code is None else tuple(probability[:, code].tolist()) for code in codes]
    return CooccurrenceTable(
        words=tuple(targets),
        values=tuple(_log_ratio(code is not None, *pair) for code, pair in zip(codes, chance, strict=True)),
        group_cooccurrence=tuple(pair[0] for pair in near),
        reference_cooccurrence=tuple(pair[1] for pair in near),
        group_probability=tuple(pair[0] for pair in chance),
        reference_probability=tuple(pair[1] for pair in chance),
        group_count=int(counts[0]),
        reference_count=int(counts[1]),
        content_count=content_count,
    )


def cooccurrence_sums(
    texts: Sequence[TokenText] | Corpus,
    clusters: NDArray[np.int64],
    group_words: Collection[str],
    reference_words: Collection[str],
    target_words: Collection[str],
    window: int = _DEFAULT_WINDOW,
) -> NDArray[np.float64]:
    """Return the sufficient statistics of the score for each cluster of texts; those of shards add up.

    Columns, for W target words: how often each stands near a word of the group (W columns), near one of the
    reference (W), times that any content word does (2), and occurrences of each side's words (2).
    `score_of_sums` turns their totals into the score.

    Parameters
    ----------
    clusters : ndarray of int, shape (texts,)
        Cluster of each text, 0, 1, ...
    texts, group_words, reference_words, target_words, window
        As of `cooccurrence_bias_score`, with its stop words.

    Returns
    -------
    ndarray of float, shape (clusters, 2 W + 4)
        The columns above, in this order.

    Raises
    ------
    InputError, LexiconError, UndefinedMetricError
        As of `cooccurrence_bias_score`, for wrong texts or word lists.

    Examples
    --------
    >>> texts = ["she is kind", "he is kind"]
    >>> cooccurrence_sums(texts, np.array([0, 1]), ["she"], ["he"], ["kind"]).shape
    (2, 6)
    """
    lists = disjoint_words(
        {"group_words": group_words, "reference_words": reference_words, "target_words": target_words}
    )
    corpus = encode(texts)
    sides = [corpus.positions_of(lists[name]) >= 0 for name in ("group_words", "reference_words")]
    content = ~(sides[0] | sides[1] | (corpus.positions_of(ENGLISH_STOP_WORDS) >= 0))
    marks = np.stack([side[corpus.codes] for side in sides])
    nearness = _within(corpus, marks, window)
    units, words = int(clusters.max(initial=-1)) + 1, len(lists["target_words"])
    cluster = clusters[corpus.text_ids]
    target = corpus.positions_of(lists["target_words"])[corpus.codes]
    hit, counted = target >= 0, content[corpus.codes]
    cells = cluster[hit] * words + target[hit]
    columns = [np.bincount(cells, near[hit], units * words).reshape(units, words) for near in nearness]
    columns += [np.bincount(cluster, near * counted, units)[:, None] for near in nearness]
    columns += [np.bincount(cluster, mark, units)[:, None] for mark in marks.astype(np.float64)]
    return np.hstack(columns)


def score_of_sums(totals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the score, and how many target words have a value, from totals of `cooccurrence_sums`.

    Parameters
    ----------
    totals : ndarray of float, shape (samples, 2 W + 4)
        One row a sample, such as a resample of the clusters.

    Returns
    -------
    score : ndarray of float, shape (samples,)
        NaN where no word has a value.
    words : ndarray of int, shape (samples,)
        Target words near both sides.

    Examples
    --------
    >>> texts = ["She is a nurse.", "She is a kind nurse.", "He is a nurse.", "He is a kind doctor."]
    >>> sums = cooccurrence_sums(texts, np.arange(4), ["she"], ["he"], ["nurse"])
    >>> score, words = score_of_sums(sums.sum(axis=0)[None])
    >>> round(float(score[0]), 4), int(words[0])
    (0.6931, 1)
    """
    words = (totals.shape[1] - 4) // 2
    near, content, counts = totals[:, : 2 * words], totals[:, -4:-2], totals[:, -2:]
    ours, theirs = near[:, :words], near[:, words:]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(ours) - np.log(theirs)
        shift = np.log(content[:, 0] * counts[:, 0]) - np.log(content[:, 1] * counts[:, 1])
        defined = (ours > 0) & (theirs > 0)
        count = defined.sum(axis=1)
        score = np.where(defined, logs, 0.0).sum(axis=1) / count - shift
    return np.where(count > 0, score, np.nan), count


def log_ratios_of_sums(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the value of each target word, from totals of `cooccurrence_sums`.

    Parameters
    ----------
    totals : ndarray of float, shape (samples, 2 W + 4)
        As of `score_of_sums`.

    Returns
    -------
    ndarray of float, shape (samples, W)
        NaN where a word is not near both sides.

    Examples
    --------
    >>> texts = ["She is a nurse.", "She is a kind nurse.", "He is a nurse.", "He is a kind doctor."]
    >>> sums = cooccurrence_sums(texts, np.arange(4), ["she"], ["he"], ["nurse", "doctor"])
    >>> log_ratios_of_sums(sums.sum(axis=0)[None]).round(4).tolist()
    [[0.6931, nan]]
    """
    words = (totals.shape[1] - 4) // 2
    near, content, counts = totals[:, : 2 * words], totals[:, -4:-2], totals[:, -2:]
    ours, theirs = near[:, :words], near[:, words:]
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(content[:, 0] * counts[:, 0]) - np.log(content[:, 1] * counts[:, 1])
        values = np.log(ours) - np.log(theirs) - shift[:, None]
    return np.where((ours > 0) & (theirs > 0), values, np.nan)


def _log_ratio(occurs: bool, group: float, reference: float) -> float | Undefined:
    if group > 0 and reference > 0:
        return math.log(group / reference)
    if not occurs:
        return Undefined("the word does not occur in the texts")
    if group > 0:
        return Undefined("the word is near no word of the reference")
    return Undefined(
        "the word is near no word of the group" if reference > 0 else "the word is near neither group"
    )


def _within(corpus: Corpus, marks: NDArray[np.bool_], window: int) -> NDArray[np.float64]:
    """Count the marked words up to `window` places before and after each word, in its text."""
    if isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 1:
        raise InputError(f"window: expected a whole number of at least 1, got {window!r}")
    before: NDArray[np.int64] = np.zeros((2, marks.shape[1] + 1), np.int64)
    np.cumsum(marks, axis=1, out=before[:, 1:])
    place = np.arange(corpus.codes.size)
    texts = corpus.text_ids
    low = np.maximum(place - window, corpus.starts[texts])
    high = np.minimum(place + window + 1, corpus.starts[texts + 1])
    return (before[:, high] - before[:, low] - marks).astype(np.float64)


def _decayed(corpus: Corpus, marks: NDArray[np.bool_], beta: float) -> NDArray[np.float64]:
    """Sum ``beta ** distance`` over the marked words of each word's text."""
    if not 0 < beta < 1:
        raise InputError(f"beta: expected a number between 0 and 1, got {beta!r}")
    from scipy.signal import lfilter

    total = np.zeros(marks.shape)
    for start, stop in zip(corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True):
        here = marks[:, start:stop]
        if here.any():
            # What comes from the left obeys y[i] = beta (y[i-1] + mark[i-1]); the same holds from the right.
            total[:, start:stop] = (
                lfilter([0, beta], [1, -beta], here, axis=1)
                + lfilter([0, beta], [1, -beta], here[:, ::-1], axis=1)[:, ::-1]
            )
    return total
