"""Coverage by simulation: effects of a correspondence experiment, where few applications show a level."""

from __future__ import annotations

import sys
from typing import Final

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.correspondence import standardised_effects
from audit_lib.perturb.design import DesignKind, allocate
from audit_lib.results import Undefined
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.few_clusters import least_squares_cr2
from benchmarks.coverage_tables import LEVEL, Cell, Study, simulate, simulated

_DESIGNS: Final[tuple[tuple[str, DesignKind, int | None, tuple[int, ...]], ...]] = (
    ("two-sample", "two_sample", None, (8, 16, 32, 64)),
    ("blocks of 2 of 8, within applications", "balanced_incomplete", 2, (8, 16, 32, 64)),
    ("blocks of 4 of 8, within applications", "balanced_incomplete", 4, (8, 16, 32)),
    ("full", "full", None, (8, 16, 32)),
)


def effects(scale: float) -> Study:
    repeats = int(2000 * scale)
    rows: list[list[str | Cell]] = []
    for number, (name, kind, block, sizes) in enumerate(_DESIGNS):
        for count in sizes:
            applications = {f"a{i:03d}": "any" for i in range(count)}
            met: list[int] = []

            def once(
                rng: np.random.Generator, kind=kind, block=block, applications=applications, met=met
            ) -> list[bool]:
                return _covered(rng, kind, block, applications, met)

            means, undefined = simulate(repeats, 120_000 + 1000 * number + count, once)
            level = f"{np.mean(met):.1f}"
            rows.append(
                [name, str(count), level, *simulated(means, undefined, repeats, ["conservative", "none"])]
            )
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Effects of an experiment, where few applications show a level",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Two sexes and four races "
        "make eight groups; the effect of one race is 0 on average, and each application has merit, an effect of sex "
        "and effects of race of its own. CR2 with Satterthwaite's degrees of freedom is what is printed where a level "
        "or its reference stands in fewer than 30 applications and the design leaves fewer degrees of freedom than "
        "applications minus one, as all but the full one do; CR1 with t of applications minus one is the paper's, and "
        "is printed elsewhere. What misses here is what a test at 5% of a true null rejects wrongly. Of experiments "
        "without an interval by CR2 neither is counted.",
        ["design", "applications", "with the level", "CR2", "CR1", "undefined, %"],
        rows,
    )  # fmt: skip


def _covered(
    rng: np.random.Generator,
    kind: DesignKind,
    block: int | None,
    applications: dict[str, str],
    met: list[int],
) -> list[bool]:
    dealt = allocate(applications, 8, kind, block, seed=int(rng.integers(2**31)))
    groups = np.concatenate([dealt[name] for name in sorted(dealt)])
    of = np.repeat(np.arange(len(dealt)), [len(dealt[name]) for name in sorted(dealt)])
    sex, race, within = groups // 4, groups % 4, kind == "balanced_incomplete"
    merit, own_sex = rng.normal(size=len(dealt)), 0.3 * rng.normal(size=len(dealt))
    own_race = 0.3 * rng.normal(size=(len(dealt), 4))
    y = merit[of] + (0.4 + own_sex[of]) * sex + own_race[of, race] + 0.5 * rng.normal(size=of.size)
    if np.unique(race).size < 4 or np.unique(sex).size < 2:
        raise UndefinedMetricError("a level that nobody has")
    columns = [sex == 1, *(race == level for level in (1, 2, 3))] + [np.ones(of.size)] * (not within)
    few = least_squares_cr2(np.column_stack(columns), y, of, constants=within)[1]
    many = standardised_effects(y, {"sex": sex, "race": race}, of, {"sex": 0, "race": 0}, within)["race", 1]
    if isinstance(few.standard_error, Undefined) or isinstance(many.standard_error, Undefined):
        raise UndefinedMetricError("no error")
    met.append(min(np.unique(of[race == level]).size for level in (0, 1)))
    return [
        abs(few.estimate) <= t_quantile(LEVEL, few.df) * few.standard_error,
        abs(many.estimate) <= t_quantile(LEVEL, len(dealt) - 1) * many.standard_error,
    ]
