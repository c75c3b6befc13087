"""Whether the texts of two sides of windows can be told apart: a classifier two-sample test, level held by clusters.

Texts are read from the sealed samples, counted into hashed features in memory, and nothing of them is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from audit_lib.documents.attribution import TextShift
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.seeds import generator

Floats = NDArray[np.float64]

_FEATURES: Final = 2048
_MOST: Final = 1500
"""Applications of each side; those of the smallest digests, which nobody chose."""
_FEWEST: Final = 20
_PENALTY: Final = 1.0
_DRAWS: Final = 999
_WORD: Final = re.compile(r"\w+")
METHOD: Final = (
    "classifier two-sample test: logistic regression over hashed words and pairs of words, fitted on one half of the "
    "applications and tried on the other; the sides exchanged between applications; twice the smaller of two p-values"
)


def text_shift(before: Sequence[Run], after: Sequence[Run]) -> TextShift | Undefined:
    """Compare the sampled texts of two sides; applications that are on both say nothing of a shift and are left out."""
    sides = [dict(pair for run in side for pair in _texts(run)) for side in (before, after)]
    both = sides[0].keys() & sides[1].keys()
    chosen = [[side[key] for key in sorted(side.keys() - both, key=_digest)[:_MOST]] for side in sides]
    return classifier_test(chosen[0], chosen[1])


def classifier_test(before: Sequence[str], after: Sequence[str]) -> TextShift | Undefined:
    """Test whether texts of two sides, one an application, come from one distribution.

    A classifier that is fitted on one half cannot know the sides of the other, so exchanging these sides gives the
    exact law of its score there; both halves are tried, and the smaller p-value is doubled.

    Parameters
    ----------
    before, after : sequence of str
        One text for each independent application.

    Returns
    -------
    TextShift or Undefined
        Undefined with fewer than twenty of a side.

    Examples
    --------
    >>> shop, office = ["sold shoes in a shop"] * 30, ["kept the books of an office"] * 30
    >>> classifier_test(shop, office).auc
    1.0
    """
    if min(len(before), len(after)) < _FEWEST:
        return Undefined(
            f"{len(before)} and {len(after)} applications that are on one side alone; {_FEWEST} of each are needed"
        )
    features = np.stack([_hashed(text) for text in (*before, *after)])
    side = np.repeat([0.0, 1.0], [len(before), len(after)])
    random = generator(0, "text shift")
    half = np.zeros(side.size, dtype=bool)
    for one in (0.0, 1.0):  # as many of each side in both halves
        half[random.permutation(np.flatnonzero(side == one))[: int((side == one).sum()) // 2]] = True
    aucs, p_values = [], []
    for train, test in ((half, ~half), (~half, half)):
        ranks = rankdata(features[test] @ _fitted(features[train], side[train]))
        own, ones = side[test], float(side[test].sum())
        told = float(ranks @ own)
        drawn = np.array([ranks @ random.permutation(own) for _ in range(_DRAWS)])
        p_values.append((1 + int((drawn >= told - 1e-9).sum())) / (1 + _DRAWS))
        aucs.append((told - ones * (ones + 1) / 2) / (ones * (own.size - ones)))
    return TextShift(
        applications=(len(before), len(after)),
        auc=float(np.mean(aucs)),
        p_value=min(1.0, 2.0 * min(p_values)),
        method=METHOD,
    )


def _texts(run: Run) -> Iterator[tuple[str, str]]:
    """Yield application and text of a run; of several prompts about one application, all together."""
    source = run.stage("sample").parquet("prompts.parquet")
    table = pq.read_table(source, columns=["application_id", "fields"])
    found: dict[str, list[str]] = {}
    for name, fields in zip(table["application_id"].to_pylist(), table["fields"].to_pylist(), strict=True):
        values = json.loads(fields)
        found.setdefault(name, []).extend(str(values[key]) for key in sorted(values))
    yield from ((name, "\n".join(texts)) for name, texts in found.items())


def _hashed(text: str) -> Floats:
    """Words and pairs of words as one vector of length 1."""
    words = _WORD.findall(text.casefold())
    places = [zlib.crc32(term.encode()) for term in (*words, *map(" ".join, pairwise(words)))]
    counts = np.sqrt(
        np.bincount([place % _FEATURES for place in places], minlength=_FEATURES).astype(np.float64)
    )
    length = float(np.linalg.norm(counts))
    return counts / length if length else counts


def _fitted(features: Floats, side: Floats) -> Floats:
    """Weights of a penalised logistic regression; both sides weigh as much."""
    weight = np.where(side == 1, 0.5 / side.sum(), 0.5 / (side.size - side.sum())) * side.size
    middle = features.mean(axis=0)
    centred = features - middle

    def loss(beta: Floats) -> tuple[float, Floats]:
        score = centred @ beta
        lost = np.logaddexp(0.0, score) - side * score
        slope = centred.T @ (weight * (expit(score) - side)) + _PENALTY * beta
        return float(weight @ lost + _PENALTY * beta @ beta / 2.0), slope

    found = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return np.asarray(found.x)


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
