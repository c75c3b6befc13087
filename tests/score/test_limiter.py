"""One shard's limits hold over all that it asks: each step of a conversation, the questions, the canaries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import BackendError
from audit_lib.score import score_shard
from audit_lib.score.remote.cost import NOTHING, Usage
from audit_lib.score.remote.limiter import Budget, Limiter
from audit_lib.score.remote.limits import Limits
from tests.score.audits import open_audit, up_to
from tests.score.conftest import SECRET
from tests.score.live import run_of
from tests.score.loopback import GOOD, Loopback, Reply, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


def rating(word: str, asked: int) -> Reply:
    usage = {"prompt_tokens": 1000, "completion_tokens": 50}
    return completion(
        None, text='Here {"overall": 3}', more={"usage": usage, "system_fingerprint": f"fp-{asked % 2}"}
    )


def in_steps(folder, server: Loopback, **options):
    """Return a run of 32 conversations of a reply and a question, each call worth 1,050 tokens."""
    options = {
        "api_key_env": "TEST_API_KEY",
        "base_url": server.url,
        "retries": 0,
        "max_concurrency": 2,
        **options,
    }
    run = open_audit(
        folder,
        "pointwise",
        model={"backend": "openai", "name": "m", "served": "any", "options": options},
        prompt={"max_tokens": 60},
        score={"shards": 1, "ledger": "off"},
    )
    return up_to(run, "variants")


def test_a_budget_is_that_of_all_steps_together(tmp_path, serve):
    server = serve(rating)
    with pytest.raises(BackendError, match="used up after"):
        score_shard(in_steps(tmp_path, server, max_tokens_total=45 * 1050), 0)
    assert 32 < sum(server.asked.values()) <= 45, "the steps are over, and the questions have what they left"


def test_a_shard_deadline_is_that_of_all_steps_together(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply:
        time.sleep(0.05)
        return rating(word, asked)

    server = serve(behave)
    # 32 calls of 0.05 s, two at a time, are 0.8 s: each step alone would be in time.
    started = time.monotonic()
    with pytest.raises(BackendError, match="shard_deadline is over"):
        score_shard(in_steps(tmp_path, server, shard_deadline=1.2), 0)
    assert sum(server.asked.values()) > 20 and time.monotonic() - started < 10


def test_a_rate_goes_on_from_step_to_step(tmp_path, serve):
    server = serve(rating)
    score_shard(in_steps(tmp_path, server, requests_per_minute=1200), 0)  # 64 calls, 20 of them at once
    assert max(server.times) - min(server.times) >= (64 - 20) / 20 - 0.1


def test_the_models_that_served_the_steps_are_told(tmp_path, serve):
    server = serve(rating)
    output = score_shard(in_steps(tmp_path, server), 0)
    served = json.loads(output.artefacts["served.json"])
    assert {(entry["step"], entry["system_fingerprint"]) for entry in served if "step" in entry} <= {
        (1, "fp-0"),
        (1, "fp-1"),
    }
    assert sum(entry["answers"] for entry in served if entry.get("step") == 1) == 32
    assert sum(entry["answers"] for entry in served if "step" not in entry) == 32


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_budget_is_overrun_by_what_the_calls_under_way_take_beyond_their_estimates(
    tmp_path, serve, concurrency
):
    most = 600

    def behave(word: str, asked: int) -> Reply:
        time.sleep(0.05)
        return completion(GOOD, more={"usage": {"prompt_tokens": most, "completion_tokens": 1}})

    server = serve(behave)
    run = run_of(tmp_path, server, 60, max_tokens_total=1500, max_concurrency=concurrency)
    with pytest.raises(BackendError, match="used up after"):
        score_shard(run, 0)
    assert sum(server.asked.values()) <= max(concurrency, 1500 // most)


def test_an_attempt_that_ran_out_of_time_counts_as_estimated(tmp_path, serve):
    def behave(word: str, asked: int) -> Reply:
        time.sleep(0.6 if asked == 1 else 0)
        return completion(GOOD, more={"usage": {"prompt_tokens": 40, "completion_tokens": 1}})

    server = serve(behave)
    run = run_of(
        tmp_path, server, 9, max_tokens_total=400, max_concurrency=1, retries=1, timeout=0.3
    )  # each is 41 and an estimate of about 50
    with pytest.raises(BackendError, match="used up after [34] of 9 requests"):
        score_shard(run, 0)


@given(
    cap=st.integers(1, 3000),
    asks=st.lists(st.tuples(st.integers(1, 200), st.integers(0, 60)), min_size=1, max_size=40),
    together=st.integers(1, 5),
)
def test_a_budget_is_never_exceeded_where_estimates_hold(cap, asks, together):
    budget, spent, open_ = Budget(Limits(max_tokens_total=cap)), NOTHING, []

    def settle() -> Usage:
        estimate, used = open_.pop(0)
        budget.settle(estimate, used)
        return used

    for prompt, completed in asks:
        estimate = Usage(prompt=prompt, completion=60)
        while open_ and (len(open_) >= together or not budget.fits(estimate)):
            spent += settle()
        if not budget.fits(estimate):
            break
        budget.reserve(estimate)
        open_.append((estimate, Usage(prompt=prompt, completion=completed)))
    while open_:
        spent += settle()
    assert spent.total <= cap and not budget.under_way


def test_the_nearer_deadline_is_named():
    limits = Limits(shard_deadline=100, run_deadline=50)
    left = Limiter(limits, seconds_since_plan=20).seconds_left("here")
    assert left is not None and 29 < left <= 30
    with pytest.raises(BackendError, match=r"here: model\.options\.run_deadline is over"):
        Limiter(limits, seconds_since_plan=51).seconds_left("here")
    assert Limiter(Limits(run_deadline=50)).seconds_left("here") is None
