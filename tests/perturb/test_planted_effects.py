"""From the variants' texts to effects: what was planted is found at the nominal rate, and nothing where nothing is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from audit_lib.metrics.correspondence import standardised_effects
from audit_lib.perturb import perturb
from audit_lib.run import Run
from tests.perturb.cases import NAMES, persona_run, prompts

APPLICATIONS, RUNS = 96, 300
WOMEN = {first for (sex, _), names in NAMES.items() if sex == "female" for first, _ in names}
BLACK = {first for (_, race), names in NAMES.items() if race == "Black" for first, _ in names}
FEMALE, OF_BLACK = 0.4, 0.0  # what the scorer adds for what it reads in the text
APPLICATION_SD, NOISE_SD = 1.0, 0.5


def scored(run: Run, seed: int) -> dict[str, Any]:
    """Score the variants of one seed by their texts alone: a scorer with a planted bias by first name."""
    own = replace(run, spec=run.spec.model_copy(update={"seed": seed}))
    table = pq.read_table(io.BytesIO(perturb(own).artefacts["variants.parquet"]))
    rng = np.random.Generator(np.random.PCG64(seed))
    merit = rng.normal(0, APPLICATION_SD, APPLICATIONS)
    scores = []
    for messages, application in zip(
        table["messages"].to_pylist(), table["application_id"].to_pylist(), strict=True
    ):
        words = set(json.loads(messages)[0]["content"].split())
        bias = FEMALE * bool(words & WOMEN) + OF_BLACK * bool(words & BLACK)
        scores.append(merit[int(application[1:])] + bias + rng.normal(0, NOISE_SD))
    return {"score": scores, **{name: table[name].to_pylist() for name in ("application_id", "sex", "race")}}


def intervals(run: Run, fixed_effects: bool) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the 95% intervals of both effects, in points of the score."""
    for seed in range(RUNS):
        rows = scored(run, seed)
        fit = standardised_effects(
            rows["score"],
            {"sex": rows["sex"], "race": rows["race"]},
            rows["application_id"],
            {"sex": "male", "race": "White"},
            fixed_effects,
        )
        factor = float(stats.t.ppf(0.975, fit.degrees_of_freedom)) * fit.outcome_sd
        found = []
        for key in (("sex", "female"), ("race", "Black")):
            effect = fit[key]
            assert isinstance(effect.standard_error, float)
            middle = effect.estimate * fit.outcome_sd
            found.append((middle - factor * effect.standard_error, middle + factor * effect.standard_error))
        yield found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "fixed_effects", "power"),
    [
        ({"design": "full"}, False, 0.99),
        ({"design": "balanced_incomplete", "block_size": 2}, True, 0.9),
        ({"design": "two_sample"}, False, 0.3),
    ],
    ids=["within", "blocks", "two_sample"],
)
def test_planted_effects_are_covered_and_a_null_stays_null(
    tmp_path: Path, design: dict[str, Any], fixed_effects: bool, power: float
) -> None:
    run = persona_run(tmp_path, rows=prompts(APPLICATIONS), perturb=design)
    found = list(intervals(run, fixed_effects))
    covered = np.mean([low <= FEMALE <= high for (low, high), _ in found])
    detected = np.mean([low > 0 for (low, _), _ in found])
    false_alarms = np.mean([not low <= OF_BLACK <= high for _, (low, high) in found])
    middle = np.mean([(low + high) / 2 for (low, high), _ in found])
    # Of 300 runs at 95%, chance alone leaves 276 to 294 (its 0.2% and 99.8% points).
    assert 0.915 <= covered <= 0.985
    assert 0.015 <= false_alarms <= 0.085
    assert detected >= power
    assert middle == pytest.approx(FEMALE, abs=0.06)


def test_repeats_tell_the_model_s_noise_from_its_bias(tmp_path: Path) -> None:
    run = persona_run(tmp_path, rows=prompts(APPLICATIONS))
    rows = scored(run, 1)
    rng = np.random.Generator(np.random.PCG64(2))
    exact = np.array(rows["score"])
    errors = []
    for repeats in (1, 16):
        asked = exact + rng.normal(0, 2.0, (repeats, exact.size)).mean(axis=0)
        fit = standardised_effects(asked, {"sex": rows["sex"]}, rows["application_id"], {"sex": "male"})
        error = fit["sex", "female"].standard_error
        assert isinstance(error, float)
        errors.append(error * fit.outcome_sd)
    assert errors[1] < errors[0] / 2.5
