"""A small scored audit with two repeats, written as the stages write it, to be damaged by tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit_lib.canonical import canonical_json
from audit_lib.records import SCORE_SCHEMA, prompt_schema, to_parquet, variant_schema
from audit_lib.run import Run, StageOutput
from audit_lib.score import shards
from audit_lib.validate import validate
from audit_lib.window import Window
from tests.specs import load

Row = dict[str, Any]
GROUPS = [("female", "White"), ("female", "Black"), ("male", "White"), ("male", "Black")]
SPEC: dict[str, Any] = {
    "source": {"windowed": True},
    "model": {"backend": "transformers", "name": "a-model"},
    "prompt": {"template": "template.yaml"},
    "decision": {"rule": "top_k", "k": 1, "round": "round_id"},
    "score": {"shards": 1, "repeats": 2},
}
SECRET = "Ann-Lee"


def prompt_rows() -> list[Row]:
    return [
        {
            "prompt_id": f"{SECRET}/{round_id}/{place}",
            "application_id": f"{SECRET}/{round_id}/{place}",
            "position": "retail",
            "round_id": round_id,
            "order_shown": place,
            "fields": "{}",
            "provenance": "assigned",
            "occurred_at": datetime(2026, 1, 6, tzinfo=UTC),
            "sex": sex,
            "race": race,
        }
        for round_id in ("r1", "r2", "r3")
        for place, (sex, race) in enumerate(GROUPS, start=1)
    ]


def variant_rows() -> list[Row]:
    messages = canonical_json([{"role": "user", "content": "?"}]).decode()
    return [
        {
            **{key: value for key, value in row.items() if key not in ("fields", "occurred_at")},
            "variant_id": row["prompt_id"],
            "request_id": row["prompt_id"],
            "perturbation": "none",
            "edits": "{}",
            "messages": messages,
        }
        for row in prompt_rows()
    ]


def score_rows() -> list[Row]:
    return [
        {
            "variant_id": row["variant_id"],
            "repeat": repeat,
            "request_id": row["request_id"],
            "model": "a-model",
            "model_fingerprint": "f" * 64,
            "request_digest": "d" * 64,
            "label_probabilities": [0.25, 0.75],
            "label_mass": 0.5,
            "score": 0.75,
            "method": "logits",
            "status": "ok",
            "attempts": 1,
        }
        for row in variant_rows()
        for repeat in (0, 1)
    ]


@dataclass
class Tables:
    """The rows of each table."""

    prompts: list[Row] = field(default_factory=prompt_rows)
    variants: list[Row] = field(default_factory=variant_rows)
    scores: list[Row] = field(default_factory=score_rows)


def fail(row: Row, status: str = "error") -> None:
    """Make a score a failure, as the stage `score` writes one."""
    row.update(status=status, score=None, label_probabilities=None, label_mass=None, detail="no answer")


def scored_run(folder: Path, tables: Tables | None = None, **sections: Any) -> Run:
    """Return a run whose stages up to the scores hold `tables`."""
    tables = tables or Tables()
    folder.mkdir(exist_ok=True)
    (folder / "template.yaml").write_text("messages: [{role: user, content: '?'}]\n", encoding="utf-8")
    spec = load(folder, **(SPEC | sections))
    run = Run.open(spec, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    axes = spec.groups.axes
    contents = {
        "sample": ("prompts.parquet", to_parquet(tables.prompts, prompt_schema(axes), ["prompt_id"])),
        "variants": ("variants.parquet", to_parquet(tables.variants, variant_schema(axes), ["variant_id"])),
    }
    for stage, (name, content) in contents.items():
        run.stage(stage).commit(StageOutput({name: content}), datetime.now(UTC))
    parts = shards(run)
    for place, shard in enumerate(parts):
        content = to_parquet(tables.scores[place :: len(parts)], SCORE_SCHEMA, ["variant_id", "repeat"])
        run.stage(f"scores/{shard}").commit(StageOutput({"scores.parquet": content}), datetime.now(UTC))
    return run


def validated(
    folder: Path, damage: Callable[[Tables], object] | None = None, **sections: Any
) -> dict[str, Any]:
    """Return ``validation.json`` of the tables after `damage`."""
    tables = Tables()
    if damage is not None:
        damage(tables)
    output = validate(scored_run(folder, tables, **sections))
    document: dict[str, Any] = json.loads(output.artefacts["validation.json"])
    return document


def failures(document: dict[str, Any]) -> list[tuple[str, str, str | None, str]]:
    """Return table, expectation, column and severity of what failed."""
    return [
        (suite["table"], e["expectation"], e["column"], e["severity"])
        for suite in document["suites"]
        for e in suite["expectations"]
        if not e["success"]
    ]
