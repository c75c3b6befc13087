"""Random counts of applicants, and exact rates and ratios from them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.published_fourth.audit import Group, Results, Row
from benchmarks.published_fourth.names import RACE_KEYS

Counts = dict[tuple[str | None, str | None], list[int]]  # applied and selected, by sex and race


@dataclass
class Wanted:
    people: int
    scoring: bool
    rate: float
    unknown_by_axis: bool
    exclude: bool
    sexes: str
    races: list[str]


def binomial(rng: random.Random, trials: int, chance: float) -> int:
    """A draw, by the normal approximation from 200 trials on."""
    if trials <= 0:
        return 0
    if trials < 200:
        return sum(rng.random() < chance for _ in range(trials))
    drawn = round(rng.gauss(trials * chance, (trials * chance * (1 - chance)) ** 0.5))
    return max(0, min(trials, drawn))


def divided(rng: random.Random, total: int, weights: list[float]) -> list[int]:
    moved = [weight * rng.uniform(0.8, 1.2) for weight in weights]
    return [round(total * weight / sum(moved)) for weight in moved]


def race_weights(rng: random.Random) -> list[float]:
    return [
        rng.uniform(0.12, 0.2),
        rng.uniform(0.28, 0.42),
        rng.uniform(0.13, 0.22),
        rng.choice([0.006, 0.01, 0.03]),
        rng.uniform(0.12, 0.24),
        rng.choice([0.005, 0.009, 0.025]),
        rng.uniform(0.045, 0.08),
    ]


def intersection(rng: random.Random, wanted: Wanted, empty: tuple[str, str] | None) -> tuple[Counts, float]:
    """Counts by sex and race, and the rate around which they were drawn."""
    men = rng.uniform(0.35, 0.62)
    weights = race_weights(rng)
    rate = rng.uniform(0.44, 0.475) if wanted.scoring else wanted.rate
    of_sex = {sex: rng.gauss(1, 0.03) for sex in "mf"}
    of_race = {race: rng.gauss(1, 0.06) for race in RACE_KEYS}
    found: Counts = {}
    for sex, share in (("m", men), ("f", 1 - men)):
        split = divided(rng, int(wanted.people * share), weights)
        for race, number in zip(RACE_KEYS, split, strict=True):
            chance = min(0.95, rate * of_sex[sex] * of_race[race])
            found[sex, race] = [number, binomial(rng, number, chance)]
    if empty:
        found[empty] = [0, 0]
    return found, rate


def summed(counts: Counts) -> tuple[int, int]:
    return sum(applied for applied, _ in counts.values()), sum(chosen for _, chosen in counts.values())


def margins(counts: Counts) -> tuple[Counts, Counts]:
    """Sums by sex and by race."""
    sexes: Counts = {(sex, None): [sum(counts[sex, r][i] for r in RACE_KEYS) for i in (0, 1)] for sex in "mf"}
    races: Counts = {
        (None, race): [sum(counts[s, race][i] for s in "mf") for i in (0, 1)] for race in RACE_KEYS
    }
    return sexes, races


def add_half_known(
    rng: random.Random, wanted: Wanted, sexes: Counts, races: Counts, rate: float
) -> tuple[int, int]:
    """Add people who told their sex alone, or their race alone; return how many."""
    only_sex = only_race = 0
    for counted in sexes.values():
        more = int(wanted.people * rng.uniform(0.01, 0.03))
        only_sex += more
        counted[0] += more
        counted[1] += binomial(rng, more, rate)
    for counted in races.values():
        more = int(counted[0] * rng.uniform(0.005, 0.02))
        only_race += more
        counted[0] += more
        counted[1] += binomial(rng, more, rate)
    return only_sex, only_race


def above_half(counts: Counts) -> bool:
    applied, chosen = summed(counts)
    return chosen * 2 >= applied


def results(counts: Counts, order: list[tuple], *, exclude: bool) -> Results | None:
    """The rows of a table; None where a rate could not stand on a lawful page."""
    total, _ = summed(counts)

    def left_out(applied: int) -> bool:
        return exclude and applied > 0 and applied * 50 < total

    highest = max(Fraction(k, n) for n, k in counts.values() if n and not left_out(n))
    if highest == 0:
        return None
    rows = []
    for sex, race in order:
        applied, chosen = counts[sex, race]
        rate = Fraction(chosen, applied) if applied else None
        excluded = left_out(applied)
        if rate is not None and (rate == 1 or (excluded and rate > highest)):
            return None
        ratio = None if rate is None or excluded else rate / highest
        rows.append(Row(sex, race, applied, chosen, excluded, rate, ratio, Fraction(applied, total)))
    return Results(rows, highest, total)


def group(rng: random.Random, wanted: Wanted) -> Group:
    """Draw until the counts could stand on a lawful page."""
    empty = (rng.choice("mf"), rng.choice(["nhpi", "aian"])) if rng.random() < 0.15 else None
    while True:
        counts, rate = intersection(rng, wanted, empty)
        total, chosen = summed(counts)
        if wanted.scoring and not 0.43 < chosen / total < 0.4995:
            continue
        sexes, races = margins(counts)
        neither = max(3, int(wanted.people * rng.uniform(0.01, 0.06)))
        only_sex, only_race = (
            add_half_known(rng, wanted, sexes, races, rate) if wanted.unknown_by_axis else (0, 0)
        )
        if wanted.scoring and (above_half(sexes) or above_half(races)):
            continue
        if max(chosen for _, chosen in sexes.values()) == 0:
            continue
        pairs = [(sex, race) for sex in wanted.sexes for race in wanted.races]
        tables = {
            "sex": results(sexes, [(sex, None) for sex in wanted.sexes], exclude=False),
            "race": results(races, [(None, race) for race in wanted.races], exclude=wanted.exclude),
            "intersection": results(counts, pairs, exclude=wanted.exclude),
        }
        if all(tables.values()):
            unknown = (only_sex + only_race + neither, only_race + neither, only_sex + neither)
            return Group(tables, *unknown, known=total)
