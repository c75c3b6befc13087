"""The Batch API against an implementation of its documented behaviour on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from audit_lib.errors import BackendError, StillWaitingError
from audit_lib.score import score_shard
from audit_lib.score.remote.limits import without_waiting
from audit_lib.store import LocalStore
from tests.score.batch_cases import good, run_of, table
from tests.score.batch_server import BatchServer, batch_server
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, completion
from tests.specs import REPOSITORY

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., BatchServer]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda answer=good: servers.enter_context(batch_server(answer, SECRET))


def test_a_batch_is_submitted_polled_and_collected(tmp_path, serve):
    server = serve()
    scores = table(run_of(tmp_path, server, 7))
    assert scores.status.eq("ok").all() and scores.score.is_monotonic_decreasing
    assert scores.score.nunique() == 7, "each row has its own line's answer"
    assert set(scores.attempts) == {1} and set(scores.model) == {"served-1"}
    assert len(server.batches) == 1 and server.looked["batch_0"] >= 3
    assert "asks" not in json.dumps(list(server.asked)), "custom ids tell nothing"


def test_answers_are_those_of_the_openai_backend(tmp_path, serve):
    from tests.score.loopback import loopback

    batched = table(run_of(tmp_path / "batch", serve(), 5))
    with loopback(
        lambda word, asked: (200, {}, json.dumps(good({"messages": [0, {"content": word}]}, 1)[1]).encode())
    ) as server:
        options = {"api_key_env": "TEST_API_KEY", "base_url": server.url}
        (tmp_path / "live").mkdir()
        rows = [variant(f"w{i:02}", messages=messages(f"w{i:02} asks")) for i in range(5)]
        live = table(
            run_with(
                tmp_path / "live",
                rows,
                model={"backend": "openai", "name": "model-1", "served": "any", "options": options},
                score={"shards": 1},
            )
        )
    for column in ("score", "label_mass", "text", "model", "status", "request_digest"):
        assert batched[column].tolist() == live[column].tolist(), column


@pytest.mark.parametrize("fate", ["expired", "cancelled", "shuffled"])
def test_what_a_batch_did_not_answer_is_asked_in_a_new_one(tmp_path, serve, fate):
    server = serve()
    server.fates = [fate]
    scores = table(run_of(tmp_path, server, 8))
    assert scores.status.eq("ok").all() and scores.score.is_monotonic_decreasing and len(scores) == 8
    lost = 1 if fate == "shuffled" else 4
    assert sorted(scores.attempts) == [1] * (8 - lost) + [2] * lost
    assert [batch["request_counts"]["total"] for batch in server.batches.values()] == [8, lost]


def test_lines_that_expire_again_and_again_end_as_rows(tmp_path, serve):
    server = serve()
    server.fates = ["expired"] * 9
    scores = table(run_of(tmp_path, server, 8))
    assert len(server.batches) == 3 and len(scores) == 8
    failed = scores[scores.status == "error"]
    said = "its batch gave no answer (batch_expired): This request could not be executed."
    assert len(failed) == 1 and set(failed.detail) == {said}
    assert set(failed.attempts) == {3}


def test_each_kind_of_line_ends_as_one_row(tmp_path, serve):
    def answer(body: dict[str, Any], asked: int) -> tuple[int, Any]:
        word = body["messages"][1]["content"].split()[0]
        if word == "w01":
            return 400, {"error": {"code": "content_filter", "message": "x"}}
        if word == "w02":
            return 400, {"error": {"code": SECRET, "message": SECRET}}
        if word == "w03":
            return (500, None) if asked == 1 else good(body, asked)
        if word == "w04":
            return 429, {"error": {"code": "rate_limit_exceeded"}}
        if word == "w05":
            return 200, {"choices": []}
        if word == "w06":
            return 200, [1]
        if word == "w07":
            return 200, json.loads(completion(GOOD, finish_reason="content_filter")[2])
        return good(body, asked)

    scores = table(run_of(tmp_path, serve(answer), 9))
    assert scores.status.tolist() == [
        "ok",
        "refused",
        "error",
        "ok",
        "error",
        "error",
        "error",
        "refused",
        "ok",
    ]
    assert scores.attempts.tolist() == [1, 1, 1, 2, 3, 1, 1, 1, 1]
    assert (
        scores.detail["w02"] == "HTTP 400 (no code)"
        and scores.detail["w04"] == "HTTP 429 (rate_limit_exceeded)"
    )
    assert SECRET not in scores.to_csv()


def test_a_batch_refused_as_a_whole_stops_the_shard(tmp_path, serve):
    server = serve()
    server.fates = ["failed"]
    with pytest.raises(BackendError, match=r"batch batch_0: refused as a whole \(invalid_json_line\)"):
        score_shard(run_of(tmp_path, server, 3), 0)


def test_a_refused_key_is_named_and_not_told(tmp_path, serve, monkeypatch):
    server = serve()
    monkeypatch.setenv("TEST_API_KEY", "sk-wrong")
    with pytest.raises(BackendError, match="HTTP 401, the key in TEST_API_KEY is refused") as caught:
        score_shard(run_of(tmp_path, server, 3), 0)
    assert "sk-wrong" not in repr(caught.value)


def test_without_waiting_each_call_is_one_step(tmp_path, serve):
    server = serve()
    server.fates, server.looks = ["expired"], 1
    run, told = run_of(tmp_path, server, 6), []
    for _ in range(20):
        try:
            with without_waiting():
                output = score_shard(run, 0)
            break
        except StillWaitingError as waiting:
            told.append(str(waiting))
    assert len(told) > 3 and all("1 batches are under way" in text for text in told)
    assert len(server.batches) == 2
    assert output.counts["ok"] == 6 and output.counts["from_ledger"] == 3, "partial results were kept"
    assert set(server.asked.values()) == {1}, "no line was answered twice"


def test_partial_results_are_found_again_without_the_ledger(tmp_path, serve):
    server = serve()
    server.fates, server.looks = ["expired"], 1
    run = run_of(tmp_path, server, 6, score={"ledger": "off"})
    for _ in range(20):
        try:
            with without_waiting():
                output = score_shard(run, 0)
            break
        except StillWaitingError:
            continue
    assert output.counts == {"rows": 6, "requests": 6, "ok": 6}
    assert set(server.asked.values()) == {1} and len(server.batches) == 2


def test_a_process_that_dies_before_it_notes_the_id_pays_once(tmp_path, serve, monkeypatch):
    server = serve()
    whole = LocalStore.put

    def dies(self, key: str, content: bytes) -> bool:
        if key.endswith(".batch.json"):
            raise KeyboardInterrupt
        return whole(self, key, content)

    run = run_of(tmp_path, server, 5)
    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "put", dies)
        with pytest.raises(KeyboardInterrupt):
            score_shard(run, 0)
    assert len(server.batches) == 1
    assert table(run).status.eq("ok").all()
    assert len(server.batches) == 1 and set(server.asked.values()) == {1}


KILLED = """
import sys
from audit_lib.run import Run
from audit_lib.window import Window
from audit_lib.score import score_shard
from audit_lib.spec import AuditSpec
run = Run.open(AuditSpec.load(sys.argv[1]), Window.parse("2026-01-05", "2026-01-12"), sys.argv[2])
score_shard(run, 0)
"""


def test_kill_9_while_waiting_goes_on_with_the_same_batch(tmp_path, serve):
    server = serve()
    server.looks = 10**9
    run = run_of(tmp_path, server, 5)
    (tmp_path / "small.yaml").write_bytes(run.spec.canonical())
    command = [sys.executable, "-c", KILLED, str(tmp_path / "small.yaml"), str(tmp_path / "store")]
    with subprocess.Popen(command, cwd=REPOSITORY) as process:
        while server.looked["batch_0"] < 3:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        process.kill()
    server.looks = 0
    assert table(run).status.eq("ok").all()
    assert len(server.batches) == 1 and set(server.asked.values()) == {1}


def test_a_large_shard_is_cut_into_batches(tmp_path, serve):
    server = serve()
    assert table(run_of(tmp_path, server, 7, batch_size=3)).status.eq("ok").all()
    assert [batch["request_counts"]["total"] for batch in server.batches.values()] == [3, 3, 1]


def test_a_budget_is_checked_before_anything_is_submitted(tmp_path, serve):
    server = serve()
    with pytest.raises(BackendError, match="used up after 0 of 7 requests"):
        score_shard(run_of(tmp_path, server, 7, max_tokens_total=100), 0)
    assert not server.batches


def test_sampled_labels_take_several_lines(tmp_path, serve):
    def answer(body: dict[str, Any], asked: int) -> tuple[int, Any]:
        return 200, json.loads(completion(None, text="Yes" if body["seed"] % 2 else "No")[2])

    server = serve(answer)
    scores = table(run_of(tmp_path, server, 2, method="sampled", samples=4, seed=0))
    assert scores.score.tolist() == [0.5, 0.5] and scores.label_mass.tolist() == [1.0, 1.0]
    assert server.batches["batch_0"]["request_counts"]["total"] == 8


def test_a_refused_batch_is_submitted_anew_by_the_next_run_but_not_for_ever(tmp_path, serve):
    server = serve()
    server.fates = ["failed"]
    run = run_of(tmp_path / "heals", server, 3)
    with pytest.raises(
        BackendError, match=r"refused as a whole .*; run it again to submit its lines anew \(1 of 3\)"
    ):
        score_shard(run, 0)
    assert table(run).status.eq("ok").all() and len(server.batches) == 2
    other = serve()
    other.fates = ["failed"] * 9
    run = run_of(tmp_path / "never", other, 3)
    for _ in range(5):
        with pytest.raises(BackendError, match="refused as a whole"):
            score_shard(run, 0)
    assert len(other.batches) == 3


@pytest.mark.parametrize(
    ("lost", "said"),
    [("batches", "does not know it any more"), ("files", "does not have its answers any more")],
)
def test_what_a_provider_has_deleted_is_submitted_anew_by_the_next_run_and_not_for_ever(
    tmp_path, serve, lost, said
):
    server = serve()
    server.looks = 10**9
    run = run_of(tmp_path, server, 3, shard_deadline=1.5)
    with pytest.raises(BackendError, match="shard_deadline is over"):
        score_shard(run, 0)
    server.looks = 0
    if lost == "batches":
        server.batches["batch_0"]["gone"] = True
    else:
        server.look("batch_0")
        del server.files[server.batches["batch_0"]["output_file_id"]]
    with pytest.raises(
        BackendError, match=f"batch batch_0: the provider {said}; run it again to submit its lines anew"
    ):
        score_shard(run, 0)
    assert table(run).status.eq("ok").all() and len(server.batches) == 2


def test_answers_of_a_batch_are_written_down_while_others_are_waited_for(tmp_path, serve, monkeypatch):
    from audit_lib.score import ledger

    server = serve()
    server.stuck = {"batch_1"}
    run = run_of(tmp_path, server, 4, batch_size=2, shard_deadline=2.5, poll=0.6)
    server.looks = 0
    kept: list[int] = []
    whole = ledger.Ledger.flush

    def flush(self) -> None:
        kept.append(len(self._pending))
        whole(self)

    monkeypatch.setattr(ledger.Ledger, "flush", flush)
    with pytest.raises(BackendError, match="shard_deadline is over"):
        score_shard(run, 0)
    assert sum(kept) == 2 and kept[-1] == 0, "while it waits, and not only by the end"
