"""The how-to on texts runs as it is written: its files, its spec, its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from tests.installed import needs_torch

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "text-audit.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S)


def of(language: str) -> list[str]:
    return [block for name, block in BLOCKS if name == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUDIT_STORE", raising=False)
    (tmp_path / "letters.jsonl").write_text(of("json")[0], encoding="utf-8")
    for name, words in zip(("gender_words.csv", "occupations.csv"), of("csv"), strict=True):
        assert f"`{name}`" in PAGE
        (tmp_path / name).write_text(words, encoding="utf-8")
    (tmp_path / "letters.yaml").write_text(of("yaml")[0], encoding="utf-8")
    return tmp_path


@needs_torch
def test_the_spec_of_the_page_is_valid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "letters.yaml"]) == 0
    assert "letters.yaml: valid" in capsys.readouterr().out


@needs_torch
@pytest.mark.slow  # loads two models that classify the letters, 20 s
def test_its_commands_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in of("")[0].strip().splitlines():
        words = shlex.split(line)
        assert words[0] == "audit" and main(words[1:]) == 0, line
    assert "Counterfactual ROUGE-L" in capsys.readouterr().out
