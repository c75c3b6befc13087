"""How far a score that was sampled may be from the one that endless sampling would give: its own uncertainty.

Where a model gives no log-probabilities, its score is the mean of so many answers, and would come out otherwise the
next time. ``sampling_error.parquet`` says by how much, for each variant:

- of labels that were sampled, n of them read: the standard deviation of the answers' worths over ``sqrt(n)``;
- of scores that were read from texts, asked for several times: that of the scores over the square root of their number.

One answer alone tells nothing of its spread, and has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from audit_lib.large_file import Content
from audit_lib.records import SAMPLING_ERROR, SAMPLING_ERROR_SCHEMA, to_parquet
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.spec import AuditSpec


def sampling_error(spec: AuditSpec, rows: Iterable[Mapping[str, Any]]) -> dict[str, Content]:
    """Return a shard's rows' ``sampling_error.parquet`` under its name; nothing where nothing of it was sampled."""
    options = parse_options(backend.get(spec.model.backend).Options, spec.model)
    of_variant: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["score"] is not None and row["method"] in ("sampled", "generated"):
            of_variant.setdefault(str(row["variant_id"]), []).append(row)
    relevance = () if spec.prompt is None else spec.prompt.relevance
    samples = options.samples if isinstance(options, ChatOptions) else 0
    found = []
    for variant, scored in of_variant.items():
        spread = _of_labels(scored, relevance, samples) or _of_scores(scored)
        if spread is not None:
            draws, error = spread
            mean = math.fsum(row["score"] for row in scored) / len(scored)
            found.append(
                {"variant_id": variant, "score": mean, "draws": draws, "sampling_standard_error": error}
            )
    return {SAMPLING_ERROR: to_parquet(found, SAMPLING_ERROR_SCHEMA, ["variant_id"])} if found else {}


def spread_of_labels(shares: Sequence[float], relevance: Sequence[float], read: int) -> float | None:
    """Return the squared standard error of a score that is the mean worth of so many answers; None of fewer than two.

    Examples
    --------
    >>> round(spread_of_labels([0.5, 0.5], [0, 1], 5), 4)
    0.0625
    """
    if read < 2:
        return None
    worth = np.asarray(relevance, dtype=float)
    mean = float(np.dot(shares, worth))
    return float(np.dot(shares, (worth - mean) ** 2)) / (read - 1)


def _of_labels(
    scored: Sequence[Mapping[str, Any]], relevance: Sequence[float], samples: int
) -> tuple[int, float] | None:
    draws = 0
    squares: list[float] = []
    for row in scored:
        shares = row["label_probabilities"]
        if row["method"] != "sampled" or shares is None or len(shares) != len(relevance):
            return None
        if not math.isclose(math.fsum(p * w for p, w in zip(shares, relevance, strict=True)), row["score"]):
            return None  # a question about an attribute: its score is a place, and no mean
        read = round(row["label_mass"] * samples)
        square = spread_of_labels(shares, relevance, read)
        if square is None:
            return None
        draws += read
        squares.append(square)
    return draws, math.sqrt(math.fsum(squares)) / len(squares)


def _of_scores(scored: Sequence[Mapping[str, Any]]) -> tuple[int, float] | None:
    if len(scored) < 2:
        return None
    scores = np.array([row["score"] for row in scored], dtype=float)
    return len(scores), float(scores.std(ddof=1) / math.sqrt(len(scores)))
