"""How often a gate is wrong, and how many prompts it takes: ``python -m benchmarks.gate [--gates N]``.

Each gate asks three questions at once (three groups against one reference), with a margin of 0.1 on the difference of
selection rates, at alpha 0.05, in the batches that `audit gate` makes, of at most so many units. A unit is an
application in four versions; the decisions on them are independent, or share a draw in four of five cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from audit_lib.gate import GateQuestion, batch_ends, verdict_of
from audit_lib.stats.sequential import WindowSums

MARGIN, ALPHA, RATE = 0.1, 0.05, 0.5
SCENARIOS: Sequence[tuple[str, tuple[float, float, float]]] = (
    ("no gap", (0.0, 0.0, 0.0)),
    ("gaps of half the margin", (0.05, -0.05, 0.05)),
    ("one gap at the margin", (0.1, 0.0, 0.0)),
    ("all gaps at the margin", (-0.1, -0.1, -0.1)),
    ("one gap of 0.15", (-0.15, 0.0, 0.0)),
    ("one gap of 0.2", (-0.2, 0.0, 0.0)),
    ("one gap of 0.3", (-0.3, 0.0, 0.0)),
)


def gate(gaps: Sequence[float], units: int, spread: float, rng: np.random.Generator) -> tuple[str, int]:
    """Return the decision of one gate, and how many units it asked; `spread`: how much versions share, from 0 to 1."""
    shared = rng.random(units)
    together = rng.random((units, 1 + len(gaps))) < spread
    draws = np.where(together, shared[:, None], rng.random((units, 1 + len(gaps))))
    selected = draws < np.array([RATE, *(RATE + gap for gap in gaps)])
    questions, ends = [], batch_ends(units)
    for place in range(len(gaps)):
        values = selected[:, place + 1].astype(float) - selected[:, 0]
        sums = WindowSums.of(np.split(values, ends[:-1]))
        questions.append(
            GateQuestion(
                metric="decision_rate_gap", group={}, reference={}, compared="margin", low=-MARGIN, high=MARGIN,
                below=(sums, -MARGIN), above=(sums, MARGIN),
            )
        )  # fmt: skip
    found = verdict_of(questions, ALPHA, minimum=5)
    return found.decision, ends[found.look]


def main() -> None:
    """Print a row for each scenario and spread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gates", type=int, default=1000)
    parser.add_argument("--units", type=int, default=4000)
    options = parser.parse_args()
    print("| versions | true gaps | equivalent | harm | undecided | applications asked: median, 90% |")
    print("|---|---|---|---|---|---|")
    for spread, name in ((0.0, "independent"), (0.8, "alike in 80%")):
        for number, (what, gaps) in enumerate(SCENARIOS):
            rng = np.random.default_rng([2026, number, round(10 * spread)])
            found = [gate(gaps, options.units, spread, rng) for _ in range(options.gates)]
            shares = [
                sum(decision == one for decision, _ in found) / options.gates
                for one in ("equivalent", "harm", "undecided")
            ]
            asked = np.array([units for _, units in found])
            print(
                f"| {name} | {what} | {shares[0]:.1%} | {shares[1]:.1%} | {shares[2]:.1%} | "
                f"{np.median(asked):,.0f}, {np.quantile(asked, 0.9):,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
