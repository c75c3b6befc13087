"""A provider whose queue of batches is full, and files of requests that are too large.

The refusal is that of https://github.com/openai/openai-python/issues/2084 and, at Azure, of
https://learn.microsoft.com/en-us/answers/questions/2285577/azure-openai-batch-api-token-limit-exceeded-error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from audit_lib.errors import BackendError, StillWaitingError
from audit_lib.score import score_shard
from audit_lib.score.remote import batches
from audit_lib.score.remote.limits import without_waiting
from tests.score.batch_cases import good, run_of, table
from tests.score.batch_server import BatchServer, batch_server
from tests.score.conftest import SECRET

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., BatchServer]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda answer=good: servers.enter_context(batch_server(answer, SECRET))


def lines_of(server: BatchServer) -> list[tuple[str, int]]:
    return [(batch["status"], batch["request_counts"]["total"]) for batch in server.batches.values()]


@pytest.mark.parametrize("holds", [1, 3, 7])
def test_a_batch_that_the_queue_does_not_hold_is_halved_until_it_does(tmp_path, serve, holds):
    server = serve()
    server.holds = holds
    scores = table(run_of(tmp_path, server, 20))
    assert scores.status.eq("ok").all() and len(scores) == 20
    assert set(server.asked.values()) == {1}, "nothing is paid twice"
    assert scores.attempts.eq(1).all(), "a batch that was not taken in is no attempt"
    assert max(total for status, total in lines_of(server) if status != "failed") <= holds


def test_a_batch_that_is_too_much_next_to_others_waits_for_them(tmp_path, serve):
    server = serve()
    server.holds = 10
    assert table(run_of(tmp_path, server, 24, batch_size=8)).status.eq("ok").all()
    assert {total for status, total in lines_of(server) if status != "failed"} == {8}, "it was not halved"
    assert set(server.asked.values()) == {1}


def test_a_queue_that_others_fill_is_tried_again_by_the_next_run(tmp_path, serve, monkeypatch):
    monkeypatch.setattr(batches, "_MOST_FULL", 3)
    server = serve()
    server.holds = 0
    run = run_of(tmp_path, server, 4)
    with pytest.raises(BackendError, match="the provider's queue has been full 4 times"):
        score_shard(run, 0)
    server.holds = 100
    assert table(run).status.eq("ok").all() and set(server.asked.values()) == {1}


def test_a_task_that_may_not_wait_is_told_that_it_has_to(tmp_path, serve):
    server = serve()
    server.holds = 0
    with without_waiting(), pytest.raises(StillWaitingError):
        score_shard(run_of(tmp_path, server, 4), 0)


def test_a_file_of_requests_is_cut_by_its_bytes(tmp_path, serve):
    server = serve()
    assert table(run_of(tmp_path, server, 12, batch_bytes=2000)).status.eq("ok").all()
    assert len(server.batches) > 2
    assert all(len(server.files[batch["input_file_id"]]) <= 2000 for batch in server.batches.values())
