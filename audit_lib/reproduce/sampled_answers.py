"""Answers that were sampled: do the new draws differ from the archived ones by more than drawing again explains?

Shares of a few sampled answers never come out equal, so they are not held against a floor one by one. Under the
hypothesis that nothing changed, all draws of one request, archived and new, are exchangeable: which of them came first
is a random deal. Two statistics over all requests see a shift that all share, and shifts in any direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from audit_lib.documents.reproduction import SamplingTest
from audit_lib.reproduce.compared_answers import AnswerRow, ComparedAnswer
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.seeds import generator
from audit_lib.spec import AuditSpec

ALPHA: Final = 0.01
_DEALS: Final = 4999
_METHOD: Final = (
    "permutation of the draws of each request between archived and new (multivariate hypergeometric), "
    f"{_DEALS} seeded deals; the smaller of two p-values, doubled"
)


def judge_sampled(
    spec: AuditSpec, answers: Sequence[ComparedAnswer]
) -> tuple[list[ComparedAnswer], SamplingTest | None]:
    """Judge sampled answers together; where their draws do not differ, none of them does.

    Returns
    -------
    list of ComparedAnswer
        As they were, less "beyond" where only the draws differ.
    SamplingTest or None
        None where nothing was sampled.
    """
    options = parse_options(backend.get(spec.model.backend).Options, spec.model)
    samples = options.samples if isinstance(options, ChatOptions) else 0
    places = [place for place, one in enumerate(answers) if _was_sampled(one)]
    if not places or samples == 0:
        return list(answers), None
    tables = [
        (_draws_of(answers[place].archived, samples), _draws_of(answers[place].here, samples))
        for place in places
    ]
    relevance = () if spec.prompt is None else spec.prompt.relevance
    test = sampling_test(tables, relevance, spec.seed)
    if test.differs:
        return list(answers), test
    among = set(places)
    return [
        replace(one, found="within") if place in among and one.found == "beyond" else one
        for place, one in enumerate(answers)
    ], test


def sampling_test(
    tables: Sequence[tuple[Sequence[int], Sequence[int]]], relevance: Sequence[float], seed: int
) -> SamplingTest:
    """Test whether two sets of draws of each request come from the same shares.

    Parameters
    ----------
    tables : sequence of (sequence of int, sequence of int)
        Of each request: how often each label was drawn, archived and new.
    relevance : sequence of float
        What each label is worth; one of another length counts places.
    seed : int
        Of the deals.

    Examples
    --------
    >>> sampling_test([((4, 1), (1, 4))] * 20, (0, 1), 1).differs
    True
    >>> sampling_test([((3, 2), (2, 3)), ((2, 3), (3, 2))] * 10, (0, 1), 1).differs
    False
    """
    rng = generator(seed, "reproduce", "deals")
    shift, spread = np.zeros(_DEALS + 1), np.zeros(_DEALS + 1)
    draws = 0
    for there, here in tables:
        one, other = np.asarray(there), np.asarray(here)
        pooled = one + other
        if min(one.sum(), other.sum()) == 0:
            continue
        draws += int(pooled.sum())
        worth = np.asarray(relevance if len(relevance) == len(one) else range(len(one)), dtype=float)
        deals = np.vstack([one, rng.multivariate_hypergeometric(pooled, int(one.sum()), size=_DEALS)])
        gaps = deals / one.sum() - (pooled - deals) / other.sum()
        shift += gaps @ worth
        spread += (gaps**2).sum(axis=1)
    p_mean, p_spread = _share_as_far(np.abs(shift)), _share_as_far(spread)
    return SamplingTest(
        answers=len(tables),
        draws=draws,
        p_mean=p_mean,
        p_spread=p_spread,
        alpha=ALPHA,
        differs=2 * min(p_mean, p_spread) < ALPHA,
        method=_METHOD,
    )


def _share_as_far(statistic: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the share of deals, the real one included, whose statistic is as large as that of the real one."""
    return float((statistic >= statistic[0] - 1e-9).mean())


def _was_sampled(one: ComparedAnswer) -> bool:
    rows = (one.archived, one.here)
    return one.found in ("equal", "beyond") and all(
        row["method"] == "sampled" and row["label_probabilities"] is not None and row["status"] == "ok"
        for row in rows
    )


def _draws_of(row: AnswerRow, samples: int) -> list[int]:
    given = [float(share) for share in row["label_probabilities"]]
    read, total = round(float(row["label_mass"]) * samples), sum(given)
    return [round(share / total * read) if total > 0 else 0 for share in given]
