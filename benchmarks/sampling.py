"""Rows a second of the stage ``sample`` beside a sketch of it in Polars, in turn, and whether both give the same rows.

::

    python -m benchmarks.sampling --rows 100000 --texts 2000

The sketch digests the file, reads it, writes the fields as JSON, sorts by id and writes Parquet with zstd. It checks
nothing, holds everything in memory, names no line that is wrong, and knows neither windows nor groups. Polars is not
among the project's packages: put it where Python finds it. Seconds are of the clock and of the processor; both have all
cores.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

from audit_lib.large_file import bytes_of
from audit_lib.records import parquet_source
from audit_lib.run import Run
from audit_lib.sample import sample
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from benchmarks.scaling import SPEC, write_rows
from benchmarks.timing import RUNS

_WINDOW: Final = Window.parse("2026-01-05", "2026-01-12")
_COLUMNS: Final = ("prompt_id", "application_id", "position", "sex", "race", "fields", "recorded_score")


def by_polars(source: Path, target: Path) -> None:
    """Do what `sample` does to plain rows."""
    import polars as pl

    with source.open("rb") as stream:
        hashlib.file_digest(stream, "sha256")
    frame = pl.read_ndjson(source).with_columns(fields=pl.struct("resume").struct.json_encode())
    frame.select(_COLUMNS).sort("prompt_id").write_parquet(target, compression="zstd", compression_level=1)
    with target.open("rb") as stream:
        hashlib.file_digest(stream, "sha256")


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a work gives, its seconds, and those of the processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - clock, time.process_time() - cpu


def main() -> None:
    """Print rows a second of both, as the range of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--texts", type=int, default=2_000, help="letters of a text, about")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numbers = np.random.default_rng(5).permutation(options.rows)  # ids come in no order
        write_rows(folder / "decisions.jsonl", numbers, max(1, options.texts // 8))
        spec = AuditSpec.load_text(SPEC.replace("SHARDS", "1"), folder / "audit.yaml")
        run = Run.open(spec, _WINDOW, str(folder / "store"))
        ours: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        for _ in range(RUNS + 1):
            made, *taken = timed(lambda: sample(run))
            ours.append((taken[0], taken[1]))
            _, *taken = timed(lambda: by_polars(folder / "decisions.jsonl", folder / "peer.parquet"))
            theirs.append((taken[0], taken[1]))
        table = pq.read_table(
            parquet_source(bytes_of(made.artefacts["prompts.parquet"])), columns=[*_COLUMNS]
        )
        same = table.equals(pq.read_table(folder / "peer.parquet", columns=[*_COLUMNS]).cast(table.schema))
    for what, pairs in (("audit_lib", ours[1:]), ("Polars", theirs[1:])):  # the first pays for imports
        speeds = [[options.rows / pair[place] for pair in pairs] for place in (0, 1)]
        print(
            f"{what}: {min(speeds[0]):,.0f} to {max(speeds[0]):,.0f} rows a second of the clock, "
            f"{min(speeds[1]):,.0f} to {max(speeds[1]):,.0f} of the processor"
        )
    print(f"{options.rows:,} rows of about {options.texts:,} letters; the same rows: {same}")


if __name__ == "__main__":
    main()
