"""Coverage by simulation: checks of an experiment (agreement, noise), and words near those of a group."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.manipulation import _share
from audit_lib.measure.experiment.noise import floor_error, repeats_interval
from audit_lib.measure.experiment.regression import inferred
from audit_lib.measure.metrics.cooccurrence_bias_score import _drawn, _percentiles
from audit_lib.metrics.text.cooccurrence import cooccurrence_bias_score, cooccurrence_sums, score_of_sums
from audit_lib.metrics.text.tokens import encode
from audit_lib.results import Interval, Undefined
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

Once = Callable[[np.random.Generator], list[bool]]
VERSIONS: Final = 8
REPEATS: Final = 3
LISTS: Final = (("she", "her"), ("he", "his"), ("kind", "able", "late"))
WINDOW: Final = 3
OF_REPEATS: Final = 0.3 / (1.0 + 0.3**2 / REPEATS) ** 0.5
"""The score is the mean of the answers, and has their noise over the root of their number."""
SPEC: Final[Any] = SimpleNamespace(
    seed=1, texts=SimpleNamespace(resamples=499), measure=SimpleNamespace(level=0.95)
)


def checks(scale: float) -> Study:
    rows: list[list[str | Cell]] = []
    for number, (metric, law, count, truth, once, target) in enumerate(_laws()):
        words = metric.startswith("cooc")
        repeats = int((400 if words else 3000) * scale)
        means, undefined = simulate(
            repeats, 141_000 + number + 6 * words, once
        )  # seeds of the rows that have not moved
        cells = simulated(means, undefined, repeats, [target])
        rows.append([f"`{metric}`", law, str(count), f"{truth:.3f}", *cells])
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Checks of an experiment, and words near those of a group",
        f"{int(3000 * scale):,} repeats a row, Monte Carlo error {_error(3000 * scale)}; {int(400 * scale):,} of "
        f"co-occurrence, {_error(400 * scale)}. Agreement: {VERSIONS} versions of each application, whose answers have "
        "a correlation of 0.3; range: 30 applications, where at least 10 of them, by share, go either way; elsewhere "
        f"93% or more. Noise: controls of {VERSIONS} versions, and {REPEATS} answers to each version, in the unit of "
        "the population's standard deviation, which is estimated from the same applications. Range: controls from 10 "
        "applications, repeats from 100. Ranges of agreement and noise were stated before this run. Co-occurrence: "
        "texts of twelve words, each with a word of one group, in which applications differ; range: 30 applications. "
        "Its true "
        "value is that of 50,000 texts.",
        ["metric", "law", "applications", "true value", "interval", "undefined, %"],
        rows,
    )


def _error(repeats: float) -> str:
    return f"{100 * (0.0475 / repeats) ** 0.5:.1f}"


def _held(found: Interval | Undefined, truth: float) -> list[bool]:
    if isinstance(found, Undefined):
        raise UndefinedMetricError(found.reason)
    return [covers(found, truth)]


def _laws() -> Iterator[tuple[str, str, int, float, Once, Target]]:
    for count in (10, 30, 100):
        for share in (0.5, 0.8, 0.95):
            within = count >= 30 and count * min(share, 1 - share) >= 10
            yield (
                "manipulation_agreement", f"{share:.0%} named as meant", count, share, _agreement(count, share),
                "approximate" if within else "conservative",
            )  # fmt: skip
    for count in (10, 30, 100):
        for shift in (0.0, 0.3, 1.0):
            yield "noise_floor", "mean of controls", count, shift, _controls(count, shift), "approximate"
        within = "approximate" if count >= 100 else "none"
        yield "noise_floor", "spread of repeats", count, OF_REPEATS, _repeats(count), within
    truth = cooccurrence_bias_score(
        encode(_texts(np.random.Generator(np.random.PCG64(9)), 50_000)), *LISTS, WINDOW
    )
    for count in (30, 100, 300):
        yield (
            "cooccurrence_bias_score",
            "three target words",
            count,
            truth.mean,
            _nearness(count, truth.mean),
            "approximate",
        )


def _agreement(count: int, share: float) -> Once:
    def once(rng: np.random.Generator) -> list[bool]:
        odds = 1 / 0.3 - 1  # a beta distribution whose draws are correlated by 0.3 within an application
        own = rng.beta(share * odds, (1 - share) * odds, count)
        right = rng.random((count, VERSIONS)) < own[:, None]
        clusters = np.repeat(np.arange(count, dtype=np.int32), VERSIONS)
        return _held(_share(right.ravel(), clusters, 0.95, right.size)[1], share)

    return once


def _scores(rng: np.random.Generator, count: int) -> np.ndarray:
    """Scores of variance 1, half of which is the application's."""
    return np.asarray((rng.normal(size=(count, 1)) + rng.normal(size=(count, VERSIONS))) * 0.5**0.5)


def _controls(count: int, shift: float) -> Once:
    def once(rng: np.random.Generator) -> list[bool]:
        scores = _scores(rng, count)
        moved = shift + 0.2 * (rng.normal(size=(count, 1)) + rng.normal(size=(count, VERSIONS)))
        d, clusters = moved.ravel(), np.repeat(np.arange(count), VERSIONS)
        error, df = floor_error(d, clusters, scores.ravel(), clusters)
        value = float(d.mean() / scores.std(ddof=1))
        return _held(inferred(value, error, df, 0.95, "left out", count)[0], shift)

    return once


def _repeats(count: int) -> Once:
    clusters = np.repeat(np.arange(count), VERSIONS)

    def once(rng: np.random.Generator) -> list[bool]:
        answers = _scores(rng, count)[..., None] + 0.3 * rng.normal(size=(count, VERSIONS, REPEATS))
        mean = answers.mean(axis=2)
        squares = np.square(answers - mean[..., None]).sum(axis=2).ravel()
        within = np.column_stack([squares, np.full(squares.size, REPEATS - 1.0)])
        return _held(repeats_interval(within, mean.ravel(), clusters, 0.95), OF_REPEATS)

    return once


def _texts(rng: np.random.Generator, count: int) -> list[str]:
    """One text an application: a word of a group, target words near it, the rest filler."""
    women = rng.random(count) < 0.5
    lean = rng.beta(2, 2, count)  # how often an application uses a target word at all
    found = []
    for own, often in zip(women.tolist(), lean.tolist(), strict=True):
        words = ["word"] * 12
        place = int(rng.integers(2, 10))
        words[place] = LISTS[0 if own else 1][int(rng.integers(0, 2))]
        for step in (-2, -1, 1, 2):
            if 0 <= place + step < 12 and rng.random() < often:
                shares = [0.5, 0.3, 0.2] if own else [0.3, 0.3, 0.4]
                words[place + step] = LISTS[2][int(rng.choice(3, p=shares))]
        found.append(" ".join(words))
    return found


def _nearness(count: int, truth: float) -> Once:
    def once(rng: np.random.Generator) -> list[bool]:
        said = encode(_texts(rng, count))
        drawn = _drawn(cooccurrence_sums(said, np.arange(count), *LISTS, WINDOW), SPEC)
        if isinstance(drawn, Undefined):
            raise UndefinedMetricError(drawn.reason)
        return _held(_percentiles(score_of_sums(drawn)[0], SPEC), truth)

    return once
