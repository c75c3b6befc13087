"""Co-occurrence bias score (COBS): do target words stand nearer to a group's words than to the reference's?"""

from __future__ import annotations

import numpy as np

from audit_lib.documents.rate_tables import Levels
from audit_lib.errors import LexiconError, UndefinedMetricError
from audit_lib.measure.estimates.texts import Found, Sides, described, need_texts
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.rows.texts import Texts
from audit_lib.metrics.text.cooccurrence import cooccurrence_bias_score, cooccurrence_sums, score_of_sums
from audit_lib.metrics.text.tokens import Corpus, encode
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.bootstrap import bootstrap_totals, percentile_interval


@metric(
    "cooccurrence_bias_score",
    title="Co-occurrence bias score (COBS)",
    parity=0.0,
    meaning="Whether target words stand nearer to the words of the group than to those of its reference.",
    better="parity",
    unit="log ratio",
    needs=("words",),
    cite="Bouchard (2024), arXiv:2407.10853; Bordia and Bowman (2019)",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over all texts of the stratum, whoever they were written about.

    For each attribute of the protected words, each level against the reference's. The interval resamples
    applications; a target word that is near one side only has no value in that resample, as in the sample. In a
    simulation of 30, 100 and 300 applications a 95% interval covered 94%; where few words are defined it is wide,
    or does not exist.
    """
    texts = need_texts(rows)
    said = encode(texts.text.tolist())
    found: list[Estimate] = []
    for group, reference in spec.groups.comparisons():
        if len(group) == 1:
            found.append(_compared(texts, said, rows, spec, group, reference))
    return Measured(estimates=found)


def _compared(
    texts: Texts, said: Corpus, rows: Rows, spec: AuditSpec, group: Levels, reference: Levels
) -> Estimate:
    ((axis, level),), (other,) = group.items(), reference.values()
    clusters, units = compact(rows.application[texts.row])
    defined = 0
    value: float | Undefined
    interval: Interval | Undefined
    try:
        ours, theirs = (words_of(texts, axis, one) for one in (level, other))
        if not len(texts):
            raise UndefinedMetricError("no text")
        lists, window = (ours, theirs, texts.words.targets), spec.texts.window
        table = cooccurrence_bias_score(said, *lists, window)
        defined = len(table.words) - table.undefined
        value = table.mean
        interval = _interval(cooccurrence_sums(said, clusters.astype(np.int64), *lists, window), spec)
    except UndefinedMetricError as error:
        value = interval = Undefined(str(error))
    return described(
        "cooccurrence_bias_score",
        Found(
            value=value,
            interval=interval,
            standard_error=interval
            if isinstance(interval, Undefined)
            else Undefined("the bootstrap gives an interval only"),
            n=len(texts),
            clusters=units,
        ),
        rows,
        spec,
        sides=Sides(group=group, reference=reference, own=False),
        method=f"mean natural log ratio of target words' nearness, window {spec.texts.window} each side",
        parameters={
            "words": len(texts.words.targets),
            "words_defined": defined,
            "window": spec.texts.window,
        },
    )


def _interval(
    sums: np.ndarray[tuple[int, int], np.dtype[np.float64]], spec: AuditSpec
) -> Interval | Undefined:
    # Clusters in the order of what they hold, so that resamples do not depend on how applications are called.
    ordered = sums[np.lexsort(sums.T[::-1])]
    try:
        seed = derive_seed(spec.seed, "cooccurrence_bias_score")
        replicates, _ = score_of_sums(bootstrap_totals(ordered, spec.texts.resamples, seed))
        interval = percentile_interval(replicates, spec.measure.level)
    except UndefinedMetricError as error:
        return Undefined(str(error))
    if interval.low == interval.high:
        return Undefined("every application moves the score alike: no spread to estimate")
    return interval


def words_of(texts: Texts, axis: str, level: str) -> list[str]:
    """Return the single words that name a level; entries of several words are for masking only.

    Raises
    ------
    UndefinedMetricError
        If there is none.
    """
    from audit_lib.words import single_words

    found = []
    for word in texts.words.protected.get(axis, {}).get(level, ()):
        try:
            found += single_words([word], "texts.protected")
        except LexiconError:
            continue
    if not found:
        raise UndefinedMetricError(f"texts.protected has no single word for {axis} {level!r}")
    return found
