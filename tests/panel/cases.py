"""Small panels: fakes that are asked, and recorded answers of several models about the same applicants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from audit_lib.window import Window
from tests.compare.cases import versions
from tests.inputs import write_jsonl
from tests.score.audits import write_audit
from tests.score.fakes import Answer, by_hash, fake
from tests.specs import content

WINDOW = Window.parse("2026-01-05", "2026-01-12")


def live_panel(folder: Path, answers: dict[str, Answer] | None = None, **sections: Any) -> Path:
    """Write a panel of fakes over four resumes in eight groups; each answers by its own function."""
    models = answers or {"first": by_hash, "second": by_hash}
    for name, answer in models.items():
        fake(name, answer)
    path = write_audit(folder, "pointwise", **sections)
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    own = spec.pop("model")
    spec["models"] = [{**own, "backend": name, "name": f"lab/{name}-1B"} for name in models]
    return written(folder, spec)


def recorded_panel(folder: Path, models: list[str], **sections: Any) -> Path:
    """Write a panel of recorded answers, a file of rows a model."""
    folder.mkdir(parents=True, exist_ok=True)
    for model in models:
        write_jsonl(folder / f"{model}.jsonl", versions(model))
    spec = content(
        **{
            "audit": "screeners",
            "title": "Cooks and drivers",
            "measure": {"metrics": ["score_gap", "rabbi", "standardised_effect"]},
            "checks": {"maximum_answered_gap": 1.0},
            "report": {"policy": "generic"},
        }
        | sections
    )
    del spec["model"]
    spec["models"] = [
        {"backend": "recorded", "name": model, "source": {"paths": [f"{model}.jsonl"]}} for model in models
    ]
    return written(folder, spec)


def written(folder: Path, spec: dict[str, Any]) -> Path:
    """Write a panel's spec."""
    path = folder / "panel.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def changed(path: Path, **sections: Any) -> Path:
    """Change sections of a panel's spec; None takes one out."""
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, value in sections.items():
        if value is None:
            spec.pop(key, None)
        else:
            spec[key] = value
    return written(path.parent, spec)
