"""A real small model on this machine asked again: the same, other weights, another template, another number format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from audit_lib.bag import export_run
from audit_lib.cli.main import main
from audit_lib.documents.reproduction import Reproduction
from audit_lib.typed_json import decode
from tests.installed import needs_torch
from tests.reproduce.conftest import ROWS, Local, content
from tests.score.conftest import CHAT, save_tiny_model

pytestmark = [needs_torch, pytest.mark.slow]  # each loads torch and the model in several processes


def again(run: str, model: Path, out: Path, *more: str) -> tuple[int, Reproduction]:
    """Reproduce with a model's folder; return the exit code and the record."""
    code = main(["reproduce", run, "--out", str(out), "--model", str(model), *more])
    return code, decode(Reproduction, (out / "reproduction.json").read_bytes(), "reproduction.json")


def causes(record: Reproduction) -> list[tuple[str, str]]:
    return [(one.kind, one.certainty) for one in record.causes]


def test_the_same_model_is_reproduced_wherever_it_lies_and_however_the_run_was_handed_on(
    local_run: Local, local: Local, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(local.run)
    code = main(["reproduce", local.run, "--out", str(tmp_path / "in_place")])
    said = capsys.readouterr()
    assert code == 0 and said.out.startswith(f"REPRODUCED: all {ROWS} answers are equal")
    assert "differs    nothing that takes part in scoring" in said.err
    bag = export_run(local_run.run, tmp_path / "bag.zip", level="full").path
    code, record = again(str(bag), local.model, tmp_path / "of_bag")
    assert (code, record.outcome, record.conditions, record.causes) == (0, "reproduced", (), ())
    assert record.floor is not None and record.floor.probability is not None and record.floor.probability > 0
    assert content(local.run) == before


def test_other_weights_are_a_sure_cause(local: Local, tmp_path: Path) -> None:
    save_tiny_model(local.model, initializer_range=0.4)
    code, record = again(local.run, local.model, tmp_path / "out")
    assert code == 1 and causes(record)[0] == ("model", "sure")
    assert "file model.safetensors" in record.causes[0].detail
    assert [one.beyond_floor for one in record.experiments if one.name == "asked_twice"] == [0]
    assert record.metrics.changed > 0


def test_another_chat_template_is_told_from_other_weights(local: Local, tmp_path: Path) -> None:
    file = local.model / "chat_template.jinja"
    assert file.read_text() == CHAT
    file.write_text(CHAT.replace("<|im_start|>assistant\n", "<|im_start|>assistant\nSo: "))
    code, record = again(local.run, local.model, tmp_path / "out")
    assert code == 1 and causes(record) == [("template", "sure")]
    assert "chat template: sha256: " in record.causes[0].detail
    own = next(one for one in record.experiments if one.name == "own_passes")
    assert own.found.startswith("packing changes nothing here") and own.shows is None


def test_another_number_format_is_found_by_putting_it_back(local: Local, tmp_path: Path) -> None:
    code, record = again(local.run, local.model, tmp_path / "out", "--set", "dtype=bfloat16")
    assert code == 1 and causes(record) == [("settings", "by_experiment")]
    assert "as recorded: model.options.dtype" in record.causes[0].detail
    assert record.overrides["options.dtype"] == "bfloat16"
    assert record.scores.largest_probability_gap > 1e-4


def test_a_part_is_asked_in_its_own_packs(local: Local, tmp_path: Path) -> None:
    code, record = again(local.run, local.model, tmp_path / "out", "--sample", "3")
    assert (code, record.outcome) == (0, "reproduced")
    assert (record.asked.units, record.subset.drawn) == (3, 3)
    assert (
        record.asked.requests > 3 and record.scores.equal == record.scores.compared == record.asked.requests
    )


def test_what_cannot_be_done_ends_with_two(
    local: Local, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(local.model)
    arguments = ["reproduce", local.run, "--out", str(tmp_path / "out"), "--model", str(local.model)]
    assert main(arguments) == 2 and "no such folder" in capsys.readouterr().err
    scores = Path(local.run) / "scores" / "0" / "model.json"
    scores.write_text(json.dumps(json.loads(scores.read_text()) | {"dtype": "float16"}))
    assert main(arguments) == 2 and "does not verify" in capsys.readouterr().err
    assert main(["reproduce", str(tmp_path / "nothing" / "here")]) == 2
    inside = ["reproduce", local.run, "--out", f"{local.run}/again"]
    assert main(inside) == 2 and not (tmp_path / "out").exists()
