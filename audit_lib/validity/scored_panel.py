"""The scores of several models over rounds of candidates: what a study of metrics starts from.

A panel is read from sealed runs (`audit_lib.validity.of_runs`) or from a table (`audit_lib.validity.of_table`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.validity import StudiedModel
from audit_lib.errors import InputError
from audit_lib.measure.rows.pools import Pools

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairOutcomes:
    """Who won the pairs between a group and the reference, one entry a pair.

    Parameters
    ----------
    group : ndarray of int
        Code of the group that met the reference.
    round : ndarray of int
        Code of the pair's round.
    outcome : ndarray of int
        1 where the group's candidate won in both orders, -1 where the reference's did, else 0.
    qualified : ndarray of bool
        Whether both are.
    """

    group: NDArray[np.int64]
    round: NDArray[np.int64]
    outcome: NDArray[np.int64]
    qualified: NDArray[np.bool_]

    def take(self, kept: NDArray[np.bool_]) -> PairOutcomes:
        """Return some of the pairs."""
        return PairOutcomes(**{one.name: getattr(self, one.name)[kept] for one in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobScores:
    """The scores that one model gave the candidates of one job.

    Parameters
    ----------
    model, task, job : str
        Who scored, how it was asked, and for what.
    score : ndarray of float, shape (n,)
        NaN where the model gave none.
    group : ndarray of int, shape (n,)
        Code of each candidate's group in `ScoredPanel.groups`; -1 for none.
    round : ndarray of int, shape (n,)
        Code of each candidate's round in `rounds`; -1 for none.
    rounds : tuple of str
        Names of the rounds.
    qualified : ndarray of int8, shape (n,)
        1, 0, or -1 where it is not known.
    pools : Pools
        Where each stands in the whole round.
    pairs : PairOutcomes or None
        Answers about pairs, where the model was asked about two at a time.
    drawn : JobScores or None
        Rounds drawn at random, a row a candidate in a round, where gaps are measured in these. Metrics see each
        candidate once.
    """

    model: str
    task: str
    job: str
    score: Floats
    group: NDArray[np.int64]
    round: NDArray[np.int64]
    rounds: tuple[str, ...]
    qualified: NDArray[np.int8]
    pools: Pools
    pairs: PairOutcomes | None = None
    drawn: JobScores | None = None

    def of_rounds(self, kept: NDArray[np.bool_]) -> JobScores:
        """Return the candidates of some rounds, given as one flag a round."""
        rows = np.flatnonzero(np.append(kept, False)[self.round])
        return JobScores(
            model=self.model,
            task=self.task,
            job=self.job,
            score=self.score[rows],
            group=self.group[rows],
            round=self.round[rows],
            rounds=self.rounds,
            qualified=self.qualified[rows],
            pools=self.pools.take(rows),
            pairs=None if self.pairs is None else self.pairs.take(np.append(kept, False)[self.pairs.round]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredPanel:
    """Several models over the same jobs and groups.

    Parameters
    ----------
    title : str
        Of the page.
    source : {"runs", "table"}
        Where the scores come from.
    design : str
        SHA-256 of what they were read from.
    groups : tuple of str
        All groups, the reference last.
    quotas : tuple of int
        Places of a round that are given out, ascending.
    bins : int
        Of the Jensen-Shannon divergence.
    level : float
        Of intervals.
    same_pools : bool
        Whether models of a task judged the same candidates in the same rounds.
    models : tuple of StudiedModel
        One a model and task.
    scores : tuple of JobScores
        One a model, task and job.

    Raises
    ------
    InputError
        If there are fewer than two models in every task, or no group but the reference.
    """

    title: str
    source: Literal["runs", "table"]
    design: str
    groups: tuple[str, ...]
    quotas: tuple[int, ...]
    bins: int
    level: float
    same_pools: bool
    models: tuple[StudiedModel, ...]
    scores: tuple[JobScores, ...]

    def __post_init__(self) -> None:
        if len(self.groups) < 2:
            raise InputError(f"only the group {self.groups[0]!r}: nothing to compare it with")
        if len(self.labels) < 2:
            raise InputError(
                f"one model, {self.models[0].label}: metrics are judged by how they tell models apart; give two or more"
            )
        if not self.quotas or min(self.quotas) < 1:
            raise InputError("quotas: expected whole numbers of at least 1")

    @property
    def reference(self) -> str:
        """The group that all others are compared with."""
        return self.groups[-1]

    @property
    def compared(self) -> tuple[str, ...]:
        """All groups but the reference."""
        return self.groups[:-1]

    @property
    def labels(self) -> tuple[str, ...]:
        """The models, each once, in the order of the panel."""
        return tuple(dict.fromkeys(one.label for one in self.models))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the panel."""
        return tuple(dict.fromkeys(one.task for one in self.models))

    def of(self, model: str, task: str) -> Iterator[JobScores]:
        """Yield the jobs of a model in a task."""
        return (one for one in self.scores if one.model == model and one.task == task)


def pool_digest(*columns: Iterable[object]) -> bytes:
    """Return a digest of who competed with whom: the same for the same lines, in whatever order they stand.

    Parameters
    ----------
    *columns : iterable
        Round, candidate, group and qualification of each line.
    """
    lines = sorted("\x1f".join(map(str, line)) for line in zip(*columns, strict=True))
    return sha256("\n".join(lines).encode()).digest()
