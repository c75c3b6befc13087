"""Columns that only some audits split by: a field of the source such as the employer, and the tool's classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.errors import InputError
from audit_lib.parquet_batches import batches_of
from audit_lib.policies import policy_of
from audit_lib.run import Run
from audit_lib.sample.values import imputed_shares, sampling_weights, yes_or_no
from audit_lib.spec import AuditSpec

CLASSIFICATION: Final = "classification"
"""Name of the column that holds the group into which the tool put each person."""

TRUE_CLASS: Final = "true_class"
"""Name of the column that holds the class that each person turned out to be of, where the source says so."""

WEIGHT: Final = "sampling_weight"
"""Name of the column of sampling weights, where the spec names one of the source's."""

_READ: Final = 1 << 16
"""Rows read at a time."""

IMPUTED: Final = "imputed "
"""Begins the name of a column of probabilities of an attribute's levels; the attribute ends it."""

_OURS: Final = ("position", "model", "application_id", "round_id", "qualified")


def with_further(run: Run, variants: pa.Table, shards: Sequence[int]) -> pa.Table:
    """Add the columns of `source.fields` by which the spec splits, and the classes, to the table of variants.

    Parameters
    ----------
    run : Run
        With complete stages sample, variants and scores.
    variants : Table
        As the stage wrote it, in its order.
    shards : sequence of int
        The shards that are scored.

    Raises
    ------
    InputError
        If a recorded class is not one of `decision.classes`.
    """
    decision, masks = run.spec.decision, run.spec.groups.masks
    names = list(dict.fromkeys([*_fields(run.spec), *masks]))
    weighed, imputed = run.spec.measure.weights, _imputed(run.spec)
    if wanted := further_fields(run.spec):
        own = _of_prompts(run, wanted)
        prompts = _column(run, "variants", "variants.parquet", "prompt_id")
        for name in names:
            values = [own[prompt][name] or None for prompt in prompts]
            if name in masks:
                values = yes_or_no(name, values)
            variants = variants.append_column(name, pa.chunked_array([pa.array(values, pa.string())]))
        if weighed is not None:
            weights = sampling_weights([own[prompt][weighed] for prompt in prompts], f"column {weighed!r}")
            variants = variants.append_column(WEIGHT, pa.chunked_array([weights]))
        for axis, columns in imputed.items():
            shares = imputed_shares(
                {level: [own[prompt][name] for prompt in prompts] for level, name in columns.items()}, axis
            )
            variants = variants.append_column(
                f"{IMPUTED}{axis}", pa.chunked_array([pa.array(shares, pa.string())])
            )
        if decision.class_field is not None:
            values = [own[prompt][decision.class_field] or None for prompt in prompts]
            _check_classes(run.spec, values)
            variants = variants.append_column(
                CLASSIFICATION, pa.chunked_array([pa.array(values, pa.string())])
            )
    if decision.classes and decision.class_field is None:
        answered = _most_probable(run, shards)
        ids = variants["variant_id"].to_pylist()
        column = pa.array([answered.get(variant) for variant in ids], pa.string())
        variants = variants.append_column(CLASSIFICATION, pa.chunked_array([column]))
    truth = run.spec.source.outcome
    if truth is not None and truth.classes:
        # The sample keeps a class as its place in the list.
        said = [
            None if place is None else truth.classes[int(place)] for place in variants["outcome"].to_pylist()
        ]
        variants = variants.append_column(TRUE_CLASS, pa.chunked_array([pa.array(said, pa.string())]))
    return variants


def further_fields(spec: AuditSpec) -> list[str]:
    """Return the columns of the source that rows are split, weighed or classed by."""
    weighed, classed = spec.measure.weights, spec.decision.class_field
    return [
        *dict.fromkeys([*_fields(spec), *spec.groups.masks]),
        *(name for columns in _imputed(spec).values() for name in columns.values()),
        *([weighed] if weighed is not None else []),
        *([classed] if classed is not None else []),
    ]


def attributed(run: Run) -> int:
    """Count the variants whose recorded answer names the model that gave it."""
    file = pq.ParquetFile(run.stage("variants").parquet("variants.parquet"))
    return sum(
        len(batch) - batch.column(0).null_count for batch in batches_of(file, _READ, ["recorded_model"])
    )


def _imputed(spec: AuditSpec) -> dict[str, dict[str, str]]:
    return {axis: dict(spec.groups.imputed[axis].probabilities) for axis in spec.groups.axes_of_probabilities}


def _fields(spec: AuditSpec) -> list[str]:
    taken = {*_OURS, *spec.groups.axes}
    columns = dict.fromkeys(
        [
            *(name for names in spec.measure.strata for name in names),
            spec.measure.condition,
            *(spec.measure.outcomes_at_random or ()),
        ]
    )
    return [name for name in columns if name in spec.source.fields and name not in taken]


def _of_prompts(run: Run, names: Sequence[str]) -> dict[str, dict[str, str]]:
    table = pq.read_table(run.stage("sample").parquet("prompts.parquet"), columns=["prompt_id", "fields"])
    found: dict[str, dict[str, str]] = {}
    for prompt, fields in zip(table["prompt_id"].to_pylist(), table["fields"].to_pylist(), strict=True):
        texts = json.loads(fields)
        found[prompt] = {name: str(texts.get(name, "")).strip() for name in names}
    return found


def _column(run: Run, stage: str, name: str, column: str) -> list[Any]:
    table = pq.read_table(run.stage(stage).parquet(name), columns=[column])
    values: list[Any] = table[column].to_pylist()
    return values


def _check_classes(spec: AuditSpec, values: Sequence[str | None]) -> None:
    strange = sum(value is not None and value not in spec.decision.classes for value in values)
    if strange:
        policy = policy_of(spec)
        rule = next(
            (f.cite for f in policy.required_fields if f.check == "classification_tables"), policy.name
        )
        raise InputError(
            f"column {spec.decision.class_field!r}: {strange} of {len(values)} rows hold a group that is not in "
            f"decision.classes ({', '.join(spec.decision.classes)}); list every group ({rule})"
        )


def _most_probable(run: Run, shards: Sequence[int]) -> dict[str, str]:
    """Return the label with the highest mean probability of each variant; the first of equal ones."""
    labels = run.spec.prompt.labels if run.spec.prompt is not None else []
    sums: dict[str, Any] = {}
    for shard in shards:
        source = run.stage(f"scores/{shard}").parquet("scores.parquet")
        table = pq.read_table(source, columns=["variant_id", "label_probabilities"])
        for variant, shares in zip(
            table["variant_id"].to_pylist(), table["label_probabilities"].to_pylist(), strict=True
        ):
            if shares is not None:
                sums[variant] = sums.get(variant, 0.0) + np.asarray(shares)
    return {variant: labels[int(np.argmax(total))] for variant, total in sums.items()}
