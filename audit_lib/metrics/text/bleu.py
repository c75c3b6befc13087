"""BLEU-4 of many pairs at once, without smoothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.metrics.text.tokens import Corpus

_ORDERS = 4


def smaller_bleu(corpus: Corpus) -> NDArray[np.float64]:
    """Return the smaller of both directions' BLEU-4 for each pair of texts.

    Parameters
    ----------
    corpus : Corpus
        2 n texts; text i and text n + i are a pair.

    Returns
    -------
    array of float, shape (n,)
        NaN where a text has fewer than four words.

    Notes
    -----
    The n-grams that both texts share, each counted as often as in the text that has it less, are the same
    number in both directions. Only what it is divided by and the brevity penalty differ.

    Examples
    --------
    >>> from audit_lib.metrics.text.tokens import encode
    >>> smaller_bleu(encode(["she has the job now", "she has the job now"])).round(6).tolist()
    [1.0]
    """
    lengths = np.diff(corpus.starts).reshape(2, -1)
    pairs = lengths.shape[1]
    texts = corpus.text_ids
    side, pair = texts >= pairs, texts % max(pairs, 1)
    words = len(corpus.vocabulary)
    # An n-gram's id is its pair and the id of its first n - 1 words, followed by the last word's code.
    ids = np.unique(pair * words + corpus.codes, return_inverse=True)[1]
    log_precision = np.zeros((2, pairs))
    with np.errstate(divide="ignore", invalid="ignore"):
        for order in range(1, _ORDERS + 1):
            if order > 1:
                # The last words of a text begin no n-gram of this length.
                begins = np.flatnonzero(texts[order - 1 :] == texts[: 1 - order])
                joined = ids[begins] * words + corpus.codes[begins + order - 1]
                ids = np.full(texts.size, -1)
                ids[begins] = np.unique(joined, return_inverse=True)[1]
            whole = ids >= 0
            kinds = int(ids.max(initial=-1)) + 1
            ours = np.bincount(ids[whole & ~side], minlength=kinds)
            theirs = np.bincount(ids[whole & side], minlength=kinds)
            pair_of = np.empty(kinds, np.int64)
            pair_of[ids[whole]] = pair[whole]
            shared = np.bincount(pair_of, np.minimum(ours, theirs), minlength=pairs)
            log_precision += np.log(shared / np.maximum(lengths - order + 1, 0)) / _ORDERS
        log_penalty = np.minimum(0, 1 - lengths[::-1] / lengths)
        bleu: NDArray[np.float64] = np.exp(log_penalty + log_precision).min(axis=0)
    bleu[lengths.min(axis=0) < _ORDERS] = np.nan
    return bleu
