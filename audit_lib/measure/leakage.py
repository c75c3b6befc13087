"""Leakage of a run: how well attributes can be told from the archived vectors of its material."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.documents.metrics import Leakage, LeakageEstimate
from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.score.materials import DESCRIPTION, TABLE
from audit_lib.stats.leakage import Leak, leakage

_PENALTY: Final = 1.0
_UNTOLD: Final = (
    "all versions of each application have the same text: nothing of what was assigned is in it, and the number would "
    "be 0.5 by construction"
)


def leakage_of(run: Run, shards: Sequence[int]) -> Leakage | None:
    """Predict each attribute from each material; None if the spec does not ask for it.

    Returns
    -------
    Leakage
        What made the vectors, how the prediction was made, and the estimates: by material, unredacted first, then by
        attribute and level. Of two levels one is predicted: the other's AUC is the same.
    """
    asked = run.spec.leakage
    if asked is None:
        return None
    table = _table(run, shards)
    applications, labels = _variants(run)
    found: list[LeakageEstimate] = []
    for name, material in asked.materials.items():
        for redacted, fields in ((False, material.unredacted), (True, material.redacted)):
            if not fields:
                continue
            ids, x, longest = _vectors(table, name, redacted)
            clusters = [applications[variant] for variant in ids]
            for axis in asked.attributes or run.spec.groups.axes:
                of_axis = [labels[axis][variant] for variant in ids]
                for leak in _predicted(run, x, of_axis, clusters, axis):
                    small = min(leak.positives, leak.n - leak.positives) < run.spec.measure.small_cell
                    one = LeakageEstimate(
                        material=name,
                        redacted=redacted,
                        fields=tuple(fields),
                        longest_in_parts=longest,
                        attribute=axis,
                        level=leak.level,
                        value=leak.value,
                        interval=leak.interval,
                        n=leak.n,
                        n_group=leak.positives,
                        applications=leak.clusters,
                        flags=("small_cell",) if small else (),
                    )
                    found.append(one)
    return Leakage(
        embedding=run.stage(f"scores/{shards[0]}").read_json(DESCRIPTION),
        split=asked.split if asked.split == "half" else f"{asked.folds} folds",
        penalty=_PENALTY,
        estimates=tuple(found),
    )


def _predicted(
    run: Run, x: NDArray[np.float64], labels: list[str | None], applications: list[str], axis: str
) -> list[Leak]:
    asked, spec = run.spec.leakage, run.spec
    try:
        if asked is None or not len(x):
            raise UndefinedMetricError("no text")
        if spec.groups.provenance == "assigned" and _all_alike(x, applications):
            raise UndefinedMetricError(_UNTOLD)
        return leakage(
            x, labels, applications, penalty=_PENALTY, folds=asked.folds, split=asked.split, seed=spec.seed,
            level=spec.measure.level,
        )  # fmt: skip
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        levels = sorted(spec.groups.attributes[axis])
        return [
            Leak(level=level, value=nothing, interval=nothing, n=0, positives=0, clusters=0)
            for level in (levels[:1] if len(levels) == 2 else levels)
        ]


def _all_alike(x: NDArray[np.float64], applications: list[str]) -> bool:
    """Whether applications have several versions, and no version of one differs from another of it."""
    first: dict[str, int] = {}
    for place, application in enumerate(applications):
        if not np.array_equal(x[place], x[first.setdefault(application, place)]):
            return False
    return len(first) < len(applications)


def _table(run: Run, shards: Sequence[int]) -> pa.Table:
    parts = [pq.read_table(run.stage(f"scores/{shard}").parquet(TABLE)) for shard in shards]
    return pa.concat_tables(parts).sort_by("variant_id")


def _vectors(table: pa.Table, material: str, redacted: bool) -> tuple[list[str], NDArray[np.float64], int]:
    """Return the variants, sorted, their vectors, and the most parts that a text was cut into."""
    own = table.filter(pc.and_(pc.equal(table["material"], material), pc.equal(table["redacted"], redacted)))
    # Repeats of one version may lie in several shards.
    ids, first = np.unique(own["variant_id"].to_numpy(), return_index=True)
    x = own["vector"].combine_chunks().flatten().to_numpy().reshape(len(own), -1)[first]
    return ids.tolist(), x.astype(np.float64), int(own["parts"].to_numpy().max(initial=0))


def _variants(run: Run) -> tuple[dict[str, str], dict[str, dict[str, str | None]]]:
    """Return the application of each variant, and its level of each attribute; None for one that is not known."""
    axes = run.spec.groups.axes
    source = run.stage("variants").parquet("variants.parquet")
    table = pq.read_table(source, columns=["variant_id", "application_id", *axes])
    ids = table["variant_id"].to_pylist()
    labels: dict[str, dict[str, str | None]] = {}
    for axis in axes:
        levels = set(run.spec.groups.attributes[axis])
        values = (value if value in levels else None for value in table[axis].to_pylist())
        labels[axis] = dict(zip(ids, values, strict=True))
    return dict(zip(ids, table["application_id"].to_pylist(), strict=True)), labels
