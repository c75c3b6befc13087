"""Draw the people: how many in each category, and how many the tool chose."""

from __future__ import annotations

from random import Random

from benchmarks.published_fifth.model import RACES, SEXES, Counts, Unit

SHARES = {
    "hispanic": 0.17,
    "white": 0.36,
    "black": 0.17,
    "pacific": 0.018,
    "asian": 0.2,
    "native": 0.016,
    "two": 0.055,
}


def _split(rng: Random, total: int) -> dict[tuple[str, str], int]:
    """People by sex and race."""
    weights = {race: share * rng.uniform(0.65, 1.45) for race, share in SHARES.items()}
    whole = sum(weights.values())
    men = rng.uniform(0.4, 0.6)
    people: dict[tuple[str, str], int] = {}
    for race in RACES:
        part = total * weights[race] / whole
        own = min(0.7, max(0.3, men + rng.uniform(-0.06, 0.06)))
        people[("m", race)] = max(11, round(part * own) + rng.randint(-2, 2))
        people[("f", race)] = max(11, round(part * (1 - own)) + rng.randint(-2, 2))
    return people


def _choose(rng: Random, people: dict[tuple[str, str], int], base: float) -> Counts:
    """How many of each group the tool chose."""
    by_race = {race: rng.uniform(0.78, 1.12) for race in RACES}
    by_sex = {sex: rng.uniform(0.92, 1.06) for sex in SEXES}
    counts: Counts = {}
    for (sex, race), n in people.items():
        rate = min(0.93, base * by_race[race] * by_sex[sex] * rng.uniform(0.93, 1.07))
        counts[(sex, race)] = (n, min(n - 1, max(3, round(n * rate))))
    return counts


def _halve(rng: Random, counts: Counts) -> Counts:
    """Move the chosen so that a little under half of all are above the median."""
    total = sum(n for n, _ in counts.values())
    goal = total // 2 - rng.randint(0, max(1, total // 50))
    keys = sorted(counts)
    for _ in range(40):
        now = sum(k for _, k in counts.values())
        if abs(now - goal) <= 7 and now <= total // 2:
            break
        factor = goal / now
        counts = {
            key: (counts[key][0], min(counts[key][0] - 1, max(3, round(counts[key][1] * factor))))
            for key in keys
        }
    while sum(k for _, k in counts.values()) > total // 2:
        key = max(keys, key=lambda one: counts[one][1])
        counts[key] = (counts[key][0], counts[key][1] - 1)
    return counts


def draw_unit(rng: Random, name: str, total: int, scoring: bool, by_axis: bool, base: float) -> Unit:
    """One position with its people and the people of whom something is unknown."""
    counts = _choose(rng, _split(rng, total), base)
    if scoring:
        counts = _halve(rng, counts)
    only_sex: dict[str, tuple[int, int]] = {}
    only_race: dict[str, tuple[int, int]] = {}
    rate = sum(k for _, k in counts.values()) / sum(n for n, _ in counts.values())
    if by_axis:
        for sex in SEXES:
            n = max(3, round(total * rng.uniform(0.008, 0.03)))
            only_sex[sex] = (n, max(1, round(n * rate * rng.uniform(0.9, 1.0))))
        for race in RACES:
            n = max(2, round(total * SHARES[race] * rng.uniform(0.005, 0.03)))
            only_race[race] = (n, max(1, round(n * rate * rng.uniform(0.9, 1.0))))
    neither = max(5, round(total * rng.uniform(0.02, 0.12)))
    median = f"{rng.uniform(42, 78):.1f}"
    return Unit(name, counts, only_sex, only_race, neither, median)


def sex_counts(unit: Unit) -> dict[str, tuple[int, int]]:
    """People and chosen by sex."""
    out: dict[str, tuple[int, int]] = {}
    for sex in SEXES:
        cells = [unit.counts[(sex, race)] for race in RACES] + [unit.only_sex.get(sex, (0, 0))]
        out[sex] = (sum(n for n, _ in cells), sum(k for _, k in cells))
    return out


def race_counts(unit: Unit) -> dict[str, tuple[int, int]]:
    """People and chosen by race."""
    out: dict[str, tuple[int, int]] = {}
    for race in RACES:
        cells = [unit.counts[(sex, race)] for sex in SEXES] + [unit.only_race.get(race, (0, 0))]
        out[race] = (sum(n for n, _ in cells), sum(k for _, k in cells))
    return out
