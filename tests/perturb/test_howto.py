"""What the how-to pages tell people to write is accepted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib.spec import AuditSpec
from tests.specs import BASE, INCLUDE, REPOSITORY

LIVE = {"model": {"backend": "transformers", "name": "none"}, "prompt": {"template": "t.yaml"}}
BLOCKS = [
    (page, yaml.safe_load(block))
    for page in ("substitution", "personas")
    for block in re.findall(
        r"```yaml\n(.*?)```", (REPOSITORY / f"docs/howto/{page}.md").read_text(encoding="utf-8"), re.DOTALL
    )
]


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=lambda v: v if isinstance(v, str) else "+".join(v))
def test_every_block_is_accepted_and_its_shipped_files_are_there(page: str, block: dict[str, Any]) -> None:
    content = BASE | LIVE | block
    if "groups" in block:
        content["groups"] = block["groups"]
    if block["perturb"].get("kind") != "lexicon":
        content["perturb"] = {"names": "names.csv"} | block["perturb"]
    spec = AuditSpec.load_text(yaml.safe_dump(content, sort_keys=False), Path("audit.yaml"))
    for key, name in spec.design_files().items():
        if key.startswith("perturb") and name.startswith("../lexicons"):
            assert (INCLUDE / "audits" / name).is_file(), f"{page}: {name}"
