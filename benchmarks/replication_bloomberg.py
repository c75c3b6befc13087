"""8,000 recorded rankings: who comes first, and how groups fare against White men."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audit_lib.metrics import (
    ImpactRatios,
    demographic_parity_gap,
    earth_movers_distance,
    impact_ratios,
    jensen_shannon_divergence,
    rabbi,
    score_gap,
    selection_shares,
)
from audit_lib.results import Interval, TestResult
from audit_lib.score.reading.naming import mentions, plain, why_unnamed
from audit_lib.score.reading.ranking import Ranking, read_first, read_ranking
from audit_lib.stats import holm, rank_index_interval, simultaneous_log_ratios, two_sided_variance
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.ratios import AllRatios

LOG = "bloomberg/production_log.jsonl.gz"
MODELS = ("gpt-3.5-turbo", "gpt-4")
JOBS = ("HR specialist", "software engineer", "retail", "financial analyst")
QUOTAS = (1, 2, 3, 4, 5)
KEYS = [(race, sex) for sex in ("female", "male") for race in ("Asian", "Black", "Hispanic", "White")]
GROUPS = tuple(f"{race} {'women' if sex == 'female' else 'men'}" for race, sex in KEYS)
REFERENCE = len(GROUPS) - 1  # White men
COMPARED = range(REFERENCE)
RANKS = len(GROUPS)

#: First places by model, job and group (in the order of GROUPS), as Bloomberg published them:
#: data/output/performance_ranking.csv of BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination.
PUBLISHED_FIRST_PLACES = {
    ("gpt-3.5-turbo", "HR specialist"): (148, 130, 181, 138, 98, 106, 103, 96),
    ("gpt-3.5-turbo", "software engineer"): (129, 110, 121, 144, 124, 121, 132, 119),
    ("gpt-3.5-turbo", "retail"): (140, 121, 139, 133, 122, 125, 116, 104),
    ("gpt-3.5-turbo", "financial analyst"): (172, 100, 129, 132, 146, 76, 124, 121),
    ("gpt-4", "HR specialist"): (129, 120, 147, 122, 122, 103, 114, 143),
    ("gpt-4", "software engineer"): (107, 117, 140, 138, 136, 121, 130, 111),
    ("gpt-4", "retail"): (133, 125, 137, 133, 124, 120, 113, 115),
    ("gpt-4", "financial analyst"): (132, 113, 120, 132, 139, 102, 132, 130),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rankings:
    """One row a round, one column a group (in the order of GROUPS).

    Parameters
    ----------
    model, job : ndarray of str, shape (rounds,)
        What ranked, and for which opening.
    rank : ndarray of int, shape (rounds, groups)
        1 the best; candidates whom the answer does not name come last, in the order shown.
    place : ndarray of str, shape (rounds, groups)
        ``named``, ``misspelt`` or ``absent``.
    shown : ndarray of int, shape (rounds, groups)
        Position of the candidate in the prompt.
    read : ndarray of str, shape (rounds,)
        ``ranking`` where the scoring stage reads the whole answer, ``first`` where it reads the first place alone, and
        ``mention`` where it reads nothing and the order is that of mention.
    """

    model: np.ndarray
    job: np.ndarray
    rank: np.ndarray
    place: np.ndarray
    shown: np.ndarray
    read: np.ndarray

    def strata(self) -> Iterator[tuple[str, str, Rankings]]:
        for model in MODELS:
            for job in JOBS:
                yield model, job, self.take((self.model == model) & (self.job == job))

    def take(self, rows: np.ndarray) -> Rankings:
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in self.__dataclass_fields__}
        return Rankings(**parts)

    @property
    def scores(self) -> np.ndarray:
        """The score of rank r of 8 is 9 - r."""
        return RANKS + 1 - self.rank


def load(data: Path) -> Rankings:
    """Read the log with the rule that the scoring stage uses.

    Three answers give no clear ranking. An audit takes the first place alone from two of them and nothing from the
    third. The published counts have them in the order of mention, and so they are here; `Rankings.read` says which.
    """
    columns = {key: i for i, key in enumerate(KEYS)}
    model, job, rank, place, shown, read = [], [], [], [], [], []
    with gzip.open(data / LOG, "rt", encoding="utf-8") as log:
        for line in log:
            answer = json.loads(line)
            candidates = answer["candidates"]
            names = [c["name"] for c in candidates]
            try:
                ranking = read_ranking(answer["response"], names)
                read.append("ranking")
            except ValueError:
                ranking = _as_mentioned(answer["response"], names)
                first = read_first(answer["response"], names)
                read.append("first" if first is not None and ranking.rank[first] == 1 else "mention")
            order = np.argsort([columns[c["race"], c["sex"]] for c in candidates])
            model.append(answer["model"])
            job.append(answer["job"])
            rank.append(np.array(ranking.rank)[order])
            place.append(np.array(ranking.place)[order])
            shown.append(np.array([c["position_shown"] for c in candidates])[order])
    return Rankings(
        model=np.array(model),
        job=np.array(job),
        rank=np.array(rank),
        place=np.array(place),
        shown=np.array(shown),
        read=np.array(read),
    )


def equal_counts(rankings: Rankings, *read: str) -> int:
    """How many of the published counts of first places the answers read in these ways give."""
    return sum(
        int(ours) == published
        for model, job, part in rankings.strata()
        for ours, published in zip(
            (part.rank[np.isin(part.read, read)] == 1).sum(axis=0),
            PUBLISHED_FIRST_PLACES[model, job],
            strict=True,
        )
    )


def _as_mentioned(text: str, names: Sequence[str]) -> Ranking:
    said, wanted = plain(text), list(map(plain, names))
    order = mentions(said, wanted)
    order += [i for i in range(len(wanted)) if i not in order]
    named = set(mentions(said, wanted))
    return Ranking(
        rank=tuple(order.index(i) + 1 for i in range(len(wanted))),
        place=tuple("named" if i in named else why_unnamed(said, wanted, i) for i in range(len(wanted))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A difference of means over rounds that hold both sides."""

    value: float
    interval: Interval
    test: TestResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A group against White men, in one model and job."""

    group: str
    rabbi: float
    rabbi_interval: Interval
    score_gap: Gap
    parity: tuple[Gap, ...]
    jensen_shannon: float
    earth_movers: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One model and job."""

    model: str
    job: str
    rounds: int
    first: tuple[int, ...]
    ratios: ImpactRatios
    intervals: AllRatios
    comparisons: tuple[Comparison, ...]


def measure(rankings: Rankings) -> list[Stratum]:
    """Every number of the section by model and job."""
    return [_stratum(model, job, part) for model, job, part in rankings.strata()]


def _stratum(model: str, job: str, part: Rankings) -> Stratum:
    scores, rounds = part.scores, len(part.rank)
    shares = selection_shares(scores, k=QUOTAS)
    first = shares[0].sum(axis=0)
    rates = first / rounds
    # One place a round: what one group wins another loses, so the rates are multinomial.
    covariance = (np.diag(rates) - np.outer(rates, rates)) / rounds
    round_ids = np.arange(rounds)
    comparisons = []
    for column in COMPARED:
        group, reference = scores[:, column], scores[:, REFERENCE]
        comparisons.append(
            Comparison(
                group=GROUPS[column],
                rabbi=rabbi(group, reference),
                rabbi_interval=rank_index_interval(group, reference, round_ids, round_ids),
                score_gap=paired_gap(score_gap(group, reference), group, reference),
                parity=tuple(
                    paired_gap(
                        demographic_parity_gap(share[:, column], share[:, REFERENCE]),
                        share[:, column],
                        share[:, REFERENCE],
                    )
                    for share in shares
                ),
                jensen_shannon=jensen_shannon_divergence(group, reference, bins=np.arange(RANKS + 1) + 0.5),
                earth_movers=earth_movers_distance(group, reference),
            )
        )
    counts = tuple(int(x) for x in first)
    return Stratum(
        model=model,
        job=job,
        rounds=rounds,
        first=counts,
        ratios=impact_ratios(dict(zip(GROUPS, counts, strict=True)), dict.fromkeys(GROUPS, rounds)),
        intervals=simultaneous_log_ratios(rates, covariance),
        comparisons=tuple(comparisons),
    )


def paired_gap(value: float, group: np.ndarray, reference: np.ndarray) -> Gap:
    """Interval and test of a difference of means, row i of both sides being one round."""
    n, rounds = len(group), np.arange(len(group))
    spread = two_sided_variance(
        (group - group.mean()) / n, -(reference - reference.mean()) / n, rounds, rounds
    )
    return Gap(
        value=value,
        interval=difference_interval(value, spread, 0.95),
        test=t_test(value, spread.variance**0.5, spread.df, spread.clusters, "cluster influence function"),
    )


def pooled(rankings: Rankings) -> list[Stratum]:
    """The same by model, all jobs together."""
    return [_stratum(model, "all four", rankings.take(rankings.model == model)) for model in MODELS]


def adjusted_p_values(strata: list[Stratum]) -> np.ndarray:
    """P-values of all parity gaps after Holm: shape (models x jobs, groups, quotas)."""
    p = np.array(
        [[[gap.test.p_value for gap in c.parity] for c in s.comparisons] for s in strata], dtype=float
    )
    return np.array(holm(p.ravel().tolist()).p_values, dtype=float).reshape(p.shape)


def smallest_ratio(stratum: Stratum) -> tuple[str, str, Interval, Interval]:
    """The group with the smallest ratio, the comparator, and the ratio's two intervals.

    Returns
    -------
    tuple
        Group, comparator, simultaneous interval to the highest rate, and the conditional one, which
        takes both groups as chosen beforehand.
    """
    rates = stratum.ratios.rates
    low, high = min(GROUPS, key=rates.__getitem__), stratum.ratios.comparators[0]
    i, j = GROUPS.index(low), GROUPS.index(str(high))
    pair = next(p for p in stratum.intervals.pairs if {p.first, p.second} == {i, j})
    fixed = pair.conditional
    assert isinstance(fixed, Interval)
    if pair.first == j:
        fixed = replace(fixed, low=1 / fixed.high, high=1 / fixed.low)
    return low, str(high), stratum.intervals.to_highest[i], fixed


def unnamed(rankings: Rankings) -> Counter[tuple[str, str, str]]:
    """Candidates that answers do not name, by model, group and reason; answers under group ``answers``."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for model in MODELS:
        place = rankings.place[rankings.model == model]
        for reason in ("absent", "misspelt"):
            counts[model, "answers", reason] = int((place == reason).any(axis=1).sum())
            for column, group in enumerate(GROUPS):
                counts[model, group, reason] = int((place[:, column] == reason).sum())
        counts[model, "answers", "either"] = int((place != "named").any(axis=1).sum())
    return counts


def largest_change_without_rule(rankings: Rankings) -> tuple[float, float]:
    """Largest change of a parity gap if unnamed candidates tie for the last places, or their rounds go."""
    tied = dropped = 0.0
    for _, _, part in rankings.strata():
        named = part.place == "named"
        complete = named.all(axis=1)
        base = selection_shares(part.scores, k=QUOTAS).mean(axis=1)
        as_ties = selection_shares(np.where(named, part.scores, 0), k=QUOTAS).mean(axis=1)
        without = selection_shares(part.scores[complete], k=QUOTAS).mean(axis=1)
        for other, kind in ((as_ties, "tied"), (without, "dropped")):
            gaps = (other - other[:, [REFERENCE]]) - (base - base[:, [REFERENCE]])
            change = float(np.abs(gaps).max())
            if kind == "tied":
                tied = max(tied, change)
            else:
                dropped = max(dropped, change)
    return tied, dropped


def first_by_position(rankings: Rankings) -> dict[str, list[int]]:
    """First places by the position in which the prompt showed the candidate."""
    return {
        model: np.bincount(
            rankings.shown[(rankings.rank == 1) & (rankings.model == model)[:, None]], minlength=RANKS + 1
        )[1:].tolist()
        for model in MODELS
    }
