"""Archived runs of one design by several recorded models, with what was planted in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from audit_lib import pipeline
from audit_lib.run import Run
from tests.inputs import write_jsonl
from tests.report.runs import WINDOW
from tests.specs import write

PLANTED = {"fair-1": 0.0, "harsh-1": -0.8, "kind-1": 0.5}
"""Model -> what it adds to a woman's score, where an application's own merit has SD 1."""


def versions(model: str, applications: int = 60) -> list[dict[str, Any]]:
    """Return the versions of each application; only scores depend on the model."""
    merit = np.random.default_rng(11).normal(size=applications)
    noise = np.random.default_rng(sum(model.encode())).normal(0, 0.2, (applications, 4))
    cells = [(sex, race) for sex in ("female", "male") for race in ("White", "Black")]
    return [
        {
            "prompt_id": f"p{i:03d}{sex}{race}",
            "application_id": f"a{i:03d}",
            "position": ("cook", "driver")[i % 2],
            "sex": sex,
            "race": race,
            "resume": f"application {i}",
            "recorded_score": round(float(merit[i] + PLANTED[model] * (sex == "female") + noise[i, j]), 4),
            "recorded_model": model,
        }
        for i in range(applications)
        for j, (sex, race) in enumerate(cells)
    ]


def applicants(model: str, n: int = 400) -> list[dict[str, Any]]:
    """Return real applicants, rated from 1 to 5."""
    draw = np.random.default_rng(13)
    sexes, races, merit = (
        draw.choice(["female", "male"], n),
        draw.choice(["White", "Black"], n),
        draw.normal(3, 1, n),
    )
    return [
        {
            "prompt_id": f"p{i:04d}",
            "application_id": f"a{i:04d}",
            "position": "cook",
            "sex": str(sexes[i]),
            "race": str(races[i]),
            "resume": f"application {i}",
            "recorded_score": float(
                np.clip(round(merit[i] + 2 * PLANTED[model] * (sexes[i] == "female")), 1, 5)
            ),
            "recorded_model": model,
        }
        for i in range(n)
    ]


def sealed(folder: Path, model: str, rows: list[dict[str, Any]] | None = None, **sections: Any) -> Run:
    """Run an audit of a recorded model to its end."""
    own = folder / model
    own.mkdir(parents=True)
    write_jsonl(own / f"{model}.jsonl", versions(model) if rows is None else rows)
    spec = {
        "audit": f"of_{model.split('-')[0]}",
        "title": "Cooks and drivers",
        "source": {"paths": [f"{model}.jsonl"]},
        "model": {"name": model},
        "measure": {"metrics": ["standardised_effect"]},
        "checks": {"maximum_answered_gap": 1.0},
        "report": {"policy": "generic"},
    } | sections
    run = pipeline.open_run(write(own, **spec), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run
