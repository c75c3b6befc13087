"""Running a panel: one ordinary run a model over the same sample, nothing paid for before all are ready, no silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import BackendError, InputError, PreflightError
from audit_lib.panel import PanelRun, open_panel, run_panel
from audit_lib.panel.panel_stage import read_record
from audit_lib.run import Run
from audit_lib.score.backends import backend
from audit_lib.score.requests import Request, Response
from audit_lib.spec import Panel, read_spec
from tests.compare.cases import versions
from tests.inputs import write_jsonl
from tests.panel.cases import WINDOW, live_panel, recorded_panel
from tests.score.fakes import by_hash

COMMAND = ["--window", "2026-01-05", "2026-01-12", "--store"]


def opened(path: Path) -> PanelRun:
    panel = read_spec(path)
    assert isinstance(panel, Panel)
    return open_panel(panel, WINDOW, str(path.parent / "store"))


def asked(*names: str) -> list[int]:
    return [len(backend.get(name).asked) for name in names]  # type: ignore[attr-defined]


def breaks(request: Request) -> str:
    raise BackendError("the endpoint went away")


def test_every_model_is_asked_about_the_same_versions_and_sealed_alone(tmp_path: Path) -> None:
    made = opened(live_panel(tmp_path))
    record = run_panel(made)
    assert record is not None and not record.failed and record.why_no_comparison is None
    first, second = record.members
    assert first.prompts_sha256 == second.prompts_sha256 is not None
    assert first.variants_sha256 == second.variants_sha256 is not None
    assert asked("first", "second")[0] == asked("first", "second")[1] == first.asked.calls  # type: ignore[union-attr]
    for one, run in zip(record.members, made.runs, strict=True):
        assert run.spec.seed == made.runs[0].spec.seed
        assert verify(run.uri).ok
        assert one.manifest_sha256 == run.stage("evidence").success().artefacts["manifest.json"].sha256
        assert Run.load(made.store.uri(one.run)).spec.canonical() == run.spec.canonical()
    assert read_record(made) == record
    assert b'"models"' not in made.runs[0].stage("plan").read("spec.json")


def test_again_asks_nobody_and_writes_no_second_record(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    run_panel(opened(path))
    before, files = asked("first", "second"), sorted((tmp_path / "store").rglob("*"))
    run_panel(opened(path))
    assert asked("first", "second") == before
    assert [one for one in sorted((tmp_path / "store").rglob("*")) if one not in files] == []


def test_a_model_that_fails_midway_is_a_row_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = live_panel(tmp_path, {"one": by_hash, "bad": breaks, "two": by_hash})
    store = str(tmp_path / "store")
    assert main(["run", str(path), *COMMAND, store]) == 1
    out = capsys.readouterr().out
    assert "the endpoint went away" in out and "panel.html" in out
    record = read_record(opened(path))
    assert record is not None
    assert [one.state for one in record.members] == ["sealed", "failed", "sealed"]
    (bad,) = record.failed
    assert bad.manifest_sha256 is None and bad.variants_sha256 == record.members[0].variants_sha256
    assert (bad.faults[0].stage, bad.faults[0].type) == ("scores/0", "BackendError")
    # Mended, it is run again, and so is nobody else; the first record stays.
    before = asked("one", "two")
    live_panel(tmp_path, {"bad": by_hash})
    fresh = live_panel(tmp_path, {"one": by_hash, "bad": by_hash, "two": by_hash})
    assert main(["run", str(fresh), *COMMAND, store]) == 0
    assert before != [0, 0] and asked("one", "two") == [0, 0] and asked("bad")[0] > 0
    made = opened(fresh)
    assert made.last_number() == 2
    assert json.loads(made.record(1).read("panel.json"))["members"][1]["state"] == "failed"
    assert [one.state for one in read_record(made).members] == ["sealed"] * 3  # type: ignore[union-attr]


def test_an_unexpected_fault_of_one_model_is_a_row_too(tmp_path: Path) -> None:
    def falls(request: Request) -> str:
        raise ZeroDivisionError

    record = run_panel(opened(live_panel(tmp_path, {"one": by_hash, "bad": falls, "two": by_hash})))
    assert record is not None
    assert [one.state for one in record.members] == ["sealed", "failed", "sealed"]
    assert record.members[1].faults[0].type == "ZeroDivisionError"


def test_of_one_sealed_run_there_is_no_comparison_and_the_record_says_so(tmp_path: Path) -> None:
    record = run_panel(opened(live_panel(tmp_path, {"one": by_hash, "bad": breaks})))
    assert record is not None and record.comparison_sha256 is None
    assert record.why_no_comparison is not None and record.why_no_comparison.startswith("1 of 2 models")


def test_a_model_whose_preflight_fails_stops_the_panel_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = live_panel(tmp_path)
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["models"].append(
        {"backend": "openai", "name": "gpt-4o", "options": {"api_key_env": "NO_SUCH_KEY_HERE"}}
    )
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    assert main(["run", str(path), "--offline", *COMMAND, str(tmp_path / "store")]) == 2
    error = capsys.readouterr().err
    assert (
        "none of its questions was asked of a model yet" in error
        and "gpt-4o: " in error
        and "NO_SUCH_KEY_HERE" in error
    )
    assert asked("first", "second") == [0, 0]
    assert main(["validate", str(path), "--offline"]) == 2
    assert "NO_SUCH_KEY_HERE" in capsys.readouterr().err


def test_what_all_models_lack_is_told_once(tmp_path: Path) -> None:
    from audit_lib.panel import require_panel_ready

    path = live_panel(tmp_path, source={"paths": ["nowhere.jsonl"]})
    panel = read_spec(path)
    assert isinstance(panel, Panel)
    with pytest.raises(PreflightError) as raised:
        require_panel_ready(panel.members)
    assert str(raised.value).count("source.paths: nowhere.jsonl") == 1


def test_models_with_other_applicants_stop_the_panel_before_anybody_is_asked(tmp_path: Path) -> None:
    path = recorded_panel(tmp_path, ["fair-1", "kind-1"])
    write_jsonl(tmp_path / "kind-1.jsonl", versions("kind-1", 59))
    made = opened(path)
    with pytest.raises(InputError, match="not the applications"):
        run_panel(made)
    assert not made.runs[0].list("scores")


def test_the_cost_is_told_before_money_is_spent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = live_panel(tmp_path)
    assert main(["plan", str(path), "--window", "2026-01-05", "2026-01-12"]) == 0
    planned = capsys.readouterr().out
    rows = {
        line.split()[0]: line.split()[1] for line in planned.splitlines() if line[:5] in ("first", "secon")
    }
    assert rows == {"first_1b": "32", "second_1b": "32"}
    assert any(line.split()[:3] == ["all", "models", "64"] for line in planned.splitlines())
    assert main(["validate", str(path)]) == 0
    told = capsys.readouterr().out
    assert "a panel of 2 models" in told and "all models" in told and " 64 " in told
    assert asked("first", "second") == [0, 0]
    assert main(["run", str(path), "--dry-run", *COMMAND, str(tmp_path / "store")]) == 0
    assert asked("first", "second") == [0, 0]
    assert main(["run", str(path), *COMMAND, str(tmp_path / "store")]) == 0
    assert "first_1b 32, second_1b 32; 64 in all" in capsys.readouterr().err


def test_prices_make_money(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = live_panel(tmp_path)
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["models"][1] = {
        "backend": "openai", "name": "gpt-4o",
        "options": {"price_prompt": 2.5, "price_completion": 10, "base_url": "http://127.0.0.1:9/v1"},
    }  # fmt: skip
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    assert main(["plan", str(path), "--window", "2026-01-05", "2026-01-12"]) == 0
    told = capsys.readouterr().out
    assert "money is of 1 of 2 models" in told
    (line,) = [one for one in told.splitlines() if one.startswith("gpt_4o")]
    (total,) = [one for one in told.splitlines() if one.startswith("all models")]
    assert line.split()[-1] == total.split()[-1] and float(total.split()[-1]) > 0


def test_what_the_answers_really_took_is_kept_next_to_each_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = opened(live_panel(tmp_path))
    counting = backend.get("first")
    plain = counting.score

    def counted(self: Any, packs: Any) -> Iterator[Response]:
        for response in plain(self, packs):
            yield replace(response, prompt_tokens=100 + len(response.request_id), completion_tokens=1)

    monkeypatch.setattr(counting, "score", counted)
    record = run_panel(made)
    assert record is not None
    first, second = record.members
    assert first.used is not None and first.asked is not None
    told = counting.asked  # type: ignore[attr-defined]
    assert first.used.answers == len(told) == first.asked.calls, "a step before the answer took tokens too"
    assert first.used.prompt_tokens == sum(100 + len(request.request_id) for request in told)
    assert first.used.completion_tokens == len(told)
    assert first.used.money is None
    assert second.used is None, "a model that counts no tokens has none, not 0"
    folder = made.record(made.last_number())
    compared = json.loads(folder.read("comparison.json"))["runs"]
    assert [one["used"] for one in compared] == [first.used.as_dict(), None]
    page = folder.read("panel.html").decode()
    assert (
        "What the answers took" in page and "not counted" in page and f"{first.used.prompt_tokens:,}" in page
    )


def test_one_model_of_a_panel_is_run_by_its_name(tmp_path: Path) -> None:
    path = live_panel(tmp_path)
    assert main(["run", f"{path}#second_1b", *COMMAND, str(tmp_path / "store")]) == 0
    assert asked("first")[0] == 0
    record: Any = run_panel(opened(path))
    assert [one.state for one in record.members] == ["sealed", "sealed"]
    assert asked("second")[0] == asked("first")[0], "the one that was run alone is not asked again"


def test_a_failed_validation_is_a_row(tmp_path: Path) -> None:
    path = recorded_panel(tmp_path, ["fair-1", "kind-1", "harsh-1"])
    rows = [{**row, "recorded_score": None} for row in versions("kind-1")]
    write_jsonl(tmp_path / "kind-1.jsonl", rows)
    record = run_panel(opened(path))
    assert record is not None
    assert [one.state for one in record.members] == ["sealed", "failed validation", "sealed"]
    assert record.members[1].manifest_sha256 is not None
    assert pipeline.latest_run("screeners_kind_1", str(tmp_path / "store")).key.audit == "screeners_kind_1"
