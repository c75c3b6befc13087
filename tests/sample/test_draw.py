from __future__ import annotations

import random
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, SpecError
from audit_lib.sample.draw import SampleStratum, allocate
from audit_lib.sample.draw import draw as draw_units
from tests.sample.cases import document, people, prompts, run, write


def draw(units: dict[str, SampleStratum], size: int | None, seed: int) -> tuple[list[str], dict[Any, int]]:
    """Return the ids of the units that are drawn, and how many of each stratum."""
    ids, strata = [*units], [*dict.fromkeys(units.values())]
    found = draw_units(
        np.array([strata.index(one) for one in units.values()]), strata,
        lambda: np.array(sorted(range(len(ids)), key=ids.__getitem__)), size, seed,
    )  # fmt: skip
    chosen = range(len(ids)) if found.units is None else found.units
    return sorted(ids[place] for place in chosen), found.drawn


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8).filter(any), st.integers(0, 1200))
def test_allocation_is_proportional(available: list[int], size: int) -> None:
    quotas = allocate(available, size)
    total = sum(available)
    assert sum(quotas) == min(size, total)
    if size >= total:
        assert quotas == available
        return
    shares = [Fraction(size * count, total) for count in available]
    for quota, share, count in zip(quotas, shares, available, strict=True):
        assert floor(share) <= quota <= min(floor(share) + 1, count)
    up = [share - floor(share) for share, quota in zip(shares, quotas, strict=True) if quota > floor(share)]
    down = [
        share - floor(share) for share, quota in zip(shares, quotas, strict=True) if quota == floor(share)
    ]
    assert not up or not down or min(up) >= max(down)


@given(st.integers(0, 40), st.integers(0, 2**63 - 1), st.randoms(use_true_random=False))
def test_a_draw_does_not_depend_on_the_order_of_its_input(
    size: int, seed: int, shuffler: random.Random
) -> None:
    units = [(f"u{index}", ("a" if index % 3 else "b",)) for index in range(30)]
    shuffled = list(units)
    shuffler.shuffle(shuffled)
    result = draw(dict(units), size, seed)
    assert result == draw(dict(shuffled), size, seed)
    assert len(result[0]) == len(set(result[0])) == min(size, 30)


def test_every_unit_is_drawn_equally_often() -> None:
    units = {f"u{index}": ("a" if index < 10 else "b",) for index in range(15)}
    counts = dict.fromkeys(units, 0)
    draws = 3000
    for seed in range(draws):
        for unit in draw(units, 6, seed)[0]:
            counts[unit] += 1
    # Standard deviation of each count: sqrt(3000 x 0.4 x 0.6) = 26.8.
    assert all(abs(count - draws * 0.4) < 4.5 * 26.8 for count in counts.values())


def test_another_seed_draws_others() -> None:
    units = {f"u{index}": () for index in range(100)}
    assert draw(units, 10, 1)[0] != draw(units, 10, 2)[0]
    assert draw(units, 10, 1)[0] == draw(units, 10, 1)[0]


def test_an_unknown_level_is_a_stratum_of_its_own() -> None:
    units = {"a": ("x",), "b": (None,), "c": (None,), "d": ("",)}
    assert draw(units, None, 0)[1] == {("",): 1, ("x",): 1, (None,): 2}


def test_the_sample_is_the_same_whatever_the_order_of_rows(tmp_path: Path) -> None:
    rows = people(7)
    write(tmp_path, "prompts.jsonl", rows)
    first = run(tmp_path, sample={"size": 4})
    write(tmp_path, "prompts.jsonl", rows[::-1])
    second = run(tmp_path, sample={"size": 4})
    assert first.artefacts["prompts.parquet"] == second.artefacts["prompts.parquet"]
    assert document(first)["strata"] == [
        {"position": "finance", "available": 3, "drawn": 2},
        {"position": "retail", "available": 4, "drawn": 2},
    ]
    assert document(first)["rows"] == len(prompts(first)) == 4
    assert run(tmp_path, sample={"size": 4}, seed=8).artefacts != first.artefacts


def test_strata_of_attributes(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(7))
    drawn = document(run(tmp_path, sample={"size": 3, "strata": ["sex", "race"]}))["strata"]
    assert [(s["sex"], s["race"], s["available"]) for s in drawn] == [
        ("female", "Black", 1),
        ("female", "White", 2),
        ("male", "Black", 2),
        ("male", "White", 2),
    ]
    assert sum(s["drawn"] for s in drawn) == 3


def test_a_sample_larger_than_the_window_is_all_of_it(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(7))
    assert len(prompts(run(tmp_path, sample={"size": 1000}))) == 7


def test_strata_that_do_not_exist(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(7))
    with pytest.raises(SpecError, match=r"sample\.strata: 'postion' .* did you mean 'position'"):
        run(tmp_path, sample={"strata": ["postion"]})


def test_strata_that_split_a_round(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", [{**row, "round_id": "r"} for row in people(7)])
    with pytest.raises(InputError, match="candidates of one round differ in position"):
        run(tmp_path, decision={"rule": "top_k", "k": 1, "round": "round_id"})


def _versions() -> list[dict[str, object]]:
    return [
        {**row, "prompt_id": f"{row['prompt_id']}/{version}", "position": "retail"}
        for row in people(6)
        for version in range(3)
    ]


def test_versions_of_an_application_are_drawn_whole(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", _versions())
    decision = {"rule": "top_k", "k": 1, "round": "application_id"}
    output = run(tmp_path, sample={"size": 2}, decision=decision)
    assert prompts(output)["application_id"].value_counts().tolist() == [3, 3]
    assert document(output)["unit"] == "application"
    assert document(output)["strata"] == [{"position": "retail", "available": 6, "drawn": 2}]


def test_the_window_may_not_cut_an_application(tmp_path: Path) -> None:
    rows = _versions()
    rows[4]["occurred_at"] = "2026-02-01T00:00:00+00:00"
    write(tmp_path, "prompts.jsonl", rows)
    with pytest.raises(InputError, match="the window cuts this candidate's application"):
        run(tmp_path, decision={"rule": "top_k", "k": 1, "round": "application_id"})


def test_a_source_that_changed_after_it_was_sampled_is_told(tmp_path: Path) -> None:
    from audit_lib.pipeline import run_stage
    from audit_lib.run import Run
    from tests.sample.cases import WEEK
    from tests.specs import load

    write(tmp_path, "prompts.jsonl", people(7))
    heard: list[str] = []
    audit = Run.open(load(tmp_path, source={"windowed": True}), WEEK, str(tmp_path / "store"), heard.append)
    for name in ("plan", "sample", "sample"):
        run_stage(audit, name)
    assert not any("changed" in message for message in heard)
    write(tmp_path, "prompts.jsonl", people(6))
    run_stage(audit, "sample")
    assert "prompts.jsonl: the source changed since this run was sampled" in heard[-1]
