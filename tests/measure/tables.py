"""Small tables of scored rows, made into what the stage `metrics` works on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows import Rows, make_rows, strata
from audit_lib.policies import load_policy
from audit_lib.spec import AuditSpec
from tests.specs import load

POLICY = load_policy("nyc_ll144")
SPEC = load(decision={"rule": "recorded"})

_TEXTS = ("variant_id", "application_id", "position", "round_id", "sex", "race")


def table(n: int = 48, *, seed: int = 3, ties: bool = False) -> pd.DataFrame:
    """Rows of four groups in pools of eight, in two positions, two rows an application."""
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
            "qualified": pd.array(rng.integers(0, 3, n) > 0, dtype="boolean"),
        }
    )


def scores(table: pd.DataFrame) -> pa.Table:
    """The score rows of a shard."""
    return pa.table(
        {
            "variant_id": pa.array(table["variant_id"], pa.string()),
            "repeat": pa.array(table.get("repeat", pd.Series(0, table.index)), pa.int32()),
            "model": pa.array(["m"] * len(table), pa.string()),
            "label_mass": pa.array([0.5] * len(table), pa.float64()),
            "score": pa.array(table["score"].to_numpy(dtype=float), from_pandas=True),
            "selected": pa.array(table["selected"], pa.bool_()),
            "status": pa.array(
                ["unparsed" if np.isnan(x) else "ok" for x in table["score"].astype(float)], pa.string()
            ),
        }
    )


def variants(table: pd.DataFrame) -> pa.Table:
    """The table of variants, in the order given."""
    table = table.drop_duplicates("variant_id").assign(recorded_selected=None)
    columns = {name: pa.array(table[name], pa.string(), from_pandas=True) for name in _TEXTS}
    columns["recorded_selected"] = pa.nulls(len(table), pa.bool_())
    columns["qualified"] = pa.array(table["qualified"], pa.bool_())
    outcome = table["outcome"].to_numpy(dtype=float) if "outcome" in table else np.full(len(table), np.nan)
    columns["outcome"] = pa.array(outcome, pa.float64(), from_pandas=True)
    return pa.table(columns)


def as_rows(table: pd.DataFrame, spec: AuditSpec = SPEC, cuts: int = 1) -> Rows:
    """The rows as the stage makes them, from any order and any number of shards."""
    return make_rows(variants(table), [scores(table.iloc[i::cuts]) for i in range(cuts)], spec)[0]


def parts(rows: Rows, spec: AuditSpec = SPEC) -> list[Rows]:
    """All strata of the spec."""
    return [part for names in spec.measure.strata for part in strata(rows, names)]


def measured(name: str, table: pd.DataFrame, cuts: int = 1, spec: AuditSpec = SPEC) -> list[dict[str, Any]]:
    """What a metric gives in every stratum, as JSON."""
    return [
        METRICS.get(name)(part, spec, POLICY).as_dict() for part in parts(as_rows(table, spec, cuts), spec)
    ]
