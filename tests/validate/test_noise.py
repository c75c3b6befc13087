"""A local model whose scores are not its own does not pass the validation."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import ValidationFailedError
from audit_lib.run import Run, StageOutput
from audit_lib.score import shards
from audit_lib.validate import require_valid, validate
from tests.validate.cases import failures, scored_run

MINE = "probabilities_are_the_model_s_own"
SHARES = "shares_are_the_model_s_own"


def run_with_floor(folder: Path, floor: dict[str, Any], dtype: str = "float32") -> Run:
    """Return a scored run whose last shard has a noise floor."""
    run = scored_run(folder)
    last = shards(run)[-1]
    scored = run.stage(f"scores/{last}").read("scores.parquet")
    for path in (folder / "store").rglob(f"scores/{last}/*"):
        path.unlink()
    plan = {"noise_floor": {"requests": 5, "against": "the model's own attention", **floor}}
    output = {
        "scores.parquet": scored,
        "plan.json": json.dumps(plan).encode(),
        "model.json": json.dumps({"dtype": dtype}).encode(),
    }
    run.stage(f"scores/{last}").commit(StageOutput(output), datetime.now(UTC))
    return run


def judged(run: Run) -> list[tuple[str | None, str]]:
    output = validate(run)
    run.stage("validation").commit(output, datetime.now(UTC))
    return [
        (column, severity)
        for table, _, column, severity in failures(json.loads(output.artefacts["validation.json"]))
        if table == "scoring"
    ]


@pytest.mark.parametrize(
    ("apart", "shares", "dtype", "wrong"),
    [
        (9.9e-6, 9.9e-5, "float32", []),
        (1e-5, None, "float32", []),
        (1.1e-5, 1e-6, "float32", [(MINE, "error")]),
        (1e-6, 1.1e-4, "float32", [(SHARES, "error")]),
        (0.58, 0.58, "float32", [(MINE, "error"), (SHARES, "error")]),
        (None, None, "float32", []),  # nothing was answered
        (1e-7, 0.0, "bfloat16", [(MINE, "error")]),  # rounds by more than any bound
    ],
)
def test_a_noise_floor_above_its_bound_fails(tmp_path, apart, shares, dtype, wrong):
    run = run_with_floor(
        tmp_path, {"largest_difference": apart, "largest_share_difference": shares}, dtype=dtype
    )
    assert judged(run) == wrong
    if not wrong:
        require_valid(run)
        return
    with pytest.raises(ValidationFailedError, match=r"in shard \d+ a .* cannot be scored exactly here"):
        require_valid(run)


@pytest.mark.parametrize(("most", "wrong"), [(1e-7, [(MINE, "error"), (SHARES, "error")]), (1e-3, [])])
def test_the_spec_says_how_much_is_too_much(tmp_path, most, wrong):
    run = run_with_floor(tmp_path, {"largest_difference": 5e-5, "largest_share_difference": 2e-4})
    object.__setattr__(run.spec.checks, "maximum_noise_floor", most)
    assert judged(run) == wrong
    if wrong:
        with pytest.raises(
            ValidationFailedError, match=r"1e-0[67] is allowed \(checks\.maximum_noise_floor\)"
        ):
            require_valid(run)


def test_a_floor_of_an_earlier_version_is_not_judged(tmp_path):
    run = run_with_floor(tmp_path, {"largest_difference": 0.5})
    last = shards(run)[-1]
    folder = next((tmp_path / "store").rglob(f"scores/{last}"))
    (folder / "plan.json").unlink()
    (folder / "_SUCCESS").unlink()
    output = {
        "scores.parquet": (folder / "scores.parquet").read_bytes(),
        "model.json": (folder / "model.json").read_bytes(),
        "plan.json": json.dumps({"noise_floor": {"requests": 4, "largest_difference": 0.5}}).encode(),
    }
    run.stage(f"scores/{last}").commit(StageOutput(output), datetime.now(UTC))
    assert "scoring" not in {
        s["table"] for s in json.loads(validate(run).artefacts["validation.json"])["suites"]
    }
