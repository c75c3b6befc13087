"""A synthetic run of any size, scored and complete, for timing the stage ``metrics``.

Applications of four positions in eight versions (two sexes, four races); rounds of one candidate of each
group from eight applications; continuous scores. Only the artefacts that the stage reads are written.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.records import SCORE_SCHEMA, variant_schema, write_table
from audit_lib.run import Run, StageOutput
from audit_lib.spec import AuditSpec
from audit_lib.window import Window

POSITIONS = ("finance", "hr", "retail", "software")
SEXES = ("female", "male")
RACES = ("White", "Black", "Asian", "Hispanic")
NOW = datetime(2026, 1, 5, tzinfo=UTC)

SPEC = """
audit: synthetic
title: Synthetic scores
seed: 7
source: {kind: files, paths: [none.jsonl], windowed: false}
groups:
  provenance: assigned
  attributes: {sex: [female, male], race: [White, Black, Asian, Hispanic]}
  reference: {sex: male, race: White}
  categories:
    sex: {female: Female, male: Male}
    race: {Black: Black or African American, Hispanic: Hispanic or Latino}
model: {backend: recorded, name: none}
decision: {rule: top_k, k: 3, round: round_id}
"""


def synthetic_run(folder: Path, applications: int, shards: int, *, seed: int = 1, missing: float = 0.0,
                  levels: int | None = None) -> Run:  # fmt: skip
    """Write variants and scores of `applications` x 8 rows; return the run.

    `levels` rounds scores to that many values, which ties them; `missing` is a share without an answer.
    """
    run = opened(folder)
    if applications % 4:
        raise SystemExit(f"{applications} applications do not fill four positions evenly")
    rng = np.random.Generator(np.random.PCG64(seed))
    cells = [(sex, race) for sex in SEXES for race in RACES]
    n, width = applications * len(cells), len(cells)
    app, cell = np.repeat(np.arange(applications), width), np.tile(np.arange(width), applications)
    position = app * 4 // applications
    # Each round takes its eight candidates, one of each group, from eight applications of the position.
    rounds = np.empty((applications, width), dtype=np.int64)
    for part in np.split(np.arange(applications), 4):
        rounds[part] = part[np.argsort(rng.random((width, part.size)), axis=1)].T
    rounds = rounds.ravel()
    score = rng.normal(size=applications)[app] + rng.normal(size=n) + 0.02 * cell
    if levels is not None:
        score = np.clip(np.round((score + 4) / 8 * (levels - 1)), 0, levels - 1)
    answered, mass = rng.random(n) >= missing, 0.3 + 0.4 * rng.random(n)
    labels = pc.binary_join_element_wise(
        pa.array(["p"]).take(pa.array(np.zeros(applications, np.int64))), _digits(np.arange(applications)), ""
    )
    signs = pa.array([f"/{sex}.{race}/0" for sex, race in cells])
    variant = pc.binary_join_element_wise(labels.take(pa.array(app)), signs.take(pa.array(cell)), "")
    by_position = pa.array(POSITIONS).take(pa.array(position))
    columns = {
        "variant_id": variant,
        "prompt_id": labels.take(pa.array(app)),
        "application_id": labels.take(pa.array(app)),
        "position": by_position,
        "round_id": pc.binary_join_element_wise(by_position, _digits(rounds), "-"),
        "request_id": variant,
        "perturbation": same("persona", n),
        "edits": same("{}", n),
        "qualified": pa.array((app + cell) % 3 > 0),
        "provenance": same("synthetic", n),
        "sex": pa.array([sex for sex, _ in cells]).take(pa.array(cell)),
        "race": pa.array([race for _, race in cells]).take(pa.array(cell)),
    }
    table = complete(columns, variant_schema(("sex", "race")), n).sort_by("variant_id")
    run.stage("variants").commit(StageOutput({"variants.parquet": write_table(table)}), NOW)
    del table
    for number in range(shards):
        rows = (np.arange(number, applications, shards)[:, None] * width + np.arange(width)).ravel()
        m, silent = rows.size, pa.array(~answered[rows])
        columns = {
            "variant_id": variant.take(pa.array(rows)),
            "repeat": pa.array(np.zeros(m, np.int32)),
            "request_id": variant.take(pa.array(rows)),
            "model": same("none", m),
            "model_fingerprint": same("0" * 64, m),
            "request_digest": same("0" * 64, m),
            "label_mass": pa.array(mass[rows], mask=~answered[rows]),
            "score": pa.array(score[rows], mask=~answered[rows]),
            "method": same("recorded", m),
            "status": pc.if_else(silent, "unparsed", "ok"),
            "attempts": pa.array(np.ones(m, np.int32)),
        }
        content = write_table(complete(columns, SCORE_SCHEMA, m).sort_by("variant_id"))
        run.stage(f"scores/{number}").commit(StageOutput({"scores.parquet": content}), NOW)
    return run


def opened(folder: Path) -> Run:
    """Return the run in a folder."""
    spec = AuditSpec.load_text(SPEC, folder / "synthetic.yaml")
    return Run.open(spec, Window.parse("2026-01-05", "2026-01-12"), str(folder))


def _digits(numbers: np.ndarray) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 8, "0")


def same(text: str, n: int) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(n, np.int64)))


def complete(columns: dict[str, pa.Array], schema: pa.Schema, n: int) -> pa.Table:
    """The schema's columns, null where none is given."""
    return pa.table([columns.get(f.name, pa.nulls(n, f.type)) for f in schema], schema=schema)
