"""Whose failure it is: the endpoint's, which stops the shard, or a request's own, which is its row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from audit_lib.errors import BackendError
from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.live import good, run_of, table
from tests.score.loopback import GOOD, Loopback, Reply, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


@pytest.mark.parametrize(
    "answer", [(503, {}, b""), None, (400, {}, b"{}"), (403, {}, b"{}"), (404, {}, b"{}")]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_requests_that_fail_by_themselves_are_rows_however_many_they_are(tmp_path, serve, answer, workers):
    server = serve(lambda word, asked: answer if word >= "w005" else good(word, asked))
    scores = table(run_of(tmp_path, server, 40, give_up_after=4, max_concurrency=workers))
    assert scores.status.tolist() == ["ok"] * 5 + ["error"] * 35
    assert all(server.asked[f"w{i:03}"] == 1 for i in range(5, 40)), "each was asked once"
    looks = sum(server.asked.values()) - 40
    # Each worker may have one look under way when the count begins again.
    assert 35 // 4 <= looks <= 35 // 4 + workers, (
        "what was answered before is asked again, and no more than that"
    )


@pytest.mark.parametrize(
    ("answer", "row", "message"),
    [
        ((401, {}, b"{}"), 30, "the key in TEST_API_KEY is refused; what was answered is kept"),
        (
            (402, {}, b"{}"),
            3,
            r"3 requests failed one after the other \(last: HTTP 402 \(no code\)\), and one",
        ),
    ],
)
def test_an_endpoint_that_refuses_from_some_moment_stops_the_shard(tmp_path, serve, answer, row, message):
    turned = {"asked": 0}

    def behave(word: str, asked: int) -> Reply:
        turned["asked"] += 1
        return good(word, asked) if turned["asked"] <= 10 else answer

    server = serve(behave)
    with pytest.raises(BackendError, match=message) as caught:
        score_shard(run_of(tmp_path, server, 60, give_up_after=row, max_concurrency=1), 0)
    assert sum(server.asked.values()) < 20 and SECRET not in str(caught.value)


def test_a_first_request_that_is_turned_away_alone_does_not_stop_the_others(tmp_path, serve):
    server = serve(lambda word, asked: (403, {}, b"{}") if word == "w000" else good(word, asked))
    scores = table(run_of(tmp_path, server, 6, max_concurrency=3))
    assert scores.status.tolist() == ["error"] + ["ok"] * 5


def test_what_was_remembered_tells_whether_the_endpoint_is_there(tmp_path, serve):
    server = serve(lambda word, asked: (404, {}, b"{}") if word == "w003" else good(word, asked))
    for _ in range(2):
        assert table(run_of(tmp_path, server, 4)).status.tolist() == ["ok"] * 3 + ["error"]
    assert server.asked["w003"] == 2


def sampled(folder, server: Loopback, words: list[str], **options):
    options = {
        "api_key_env": "TEST_API_KEY",
        "base_url": server.url,
        "method": "sampled",
        "samples": 5,
        "timeout": 0.5,
        "deadline": 20.0,
        **options,
    }
    rows = [variant(word, messages=messages(f"{word} asks")) for word in words]
    run = run_with(
        folder,
        rows,
        model={"backend": "openai", "name": "m", "served": "any", "options": options},
        score={"shards": 1},
    )
    return from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id")


def test_each_sample_has_its_own_attempts_and_time_and_is_kept_while_another_is_tried_again(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply | None:
        time.sleep(0.15)  # five samples together take longer than one attempt may
        if asked == 3:
            return 503, {}, b""
        return None if asked == 5 else completion(None, text="Yes")

    server = serve(behave)
    scores = sampled(tmp_path, server, ["a"], retries=1)
    assert (scores.status["a"], scores.label_mass["a"], scores.attempts["a"]) == ("ok", 1.0, 2)
    assert server.asked["a"] == 7, "five samples, and two attempts more"


def test_a_sample_that_never_comes_ends_its_request_and_the_deadline_is_of_all_of_them(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply:
        if word == "slow":
            time.sleep(0.4)
        return (503, {}, b"") if word == "bad" and asked > 2 else completion(None, text="Yes")

    server = serve(behave)
    scores = sampled(tmp_path, server, ["good", "bad", "slow"], retries=1, deadline=1.2)
    assert scores.status.to_dict() == {"good": "ok", "bad": "error", "slow": "error"}
    assert server.asked["bad"] == 4 and scores.attempts["bad"] == 2
    assert scores.detail["slow"].startswith("deadline of 1.2 s")


def test_a_key_that_is_an_error_s_code_is_masked_in_the_message(tmp_path, serve, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", key := "all_small_letters")
    server = serve(lambda word, asked: (503, {}, json.dumps({"error": {"code": key}}).encode()))
    with pytest.raises(BackendError, match=r"last: HTTP 503 \(\[key\]\)") as caught:
        score_shard(run_of(tmp_path, server, 3), 0)
    assert key not in repr(caught.value)


@pytest.mark.parametrize(
    "behave",
    [
        lambda word, asked: (200, {"Content-Length": "1048577"}, b"x" * 1048577),
        lambda word, asked: (
            200,
            {"Transfer-Encoding": "chunked", "Content-Length": ""},
            chunks(b"x" * 70_000, 16),
        ),
    ],
    ids=["declared", "chunked"],
)
def test_an_answer_that_is_too_large_is_a_row(tmp_path, serve, behave):
    server = serve(lambda word, asked: good(word, asked) if word == "w000" else behave(word, asked))
    scores = table(run_of(tmp_path, server, 2, max_answer_bytes=1_000_000, max_concurrency=1))
    assert scores.status.tolist() == ["ok", "error"] and server.asked["w001"] == 1
    assert scores.detail["w001"] == "the answer is larger than model.options.max_answer_bytes (1,000,000)"


def test_a_compressed_answer_is_not_opened(tmp_path, serve):
    import gzip

    packed = gzip.compress(completion(GOOD)[2])
    server = serve(
        lambda word, asked: (
            (200, {"Content-Encoding": "gzip"}, packed) if word == "w001" else good(word, asked)
        )
    )
    scores = table(run_of(tmp_path, server, 2, max_concurrency=1))
    assert scores.detail["w001"] == "the answer is compressed, which was not asked for"
    assert {headers["accept-encoding"] for headers in server.headers} == {"identity"}


def chunks(content: bytes, count: int) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(content), content) for _ in range(count)) + b"0\r\n\r\n"
