"""Small runs up to the variants, for tests of scoring."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit_lib.canonical import canonical_json
from audit_lib.records import to_parquet, variant_schema
from audit_lib.run import Run, StageOutput
from audit_lib.window import Window
from tests.specs import load

JOB = (
    "You screen applicants. The job needs care, patience and two years of work with people. Answer Yes or No."
)
GROUPS = [("female", "White"), ("female", "Black"), ("male", "White"), ("male", "Black")]


def messages(words: str, job: str = JOB) -> str:
    """Return a prompt with a prefilled answer, as canonical JSON."""
    turns = [("system", job), ("user", words), ("assistant", "Answer:")]
    return canonical_json([{"role": role, "content": content} for role, content in turns]).decode()


def variant(variant_id: str, **values: Any) -> dict[str, Any]:
    """Return a variant of one pointwise request."""
    return {
        "variant_id": variant_id,
        "prompt_id": variant_id,
        "application_id": variant_id,
        "position": "retail",
        "request_id": variant_id,
        "perturbation": "none",
        "edits": "{}",
        "provenance": "assigned",
        **values,
    }


def personas(prompts: int, positions: tuple[str, ...] = ("finance", "retail")) -> list[dict[str, Any]]:
    """Return each prompt in four versions, of different lengths."""
    rows = []
    for number in range(prompts):
        for i, (sex, race) in enumerate(GROUPS):
            prompt_id = f"p{number:02}"
            words = f"{sex} {race} applicant {'with long experience ' * (number % 3 + i)}in shop {number}"
            rows.append(
                variant(
                    f"{prompt_id}/{i}",
                    prompt_id=prompt_id,
                    position=positions[number % len(positions)],
                    messages=messages(words, f"{JOB} Position: {positions[number % len(positions)]}."),
                    sex=sex,
                    race=race,
                )
            )
    return rows


def run_with(folder: Path, variants: list[dict[str, Any]], **sections: Any) -> Run:
    """Return a run whose variants are written and nothing else."""
    (folder / "template.yaml").write_text("messages: []\n")
    spec = load(folder, **{"prompt": {"template": "template.yaml"}, **sections})
    run = Run.open(spec, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    content = to_parquet(variants, variant_schema(spec.groups.axes), ["variant_id"])
    run.stage("variants").commit(StageOutput({"variants.parquet": content}), datetime.now(UTC))
    return run
