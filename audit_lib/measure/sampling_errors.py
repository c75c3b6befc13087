"""The scores' own uncertainty by group: what of it sampling alone makes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.documents.metrics import SamplingError
from audit_lib.measure.rows.in_order import SortedIds
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.records import SAMPLING_ERROR
from audit_lib.run import Run


def sampling_errors(
    run: Run, shards: Sequence[int], rows: Rows, ids: SortedIds
) -> tuple[SamplingError, ...] | None:
    """Return the uncertainty of the scores of each group, of the spec's first strata; None where none was sampled.

    Parameters
    ----------
    run : Run
    shards : sequence of int
        The complete ones.
    rows, ids : Rows, SortedIds
        As `load_rows` gives them.
    """
    tables = [
        pq.read_table(run.stage(f"scores/{shard}").parquet(SAMPLING_ERROR))
        for shard in shards
        if SAMPLING_ERROR in run.stage(f"scores/{shard}").success().artefacts
    ]
    if not tables:
        return None
    table = pa.concat_tables(tables)
    place = pc.index_in(table["variant_id"], value_set=ids.whole().combine_chunks())
    table, place = table.filter(pc.is_valid(place)), pc.drop_null(place).to_numpy()
    error, draws = np.full(len(ids), np.nan), np.zeros(len(ids), dtype=np.int64)
    error[place], draws[place] = table["sampling_standard_error"].to_numpy(), table["draws"].to_numpy()
    shared = run.spec.task != "pointwise"
    return tuple(
        _of_group(part, levels, where, error[part.place], draws[part.place], shared)
        for part in strata(rows, run.spec.splits[0])
        for levels, where in _groups(part)
    )


def _groups(part: Rows) -> Iterator[tuple[dict[str, str], slice]]:
    for levels, where in part.profiles():
        known = {axis: level for axis, level in levels.items() if level is not None}
        if len(known) == len(levels) and where.start < where.stop:
            yield known, where


def _of_group(
    part: Rows,
    levels: dict[str, str],
    where: slice,
    error: NDArray[np.float64],
    draws: NDArray[np.int64],
    shared: bool,
) -> SamplingError:
    known = np.isfinite(error[where])
    squares = math.fsum(np.square(error[where][known]).tolist())
    n = int(known.sum())
    return SamplingError(
        stratum=dict(part.levels),
        group=levels,
        n=n,
        without=int((np.isfinite(part.score[where]) & ~known).sum()),
        answers=int(draws[where][known].sum()),
        of_score=math.sqrt(squares / n) if n else None,
        of_mean=math.sqrt(squares) / n if n and not shared else None,
    )
