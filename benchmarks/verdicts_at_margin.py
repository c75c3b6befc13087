"""How often are groups called equivalent whose difference is at the margin, and a ratio below the line that is on it?

    python -m benchmarks.coverage --only verdicts   # 15 minutes of CPU; --repeats 0.2: the page's

Audits of made-up people go through `measure_rows`, which is all that the stage `metrics` does with rows. What is read
is the verdict of the document: *equivalent*, and a difference *within the margin*, claim that a number is inside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from benchmarks.coverage_tables import Cell, Study
from benchmarks.picking import RACES, SEXES, Columns, Design, document_of, spec_of

ALPHA: Final = 0.05
MARGIN: Final = 0.8


@dataclass(frozen=True)
class AtMargin:
    """Audits in which the true value of every comparison of women, or of the first races, is exactly at its margin.

    Parameters
    ----------
    at : callable
        Whether a group, by its levels, is at the margin.
    apart : callable
        (generator, whether at the margin) -> people; else groups are alike.
    """

    name: str
    spec: str
    races: tuple[str, ...]
    apart: Callable[[np.random.Generator, bool], Columns]
    at: Callable[[Mapping[str, str]], bool]


def _spec(decision: str, metrics: str, margins: str = "", races: tuple[str, ...] = ()) -> str:
    said = spec_of("self_reported", races, decision, metrics)
    if not margins:
        return said
    return said.replace("strata: [[]]", f"strata: [[]], margins: {{{margins}}}")


def _decided(rng: np.random.Generator, rates: Mapping[tuple[str, str], float], each: int) -> Columns:
    cells = list(rates)
    sex, race = (np.repeat([cell[i] for cell in cells], each) for i in (0, 1))
    number = np.arange(sex.size)
    hit = rng.random(sex.size) < np.repeat(list(rates.values()), each)
    return {"sex": sex, "race": race, "application": number, "round": number, "hit": hit}


def _two(rng: np.random.Generator, apart: bool, each: int) -> Columns:
    return _decided(rng, {("Female", "White"): 0.5 * (MARGIN if apart else 1), ("Male", "White"): 0.5}, each)


def _fourteen(rng: np.random.Generator, apart: bool, each: int) -> Columns:
    """Women of all races, and so women, at the margin; the races are alike."""
    rates = {
        (sex, race): 0.5 * (MARGIN if apart and sex == "Female" else 1) for sex in SEXES for race in RACES
    }
    return _decided(rng, rates, each)


def _clustered(rng: np.random.Generator, apart: bool, persons: int) -> Columns:
    """Five decisions a person, who are selected more or less often: beta rates, intraclass correlation .2."""
    made = _two(rng, apart, persons)
    rate = np.where((made["sex"] == "Female") & apart, 0.5 * MARGIN, 0.5)
    own = rng.beta(4 * rate, 4 * (1 - rate))
    found = {name: np.repeat(values, 5) for name, values in made.items()}
    found["hit"] = rng.random(5 * own.size) < np.repeat(own, 5)
    return found


def _scored(rng: np.random.Generator, apart: float, each: int) -> Columns:
    made = _two(rng, False, each)
    del made["hit"]
    made["score"] = rng.normal(size=2 * each) - apart * (made["sex"] == "Female")
    return made


def _versions(rng: np.random.Generator, apart: float, count: int) -> Columns:
    """Applications in a version of each sex, scored much alike; the effect is in SDs of all scores."""
    application = np.repeat(np.arange(count), 2)
    sex = np.tile(SEXES, count)
    score = np.repeat(rng.normal(size=count), 2) + rng.normal(size=2 * count)
    # The outcome's SD has the effect in it: d = g / sqrt(2 + g^2 / 4), so g = d sqrt(2 / (1 - d^2 / 4)).
    gap = apart * (2 / (1 - apart**2 / 4)) ** 0.5
    race = np.full(2 * count, "White")
    return {
        "sex": sex, "race": race, "application": application, "round": application,
        "score": score - gap * (sex == "Female"),
    }  # fmt: skip


def _everybody(levels: Mapping[str, str]) -> bool:
    return True


def _women(levels: Mapping[str, str]) -> bool:
    return levels.get("sex") == "Female"


_TIED: Final = 0.2
_RABBI: Final = 0.11246291601828489
"""2 Phi(.2 / sqrt 2) - 1: the index of scores .2 standard deviations apart."""

DESIGNS: Final = (
    AtMargin("ratio .8, two categories of 400", _spec("{rule: recorded}", "impact_ratio"), (),
             lambda rng, apart: _two(rng, apart, 400), _everybody),
    AtMargin("ratio .8, two categories of 100", _spec("{rule: recorded}", "impact_ratio"), (),
             lambda rng, apart: _two(rng, apart, 100), _everybody),
    AtMargin("ratio .8, LL144 report of 14 x 150", _spec("{rule: recorded}", "impact_ratio", races=RACES), RACES,
             lambda rng, apart: _fourteen(rng, apart, 150), _women),
    AtMargin("ratio .8, 2 x 150 persons of five decisions", _spec("{rule: recorded}", "impact_ratio"), (),
             lambda rng, apart: _clustered(rng, apart, 150), _everybody),
    AtMargin("decision rate gap .1, two of 400",
             _spec("{rule: recorded}", "decision_rate_gap", "decision_rate_gap: 0.1"), (),
             lambda rng, apart: _two(rng, apart, 400), _everybody),
    AtMargin("score gap .2 SD and RABBI at it, two of 400",
             _spec("{rule: above_median}", "score_gap, rabbi", f"score_gap: {_TIED}, rabbi: {_RABBI}"), (),
             lambda rng, apart: _scored(rng, _TIED * apart, 400), _everybody),
    AtMargin("standardised effect .2, 300 applications in two versions",
             _spec("{rule: above_median}", "standardised_effect", "standardised_effect: 0.2")
             .replace("provenance: self_reported", "provenance: assigned"), (),
             lambda rng, apart: _versions(rng, 0.2 * apart, 300), _everybody),
)  # fmt: skip


def _claims(document: dict[str, Any], at: Callable[[Mapping[str, str]], bool]) -> tuple[bool, bool]:
    """Whether a group that is at its margin is said to be inside it, and whether one is said to be beyond."""
    said = [
        (row["impact_ratio"]["verdict"], row["category"])
        for table in document["tables"]
        for row in table["rows"]
        if "verdict" in row["impact_ratio"]
    ]
    said += [(one["verdict"], one["group"]) for one in document["estimates"] if "verdict" in one]
    own = [verdict for verdict, levels in said if at(levels)]
    inside = any(one["kind"] == "equivalent" or one.get("size") == "within" for one in own)
    return inside, any(one.get("size") == "beyond" for one in own)


def verdicts(scale: float) -> Study:
    repeats = int(2000 * scale)
    error = (ALPHA * (1 - ALPHA) / repeats) ** 0.5
    rows: list[list[str | Cell]] = []
    for number, at in enumerate(DESIGNS):
        design = Design(at.name, at.spec, at.races, lambda rng, planted: {}, {})
        found: dict[bool, list[tuple[bool, bool]]] = {True: [], False: []}
        for apart in (True, False):
            for repeat in range(repeats if apart else repeats // 10):
                made = at.apart(np.random.default_rng([16, number, apart, repeat]), apart)
                found[apart].append(_claims(document_of(design, made, repeat), at.at))
            print(at.name, apart, file=sys.stderr, flush=True)
        inside, beyond = (1 - float(np.mean([one[i] for one in found[True]])) for i in (0, 1))
        power = float(np.mean([one[0] for one in found[False]]))
        rows.append([
            at.name, f"{repeats:,}", Cell(inside, inside, "at least", error), Cell(beyond, beyond, "at least", error),
            str(Cell(power, power, "none")),
        ])  # fmt: skip
    return Study(
        "Verdicts at the margin",
        "Audits in which groups are made with a difference that is exactly at its margin: how often none of them is "
        "called equivalent, or different within the margin, and how often none is called below the line, or different "
        "beyond it. At least 95 each, less twice the Monte Carlo error, which is 1.1 with 400 audits and 0.5 with "
        "2,000. Where an audit has several numbers with a margin, one false claim of any of them counts. The last "
        "column is how often one of the same groups is called equivalent where all are made alike.",
        ["audit", "audits", "not called inside", "not called beyond", "called inside where alike"],
        rows,
    )
