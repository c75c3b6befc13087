"""A live model that is answered by another one than the spec names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import BackendError
from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, Loopback, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


def asked(folder: Path, server: Loopback, **model: Any) -> Any:
    options = {
        "api_key_env": "TEST_API_KEY",
        "base_url": server.url,
        "retries": 0,
        "timeout": 5.0,
        "max_concurrency": 1,
    }
    rows = [variant(f"w{i}", prompt_id=f"p{i}", messages=messages(f"w{i} asks")) for i in range(6)]
    section = {"backend": "openai", "name": "gpt-4o", "options": options, **model}
    return run_with(folder, rows, model=section, score={"shards": 1})


def answers(word: str, time: int) -> Any:
    return completion(GOOD, more={"model": "gpt-4o-mini-2024-07-18" if word == "w3" else "gpt-4o-2024-08-06"})


def test_a_live_model_that_is_another_stops_the_audit(tmp_path: Path, serve: Any) -> None:
    server = serve(answers)
    with pytest.raises(BackendError, match=r"model\.name is 'gpt-4o', and 'gpt-4o-mini-2024-07-18' answered"):
        score_shard(asked(tmp_path, server), 0)


def test_a_listed_one_answers_and_another_is_an_error(tmp_path: Path, serve: Any) -> None:
    output = score_shard(asked(tmp_path, serve(answers), served=["gpt-4o"]), 0)
    table = from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id")
    assert table["status"].to_dict() == {f"w{i}": "error" if i == 3 else "ok" for i in range(6)}
    assert "model.served" in table.loc["w3", "detail"] and table.loc["w3", ["score", "text"]].isna().all()


def test_any_live_model_may_answer_if_the_spec_says_so(tmp_path: Path, serve: Any) -> None:
    output = score_shard(asked(tmp_path, serve(answers), served="any"), 0)
    assert set(from_parquet(output.artefacts["scores.parquet"])["status"]) == {"ok"}
    models = [entry["model"] for entry in json.loads(output.artefacts["served.json"])]
    assert models == ["gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18"]


def test_another_audit_s_kept_answers_of_another_model_are_asked_again(tmp_path: Path, serve: Any) -> None:
    """The ledger is shared by specs that ask one model; what one of them lets pass another need not."""
    server = serve(answers)
    score_shard(asked(tmp_path, server, served="any"), 0)
    before = server.asked["w3"]
    with pytest.raises(BackendError, match="answered"):
        score_shard(asked(tmp_path, server), 0)
    assert server.asked["w3"] == before + 1 and server.asked["w0"] == 1


@pytest.mark.parametrize("later", ["gpt-4o-2024-11-20", "gpt-4o-mini"])
def test_a_name_that_changes_half_way_is_told_and_recorded(tmp_path: Path, serve: Any, later: str) -> None:
    """Another version, or another model that the spec lets answer."""

    def behave(word: str, time: int) -> Any:
        return completion(GOOD, more={"model": later if int(word[1:]) > 2 else "gpt-4o-2024-08-06"})

    said: list[str] = []
    run = replace(asked(tmp_path, serve(behave), served=["gpt-4o", "gpt-4o-mini"]), notify=said.append)
    output = score_shard(run, 0)
    (told,) = (line for line in said if line.startswith("WARNING"))
    assert f"shard 0: {later} answers, and until now did gpt-4o-2024-08-06" in told
    counts = {entry["model"]: entry["answers"] for entry in json.loads(output.artefacts["served.json"])}
    assert counts == {"gpt-4o-2024-08-06": 3, later: 3}
    assert (
        list(from_parquet(output.artefacts["scores.parquet"])["model"])
        == ["gpt-4o-2024-08-06"] * 3 + [later] * 3
    )


def test_answers_that_are_all_another_s_are_not_paid_for_to_the_end(tmp_path: Path, serve: Any) -> None:
    """What the spec lists no longer answers: each further row would be paid for and be no row of the audit."""

    def changed(word: str, time: int) -> Any:
        return completion(GOOD, more={"model": "gpt-4o" if word == "w0" else "another"})

    server = serve(changed)
    run = asked(tmp_path, server, served=["gpt-4o", "gpt-4.1"])
    limited = dict(run.spec.model.options, give_up_after=3)
    (tmp_path / "more").mkdir()
    with pytest.raises(
        BackendError, match="3 answers in a row were of 'another', which model.served does not"
    ):
        score_shard(asked(tmp_path / "more", server, served=["gpt-4o", "gpt-4.1"], options=limited), 0)
    assert server.asked.total() <= 5
