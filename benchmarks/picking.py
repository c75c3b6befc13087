"""How often does an audit find something where nothing differs, and how much of what differs does it find?

    python -m benchmarks.coverage --only no_difference planted_difference   # ten minutes of CPU
    python -m benchmarks.picking                                            # how long the permutations take

Audits of made-up people go through `measure_rows`, which is all that the stage `metrics` does with rows; the first one
of each kind goes through the stage itself too, whose tables, estimates and family must be the same bytes. What is a
finding is read off the document, and held against the rates that the people were made with.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from audit_lib.canonical import pretty_json
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.stage import measure, measure_rows
from audit_lib.measure.statutory.intervals import Clusters
from audit_lib.policies import policy_of
from audit_lib.records import SCORE_SCHEMA, variant_schema, write_table
from audit_lib.results import Undefined
from audit_lib.run import Run, StageOutput
from audit_lib.spec import AuditSpec
from audit_lib.stats import equal_rates
from audit_lib.window import Window
from benchmarks.coverage_tables import Cell, Study
from benchmarks.synthetic_run import NOW, complete, same

ALPHA: Final = 0.05
SEXES: Final = ("Female", "Male")
RACES: Final = (
    "Hispanic or Latino", "White", "Black or African American", "Native Hawaiian or Pacific Islander", "Asian",
    "Native American or Alaska Native", "Two or More Races",
)  # fmt: skip
SHARES: Final = (0.2, 0.35, 0.2, 0.03, 0.15, 0.02, 0.05)

SPEC: Final = """
audit: picking
title: Made-up people
seed: 7
source: {{kind: files, paths: [none.jsonl], windowed: false}}
groups:
  provenance: {provenance}
  attributes: {{sex: [Female, Male]{race}}}
  reference: {{sex: Male{reference}}}
model: {{backend: recorded, name: none}}
decision: {decision}
measure: {{metrics: [{metrics}], strata: [[]]}}
"""

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Design:
    """A kind of audit: its spec, and people made by a generator of random numbers, with a difference or without."""

    name: str
    spec: str
    races: tuple[str, ...]
    make: Callable[[np.random.Generator, Mapping[tuple[str, str], float]], Columns]
    planted: Mapping[tuple[str, str], float]
    """(sex, race) -> what their rate is times, or how far their scores are moved; of others, no difference."""


def people(rng: np.random.Generator, planted: Mapping[tuple[str, str], float], count: int = 700) -> Columns:
    """People of both sexes and seven races, of whom three in ten are selected."""
    sex, race = rng.choice(SEXES, count), rng.choice(RACES, count, p=SHARES)
    rate = np.array([0.3 * planted.get(cell, 1.0) for cell in zip(sex, race, strict=True)])
    number = np.arange(count)
    return {"sex": sex, "race": race, "application": number, "round": number, "hit": rng.random(count) < rate}


def pools(
    rng: np.random.Generator, planted: Mapping[tuple[str, str], float], rounds: int, races: int
) -> Columns:
    """Rounds of one candidate of each group, who have scores."""
    cells = [(sex, race) for sex in SEXES for race in RACES[:races]]
    n = rounds * len(cells)
    moved = np.array([planted.get(cell, 0.0) for cell in cells])
    return {
        "sex": np.tile([sex for sex, _ in cells], rounds), "race": np.tile([race for _, race in cells], rounds),
        "application": np.arange(n), "round": np.repeat(np.arange(rounds), len(cells)),
        "score": rng.normal(size=n) + np.tile(moved, rounds),
    }  # fmt: skip


def versions(rng: np.random.Generator, planted: Mapping[tuple[str, str], float], count: int) -> Columns:
    """Applications in a version of each group, scored much alike."""
    found = pools(rng, planted, count, 4)
    found["application"] = found["round"]
    found["score"] += 1.5 * np.repeat(rng.normal(size=count), 8)
    return found


def spec_of(provenance: str, races: tuple[str, ...], decision: str, metrics: str) -> str:
    named = f", race: [{', '.join(races)}]" if races else ""
    return SPEC.format(
        provenance=provenance, race=named, reference=", race: White" if races else "", decision=decision,
        metrics=metrics,
    )  # fmt: skip


COMPETE: Final = "impact_ratio, demographic_parity_gap, rabbi, score_gap"
LOWER: Final = {("Female", race): 0.55 for race in RACES[:3]}
BEHIND: Final = {("Female", race): -0.6 for race in RACES[:2]}
DESIGNS: Final = (
    Design(
        "LL144 report, 700 people, 2, 7 and 14 categories",
        spec_of("self_reported", RACES, "{rule: recorded}", "impact_ratio"),
        RACES, people, LOWER,
    ),
    Design(
        "pools, 1 of 2, 60 rounds", spec_of("assigned", (), "{rule: top_k, k: 1, round: round_id}", COMPETE), (),
        lambda rng, planted: pools(rng, {(s, RACES[0]): v for (s, _), v in planted.items()}, 60, 1), BEHIND,
    ),
    Design(
        "pools, 4 of 8, 60 rounds", spec_of("assigned", RACES[:4], "{rule: top_k, k: 4, round: round_id}", COMPETE),
        RACES[:4], lambda rng, planted: pools(rng, planted, 60, 4), BEHIND,
    ),
    Design(
        "experiment, 60 applications in 8 versions",
        spec_of("assigned", RACES[:4], "{rule: above_median}", "impact_ratio, standardised_effect, rabbi, score_gap"),
        RACES[:4], lambda rng, planted: versions(rng, planted, 60), BEHIND,
    ),
)  # fmt: skip


def tables_of(design: Design, made: Columns) -> tuple[pa.Table, pa.Table]:
    """The tables of variants and of scores that the stage reads."""
    n = made["sex"].size
    ids = pa.array([f"v{i:06d}" for i in range(n)])
    score = made["hit"].astype(float) if "hit" in made else made["score"]
    columns = {
        "variant_id": ids, "prompt_id": ids, "request_id": ids, "position": same("all", n),
        "application_id": pa.array([f"a{i:06d}" for i in made["application"]]),
        "round_id": pa.array([f"r{i:06d}" for i in made["round"]]),
        "perturbation": same("persona", n), "edits": same("{}", n), "provenance": same("made up", n),
        "recorded_selected": pa.array(made["hit"]) if "hit" in made else pa.nulls(n, pa.bool_()),
        "sex": pa.array(made["sex"]), "race": pa.array(made["race"]),
    }  # fmt: skip
    axes = ("sex", "race") if design.races else ("sex",)
    scores = {
        "variant_id": ids, "repeat": pa.array(np.zeros(n, np.int32)), "request_id": ids, "model": same("none", n),
        "model_fingerprint": same("0" * 64, n), "request_digest": same("0" * 64, n), "score": pa.array(score),
        "method": same("recorded", n), "status": same("ok", n), "attempts": pa.array(np.ones(n, np.int32)),
    }  # fmt: skip
    return complete(columns, variant_schema(axes), n), complete(scores, SCORE_SCHEMA, n)


@cache
def loaded(spec: str) -> AuditSpec:
    return AuditSpec.load_text(spec, Path("picking.yaml"))


def document_of(design: Design, made: Columns, seed: int) -> dict[str, Any]:
    """Everything that the stage says of these people; each audit draws its own permutations."""
    spec = loaded(design.spec).model_copy(update={"seed": seed})
    variants, scores = tables_of(design, made)
    kept = [
        "variant_id",
        "application_id",
        "position",
        "round_id",
        "qualified",
        "outcome",
        "recorded_selected",
    ]
    rows, _ = make_rows(variants.select([*kept, *spec.groups.axes]), [scores], spec)
    return measure_rows(rows, spec, policy_of(spec)).as_dict()


def hold_against_stage(design: Design, made: Columns) -> None:
    """The stage itself, on artefacts in a folder, gives the same bytes."""
    variants, scores = tables_of(design, made)
    with tempfile.TemporaryDirectory() as folder:
        spec = AuditSpec.load_text(design.spec, Path(folder) / "picking.yaml")
        run = Run.open(spec, Window.parse("2026-01-05", "2026-01-12"), folder)
        run.stage("variants").commit(StageOutput({"variants.parquet": write_table(variants)}), NOW)
        run.stage("scores/0").commit(StageOutput({"scores.parquet": write_table(scores)}), NOW)
        written = json.loads(measure(run).artefacts["metrics.json"])
    ours = json.loads(pretty_json(document_of(design, made, spec.seed)))
    if any(written[part] != ours[part] for part in ours):
        raise SystemExit(f"{design.name}: the stage gives other numbers than measure_rows")


@dataclass(frozen=True)
class Judged:
    """What one audit says: in each table and in all of it.

    Parameters
    ----------
    tables : dict
        Categories of a table -> its smallest p-value, before the audit's other tests are allowed for.
    smallest, smallest_fixed : float
        Smallest adjusted p-value; and by Holm over the same tests, ratios against the comparator as if it were fixed.
    lower, lower_fixed : list of float
        Those of categories whose rate is truly lower than the highest; of the others: `same`.
    """

    tables: dict[int, float]
    smallest: float
    smallest_fixed: float
    lower: list[float]
    lower_fixed: list[float]
    same: list[float]


def judge(design: Design, document: dict[str, Any], planted: Mapping[tuple[str, str], float]) -> Judged:
    """Hold the document against the rates that its people were made with."""
    tables: dict[int, float] = {}
    ours: list[tuple[float, float, bool]] = []
    for table in document["tables"]:
        whole = table["equal_rates"]
        if isinstance(whole.get("p_value"), float):
            tables[sum(row["n"] > 0 for row in table["rows"])] = whole["p_value"]
        for row in table["rows"]:
            ratio = row["impact_ratio"]
            if "multiplicity" in ratio:
                fixed = ratio["tests"][1]["p_value"]
                fixed = fixed if isinstance(fixed, float) else 1.0
                ours.append(
                    (ratio["multiplicity"]["holm"], fixed, _truly_lower(design, row["category"], planted))
                )
    others = [one for one in document["estimates"] if "multiplicity" in one]
    fixed = _holm([p for _, p, _ in ours] + [one["tests"][0]["p_value"] for one in others])
    return Judged(
        tables=tables,
        smallest=min([p for p, *_ in ours] + [one["multiplicity"]["holm"] for one in others], default=1.0),
        smallest_fixed=min(fixed, default=1.0),
        lower=[p for p, _, lower in ours if lower],
        lower_fixed=[p for p, (_, _, lower) in zip(fixed, ours, strict=False) if lower],
        same=[p for p, _, lower in ours if not lower],
    )


def _truly_lower(
    design: Design, category: Mapping[str, str], planted: Mapping[tuple[str, str], float]
) -> bool:
    """Whether anybody of a category is at a disadvantage, and somebody of another of the table is not, or less."""
    races = design.races or RACES[:1]
    own = [
        (sex, race)
        for sex in SEXES
        for race in races
        if category.get("sex", sex) == sex and category.get("race", race) == race
    ]
    if not design.races:
        planted = {(sex, RACES[0]): value for (sex, _), value in planted.items()}
    return any(cell in planted for cell in own)


def _holm(p_values: list[float]) -> list[float]:
    reached, out = 0.0, [1.0] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min((len(p_values) - rank) * p_values[place], 1.0))
        out[place] = reached
    return out


def without_intervals() -> AbstractContextManager[object]:
    """Leave out what no p-value uses and takes two thirds of the time: intervals."""
    nothing = Undefined("not computed here")
    apart = ExitStack()
    for name, value in (("to_highest", {}), ("ratio", nothing), ("rate", nothing)):
        apart.enter_context(patch.object(Clusters, name, lambda *_, value=value: value))
    return apart


@cache
def audits(number: int, differ: bool, repeats: int) -> list[Judged]:
    """Make, measure and judge audits of one design."""
    design, found = DESIGNS[number], []
    planted = design.planted if differ else {}
    for repeat in range(repeats):
        made = design.make(np.random.default_rng([number, differ, repeat]), planted)
        if not repeat:
            hold_against_stage(design, made)
            with_them = document_of(design, made, repeat)
        with without_intervals():
            document = document_of(design, made, repeat)
        found.append(judge(design, document, planted))
        if not repeat and judge(design, with_them, planted) != found[0]:
            raise SystemExit(f"{design.name}: without intervals the tests say something else")
        if not repeat % 100:
            print(design.name, "planted" if differ else "equal", repeat, file=sys.stderr, flush=True)
    return found


def _shown(found: np.ndarray) -> str:
    """A share that has no target, as the page shows it."""
    return str(Cell(float(found.mean()), float(found.mean()), "none"))


def no_difference(scale: float) -> Study:
    repeats = int(2000 * scale)
    rows: list[list[str | Cell]] = []

    def row(what: str, part: str, p: np.ndarray, fixed: np.ndarray | None) -> None:
        none = float((p >= ALPHA).mean())
        before = "-" if fixed is None else _shown(fixed >= ALPHA)
        error = (ALPHA * (1 - ALPHA) / p.size) ** 0.5
        rows.append([what, part, f"{p.size:,}", Cell(none, none, "at least", error), before])

    for number, design in enumerate(DESIGNS):
        found = audits(number, False, repeats)
        for size in sorted({size for one in found for size in one.tables}):
            own = [one.tables[size] for one in found if size in one.tables]
            if len(own) > len(found) / 2:
                row(design.name, f"table of {size}", np.array(own), None)
        fixed = np.array([one.smallest_fixed for one in found])
        row(design.name, "any test, adjusted", np.array([one.smallest for one in found]), fixed)
    return Study(
        "Findings where nothing differs",
        "How often there is no finding at 5% where all groups are made alike: at least 95, less twice the Monte Carlo "
        "error, which is 0.5 with 2,000 audits. Each audit draws its own permutations. A table by its test that all "
        "rates are equal; an audit by the smallest adjusted p-value of its ratios and estimates (RABBI, gaps, "
        "effects). The last column is of Holm's steps over the same tests, those of ratios with the comparator held "
        "fixed though it was picked (Fisher's, or by clusters), as printed before.",
        ["audit", "what", "audits", "no finding", "comparator held fixed"],
        rows,
    )


def planted_difference(scale: float) -> Study:
    repeats, nulls = int(300 * scale), int(2000 * scale)
    error = (ALPHA * (1 - ALPHA) / repeats) ** 0.5
    rows: list[list[str | Cell]] = []
    for number, design in enumerate(DESIGNS):
        found = audits(number, True, repeats)
        # What of the ratios' findings is false: of audits without a finding, none.
        false = [
            sum(p < ALPHA for p in one.same) / max(sum(p < ALPHA for p in (*one.same, *one.lower)), 1)
            for one in found
        ]
        level = float(np.quantile([one.smallest_fixed for one in audits(number, False, nulls)], ALPHA))
        lower, fixed = (
            np.concatenate([getattr(one, part) for one in found]) for part in ("lower", "lower_fixed")
        )
        true = 1.0 - float(np.mean(false))
        shares = [(lower < ALPHA), (fixed < ALPHA), (fixed < level)]
        rows.append([
            design.name, Cell(true, true, "at least", error),
            *(_shown(share) for share in shares), f"{100 * level:.1f}",
        ])  # fmt: skip
    return Study(
        "Findings where something differs",
        f"{repeats:,} audits a row. Some groups are made with rates of 0.55 times those of all others (LL144), or with "
        "scores 0.6 standard deviations behind. First the mean share of an audit's findings among ratios that are "
        "true, which is 100 less the false discovery rate: at least 95. Then how many of the categories that are truly "
        "lower are found, after the adjustment: by the tests that allow for picking, by Holm's steps with the "
        "comparator held fixed at 5%, and by these at the level at which they have a finding in 5% of audits without "
        "any difference (last column). Where the second is larger than the first, that is what honest levels cost; the "
        "third shows what is left of it at equal levels.",
        ["audit", "findings that are true", "found", "found, comparator held fixed", "the same at its honest level",
         "that level, %"],
        rows,
    )  # fmt: skip


def main() -> None:
    """Time the permutations of a table of 14 categories and a million people."""
    rng = np.random.default_rng(0)
    totals = rng.multinomial(1_000_000, rng.dirichlet(np.full(14, 2.0)))
    for rates in (np.full(14, 0.3), np.linspace(0.3, 0.35, 14)):
        selected = rng.binomial(totals, rates)
        begun = time.process_time()
        found = equal_rates(selected.tolist(), totals.tolist())
        print(f"{time.process_time() - begun:.3f} s of CPU: p {found.p_value:.3g}; {found.method}")


if __name__ == "__main__":
    main()
