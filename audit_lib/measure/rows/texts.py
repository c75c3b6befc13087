"""The answers of an audit as texts and lists, and what classifiers say of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.languages import Reads
from audit_lib.measure.rows.word_lists import Words
from audit_lib.spec import TextMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedAnswers:
    """What a classifier says of each answer.

    Parameters
    ----------
    name, label : str
        The classifier's name in the spec, and the label whose score is taken.
    measures : str
        What the score is.
    values : ndarray of float, shape (answers,) or (answers, dimensions)
        Scores, or embeddings; NaN where the classifier said nothing.
    kind : str
        What classified, as the spec names it.
    reads : Reads
        The languages that it was made for.
    """

    name: str
    label: str
    measures: TextMeasure
    values: NDArray[np.float64]
    kind: str = ""
    reads: Reads = field(default_factory=Reads)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextRows:
    """Answers that hold a text, in the order of their rows and, within a row, of their repeats.

    Parameters
    ----------
    row : ndarray of int64, shape (answers,)
        The row of `Rows` that each answer belongs to.
    sibling : ndarray of int64, shape (answers,)
        Answers with the same number answer versions of one prompt: same prompt, replicate and repeat.
    text : ndarray of str
        The answers.
    items : ndarray of tuples of str
        The recommended items, in the form in which they are compared; empty unless the task is recommendation.
    judged : tuple of ClassifiedAnswers
        What the spec's classifiers say.
    words : Words
        Word lists of the audit.
    """

    row: NDArray[np.int64]
    sibling: NDArray[np.int64]
    text: NDArray[Any]
    items: NDArray[Any]
    judged: tuple[ClassifiedAnswers, ...]
    words: Words

    def __len__(self) -> int:
        return int(self.row.size)

    def take(self, index: NDArray[Any], rows: int) -> TextRows:
        """Return the answers of some of `rows` rows, numbered as they stand in `index`."""
        place = np.full(rows, -1, dtype=np.int64)
        place[index] = np.arange(index.size)
        kept = np.flatnonzero(place[self.row] >= 0)
        return TextRows(
            row=place[self.row[kept]],
            sibling=self.sibling[kept],
            text=self.text[kept],
            items=self.items[kept],
            judged=tuple(replace(one, values=one.values[kept]) for one in self.judged),
            words=self.words,
        )
