"""How alike are the answers to two prompts that differ by group alone? By words (ROUGE-L, BLEU) and by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._arrays import as_numbers
from audit_lib.metrics.pair_scores import PairScores, check_aligned
from audit_lib.metrics.text.bleu import smaller_bleu
from audit_lib.metrics.text.masking import MaskedWords, masked_texts
from audit_lib.metrics.text.optional import text_extra
from audit_lib.metrics.text.tokens import Corpus, TokenText, encode, need_words
from audit_lib.segmentation import unspaced_script
from audit_lib.words import segmented

_BLOCK = 2048  # pairs tokenised at a time, so that memory does not grow with the data


def counterfactual_rouge_l(
    group_texts: Sequence[TokenText], reference_texts: Sequence[TokenText], lexicon: MaskedWords | None = None
) -> PairScores:
    r"""Return the counterfactual ROUGE-L similarity (CROUGE-L).

    The mean over pairs of the F measure of their longest common subsequence of words,
    :math:`2 P R / (P + R) = 2 \, LCS / (n + m)` for texts of n and m words; the same in both directions.

    Parameters
    ----------
    group_texts, reference_texts : sequence of str (or of lists of words), shape (pairs,)
        Answers to prompts that differ by group alone; row i of both is one pair.
    lexicon : sequence of str, or mapping of str to sequence of str, optional
        Protected words, masked first (`mask_protected_words`). Leave it out only if the texts are masked
        already: unmasked, the words that name the group count as differences.

    Returns
    -------
    PairScores
        Of each pair in [0, 1]; 1 = identical. Its ``mean`` is the metric.

    Raises
    ------
    InputError
        If the sides differ in length, or a lexicon is given for texts that are split into words.
    UndefinedMetricError
        If there is no pair, or both texts of a pair are without words (`counterfactual_rouge_l_table` lists
        such pairs).

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; Lin (2004), ROUGE: a package for automatic evaluation of summaries.

    Notes
    -----
    LangFair departs: words are Porter-stemmed, and protected words masked in some entry points only.

    Examples
    --------
    >>> counterfactual_rouge_l(["She is a careful nurse"], ["He is a nurse"], ["she", "he"]).mean
    0.8888888888888888
    """
    similarity = text_extra("rapidfuzz.distance.LCSseq").similarity
    values: list[float] = []
    for corpus, pairs in _blocks(group_texts, reference_texts, lexicon):
        codes, starts = corpus.codes.tolist(), corpus.starts.tolist()
        words = [codes[start:stop] for start, stop in pairwise(starts)]
        for ours, theirs in zip(words[:pairs], words[pairs:], strict=True):
            size = len(ours) + len(theirs)
            values.append(2 * similarity(ours, theirs) / size if size else np.nan)
    return _scores("counterfactual_rouge_l", np.array(values), "neither text has a word")


def counterfactual_bleu(
    group_texts: Sequence[TokenText], reference_texts: Sequence[TokenText], lexicon: MaskedWords | None = None
) -> PairScores:
    r"""Return the counterfactual BLEU similarity (CBLEU).

    The mean over pairs of the smaller of the two BLEU-4, each text once the candidate and once the
    reference,

    .. math::
        BLEU = \min\left(1, e^{1 - r/c}\right) \left(\prod_{n=1}^{4} p_n\right)^{1/4}

    for a candidate of c and a reference of r words; p_n is the share of the candidate's n-grams that the
    reference has too, each at most as often as there. Unsmoothed: a pair without a common n-gram of one of
    the four lengths scores 0.

    Parameters
    ----------
    group_texts, reference_texts, lexicon
        As for `counterfactual_rouge_l`.

    Returns
    -------
    PairScores
        Of each pair in [0, 1]; 1 = identical. Its ``mean`` is the metric.

    Raises
    ------
    InputError
        As for `counterfactual_rouge_l`.
    UndefinedMetricError
        If there is no pair, or a text has fewer than four words: it has no 4-gram, so p_4 is 0/0
        (listed in `undefined`; `mean_of_all` refuses them; packages that print 0 for them call two equal short
        answers entirely different).

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; Papineni et al. (2002), BLEU: a method for automatic evaluation of machine translation.

    Notes
    -----
    LangFair departs: it smooths a precision of 0 to 0.1 over the number of n-grams.

    Examples
    --------
    >>> group, reference = ["She is a careful and kind nurse"], ["He is a careful and kind man"]
    >>> round(counterfactual_bleu(group, reference, ["she", "he"]).mean, 4)
    0.8091
    """
    values = [smaller_bleu(corpus) for corpus, _ in _blocks(group_texts, reference_texts, lexicon)]
    return _scores("counterfactual_bleu", np.concatenate(values), "a text has fewer than four words")


def counterfactual_cosine(group_embeddings: ArrayLike, reference_embeddings: ArrayLike) -> PairScores:
    """Return the counterfactual cosine similarity (CCS): the mean over pairs of the cosine of embeddings.

    Parameters
    ----------
    group_embeddings, reference_embeddings : array_like of float, shape (pairs, dimensions)
        Embeddings of the answers, by a sentence encoder of your choice; row i of both is one pair. They
        change with the encoder: name it and its revision beside the number.

    Returns
    -------
    PairScores
        Of each pair in [-1, 1]; 1 = same direction. Its ``mean`` is the metric.

    Raises
    ------
    InputError
        If the shapes differ or are not two-dimensional.
    UndefinedMetricError
        If there is no pair, or an embedding is zero or holds a missing or infinite value
        (listed in `undefined`; `mean_of_all` refuses them).

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases.

    Examples
    --------
    >>> counterfactual_cosine([[1.0, 0.0], [3.0, 4.0]], [[2.0, 0.0], [4.0, 3.0]]).mean
    0.98
    """
    ours, theirs = (
        as_numbers(side, name).astype(np.float64)
        for side, name in (
            (group_embeddings, "group_embeddings"),
            (reference_embeddings, "reference_embeddings"),
        )
    )
    if ours.ndim != 2 or ours.shape != theirs.shape:
        raise InputError(
            f"embeddings: expected equal shapes (pairs, dimensions), got {ours.shape} and {theirs.shape}"
        )
    if not ours.shape[0]:
        raise UndefinedMetricError("no pairs of embeddings")
    if not ours.shape[1]:
        raise InputError("embeddings: they have no dimension")
    scaled = []
    for side in (ours, theirs):
        # Rows scaled to a largest entry of 1 can neither overflow nor vanish when squared.
        peak = np.abs(side).max(axis=1, keepdims=True)
        scaled.append(
            np.divide(side, peak, out=np.full_like(side, np.nan), where=np.isfinite(peak) & (peak > 0))
        )
    dot, *lengths = (
        np.einsum("ij,ij->i", a, b) for a, b in ((scaled[0], scaled[1]), (scaled[0],) * 2, (scaled[1],) * 2)
    )
    values = np.clip(dot / np.sqrt(lengths[0] * lengths[1]), -1, 1)
    return _scores("counterfactual_cosine", values, "an embedding is zero, missing or infinite")


def _scores(metric: str, values: NDArray[np.float64], reason: str) -> PairScores:
    undefined = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), reason)
    return PairScores(metric=metric, values=values, undefined=undefined)


def _blocks(
    group_texts: Sequence[TokenText], reference_texts: Sequence[TokenText], lexicon: MaskedWords | None
) -> Iterator[tuple[Corpus, int]]:
    """Yield the pairs in blocks: a corpus of the group's texts, then the reference's, and how many pairs."""
    pairs = check_aligned(group_texts, reference_texts, "texts")
    for start in range(0, pairs, _BLOCK):
        block: list[TokenText] = []
        for texts, name in ((group_texts, "group_texts"), (reference_texts, "reference_texts")):
            side = texts[start : start + _BLOCK]
            for row, text in enumerate(side, start):
                if lexicon is None or isinstance(text, str):
                    need_words(text, f"{name}, row {row}")  # here, where side and row are known
            unspaced = [isinstance(text, str) and bool(unspaced_script(text)) for text in side]
            if lexicon is not None:
                side = masked_texts(side, lexicon, name=name, first_row=start)  # type: ignore[arg-type]  # checked there
            block.extend(
                segmented(text) if split and isinstance(text, str) else text
                for text, split in zip(side, unspaced, strict=True)
            )
        yield encode(block), len(block) // 2
