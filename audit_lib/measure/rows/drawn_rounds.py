"""Rounds drawn at random from the candidates of each position, as `measure.random_rounds` says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.rows.coded import Coded
from audit_lib.metrics.selection import fractional_shares
from audit_lib.metrics.standing import pool_standing
from audit_lib.seeds import generator
from audit_lib.spec import RandomRounds
from audit_lib.stats.random_rounds import DrawnShares


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRounds:
    """The rounds of a whole audit; a stratum counts its own candidates in them.

    Parameters
    ----------
    place : ndarray of int, shape (candidates,)
        Where each candidate who may be drawn stands in the table of variants.
    rank, pool, application : ndarray of int, shape (candidates,)
        Scores as ranks, the position, and the application.
    members : ndarray of int, shape (rounds, size)
        Candidates of each round, as places in these arrays.
    above, tied : ndarray of int, shape (rounds, size)
        Where each stands in the round.
    round_pool : ndarray of int, shape (rounds,)
        Position of each round.
    unscored : int
        Rows without a score, who are in no round.
    too_few : int
        Scored rows of positions with no more candidates than a round has, who are in none either.
    """

    place: NDArray[np.int64]
    rank: NDArray[np.int64]
    pool: NDArray[np.int64]
    application: NDArray[np.int32]
    members: NDArray[np.int64]
    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    round_pool: NDArray[np.int64]
    unscored: int
    too_few: int

    @classmethod
    def draw(
        cls,
        score: NDArray[np.float64],
        position: Coded,
        application: NDArray[np.int32],
        section: RandomRounds,
        seed: int,
    ) -> DrawnRounds:
        """Draw ``section.count`` rounds in every position that has more scored candidates than a round.

        Parameters
        ----------
        score : ndarray of float, shape (rows,)
            NaN for none. In the order of the variants' ids: the draw depends on it.
        position : Coded
            Of each row.
        application : ndarray of int, shape (rows,)
            Of each row.
        section : RandomRounds
            How large, and how many.
        seed : int
            The spec's seed, where the section has none of its own.
        """
        seed = seed if section.seed is None else section.seed
        scored, size = ~np.isnan(score), section.size
        places: list[NDArray[np.int64]] = []
        pools, rounds, too_few = [], [], 0
        for code, label in enumerate(position.labels):
            own = np.flatnonzero(scored & (position.codes == code))
            if own.size <= size:
                too_few += int(own.size)
                continue
            rng = generator(seed, "random_rounds", label)
            first = sum(found.size for found in places)
            drawn = [rng.choice(own.size, size, replace=False) for _ in range(section.count)]
            rounds.append(first + np.array(drawn, dtype=np.int64))
            pools.append(np.full(own.size, len(places)))
            places.append(own)
        place = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        members = np.concatenate([np.zeros((0, size), dtype=np.int64), *rounds])
        above, tied = _standing(score[place][members])
        return cls(
            place=place,
            rank=np.unique(score[place], return_inverse=True)[1],
            pool=np.concatenate([np.zeros(0, dtype=np.int64), *pools]),
            application=application[place],
            members=members,
            above=above,
            tied=tied,
            round_pool=np.repeat(np.arange(len(places)), section.count),
            unscored=int(score.size - np.count_nonzero(scored)),
            too_few=too_few,
        )

    def shares(self, k: int) -> DrawnShares:
        """Return who gets how much of the k places of each round, ties split."""
        return DrawnShares(
            members=self.members,
            shares=fractional_shares(self.above, self.tied, k),
            k=k,
            round_pool=self.round_pool,
            rank=self.rank,
            pool=self.pool,
        )


def _standing(score: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not score.size:
        return np.zeros(score.shape, dtype=np.int64), np.zeros(score.shape, dtype=np.int64)
    above, tied = pool_standing(score.ravel(), np.repeat(np.arange(score.shape[0]), score.shape[1]))
    return above.reshape(score.shape).astype(np.int64), tied.reshape(score.shape).astype(np.int64)
