"""Limits, deadlines and budgets of remote backends, against a server on loopback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.canonical import sha256
from audit_lib.errors import BackendError, SpecError
from audit_lib.run import StageOutput
from audit_lib.score import check_model, score_shard
from audit_lib.score.remote.limiter import Limiter, TokenBucket
from audit_lib.score.remote.limits import Limits, asked_wait, backoff
from audit_lib.spec import Model
from tests.score.conftest import SECRET
from tests.score.live import USAGE, good, run_of, table
from tests.score.loopback import GOOD, Loopback, Reply, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


@given(
    per_minute=st.floats(1, 6000),
    asks=st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 5)), min_size=1, max_size=60),
)
def test_no_minute_lets_more_through_than_the_rate_and_a_second(per_minute, asks):
    bucket, now, passed = TokenBucket(per_minute), 0.0, []
    for pause, units in asks:
        now += pause
        now_passed = now + bucket.reserve(units, now)
        passed.append((now_passed, units))
        assert now_passed >= passed[-2][0] - 1e-6 if len(passed) > 1 else True  # first come, first served
        now = now_passed
    burst = max(per_minute / 60, 1.0)
    for start, _ in passed:
        inside = [units for at, units in passed if start <= at < start + 60]
        # what is let through on credit is at most the one ask that was larger than the burst
        assert sum(inside) <= per_minute + burst + max(inside) + 1e-6


def test_units_given_back_can_be_used():
    bucket = TokenBucket(60)
    assert bucket.reserve(10, 0.0) == 0  # more than the burst, when full
    bucket.give_back(9)
    assert bucket.reserve(1, 1.0) == 0.0
    assert bucket.reserve(1, 1.0) == pytest.approx(1.0)


def test_backoff_is_jittered_over_the_whole_range_and_bounded():
    for attempt, longest in ((1, 0.5), (3, 2.0), (20, 30.0)):
        waits = [backoff(attempt, 0, "r", i) for i in range(400)]
        assert min(waits) < 0.05 * longest and 0.95 * longest < max(waits) <= longest
    assert backoff(2, 0, "r", 1) == backoff(2, 0, "r", 1)


@pytest.mark.parametrize("text", [None, "", "soon", "nan", "inf"])
@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
def test_a_retry_after_that_is_no_time_is_ignored(name, text):
    assert asked_wait({} if text is None else {name: text}, datetime.now(UTC)) is None


def test_milliseconds_go_first_and_what_is_none_gives_way():
    now = datetime.now(UTC)
    assert asked_wait({"retry-after": "9", "retry-after-ms": "250.5"}, now) == 0.2505
    assert asked_wait({"retry-after": "9", "retry-after-ms": "soon"}, now) == 9.0
    assert asked_wait({"retry-after-ms": "-5"}, now) == 0.0


def test_a_retry_after_in_the_past_is_no_wait():
    past = {"retry-after": "Mon, 05 Jan 2026 12:00:00 GMT"}
    assert asked_wait(past, datetime(2027, 1, 1, tzinfo=UTC)) == 0.0


@pytest.mark.parametrize("header", [("Retry-After", "0.8"), ("retry-after-ms", "800")])
def test_retry_after_is_honoured_and_holds_for_everybody(tmp_path, serve, header):
    def behave(word: str, asked: int) -> Reply:
        said = dict([header])
        return (429, said, b"{}") if word == "w000" and asked == 1 else good(word, asked)

    server = serve(behave)
    scores = table(run_of(tmp_path, server, 3, retries=1, max_concurrency=1))
    assert scores.status.eq("ok").all()
    assert scores.attempts.to_dict() == {"w000": 2, "w001": 1, "w002": 1}
    first, *rest = server.times
    assert min(rest) - first >= 0.8


def test_a_wait_beyond_the_deadline_ends_as_a_row(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply:
        return (429, {"Retry-After": "3600"}, b"{}") if word == "w001" else good(word, asked)

    started = time.monotonic()
    scores = table(run_of(tmp_path, serve(behave), 3, retries=3, deadline=0.7, max_concurrency=3))
    assert scores.status["w001"] == "error" and scores.attempts["w001"] == 1
    assert scores.detail["w001"] == "deadline of 0.7 s; before: HTTP 429 (no code)"
    assert time.monotonic() - started < 30


def test_requests_a_minute_are_kept(tmp_path, serve):
    server = serve(good)
    assert table(run_of(tmp_path, server, 6, requests_per_minute=120)).status.eq("ok").all()
    assert max(server.times) - min(server.times) >= 1.5  # six at two a second, of which two at once


def test_a_shard_has_its_part_of_the_rate(tmp_path, serve):
    server = serve(good)
    run = run_of(tmp_path, server, 128, shards=2, requests_per_minute=60_000)
    assert len(table(run, 0)) == 64
    half = Limiter(Limits(requests_per_minute=60), share=0.5).calls
    assert half is not None and [half.reserve(1, 0.0) for _ in range(2)] == [0.0, 2.0]


def test_tokens_a_minute_are_kept_by_what_was_really_used(tmp_path, serve):
    server = serve(good)  # about 50 tokens estimated for a request, 41 counted
    table(run_of(tmp_path, server, 5, tokens_per_minute=6000, max_concurrency=1))
    assert max(server.times) - min(server.times) >= 1.0


def test_a_budget_in_tokens_stops_the_shard_before_it_is_exceeded_and_a_larger_one_goes_on(tmp_path, serve):
    server = serve(good)
    with pytest.raises(BackendError, match=r"used up after 9 of 30 requests \(369 of 400 tokens"):
        score_shard(run_of(tmp_path, server, 30, max_tokens_total=400, max_concurrency=2), 0)
    assert sum(server.asked.values()) == 9
    scores = table(run_of(tmp_path, server, 30, max_tokens_total=40_000))
    assert scores.status.eq("ok").all() and len(scores) == 30
    assert set(server.asked.values()) == {1}, "what was paid for is not asked again"


def test_remembered_answers_count_for_the_budget(tmp_path, serve):
    server = serve(good)
    for _ in range(2):
        with pytest.raises(BackendError, match="used up after"):
            score_shard(run_of(tmp_path, server, 30, max_tokens_total=400, max_concurrency=2), 0)
    assert sum(server.asked.values()) == 9


def test_a_budget_in_money(tmp_path, serve):
    server = serve(good)
    prices = {"price_prompt": 10.0, "price_completion": 100.0}  # 0.0005 a request
    with pytest.raises(BackendError, match=r"0\.0050 of 0\.0051 in money"):
        score_shard(run_of(tmp_path, server, 30, max_cost=0.0051, max_concurrency=1, **prices), 0)
    assert sum(server.asked.values()) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_cost": 1.0}, "max_cost needs price_prompt and price_completion"),
        ({"price_prompt": 1.0}, "go together"),
        ({"request_per_minute": 3}, "did you mean 'requests_per_minute'"),
    ],
)
def test_wrong_limits_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        check_model(Model(backend="openai", name="m", options=options))


def test_a_server_that_stops_answering_stops_the_shard_and_nothing_is_asked_twice(tmp_path, serve):
    down = {"now": True}

    def behave(word: str, asked: int) -> Reply:
        return (503, {}, b"") if (word >= "w030" or asked > 1) and down["now"] else good(word, asked)

    server = serve(behave)
    run = run_of(tmp_path, server, 100, give_up_after=5, max_concurrency=4)
    said = r"5 requests failed one after the other .* and one that was answered before failed .*HTTP 503"
    with pytest.raises(BackendError, match=said):
        score_shard(run, 0)
    assert sum(server.asked.values()) < 60
    down["now"] = False
    scores = table(run)
    assert scores.status.eq("ok").all() and len(scores) == 100
    assert sorted(server.asked[f"w{i:03}"] for i in range(30)) == [1] * 29 + [2], "one was asked to find out"


def test_a_shard_deadline_ends_a_shard_that_hangs(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply:
        if word == "w002":
            time.sleep(20)
        return good(word, asked)

    started = time.monotonic()
    with pytest.raises(
        BackendError, match=r"model\.options\.shard_deadline is over; what was answered is kept"
    ):
        score_shard(run_of(tmp_path, serve(behave), 4, shard_deadline=0.8, timeout=60), 0)
    assert time.monotonic() - started < 10


def test_a_run_deadline_counts_from_the_plan(tmp_path, serve):
    server = serve(good)
    run = run_of(tmp_path, server, 3, run_deadline=3600)
    assert table(run).status.eq("ok").all()  # no plan, so no age
    (folder := tmp_path / "late").mkdir()
    late = run_of(folder, server, 3, run_deadline=3600)
    plan = late.stage("plan")
    record = plan.commit(StageOutput({"plan.json": b"{}"}), datetime.now(UTC))
    old = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    text = late.store.get(f"{plan.prefix}/_SUCCESS").decode().replace(record.finished_at, old)
    late.store.replace(f"{plan.prefix}/_SUCCESS", text.encode())
    with pytest.raises(BackendError, match="run_deadline is over"):
        score_shard(late, 0)
    assert sum(server.asked.values()) == 3


def test_whatever_the_server_does_each_request_ends_as_one_row(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply | None:
        kind = int(sha256(f"{word}/{asked}".encode())[:4], 16) % 11
        whole = completion(GOOD, more=USAGE)
        return {
            0: (429, {"Retry-After": "0.01"}, b"{}"),
            1: (429, {}, b""),
            2: (500, {}, b"down"),
            3: None,
            4: (200, {}, whole[2][:70]),
            5: (200, {}, b'{"choices": []}'),
            6: (200, {"Drip": "0.05"}, whole[2]),
            7: completion({" Maybe": -0.1}),
            8: completion(GOOD, finish_reason="content_filter"),
            9: (200, {"Content-Length": str(len(whole[2]) + 50), "Connection": "close"}, whole[2]),
        }.get(kind, whole)

    server = serve(behave)
    run = run_of(tmp_path, server, 120, retries=2, timeout=1.0, deadline=10, max_concurrency=16)
    scores = table(run)
    assert sorted(scores.index) == [f"w{i:03}" for i in range(120)]
    assert scores.attempts.to_dict() == {word: server.asked[word] for word in scores.index}
    assert scores.attempts.max() == 3 and scores.status.nunique() == 4
    assert scores.score.notna().eq(scores.status.eq("ok")).all()


def test_prompts_are_not_logged(tmp_path, serve, caplog):
    import logging

    caplog.set_level(logging.DEBUG)
    table(run_of(tmp_path, serve(good), 2))
    assert "asks" not in caplog.text and SECRET not in caplog.text


def test_what_the_provider_says_of_itself_is_recorded(tmp_path, serve):
    import json

    def behave(word: str, asked: int) -> Reply:
        mark = "fp_b" if word == "w001" else "fp_a"
        used = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
        return completion(GOOD, more={"system_fingerprint": mark, "usage": used})

    output = score_shard(run_of(tmp_path, serve(behave), 3), 0)
    one = {"model": "served-1"}
    assert json.loads(output.artefacts["served.json"]) == [
        {**one, "system_fingerprint": "fp_a", "answers": 2, "prompt_tokens": 80, "completion_tokens": 2},
        {**one, "system_fingerprint": "fp_b", "answers": 1, "prompt_tokens": 40, "completion_tokens": 1},
    ]


@pytest.mark.parametrize(("per_minute", "shards"), [(60, 8), (6, 8), (1, 64), (600, 4)])
def test_shards_that_begin_together_keep_to_the_rate_in_the_first_minute(per_minute, shards):
    calls = 0
    for shard in range(shards):
        bucket, now = TokenBucket(per_minute / shards, shard / shards), 0.0
        while (now := now + bucket.reserve(1, now)) < 60 - 1e-6:
            calls += 1
    assert calls <= per_minute * 61 / 60


def test_a_budget_is_overrun_by_at_most_what_is_under_way_when_the_first_answer_comes(tmp_path, serve):
    server = serve(lambda word, asked: completion(GOOD, more={"usage": {"prompt_tokens": 500}}))
    with pytest.raises(BackendError, match="used up after"):
        score_shard(run_of(tmp_path, server, 60, max_tokens_total=5000, max_concurrency=2), 0)
    assert sum(server.asked.values()) <= 10


def test_one_long_retry_after_does_not_hold_up_the_others_to_their_deadline(tmp_path, serve):
    server = serve(
        lambda word, asked: (429, {"Retry-After": "86400"}, b"{}") if word == "w000" else good(word, asked)
    )
    scores = table(run_of(tmp_path, server, 5, retries=2, deadline=2.0, max_concurrency=2))
    assert scores.status.to_dict() == {"w000": "error", **{f"w{i:03}": "ok" for i in range(1, 5)}}
