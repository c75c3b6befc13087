"""Stereotypical associations: in whose company do target words appear?"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text._word_tables import WordTable
from audit_lib.metrics.text.tokens import Corpus, TokenText, disjoint_words, encode
from audit_lib.results import Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationTable(WordTable):
    """The association of each target word, and the counts behind it.

    Parameters
    ----------
    words, groups : tuple of str
        Target words and groups.
    counts : tuple of tuple of int, shape (words, groups)
        Words of the group in texts that hold the target word.
    values : tuple of float or Undefined
        Total variation distance of the word's distribution over groups from the reference.
    reference : tuple of float
        The reference distribution over groups.
    """

    words: tuple[str, ...]
    groups: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    values: tuple[float | Undefined, ...]
    reference: tuple[float, ...]

    def _none_defined(self) -> UndefinedMetricError:
        return UndefinedMetricError(
            f"none of the {len(self.words)} target words is in a text with a word of any group"
        )


def stereotypical_associations(
    texts: Sequence[TokenText] | Corpus,
    lexicons: Mapping[str, Collection[str]],
    target_words: Collection[str],
    reference: Mapping[str, float] | None = None,
) -> AssociationTable:
    r"""Return the stereotypical associations metric (SA).

    .. math::
        \gamma(w \mid A) = \sum_{a \in A} \sum_{t} count(a, t) \, I(w \in t), \qquad
        SA = \frac{1}{|W|} \sum_{w \in W} \frac12 \sum_A
        \left| \frac{\gamma(w \mid A)}{\sum_B \gamma(w \mid B)} - r_A \right|

    for texts t, groups A with their word lists, target words W and a reference distribution r.

    A target word that is in no text with a word of any group has no distribution: it is undefined and left
    out of the mean. `undefined` counts such words; report the count with the metric.

    Parameters
    ----------
    texts : sequence of str (or of lists of words in lower case), or Corpus
        The generated texts.
    lexicons : mapping of str to collection of str
        Single words by group, at least two groups.
    target_words : collection of str
        The words W, such as occupations or adjectives.
    reference : mapping of str to float, optional
        Share of each group at parity, summing to 1; equal shares unless given.

    Returns
    -------
    AssociationTable
        Its ``mean`` is the metric, in [0, 1]; 0 at parity. Equal shares of two groups bound it by 1/2.

    Raises
    ------
    LexiconError
        If there are fewer than two groups, a list is empty, holds something else than single words, or
        shares a word with another list.
    InputError
        If `reference` is no distribution over the same groups.
    UndefinedMetricError
        If no target word is in a text with a word of a group.

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; after Liang et al. (2023), Holistic evaluation of language models.

    Notes
    -----
    LangFair departs: it multiplies by how often the target word occurs in the text, not by whether it does,
    and divides each group's count by the length of its word list.

    Examples
    --------
    >>> texts = ["she is a nurse and her aunt is a nurse", "he is a nurse", "he is a doctor"]
    >>> stereotypical_associations(texts, {"f": ["she", "her"], "m": ["he"]}, ["nurse", "doctor"]).mean
    0.3333333333333333
    """
    if len(lexicons) < 2:
        raise LexiconError("lexicons: expected word lists of at least two groups")
    groups = list(lexicons)
    lists = disjoint_words(
        {**{f"lexicons[{g!r}]": lexicons[g] for g in groups}, "target_words": target_words}
    )
    targets = lists.pop("target_words")
    shares = _reference_shares(groups, reference)

    corpus = encode(texts)
    gamma = _counts(corpus, np.zeros(corpus.starts.size - 1, np.int64), 1, lists, targets)[0]

    totals = gamma.sum(axis=1)
    distance = np.abs(gamma / np.maximum(totals, 1)[:, None] - shares).sum(axis=1) / 2
    return AssociationTable(
        words=tuple(targets),
        groups=tuple(groups),
        counts=tuple(tuple(row) for row in gamma.tolist()),
        values=tuple(
            value if total else Undefined("the word is in no text with a word of any group")
            for value, total in zip(distance.tolist(), totals.tolist(), strict=True)
        ),
        reference=tuple(shares.tolist()),
    )


def association_sums(
    texts: Sequence[TokenText] | Corpus,
    clusters: NDArray[np.int64],
    lexicons: Mapping[str, Collection[str]],
    target_words: Collection[str],
) -> NDArray[np.int64]:
    """Return the counts behind the metric for each cluster of texts; those of shards add up.

    Parameters
    ----------
    clusters : ndarray of int, shape (texts,)
        Cluster of each text, 0, 1, ...
    texts, lexicons, target_words
        As of `stereotypical_associations`.

    Returns
    -------
    ndarray of int64, shape (clusters, words, groups)
        Words of each group in texts that hold the target word.

    Examples
    --------
    >>> texts = ["she is a nurse", "he is a nurse", "he is a doctor"]
    >>> association_sums(texts, np.array([0, 0, 1]), {"f": ["she"], "m": ["he"]}, ["nurse"]).tolist()
    [[[1, 1]], [[0, 0]]]
    """
    lists = disjoint_words(
        {**{f"lexicons[{g!r}]": words for g, words in lexicons.items()}, "target_words": target_words}
    )
    targets = lists.pop("target_words")
    return _counts(encode(texts), clusters, int(clusters.max(initial=-1)) + 1, lists, targets)


def _counts(
    corpus: Corpus,
    clusters: NDArray[np.int64],
    units: int,
    lists: Mapping[str, Collection[str]],
    targets: Sequence[str],
) -> NDArray[np.int64]:
    texts, groups = corpus.starts.size - 1, len(lists)
    owner = np.full(len(corpus.vocabulary), -1)
    for number, words in enumerate(lists.values()):
        owner[corpus.positions_of(words) >= 0] = number
    text_ids, owners = corpus.text_ids, owner[corpus.codes]
    marked = owners >= 0
    by_text = np.bincount(text_ids[marked] * groups + owners[marked], minlength=texts * groups).reshape(
        texts, groups
    )

    target = corpus.positions_of(targets)[corpus.codes]
    held = np.unique(text_ids[target >= 0] * len(targets) + target[target >= 0])  # each text once a word
    counts = np.zeros((units, len(targets), groups), np.int64)
    text = held // len(targets)
    np.add.at(counts, (clusters[text], held % len(targets)), by_text[text])
    return counts


def _reference_shares(groups: list[str], reference: Mapping[str, float] | None) -> NDArray[np.float64]:
    if reference is None:
        return np.full(len(groups), 1 / len(groups))
    if set(reference) != set(groups):
        raise InputError(f"reference: expected a share for each of {', '.join(groups)}")
    shares = np.array([reference[group] for group in groups], dtype=np.float64)
    if not (shares >= 0).all() or not math.isclose(shares.sum(), 1, abs_tol=1e-9):
        raise InputError("reference: the shares must be at least 0 and sum to 1")
    return shares
