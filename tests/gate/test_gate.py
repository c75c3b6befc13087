"""A gate over recorded decisions: what it asks, when it stops, what it keeps, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from audit_lib.documents.gate import GateRecord
from audit_lib.errors import InputError
from audit_lib.gate import GateScheme, ask_gate, open_gate, read_model
from audit_lib.monitor import set_baseline
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec, load_spec
from audit_lib.store import open_store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from tests.archive.cases import WEEK, applicants, do, new_run
from tests.specs import load, write

SECTIONS: dict[str, Any] = {
    "decision": {"rule": "threshold", "threshold": 0.2},
    "measure": {"metrics": ["decision_rate_gap"], "margins": {"decision_rate_gap": 0.35}},
    "groups": {"provenance": "self_reported"},
    "report": {"policy": "generic"},
}
DECIDED = {"name": "accepted", "decided_by": "Ada Byron", "reason": "accepted on it"}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a model without a gap is deployed, and its spec."""
    folder = tmp_path_factory.mktemp("deployed")
    do(new_run(folder, str(folder / "store"), rows=applicants(640), **SECTIONS))
    set_baseline(open_store(str(folder / "store")), "small", WEEK, **DECIDED)
    write(folder, **SECTIONS)
    return folder


def answers(folder: Path, shift: float, count: int = 640) -> None:
    rows = applicants(count, shift=shift)
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def gate(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, Any]]:
    code = main(
        [
            "gate",
            str(folder / "small.yaml"),
            "--model",
            name,
            "--store",
            str(folder / "store"),
            "--json",
            *more,
        ]
    )
    out = capsys.readouterr().out
    return code, json.loads(out) if out else {}


def test_a_model_like_the_deployed_one_passes_and_the_record_is_kept(
    deployed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(deployed, 0.0)
    code, said = gate(deployed, "the same", capsys)
    assert (code, said["decision"]) == (0, "equivalent")
    asked = sum(one["requests"] for one in said["batches"])
    assert asked < said["planned_requests"] == 640
    assert {one["compared"] for one in said["answers"]} == {"margin", "deployed"}
    changes = [one for one in said["answers"] if one["compared"] == "deployed"]
    assert [one["estimate"] for one in changes] == [0.0] * 5
    kept = Path(said.pop("record"))
    assert json.loads(kept.read_bytes()) == said
    record = decode(GateRecord, kept.read_bytes(), str(kept))
    scores = kept.parents[2] / f"scores/{record.batches[0].number}/scores.parquet"
    assert scores.is_file()
    content = kept.read_bytes()
    assert gate(deployed, "the same", capsys)[0] == 0  # asked again, it says the same
    assert kept.read_bytes() == content


def test_a_model_that_harms_is_stopped_early(deployed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers(deployed, 0.9)
    code, said = gate(deployed, "worse", capsys)
    assert (code, said["decision"]) == (1, "harm")
    assert sum(one["requests"] for one in said["batches"]) < 400
    harmed = [one for one in said["answers"] if one["harm"]]
    assert all(one["group"]["race"] == "Black" for one in harmed) and harmed
    main(["gate", str(deployed / "small.yaml"), "--model", "worse", "--store", str(deployed / "store")])
    out = capsys.readouterr().out
    assert out.startswith("HARM: a number lies beyond its margin")
    assert (
        "beyond  decision_rate_gap of female+Black and male+White" in out
        or "male+Black and male+White" in out
    )


def test_too_few_prompts_are_undecided_with_how_many_more(
    deployed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(deployed, 0.0)
    code, said = gate(deployed, "limited", capsys, "--limit", "60")
    assert (code, said["decision"]) == (2, "undecided")
    assert [one["requests"] for one in said["batches"]] == [25, 25]
    assert 25 < said["more_prompts"] < 5000
    whole, found = gate(deployed, "limited", capsys)
    assert whole == 0  # goes on where it was
    assert found["batches"][:2] == said["batches"]
    again, before = gate(deployed, "limited", capsys, "--limit", "60")
    assert (again, before) == (code, said)
    main(["gate", str(deployed / "small.yaml"), "--model", "limited", "--limit", "60", "--store",
          str(deployed / "store")])  # fmt: skip
    assert "further prompts would tell, if gaps and spread stay what they are" in capsys.readouterr().out


def test_without_the_deployed_models_answers_the_margins_are_held_alone(
    deployed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(deployed, 0.0)
    code, said = gate(deployed, "elsewhere", capsys, "--window", "2026-02-02", "2026-02-09")
    assert code == 0
    assert "not in the store" in said["deployed"]["undefined"]
    assert {one["compared"] for one in said["answers"]} == {"margin"}


def test_a_run_of_the_new_model_is_not_taken_for_the_deployed_one(
    deployed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = Window.parse("2026-03-02", "2026-03-09")
    new = {"model": {"backend": "recorded", "name": "new"}}
    do(new_run(tmp_path, str(deployed / "store"), later, rows=applicants(640), **SECTIONS, **new))
    answers(deployed, 0.0)
    _, said = gate(deployed, "new", capsys, "--window", "2026-03-02", "2026-03-09")
    assert "asked another model than the last run of the baseline" in said["deployed"]["undefined"]
    assert {one["compared"] for one in said["answers"]} == {"margin"}


def test_what_is_missing_has_another_exit_code(
    deployed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(deployed, 0.0)
    spec, store = str(deployed / "small.yaml"), ["--store", str(deployed / "store")]
    assert main(["gate", spec, "--model", "x", "--store", str(tmp_path / "none")]) == 3
    assert "no baseline" in capsys.readouterr().err
    assert main(["gate", "nothing", "--model", "x", *store]) == 3
    assert main(["gate", spec, "--model", "x", "--limit", "3", *store]) == 3
    assert "does not hold the first batch, which asks 25 prompts" in capsys.readouterr().err
    assert main(["gate", spec, "--model", "x", "--dry-run", *store]) == 3
    assert "at most 640 prompts" in capsys.readouterr().err
    assert main(["gate", spec, "--model", str(tmp_path / "none.yaml"), *store]) == 3
    for wrong in (
        ["gate", spec],
        ["gate", spec, "--model", "x", "--limit", "none"],
        ["gate", spec, "--modle", "x"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(wrong)
        assert stop.value.code == 3
    with pytest.raises(SystemExit) as stop:
        main(["status", "--nothing"])
    assert stop.value.code == 2


def test_another_question_than_the_baselines_is_refused(deployed: Path, tmp_path: Path) -> None:
    answers(deployed, 0.0)
    other = load(
        deployed,
        **SECTIONS
        | {"groups": {"provenance": "self_reported", "reference": {"sex": "female", "race": "White"}}},
    )
    with pytest.raises(InputError, match="another question than its baseline: groups"):
        open_gate(other, read_model("x", other), str(deployed / "store"))


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"measure": {"metrics": ["rabbi"]}}, r"hold a new model against \(none is stated\)"),
        ({"decision": {"rule": "above_median"}}, "hangs on all applicants together"),
        (
            {"measure": {"metrics": ["score_gap"], "margins": {"score_gap": 0.1}}},
            "no bounds of these scores",
        ),
    ],
)
def test_what_cannot_be_held_against_a_margin_is_refused(sections: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        GateScheme.of(load(**SECTIONS | sections))


def test_a_model_that_costs_is_asked_only_where_that_is_meant(
    deployed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = load_spec(deployed / "small.yaml")
    path = tmp_path / "new.yaml"
    path.write_text("model: {backend: openai, name: gpt-4o}\n")
    model = read_model(str(path), spec)
    assert (model.backend, model.name) == ("openai", "gpt-4o")
    assert read_model("other", spec).backend == "recorded"
    assert isinstance(spec, AuditSpec)


def test_missing_answers_are_never_equivalent(deployed: Path) -> None:
    rows = applicants(640)
    for place, row in enumerate(rows):
        if place % 8 == 3:
            row["recorded_score"] = None
    (deployed / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = load_spec(deployed / "small.yaml")
    record, _ = ask_gate(open_gate(spec, read_model("silent", spec), str(deployed / "store")))
    assert record.decision == "undecided"
    assert "must be" in record.reason and isinstance(record.more_prompts, Undefined)


def test_a_fault_of_our_own_is_no_verdict(
    deployed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise ZeroDivisionError("in here")

    monkeypatch.setattr("audit_lib.gate.ask_gate", fails)
    answers(deployed, 0.0)
    command = ["gate", str(deployed / "small.yaml"), "--model", "faulty", "--store", str(deployed / "store")]
    assert main(command) == 3
    said = capsys.readouterr().err
    assert "ZeroDivisionError: in here" in said and "no verdict" in said
