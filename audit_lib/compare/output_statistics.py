"""What the answers of each model look like, and which models the papers' rules would leave out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.comparison import Asked, ModelExclusion, OutputStatistics, UsedTokens
from audit_lib.documents.evidence import ServedModel
from audit_lib.documents.metrics import PairwiseAnswers
from audit_lib.documents.statuses import STATUSES
from audit_lib.measure.rows.group_pairs import pair_table
from audit_lib.measure.rows.scored import Rows
from audit_lib.report.content import Content
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.score import estimate
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.cost import Usage
from audit_lib.score.remote.limits import Limits
from audit_lib.score.shard_plan import shard_counts

_RABBI: Final = "Chen, Ji and Evans (2024), arXiv:2408.01285"
RULES: Final = (
    (0.55, "predictive validity", _RABBI),
    (0.50, "model selection", _RABBI),
)
"""A share of inconsistent pairs above the limit leaves a model out of this."""

NO_PAIRS: Final = Undefined("no pairs of candidates were asked about")
HIDDEN: Final = Undefined("the run's policy hides small cells, and with them all answers about pairs")


def statistics_of(content: Content, rows: Rows) -> OutputStatistics:
    """Count the answers of a run by status and kind, and describe its scores."""
    scores = rows.score[np.isfinite(rows.score)]
    mass = rows.label_mass[np.isfinite(rows.label_mass)]
    skewness, kurtosis = _moments(scores)
    return OutputStatistics(
        by_status={name: int((rows.status == place).sum()) for place, name in enumerate(STATUSES)},
        label_mass=float(mass.mean()) if mass.size else None,
        scores=int(scores.size),
        mean=float(scores.mean()) if scores.size else None,
        sd=float(scores.std(ddof=1)) if scores.size > 1 else None,
        skewness=skewness,
        excess_kurtosis=kurtosis,
        pairs=_pairs(content, rows),
    )


def exclusions_of(statistics: Sequence[OutputStatistics]) -> tuple[ModelExclusion, ...]:
    """Return which runs each rule would leave out; none is left out here."""
    unknown = next((one.pairs for one in statistics if isinstance(one.pairs, Undefined)), None)
    return tuple(
        ModelExclusion(
            limit=limit,
            of=of,
            cite=cite,
            excluded=unknown
            or tuple(place for place, one in enumerate(statistics) if _inconsistent(one) > limit),
        )
        for limit, of, cite in RULES
    )


def asked_of(run: Run) -> Asked:
    """Return what asking a run's model takes, from its versions; recorded answers are asked of nobody."""
    if run.spec.model.answers_are_recorded:
        given = sum(shard_counts(run).values())
        return Asked(requests=given, calls=0, prompt_tokens=0, completion_tokens=0, money=0.0)
    found = estimate(run)
    return Asked(
        requests=found.requests,
        calls=found.calls,
        prompt_tokens=found.usage.prompt,
        completion_tokens=found.usage.completion,
        money=found.cost,
    )


def used_of(run: Run) -> UsedTokens | None:
    """Return what a run's answers really took; None where it has none yet, or nobody counted."""
    folders = [run.stage(f"scores/{shard}") for shard in shard_counts(run)]
    if not all(folder.is_complete() for folder in folders):
        return None
    served = [
        one for folder in folders for one in folder.read_document(tuple[ServedModel, ...], "served.json")
    ]
    usage = Usage(
        prompt=sum(one.prompt_tokens for one in served),
        completion=sum(one.completion_tokens for one in served),
    )
    if not usage.total:
        return None
    model = run.spec.model
    options = parse_options(backend.get(model.backend).Options, model)
    return UsedTokens(
        answers=sum(one.answers for one in served),
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        money=options.cost(usage) if isinstance(options, Limits) else None,
    )


def _pairs(content: Content, rows: Rows) -> PairwiseAnswers | Undefined:
    """Return the counts over all pairs of the whole audit."""
    if rows.pairs is None:
        return NO_PAIRS
    return HIDDEN if content.hidden else next(pair_table(rows, content.spec))


def _inconsistent(one: OutputStatistics) -> float:
    """Return the share of pairs without one winner in both orders."""
    if isinstance(one.pairs, Undefined) or not one.pairs.pairs:
        return 0.0
    return one.pairs.inconsistent / one.pairs.pairs


def _moments(scores: NDArray[np.float64]) -> tuple[float | Undefined, float | Undefined]:
    from scipy.stats import kurtosis, skew

    if scores.size < 3 or np.ptp(scores) == 0:
        nothing = Undefined("fewer than three scores, or all of them equal")
        return nothing, nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of scores that are nearly equal
        found = float(skew(scores)), float(kurtosis(scores))
    unclear = Undefined("the scores are too nearly equal")
    return (found[0] if np.isfinite(found[0]) else unclear, found[1] if np.isfinite(found[1]) else unclear)
