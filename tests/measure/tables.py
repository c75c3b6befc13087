"""Small tables of scored rows, made into what the stage `metrics` works on."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.load_texts import make_texts
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.scored import Rows, Varied, strata
from audit_lib.measure.rows.variations import twins
from audit_lib.measure.rows.word_lists import Words
from audit_lib.policies import load_policy
from audit_lib.score.classifiers import CLASSIFIED_SCHEMA
from audit_lib.spec import AuditSpec
from tests.specs import load

POLICY = load_policy("nyc_ll144")
TEXT_SECTIONS: dict[str, Any] = {
    "decision": {"rule": "recorded"},
    "classifiers": [
        {"name": "rude", "kind": "vader", "measures": "toxicity", "label": "rude"},
        {"name": "mood", "kind": "vader"},
        {"name": "meaning", "kind": "minilm"},
    ],
    "generation": {"items": 3},
    "texts": {"resamples": 199},
}
"""Sections that texts are measured by; metrics of scores do not see them."""

SPEC = load(**TEXT_SECTIONS)

OBSERVED = load(
    **TEXT_SECTIONS, groups={"provenance": "self_reported"}, measure={"thresholds": [-0.5, 0.0, 0.5]}
)
"""The same of real people: adverse impact is of nobody else."""

OF_PEOPLE = {"adverse_impact_ratio"}

IMPUTED = load(
    **TEXT_SECTIONS,
    groups={
        "provenance": "inferred",
        "imputed": {
            "sex": {"counts": {"female": {"female": 40, "male": 9}, "male": {"female": 5, "male": 46}}}
        },
    },
)
"""The same of people whose sex is a classifier's label."""

OF_LABELS = {"imputed_rate_gap", "imputed_impact_ratio"}

OF_PROBABILITIES = {"calibration_gap"}
"""Metrics of scores in [0, 1]: they are measured of the logistic function of a table's scores."""

WORDS = Words(
    protected={
        "sex": {"female": ("she", "her"), "male": ("he", "his")},
        "race": {"Black": ("black",), "White": ("white",)},
    },
    targets=("kind", "able", "late"),
)

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
            **_texts(n, np.random.default_rng([seed, 1]), ties=ties),
        }
    )


def _texts(n: int, rng: np.random.Generator, *, ties: bool) -> dict[str, Any]:
    """What each row says, which three items it recommends, and what classifiers find in it."""
    words = ["kind", "able", "late", "good", "work"]
    names = [("he", "she")[i % 2] for i in range(n)]
    digits = 1 if ties else 6
    return {
        "text": [
            f"{who} is {a} {b} and {c} says the {color} house" if c != who else f"{who} is {a} {b} {a}"
            for who, a, b, c, color in zip(
                names,
                rng.choice(words, n),
                rng.choice(words, n),
                rng.choice(["he", "she", "her", "his"], n),
                rng.choice(["black", "white"], n),
                strict=True,
            )
        ],
        "items": [list(rng.permutation(["a", "b", "c", "d", "e"])[:3]) for _ in range(n)],
        "rude": rng.random(n).round(digits),
        "mood": rng.random(n).round(digits),
        "meaning": [rng.normal(size=4).round(3).tolist() for _ in range(n)],
    }


def answers(table: pd.DataFrame) -> pa.Table:
    """The texts of a shard's score rows."""
    return pa.table(
        {
            "variant_id": pa.array(table["variant_id"], pa.string()),
            "repeat": pa.array(table.get("repeat", pd.Series(0, table.index)), pa.int32()),
            "text": pa.array(table["text"], pa.string()),
            "items": pa.array([json.dumps(items) for items in table["items"]], pa.string()),
            "status": pa.array(
                ["unparsed" if np.isnan(x) else "ok" for x in table["score"].astype(float)], pa.string()
            ),
        }
    )


def classified(table: pd.DataFrame) -> pa.Table:
    """What the classifiers of `TEXT_SECTIONS` say of a shard's texts."""
    table = table[table["score"].notna()]
    repeat = table.get("repeat", pd.Series(0, table.index))
    rows = []
    for name, label in (("rude", "rude"), ("mood", "sentiment"), ("meaning", "embedding")):
        for variant_id, number, value in zip(table["variant_id"], repeat, table[name], strict=True):
            row = {"variant_id": variant_id, "repeat": number, "classifier": name, "label": label}
            found = {"vector": value} if name == "meaning" else {"score": float(value)}
            rows.append({**row, **found, "truncated": False})
    return pa.Table.from_pylist(rows, schema=CLASSIFIED_SCHEMA)


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
    shards = [table.iloc[i::cuts] for i in range(cuts)]
    rows, ids = make_rows(variants(table), [scores(shard) for shard in shards], spec)
    rows = replace(rows, varied=_varied(table, spec, rows, ids))
    rows = replace(rows, pairs=PairAnswers.of(pairs(table), ids))
    if "text" not in table:
        return rows
    own = variants(table)
    nothing = ["none"] * len(own), ["{}"] * len(own)
    own = own.append_column("prompt_id", own["variant_id"])
    for name, column in zip(("perturbation", "edits"), nothing, strict=True):
        own = own.append_column(name, pa.array(column, pa.string()))
    texts = make_texts(
        own, [answers(s) for s in shards], [classified(s) for s in shards], rows, ids, spec, WORDS
    )
    return replace(rows, texts=texts)


def _varied(table: pd.DataFrame, spec: AuditSpec, rows: Rows, ids: pa.ChunkedArray) -> Varied:
    """Controls that fall a tenth towards the mean, and a model that takes those above the mean for another sex."""
    one = table.drop_duplicates("variant_id")
    mean = one["score"].mean()
    levels = spec.groups.attributes["sex"]
    other = [levels.index(sex) if sex in levels else 0 for sex in one["sex"]] != (one["score"] > mean)
    kinds = {
        "control": 0.9 * one["score"] + 0.1 * mean,
        "check:sex": other.astype(float).where(one["score"].notna()),
    }
    made = [
        one.assign(variant_id=one["variant_id"] + "/" + kind, score=score, variation=kind, round_id=None)
        for kind, score in kinds.items()
    ]
    beside = pd.concat(made, ignore_index=True)
    own = variants(beside).append_column("variation", pa.array(beside["variation"], pa.string()))
    undecided = spec.model_copy(update={"decision": spec.decision.model_copy(update={"rule": "none"})})
    found = make_rows(own, [scores(beside)], undecided)[0]
    both = pa.concat_tables(
        [
            pa.table({"variant_id": x["variant_id"], "prompt_id": x["variant_id"].str.split("/").str[0]})
            .append_column("edits", pa.array(["{}"] * len(x), pa.string()))
            .append_column(
                "variation", pa.array([kind] * len(x) if kind is None else x["variation"], pa.string())
            )
            for kind, x in ((None, one), ("beside", beside))
        ]
    )
    return twins(rows, Varied(rows=found, twin=np.full(len(found), np.nan)), both)


def pairs(table: pd.DataFrame) -> pa.Table:
    """Answers of a model that names whoever has the higher score, and calls equal ones a tie."""
    asked = table.dropna(subset=["score"]).drop_duplicates("variant_id")
    people = list(zip(asked["variant_id"], asked["round_id"], asked["score"], strict=True))
    found = [
        (a, b, "first" if one > other else "second" if other > one else "tie")
        for (a, pool, one), (b, home, other) in permutations(people, 2)
        if pool == home
    ]
    return pa.table(
        {
            "first": pa.array([a for a, _, _ in found], pa.string()),
            "second": pa.array([b for _, b, _ in found], pa.string()),
            "repeat": pa.array([0] * len(found), pa.int32()),
            "answer": pa.array([said for _, _, said in found], pa.string()),
        }
    )


def parts(rows: Rows, spec: AuditSpec = SPEC) -> list[Rows]:
    """All strata of the spec."""
    return [part for names in spec.measure.strata for part in strata(rows, names)]


def measured(name: str, table: pd.DataFrame, cuts: int = 1, spec: AuditSpec = SPEC) -> list[dict[str, Any]]:
    """What a metric gives in every stratum, as JSON."""
    spec = OBSERVED if name in OF_PEOPLE and spec is SPEC else spec
    spec = IMPUTED if name in OF_LABELS and spec is SPEC else spec
    if name in OF_PROBABILITIES:
        table = table.assign(score=1 / (1 + np.exp(-table["score"].astype(float))))
    return [
        METRICS.get(name)(part, spec, POLICY).as_dict()
        for part in _parts_of(pickle.dumps(table), cuts, spec.canonical())
    ]


@cache
def _parts_of(pickled: bytes, cuts: int, canonical: bytes) -> list[Rows]:
    """The strata of a table, made once for all metrics that are measured in it, as the stage makes them."""
    spec = AuditSpec.load_text(canonical.decode(), Path("audit.yaml"))
    return parts(as_rows(pickle.loads(pickled), spec, cuts), spec)
