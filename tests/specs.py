"""Small specs for tests, as text: change one key and load."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from audit_lib.spec import AuditSpec

REPOSITORY = Path(__file__).parent.parent
INCLUDE = REPOSITORY / "include"

BASE: dict[str, Any] = {
    "audit": "small",
    "title": "A small audit",
    "task": "pointwise",
    "seed": 7,
    "source": {"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume"], "windowed": False},
    "groups": {
        "provenance": "assigned",
        "attributes": {"sex": ["female", "male"], "race": ["White", "Black"]},
        "reference": {"sex": "male", "race": "White"},
        "categories": {
            "sex": {"female": "Female", "male": "Male"},
            "race": {"Black": "Black or African American"},
        },
    },
    "model": {"backend": "recorded", "name": "recorded decisions"},
    "decision": {"rule": "above_median"},
}

LIVE: dict[str, Any] = {
    "backend": "http",
    "name": "a tool",
    "options": {"url": "http://127.0.0.1:9/", "body": {"text": "{{user}}"}, "score_path": "score"},
}
"""A model that is asked, for specs whose versions of a prompt are made and looked at, and not scored."""


def content(**sections: Any) -> dict[str, Any]:
    """Return the base spec with sections replaced (dicts are merged into the section; None removes it)."""
    spec = copy.deepcopy(BASE)
    for key, value in sections.items():
        if value is None:
            spec.pop(key, None)
        elif isinstance(value, dict) and isinstance(spec.get(key), dict):
            spec[key] |= value
        else:
            spec[key] = value
    return spec


def load(folder: Path = Path(), **sections: Any) -> AuditSpec:
    """Load the base spec with sections replaced, its paths relative to `folder`."""
    return AuditSpec.load_text(yaml.safe_dump(content(**sections), sort_keys=False), folder / "small.yaml")


def write(folder: Path, **sections: Any) -> Path:
    """Write the base spec with sections replaced into `folder`; return its path."""
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(content(**sections), sort_keys=False), encoding="utf-8")
    return path
