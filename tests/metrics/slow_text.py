"""ROUGE-L and BLEU of one pair, written from their papers without regard to speed."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np


def slow_rouge(ours: list[str], theirs: list[str]) -> float:
    table = np.zeros((len(ours) + 1, len(theirs) + 1), int)
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            table[i + 1, j + 1] = table[i, j] + 1 if one == other else max(table[i, j + 1], table[i + 1, j])
    lcs = int(table[-1, -1])
    if not ours and not theirs:
        return math.nan
    if not lcs:
        return 0.0
    precision, recall = lcs / len(ours), lcs / len(theirs)
    return 2 * precision * recall / (precision + recall)


def slow_bleu(candidate: list[str], reference: list[str]) -> float:
    product = 1.0
    for n in range(1, 5):
        own, other = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            for words in (candidate, reference)
        )
        if not own or not other:
            return math.nan
        product *= sum((own & other).values()) / sum(own.values())
    return product**0.25 * min(1, math.exp(1 - len(reference) / len(candidate)))
