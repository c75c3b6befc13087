"""Metrics that grow with the answers to each prompt say how many there were, and warn where they are few."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from audit_lib.measure.remarks import remarks
from tests.measure.tables import measured, table
from tests.specs import load

GROWING = ("expected_maximum", "probability_of_any")


def repeated(times: int, fewer_for: str = "") -> pd.DataFrame:
    """Each row answered so many times; the rows of one sex once less."""
    one = table(24)
    parts = [one.assign(repeat=number) for number in range(times)]
    if fewer_for:
        parts[-1] = parts[-1][parts[-1]["sex"] != fewer_for]
    return pd.concat(parts, ignore_index=True)


def of_all(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [e for part in found[:1] for e in part["estimates"]]


@pytest.mark.parametrize("name", GROWING)
def test_the_answers_to_each_prompt_are_counted_on_each_side(name: str) -> None:
    found = of_all(measured(name, repeated(3, fewer_for="female")))
    counts = {
        (e["metric"], *sorted(e["group"].items()), bool(e["reference"])): (
            e["parameters"]["generations"], e["parameters"]["generations_most"],
        )
        for e in found
    }  # fmt: skip
    assert counts[name, ("sex", "female"), False] == (2, 2)
    assert counts[name, ("sex", "male"), False] == (3, 3)
    assert counts[f"{name}_gap", ("sex", "female"), True] == (2, 3)
    assert all("few_generations" in e["flags"] for e in found)


def test_enough_answers_are_not_flagged_and_a_share_does_not_grow() -> None:
    enough = of_all(measured("probability_of_any", repeated(25)))
    assert {e["parameters"]["generations"] for e in enough} == {25}
    assert not any("few_generations" in e["flags"] for e in enough)
    assert not any("generations" in e["parameters"] for e in of_all(measured("fraction", repeated(2))))


@pytest.mark.parametrize(("repeats", "told"), [(3, True), (25, False)])
def test_a_spec_with_few_generations_is_told_before_it_is_run(repeats: int, told: bool) -> None:
    spec = load(
        task="generation",
        decision=None,
        score={"repeats": repeats},
        generation={"temperature": 1.0},
        classifiers=[{"name": "mood", "kind": "vader", "measures": "toxicity"}],
        measure={"metrics": ["expected_maximum", "fraction"]},
    )
    found = [line for line in remarks(spec) if "generations" in line]
    assert bool(found) is told
    assert all("has expected_maximum, which" in line and f"repeats is {repeats};" in line for line in found)
