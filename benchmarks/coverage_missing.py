"""Coverage by simulation: gaps of error rates where the true outcomes of some people are not known."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np
import pyarrow as pa

from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.load import make_rows
from audit_lib.policies import policy_of
from audit_lib.results import Undefined
from benchmarks.coverage_tables import Cell, Study, covers, simulate, simulated
from benchmarks.picking import Design, loaded, spec_of, tables_of

NAMES: Final = (
    "false_negative_rate_gap",
    "false_discovery_rate_gap",
    "average_odds_gap",
    "equalised_odds_gap",
)
SPEC: Final = spec_of("self_reported", (), "{rule: recorded}", ", ".join(NAMES)).replace(
    "strata: [[]]", "strata: [[]], outcomes_at_random: [model]"
)
DESIGN: Final = Design("missing", SPEC, (), lambda rng, planted: {}, {})
QUALIFIED: Final = np.array([[0.5, 0.7], [0.6, 0.6]])
"""Share of each sex (the first is the group) and kind who are qualified."""


@dataclass(frozen=True)
class Law:
    """Chances that an outcome is missing, by kind and decision, and what being qualified adds."""

    name: str
    chances: tuple[tuple[float, float], tuple[float, float]]
    more: float = 0.0

    def chance(self, sex: np.ndarray, kind: np.ndarray, made: np.ndarray, true: np.ndarray) -> np.ndarray:
        """Half as much again in the group; and what being qualified adds there."""
        of_kind = np.array(self.chances)[kind, made.astype(int)]
        return np.where(sex == 0, 1.5 * of_kind + self.more * true, of_kind)


LAWS: Final = (
    Law("at random by kind and decision", ((0.4, 0.1), (0.2, 0.0))),
    Law("more often of the qualified", ((0.3, 0.1), (0.2, 0.0)), more=0.4),
)


def selected(sex: int, kind: int, true: int) -> float:
    """Chance of being selected."""
    return 0.25 + 0.35 * true + 0.1 * kind + 0.1 * sex * true


def truth(name: str) -> float:
    """The gap of the population, added up over all cases; kinds are as frequent as each other."""
    sides = []
    for sex in (0, 1):
        share = {
            (kind, true, made): 0.5
            * (QUALIFIED[sex, kind] if true else 1 - QUALIFIED[sex, kind])
            * (selected(sex, kind, true) if made else 1 - selected(sex, kind, true))
            for kind, true, made in product((0, 1), repeat=3)
        }

        def rate(event: tuple[int, int], among: int, share=share) -> float:
            """Of those with `among` at place event[0] of (kind, true, made), the share with event[1] at the other."""
            place, value = event
            inside = [(key, p) for key, p in share.items() if key[place] == among]
            return sum(p for key, p in inside if key[3 - place] == value) / sum(p for _, p in inside)

        sides.append(
            {
                "false_negative_rate_gap": [rate((1, 0), 1)],
                "false_discovery_rate_gap": [rate((2, 0), 1)],
                "average_odds_gap": [rate((1, 1), 1), rate((1, 1), 0)],
                "equalised_odds_gap": [rate((1, 1), 1), rate((1, 1), 0)],
            }[name]
        )
    gaps = [ours - theirs for ours, theirs in zip(*sides, strict=True)]
    return max(map(abs, gaps)) if name == "equalised_odds_gap" else float(np.mean(gaps))


def missing_outcomes(scale: float) -> Study:
    repeats = int(1000 * scale)
    spec = loaded(SPEC)
    rows: list[list[str | Cell]] = []
    for number, (law, n) in enumerate(product(LAWS, (100, 400))):

        def once(rng: np.random.Generator, law=law, n=n) -> list[bool]:
            sex, kind = np.repeat([0, 1], n), rng.integers(0, 2, 2 * n)
            true = (rng.random(2 * n) < QUALIFIED[sex, kind]).astype(int)
            made = rng.random(2 * n) < np.vectorize(selected)(sex, kind, true)
            gone = rng.random(2 * n) < law.chance(sex, kind, made, true)
            number = np.arange(2 * n)
            columns = {"sex": np.array(["Female", "Male"])[sex], "application": number, "round": number, "hit": made,
                       "race": np.full(2 * n, "none")}  # fmt: skip
            variants, scores = tables_of(DESIGN, columns)
            kept = [
                "variant_id",
                "application_id",
                "position",
                "round_id",
                "qualified",
                "outcome",
                "recorded_selected",
            ]
            made_rows, _ = make_rows(variants.select([*kept, "sex"]), [scores], spec)
            place = made_rows.place
            known = np.where(gone, -1, true).astype(np.int8)[place]
            kinds = Coded(codes=kind[place].astype(np.int32), dictionary=pa.array(["a", "b"]))
            people = replace(made_rows, qualified=known, columns={**made_rows.columns, "model": kinds})
            held = []
            for name in NAMES:
                found = METRICS.get(name)(people, spec, policy_of(spec)).estimates[0]
                said, real = found.missing_outcomes, truth(name)
                three = (found.interval, said.interval, said.at_random_interval)
                held += [not isinstance(one, Undefined) and covers(one, real) for one in three]
            return held

        means, undefined = simulate(repeats, 91_000 + number, once)
        at_random = law.more == 0.0
        for k, name in enumerate(NAMES):
            targets = ["none", "conservative", "approximate" if at_random and k < 3 else "none"]
            own = means[3 * k : 3 * k + 3]
            cells: list[str | Cell] = [*simulated(own, undefined, repeats, targets)]
            if name == "equalised_odds_gap":
                cells[2] = "-"
            rows.append([law.name, str(n), f"`{name}`", f"{truth(name):.3f}", *cells])
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Gaps where true outcomes are missing",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Two groups of n people "
        "of two kinds. Up to four in ten outcomes of a kind and decision are missing, half as many again in the group: "
        "at random within these, or in the group more often of the qualified. `known only` is the metric's own "
        "interval, of those whose outcome is known. The interval of the bounds holds the true gap in either case, and "
        "is far longer; that of outcomes missing at random (the spec names the kind) holds it where they are. Range: "
        "100 people a group.",
        ["missing", "n a group", "metric", "true gap", "known only", "bounds", "at random", "undefined, %"],
        rows,
    )
