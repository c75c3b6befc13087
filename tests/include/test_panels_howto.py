"""The how-to on panels runs word for word, and what it says comes out."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from tests.specs import REPOSITORY

WORDS = (REPOSITORY / "docs" / "howto" / "panels.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", WORDS, re.M | re.S)


@pytest.mark.slow  # three whole audits, planned twice
def test_the_howto_runs_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUDIT_STORE", raising=False)
    (data,), (spec,) = blocks("python"), blocks("yaml")
    exec(data, {})
    Path("panel.yaml").write_text(spec, encoding="utf-8")
    commands = [line for block in blocks("bash") for line in block.splitlines()]
    assert len(commands) == 6
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "audit" and main(arguments) == 0, command
    assert "screeners_tool_a" in capsys.readouterr().out
    (record,) = Path("store/screeners").rglob("panel.json")
    assert record.parent.parts[-2:] == ("compare", "1")
    assert [one["state"] for one in json.loads(record.read_text(encoding="utf-8"))["members"]] == [
        "sealed"
    ] * 3
    document = json.loads((record.parent / "comparison.json").read_text(encoding="utf-8"))
    (gap,) = [
        one
        for one in document["paired"]["contrasts"]
        if one["metric"] == "score_gap" and one["group"] == {"sex": "female"}
    ]
    p = {(pair["first"], pair["second"]): pair["p_holm_models"] for pair in gap["pairs"]}
    assert p[0, 1] < 0.001 and p[1, 2] < 0.001 and p[0, 2] > 0.05, "what was planted in tool-b"
    assert list(Path("store/site").rglob("panel.html"))
    assert Path("comparison/differences.csv").is_file()
