"""A model behind a chat API asked again: the same, another, one that says nothing of it, one that does not repeat."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.documents.reproduction import Reproduction
from audit_lib.typed_json import decode
from tests.reproduce.conftest import ROWS, Service, content, remote_model, run_audit
from tests.score.loopback import completion


@pytest.fixture
def run(remote_run: str, service: Service) -> str:
    """The sealed run, and the service as it was then."""
    return remote_run


def again(run: str, out: Path, *more: str) -> tuple[int, Reproduction]:
    """Reproduce with consent; return the exit code and the record."""
    code = main(["reproduce", run, "--out", str(out), "--yes", *more])
    return code, decode(Reproduction, (out / "reproduction.json").read_bytes(), "reproduction.json")


def test_a_service_that_answers_as_it_did_is_reproduced(service, run, tmp_path, capsys):
    before = content(run)
    code, record = again(run, tmp_path / "out")
    assert (code, record.outcome) == (0, "reproduced")
    assert record.scores.equal == record.scores.compared == ROWS and service.asked >= ROWS
    assert (record.causes, record.experiments, record.subset) == ((), (), None)
    said = capsys.readouterr()
    assert said.out.startswith(f"REPRODUCED: all {ROWS} answers are equal")
    assert "money      about 0.0" in said.err and f"asked      {ROWS} of {ROWS} requests" in said.err
    assert content(run) == before, "the sealed run is never written"


def test_nothing_is_asked_without_consent(service, run, tmp_path, capsys):
    assert main(["reproduce", run, "--out", str(tmp_path / "out")]) == 2
    assert main(["reproduce", run, "--out", str(tmp_path / "out"), "--yes", "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert service.asked == 0 and not (tmp_path / "out").exists()
    assert "money      about" in said and "add --yes, or a budget (--max-cost)" in said


def test_a_budget_is_consent_and_holds(service, run, tmp_path, capsys):
    code = main(["reproduce", run, "--out", str(tmp_path / "out"), "--max-cost", "0.0001"])
    assert code == 2 and service.asked < ROWS and "max_cost" in capsys.readouterr().err
    # With enough it goes on where it was, and asks only what is missing.
    code = main(["reproduce", run, "--out", str(tmp_path / "out"), "--max-cost", "5"])
    assert code == 0 and service.asked <= ROWS + 4


def test_no_key_is_said_before_anything_is_asked(service, run, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("TEST_API_KEY")
    assert main(["reproduce", run, "--out", str(tmp_path / "out"), "--yes"]) == 2
    assert service.asked == 0 and "TEST_API_KEY" in capsys.readouterr().err


def test_another_served_model_is_the_cause_and_moves_the_report(service, run, tmp_path):
    service.version, service.shift = "model-1-2026-09-09", 0.4
    code, record = again(run, tmp_path / "out")
    assert (code, record.outcome) == (1, "differs") and record.scores.beyond_floor == ROWS
    assert [(one.kind, one.certainty) for one in record.causes] == [("backend", "sure")]
    assert "served model: model-1-2026-01-01 there, model-1-2026-09-09 here" in record.causes[0].detail
    assert record.metrics.printed > 0 and record.metrics.numbers
    assert (record.experiments[0].name, record.experiments[0].beyond_floor) == ("asked_twice", 0)


def test_another_system_fingerprint_is_the_cause(service, run, tmp_path):
    service.system, service.shift = "fp_2", 0.1
    _, record = again(run, tmp_path / "out")
    assert [(one.kind, one.certainty) for one in record.causes] == [("backend", "sure")]
    assert "system fingerprint: fp_1 there, fp_2 here" in record.causes[0].detail


def test_a_model_changed_under_its_name_cannot_be_told(service, run, tmp_path, capsys):
    service.shift = 0.1
    code, record = again(run, tmp_path / "out")
    assert code == 1
    assert [(one.kind, one.certainty) for one in record.causes] == [("unknown", "cannot_tell")]
    assert "cause: unknown (cannot tell)" in capsys.readouterr().out


def test_a_model_that_does_not_repeat_itself_is_told_from_another(service, tmp_path):
    service.jitter = True
    run = run_audit(tmp_path / "audit", model=remote_model(service)).uri
    code, record = again(run, tmp_path / "out")
    assert code == 1
    assert [(one.kind, one.certainty) for one in record.causes] == [("own_noise", "by_experiment")]


def test_missing_answers_are_counted_by_themselves(service, run, tmp_path):
    service.silent = {"n3", "n7"}
    code, record = again(run, tmp_path / "out")
    assert code == 1 and (record.scores.missing_here, record.scores.beyond_floor) == (2, 0)
    assert [(one.kind, one.certainty) for one in record.causes] == [("missing_answers", "sure")]
    assert record.causes[0].detail == "2 ok there and refused here"


def test_a_part_is_drawn_by_a_seed_and_says_what_it_shows(service, run, tmp_path, capsys):
    code, record = again(run, tmp_path / "out", "--sample", "20", "--seed", "3")
    assert code == 0 and service.asked <= 24 and record.scores.compared == 20
    assert record.subset.upper == pytest.approx(1 - 0.05 ** (1 / 20))
    assert "at most 14% of all 48 could" in capsys.readouterr().out
    assert "a part was asked" in record.metrics.reason
    _, same = again(run, tmp_path / "same", "--sample", "20", "--seed", "3")
    _, other = again(run, tmp_path / "other", "--sample", "20", "--seed", "4")
    assert same.asked == record.asked != other.asked


def test_a_part_counts_the_drawn_alone(service, run, tmp_path):
    service.shift = 0.2
    code, record = again(run, tmp_path / "out", "--sample", "5")
    assert code == 1 and (record.subset.differ, record.subset.drawn) == (5, 5) and record.subset.upper == 1.0


def test_json_is_the_record(service, run, tmp_path, capsys):
    assert main(["reproduce", run, "--out", str(tmp_path / "out"), "--yes", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(
        (tmp_path / "out/reproduction.json").read_bytes()
    )


def test_the_record_holds_no_text_and_no_secret(service, run, tmp_path):
    service.shift = 0.1
    again(run, tmp_path / "out")
    said = (tmp_path / "out" / "reproduction.json").read_text()
    assert "kept shop" not in said and "sk-loopback" not in said and "p00003" not in said


def test_a_service_that_is_sampled_is_judged_by_its_draws(service, tmp_path, monkeypatch):
    drawn = {"yes": 0.6, "salt": 0}

    def behave(word: str, time_asked: int):
        service.asked += 1
        salt = f"{word} {time_asked} {drawn['salt']}"
        place = int.from_bytes(hashlib.sha256(salt.encode()).digest()[:4], "big") / 2**32
        return completion(
            None, " Yes" if place < drawn["yes"] else " No", more={"model": "model-1-2026-01-01"}
        )

    monkeypatch.setattr(service, "behave", behave)
    model = remote_model(service, method="sampled", samples=6, samples_per_call=1)
    run = run_audit(tmp_path / "audit", model=model).uri
    drawn["salt"] = 1
    code, record = again(run, tmp_path / "out")
    assert (code, record.outcome) == (0, "reproduced") and record.scores.within_floor > 10
    assert not record.sampling.differs and record.sampling.draws == 2 * 6 * ROWS
    drawn |= {"yes": 0.4, "salt": 2}
    code, record = again(run, tmp_path / "other")
    assert (code, record.outcome) == (1, "differs") and record.sampling.differs
