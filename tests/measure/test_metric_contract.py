"""What every registered metric must do, whoever wrote it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pyarrow as pa

from audit_lib.measure.metric import METRICS, Measured
from audit_lib.measure.rows import Answers, Rows, make_rows, strata
from audit_lib.policies import load_policy
from audit_lib.spec import AuditSpec
from tests.specs import load

POLICY = load_policy("nyc_ll144")
SPEC = load(decision={"rule": "recorded"})


def table(n: int = 48, *, seed: int = 3, ties: bool = False) -> pd.DataFrame:
    """Rows as the stage loads them: four groups in pools of eight, two positions."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 3, n).astype(float) if ties else rng.normal(size=n)
    index = np.arange(n)
    return pd.DataFrame(
        {
            "variant_id": [f"v{i:04d}" for i in index],
            "application_id": [f"a{i // 2:04d}" for i in index],
            "position": np.where(index < n // 2, "cook", "driver"),
            "round_id": [f"r{i // 8}" for i in index],
            "sex": np.where(index % 2, "female", "male"),
            "race": np.where(index // 2 % 2, "Black", "White"),
            "score": score,
            "selected": pd.array(rng.integers(0, 2, n) == 1, dtype="boolean"),
        }
    )


def shard(table: pd.DataFrame, ids: pa.Array) -> Answers:
    scores = pa.table(
        {
            "variant_id": pa.array(table["variant_id"], pa.string()),
            "repeat": pa.array([0] * len(table), pa.int32()),
            "model": pa.array(["m"] * len(table), pa.string()),
            "label_mass": pa.array([0.5] * len(table), pa.float64()),
            "score": pa.array(table["score"].to_numpy(dtype=float), from_pandas=True),
            "selected": pa.array(table["selected"], pa.bool_()),
            "status": pa.array(["unparsed" if np.isnan(x) else "ok" for x in table["score"].astype(float)], pa.string()),
        }
    )
    return Answers.of_shard(scores, ids)


def as_rows(table: pd.DataFrame, spec: AuditSpec = SPEC, cuts: int = 1) -> Rows:
    """The rows as the stage makes them, from any order and any number of shards."""
    variants = table.sort_values("variant_id").assign(recorded_selected=None)
    schema = pa.schema([(n, pa.string()) for n in ("variant_id", "application_id", "position", "round_id", "sex", "race")])
    schema = schema.append(pa.field("recorded_selected", pa.bool_()))
    made = pa.Table.from_pandas(variants[schema.names], schema=schema, preserve_index=False)
    ids = made["variant_id"].combine_chunks()
    merged, *others = [shard(table.iloc[i::cuts], ids) for i in range(cuts)]
    for other in others:
        merged = merged.merge(other)
    return make_rows(made, merged, spec)


def measured(name: str, table: pd.DataFrame, cuts: int = 1) -> list[dict[str, Any]]:
    return [METRICS.get(name)(part, SPEC, POLICY).as_dict() for part in strata(as_rows(table, cuts=cuts), SPEC)]


@pytest.fixture(params=METRICS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [x for item in value.values() for x in numbers(item)]
    if isinstance(value, list):
        return [x for item in value for x in numbers(item)]
    return [value] if isinstance(value, float) else []


def test_it_gives_something_finite_that_json_can_write(name: str) -> None:
    first = measured(name, table())
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    assert any(part["estimates"] or part["tables"] for part in first)
    assert np.isfinite(numbers(first)).all()


@pytest.mark.parametrize("cuts", [2, 7, 48])
def test_order_and_shards_change_not_a_bit(name: str, cuts: int) -> None:
    whole = table(ties=True)
    assert measured(name, whole.sample(frac=1, random_state=cuts), cuts) == measured(name, whole)


@pytest.mark.parametrize("n", [0, 1, 8])
def test_small_cells_are_marked_and_nothing_fails(name: str, n: int) -> None:
    rows = table().head(n)
    for part in measured(name, rows):
        estimates = part["estimates"] + [row["impact_ratio"] for t in part["tables"] for row in t["rows"]]
        for estimate in estimates:
            assert "small_cell" in estimate["flags"]


def test_an_empty_audit_is_undefined_and_not_zero(name: str) -> None:
    (part, *_) = measured(name, table().head(0))
    values = [e["value"] for e in part["estimates"]] + [r["impact_ratio"]["value"] for t in part["tables"] for r in t["rows"]]
    assert values
    assert all("undefined" in value for value in values)


def test_one_class_everybody_ties(name: str) -> None:
    rows = table().assign(score=0.5, selected=pd.array([False] * 48, dtype="boolean"))
    for part in measured(name, rows):
        assert np.isfinite(numbers(part)).all()
        for e in part["estimates"]:
            assert e["value"] == 0.0, "everybody ties: no group is ahead"
        for t in part["tables"]:
            assert all("undefined" in row["impact_ratio"]["value"] for row in t["rows"]), "0 / 0 is no ratio"


def test_answers_that_are_missing_leave_the_rest_as_it_was(name: str) -> None:
    rows = table()
    extra = table(seed=9).assign(variant_id=lambda f: "x" + f["variant_id"], score=np.nan, round_id="lost")
    extra["selected"] = pd.array([pd.NA] * len(extra), dtype="boolean")
    for a, b in zip(measured(name, pd.concat([rows, extra], ignore_index=True)), measured(name, rows), strict=True):
        assert numbers(a) == pytest.approx(numbers(b))


def test_rows_of_unknown_group_are_in_no_group(name: str) -> None:
    rows = table()
    unknown = table(seed=5).assign(variant_id=lambda f: "x" + f["variant_id"], sex=None, race=None, round_id="unknown")
    both = pd.concat([rows, unknown], ignore_index=True)
    for a, b in zip(measured(name, both), measured(name, rows), strict=True):
        assert [e["n_group"] for e in a["estimates"]] == [e["n_group"] for e in b["estimates"]]
        for t in a["tables"]:
            assert t["unknown"] == len(unknown) // (2 if t["stratum"] else 1)


def test_swapping_group_and_reference_swaps_the_sign(name: str) -> None:
    swapped = load(decision={"rule": "recorded"}, groups={"reference": {"sex": "female", "race": "Black"}})
    (part,) = [p for p in strata(as_rows(table(ties=True)), SPEC) if not p.levels]
    (mirror,) = [p for p in strata(as_rows(table(ties=True), swapped), swapped) if not p.levels]
    ours: Measured = METRICS.get(name)(part, SPEC, POLICY)
    theirs: Measured = METRICS.get(name)(mirror, swapped, POLICY)
    for estimate in ours.estimates:
        for other in theirs.estimates:
            if other.group == estimate.reference and other.reference == estimate.group and other.parameters == estimate.parameters:
                assert estimate.value == pytest.approx(-other.value)
    assert [t.as_dict() for t in ours.tables] == [t.as_dict() for t in theirs.tables], "tables know no reference"
