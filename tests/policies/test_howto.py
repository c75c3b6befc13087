"""What the how-to page tells people to write is accepted, and what it says is refused is refused so."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib.cli.main import main
from audit_lib.errors import GateError
from audit_lib.policies import policy_of
from audit_lib.policies.contradictions import check_facts
from audit_lib.policies.gates import check_spec
from audit_lib.policies.timeline import Timeline
from audit_lib.spec import AuditSpec
from tests.archive.cases import applicants, new_run
from tests.specs import BASE, REPOSITORY, write

PAGE = (REPOSITORY / "docs/howto/local-law-144.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


def merged(block: dict[str, Any]) -> AuditSpec:
    content = dict(BASE)
    content["groups"] = BLOCKS[0]["groups"]
    content["report"] = BLOCKS[0]["report"]
    content["use"] = BLOCKS[0]["use"]
    for key, value in block.items():
        content[key] = content[key] | value if isinstance(content.get(key), dict) else value
    return AuditSpec.load_text(yaml.safe_dump(content, sort_keys=False), Path("page.yaml"))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "+".join(block))
def test_every_block_is_accepted(block: dict[str, Any]) -> None:
    spec = merged(block)
    check_spec(policy_of(spec), spec)
    check_facts(Timeline(policy=policy_of(spec), spec=spec, audited=date(2026, 11, 22)))


@pytest.mark.parametrize(
    "sections",
    [
        {"groups": BLOCKS[0]["groups"] | {"provenance": "inferred"}},
        {"use": {"data": "test", "months": 36, "own_data_sufficient": True}},
    ],
)
def test_the_refusals_are_those_printed(sections: dict[str, Any]) -> None:
    spec = merged(sections)
    with pytest.raises(GateError) as caught:
        check_spec(policy_of(spec), spec)
    assert f"audit: {caught.value}" in PAGE


def test_the_command_refuses_with_the_paragraph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_run(tmp_path, str(tmp_path / "store"), rows=applicants(4))
    path = write(tmp_path, groups={"provenance": "inferred"})
    assert main(["validate", str(path)]) == 2
    assert "LL144, FAQ III.6" in capsys.readouterr().err
    path = write(tmp_path, groups={"provenance": "inferred"}, report={"policy": "generic"})
    assert main(["validate", str(path)]) == 0
