"""Co-occurrence bias score (COBS): do target words stand nearer to a group's words than to the reference's?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import WORD
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.errors import LexiconError, UndefinedMetricError
from audit_lib.measure.estimates.texts import Sides, TextMean, described, need_texts
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.rows.texts import TextRows
from audit_lib.metrics.text.cooccurrence import (
    cooccurrence_bias_score,
    cooccurrence_sums,
    log_ratios_of_sums,
    score_of_sums,
)
from audit_lib.metrics.text.tokens import Corpus, encode
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.bootstrap import bootstrap_totals, percentile_interval
from audit_lib.stats.distances import ErrorDraws, distance_interval

Floats = NDArray[np.float64]
Valued = tuple[float | Undefined, Interval | Undefined]


@metric(
    "cooccurrence_bias_score",
    title="Co-occurrence bias score (COBS)",
    parity=0.0,
    meaning="Whether target words stand nearer to the words of the group than to those of its reference; opposite "
    "words cancel, so read the absolute score and the words with it.",
    better="parity",
    unit="log ratio",
    needs=("words",),
    languages="spaced",
    cite="Bouchard (2024), arXiv:2407.10853; Bordia and Bowman (2019)",
    signed=True,
    further={
        "absolute": {
            "title": "Co-occurrence bias score, absolute (COBS)",
            "meaning": "How far target words stand from parity on average, whichever side they go with: above 0 on any "
            "sample, and opposite words do not cancel.",
            "better": "lower",
            "signed": False,
        },
        "by_word": {
            "title": "Co-occurrence bias by word",
            "meaning": "Above 0 where the word goes with the group, below 0 where it goes with the reference.",
        },
    },
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over all texts of the stratum, whoever they were written about: signed, absolute, and by word.

    For each attribute of the protected words, each level against the reference's. The interval resamples
    applications; a target word that is near one side only has no value in that resample, as in the sample. In a
    simulation of 30, 100 and 300 applications a 95% interval of the signed score covered 94%; where few words are
    defined it is wide, or does not exist. The absolute score is a mean of distances: its interval bounds the error by
    the mean of the words' absolute errors.
    """
    texts = need_texts(rows)
    said = encode(texts.text.tolist())
    found: list[Estimate] = []
    for group, reference in spec.groups.comparisons():
        if len(group) == 1:
            found += _compared(texts, said, rows, spec, group, reference)
    return Measured(estimates=found)


def _compared(
    texts: TextRows,
    said: Corpus,
    rows: Rows,
    spec: AuditSpec,
    group: CategoryLevels,
    reference: CategoryLevels,
) -> list[Estimate]:
    ((axis, level),), (other,) = group.items(), reference.values()
    clusters, units = compact(rows.application[texts.row])
    window, targets = spec.texts.window, texts.words.targets
    defined = {"words": len(targets), "words_defined": 0, "window": window}
    found: dict[str, Valued]
    words: list[tuple[Valued, dict[str, int | str]]] = []
    try:
        ours, theirs = (words_of(texts, axis, one) for one in (level, other))
        if not len(texts):
            raise UndefinedMetricError("no text")
        lists = (ours, theirs, targets)
        table = cooccurrence_bias_score(said, *lists, window)
        defined["words_defined"] = len(table.words) - table.undefined
        scores = [table.mean, table.mean_absolute]
        drawn = _drawn(cooccurrence_sums(said, clusters.astype(np.int64), *lists, window), spec)
        ratios = drawn if isinstance(drawn, Undefined) else log_ratios_of_sums(drawn).T
        found = {
            "": (
                scores[0],
                drawn if isinstance(drawn, Undefined) else _percentiles(score_of_sums(drawn)[0], spec),
            ),
            "_absolute": (scores[1], _of_distance(scores[1], table.values, ratios, units, spec)),
        }
        for number, (word, value) in enumerate(zip(table.words, table.values, strict=True)):
            if isinstance(value, Undefined):
                ends: Interval | Undefined = value
            else:
                ends = ratios if isinstance(ratios, Undefined) else _percentiles(ratios[number], spec)
            near = (table.group_cooccurrence[number], table.reference_cooccurrence[number])
            told: dict[str, int | str] = {
                WORD: word,
                "near_group": int(near[0]),
                "near_reference": int(near[1]),
                "window": window,
            }
            words.append(((value, ends), told))
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        found = {"": (nothing, nothing), "_absolute": (nothing, nothing)}

    def of(end: str, valued: Valued, method: str, parameters: Mapping[str, int | str]) -> Estimate:
        value, interval = valued
        return described(
            f"cooccurrence_bias_score{end}",
            TextMean(
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
            method=method,
            parameters=parameters,
            flags=("undirected",) if end == "_absolute" else (),
        )

    ratio = f"natural log ratio of target words' nearness, window {window} each side"
    return [
        of("", found[""], f"mean {ratio}", defined),
        of("_absolute", found["_absolute"], f"mean absolute {ratio}", defined),
        *(of("_by_word", valued, ratio, told) for valued, told in words),
    ]


def _drawn(sums: Floats, spec: AuditSpec) -> Floats | Undefined:
    # Clusters in the order of what they hold, so that resamples do not depend on how applications are called.
    ordered = sums[np.lexsort(sums.T[::-1])]
    seed = derive_seed(spec.seed, "cooccurrence_bias_score")
    try:
        return bootstrap_totals(ordered, spec.texts.resamples, seed)
    except UndefinedMetricError as error:
        return Undefined(str(error))


def _percentiles(replicates: Floats, spec: AuditSpec) -> Interval | Undefined:
    try:
        interval = percentile_interval(replicates, spec.measure.level)
    except UndefinedMetricError as error:
        return Undefined(str(error))
    if interval.low == interval.high:
        return Undefined("every application moves the score alike: no spread to estimate")
    return interval


def _of_distance(
    value: float, values: Sequence[float | Undefined], drawn: Floats | Undefined, units: int, spec: AuditSpec
) -> Interval | Undefined:
    """Bound the error of a mean of absolute values by the mean of the absolute errors, over the words of a resample."""
    if isinstance(drawn, Undefined):
        return drawn
    defined = np.array([np.nan if isinstance(one, Undefined) else one for one in values])
    errors = np.abs(drawn.T - defined)
    known = ~np.isnan(errors)
    if lost := int((~known.any(axis=1)).sum()):
        return Undefined(f"undefined in {lost} of {len(errors)} resamples: too few units")
    mean = np.where(known, errors, 0.0).sum(axis=1) / known.sum(axis=1) * math.sqrt(units / (units - 1))
    if not mean.any():
        return Undefined("every application moves the score alike: no spread to estimate")
    return distance_interval(
        value,
        ErrorDraws(values=mean, clusters=units, drawn="resamples of the clusters"),
        spec.measure.level,
    )


def words_of(texts: TextRows, axis: str, level: str) -> list[str]:
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
