"""Whole small audits of the demo's resumes, asked of a fake model or a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from audit_lib import pipeline
from audit_lib.run import Run
from audit_lib.window import Window
from tests.specs import INCLUDE

WINDOW = Window.parse("2026-01-05", "2026-01-12")
TASKS: dict[str, dict[str, Any]] = {
    "pairwise": {"template": "resume_pairwise.yaml", "tie": "Both"},
    "listwise": {"template": "resume_listwise.yaml"},
    "pointwise": {
        "template": "resume_rating.yaml",
        "read": "json:overall",
        "labels": ["1", "2", "3", "4", "5"],
        "relevance": [1, 2, 3, 4, 5],
    },
}


def write_audit(folder: Path, task: str, **sections: Any) -> Path:
    """Write a spec over four resumes in eight groups into `folder`; return its path."""
    spec = yaml.safe_load((INCLUDE / "audits" / "resume_screening_demo.yaml").read_text(encoding="utf-8"))
    spec["source"]["paths"] = [str(INCLUDE / "demo" / "resumes.jsonl")]
    del spec["checks"]  # a suite of Great Expectations, by a path from the demo's folder
    for key in ("names", "pronouns", "titles"):
        spec["perturb"][key] = str(INCLUDE / "lexicons" / f"{key}.csv")
    prompt = TASKS[task] | sections.pop("prompt", {})
    if not Path(prompt["template"]).is_absolute():
        prompt["template"] = str(INCLUDE / "prompts" / prompt["template"])
    metrics = ["rabbi", "score_gap", "impact_ratio"] + ["pairwise_win_gap"] * (task == "pairwise")
    spec |= {
        "audit": "small",
        "task": task,
        "prompt": prompt,
        "model": {"backend": "hashing", "name": "hashing", "valid_judge": False},
        "sample": {"size": 4, "strata": ["position"]},
        "measure": {"metrics": metrics},
        "score": {"shards": 2},
    }
    for key, value in sections.items():
        both = isinstance(value, dict) and isinstance(spec.get(key), dict)
        spec[key] = spec[key] | value if both else value
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def open_audit(folder: Path, task: str, **sections: Any) -> Run:
    """Write a spec and open its run in ``folder/store``."""
    return pipeline.open_run(write_audit(folder, task, **sections), WINDOW, str(folder / "store"))


def up_to(run: Run, last: str) -> Run:
    """Do the stages up to and including `last`."""
    for name in ("plan", "sample", "variants", "scores", "validation", "metrics", "report", "evidence"):
        if name == "scores":
            for shard in pipeline.shards(run):
                pipeline.run_stage(run, name, shard=shard)
        else:
            pipeline.run_stage(run, name)
        if name == last:
            break
    return run
