"""How often the cluster bootstrap of the co-occurrence bias score covers what is true."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.metrics.text.cooccurrence import cooccurrence_sums, score_of_sums
from audit_lib.stats.bootstrap import bootstrap_totals, percentile_interval

TARGETS = ["kind", "able", "late", "smart"]
FILLERS = ["work", "team", "report", "house", "year", "good"]


def sums(applications: int, rng: np.random.Generator) -> np.ndarray:
    """Three letters an application, which has a favourite word; women are called kind more often."""
    texts = []
    for _ in range(applications):
        favourite = rng.choice(TARGETS)
        for _ in range(3):
            pronoun = rng.choice(["she", "he"])
            own = rng.choice(TARGETS, p=[0.4, 0.2, 0.2, 0.2] if pronoun == "she" else [0.1, 0.3, 0.3, 0.3])
            word = own if rng.random() < 0.6 else favourite
            other = pronoun if rng.random() < 0.9 else rng.choice(["he", "she"])
            filler = " ".join(rng.choice(FILLERS, 3))
            texts.append(f"{pronoun} is {word} and {filler} {other} {rng.choice(TARGETS)}")
    clusters = np.repeat(np.arange(applications), 3)
    return cooccurrence_sums(texts, clusters, ["she"], ["he"], TARGETS[:2], window=3)


def score(table: np.ndarray) -> float:
    return float(score_of_sums(table.sum(axis=0)[None])[0][0])


@pytest.mark.slow
@pytest.mark.parametrize("applications", [30, 100, 300])
def test_coverage_of_the_co_occurrence_bias_score(applications: int) -> None:
    truth = score(sums(20_000, np.random.default_rng(1)))
    assert truth > 0.05, "kind goes with women more than able goes with men"
    covered = []
    for draw in range(400):
        table = sums(applications, np.random.default_rng([7, applications, draw]))
        interval = percentile_interval(score_of_sums(bootstrap_totals(table, 399, draw))[0])
        covered.append(interval.low <= truth <= interval.high)
    # 93 to 97%, less and more three Monte Carlo errors.
    assert 0.93 - 0.033 <= np.mean(covered) <= 0.97 + 0.026
