"""Times works in turn, and prints a line of the table of speeds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

RUNS = 5
Timed = tuple[Any, list[float]]
"""What a work gave last, and the CPU seconds of a call in each run."""


def in_turn(*work: Callable[[], Any], repeats: int = 1, calls: int = 1) -> list[Timed]:
    """Run the works in turn, `calls` times each; a run's seconds are the median of so many `repeats`."""
    for one in work:
        one()  # the first call pays for imports and for the pages of the arrays
    results: list[Any] = [None] * len(work)
    seconds: list[list[float]] = [[] for _ in work]
    for _ in range(RUNS):
        taken: list[list[float]] = [[] for _ in work]
        for _ in range(repeats):
            for number, one in enumerate(work):
                start = time.process_time()
                for _ in range(calls):
                    results[number] = one()
                taken[number].append((time.process_time() - start) / calls)
        for number, some in enumerate(taken):
            seconds[number].append(statistics.median(some))
    return list(zip(results, seconds, strict=True))


def row(what: str, peer: str, theirs: list[float], ours: list[float], needed: str, agreement: str) -> None:
    """Print one line of the table: ranges over the runs."""
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    print(
        f"| {what} | {peer} | {spread(theirs)} | {spread(ours)} | {min(ratios):.1f}x to {max(ratios):.1f}x | {needed} "
        f"| {agreement} |",
        flush=True,
    )


def spread(values: list[float]) -> str:
    """Print the range of some seconds."""
    return f"{printed_seconds(min(values))} to {printed_seconds(max(values))}"


def scaled(factor: float, values: list[float]) -> list[float]:
    """Multiply seconds of which a part was timed."""
    return [factor * value for value in values]


def printed_seconds(value: float) -> str:
    """Print seconds."""
    return f"{value:.1f} s" if value >= 1 else f"{value * 1e3:.3g} ms"
