"""What goes wrong between a process and a Batch API: nothing is paid twice, hangs, or tells a secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from audit_lib.errors import BackendError, StillWaitingError
from audit_lib.score import score_shard
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


def is_making(handler) -> bool:
    return (handler.command, handler.path) == ("POST", "/v1/batches")


def is_looking(handler) -> bool:
    return handler.command == "GET" and handler.path.startswith("/v1/batches/")


def is_reading(handler) -> bool:
    return handler.path.endswith("/content")


def once(when: Callable[[Any], bool], answer: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    """Answer in this way the first time that it is asked so."""
    left = [answer]

    def instead(handler, content) -> bool:
        if not when(handler) or not left:
            return False
        left.pop()(handler)
        return True

    return instead


UNSURE = {
    "lost": lambda handler: handler.cut(),
    "500": lambda handler: handler.send(500, {"error": {"code": "x"}}),
    "no id": lambda handler: handler.send(200, {"object": "batch"}),
    "no JSON": lambda handler: handler.send(200, b"<html>"),
}


@pytest.mark.parametrize("answer", UNSURE)
def test_a_batch_whose_making_was_not_confirmed_is_looked_for_and_not_made_twice(tmp_path, serve, answer):
    server = serve()
    server.instead = once(is_making, UNSURE[answer])
    assert table(run_of(tmp_path, server, 3)).status.eq("ok").all()
    assert len(server.batches) == 1 and set(server.asked.values()) == {1}


def test_a_batch_that_is_listed_late_is_found_by_the_next_run(tmp_path, serve):
    server, listed = serve(), []

    def instead(handler, content) -> bool:
        if is_making(handler):
            handler.send(503, {})
        elif handler.command == "GET" and handler.path.startswith("/v1/batches?"):
            listed.append(handler.path)
            handler.send(200, {"object": "list", "data": [], "has_more": False})
        else:
            return False
        return True

    server.instead = instead
    run = run_of(tmp_path, server, 3)
    with pytest.raises(BackendError, match=r"HTTP 503 .* the next run looks for it before it makes one"):
        score_shard(run, 0)
    assert len(listed) == 2, "it was looked for at once, and a while later"
    server.instead = None
    assert table(run).status.eq("ok").all() and len(server.batches) == 1


def test_a_making_that_was_turned_away_for_a_while_is_tried_again(tmp_path, serve):
    server = serve()

    def too_many(handler) -> None:
        server.batches.clear()
        handler.send(429, {"error": {"code": "rate_limit_exceeded"}})

    server.instead = once(is_making, too_many)
    assert table(run_of(tmp_path, server, 3)).status.eq("ok").all() and len(server.batches) == 1


@pytest.mark.parametrize("status", ["queued", "paused_by_provider", "validating"])
def test_a_batch_in_a_status_that_is_not_an_end_is_under_way(tmp_path, serve, status):
    server, looks = serve(), []

    def instead(handler, content) -> bool:
        if is_looking(handler) and len(looks) < 3:
            looks.append(status)
            handler.send(200, content | {"status": status})
            return True
        return False

    server.instead = instead
    assert table(run_of(tmp_path, server, 3)).status.eq("ok").all()
    assert len(server.batches) == 1 and len(looks) == 3


@pytest.mark.parametrize("code", ["bad key {} of Ann Lee", "{}", ["{}"]])
def test_why_a_batch_failed_is_told_without_what_the_server_echoes(tmp_path, serve, monkeypatch, code):
    secret = "sk_live_abcdefgh"  # has the form of a code
    monkeypatch.setenv("TEST_API_KEY", secret)
    server = serve()
    server.key = secret
    code = [secret] if isinstance(code, list) else code.format(secret)

    def instead(handler, content) -> bool:
        if is_looking(handler):
            errors = {"object": "list", "data": [{"code": code, "message": secret}, None]}
            handler.send(200, content | {"status": "failed", "errors": errors})
        return is_looking(handler)

    server.instead = instead
    with pytest.raises(BackendError, match=r"refused as a whole \(no code\)") as caught:
        score_shard(run_of(tmp_path, server, 3), 0)
    assert secret not in str(caught.value) and "Ann" not in str(caught.value)
    written = [path.read_bytes() for path in tmp_path.rglob("*.failed.json")]
    assert len(written) == 1 and secret.encode() not in written[0] and b"Ann" not in written[0]


def answered(server: BatchServer, **files: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the lines of answers as they are read; `error` makes them an error file of its own."""

    def instead(handler, content) -> bool:
        if is_looking(handler) and content["output_file_id"] and "error" in files:
            lines = files["error"](server.files[content["output_file_id"]].split(b"\n"))
            handler.send(200, content | {"error_file_id": server.add_file(b"\n".join(lines))})
        elif is_reading(handler) and "output" in files:
            handler.send(200, b"\n".join(files["output"](content.split(b"\n"))))
        else:
            return False
        return True

    server.instead = instead


def other_answer(line: bytes) -> bytes:
    said = json.loads(line)
    said["response"]["body"]["choices"][0]["message"]["content"] = "No, another"
    return json.dumps(said).encode()


def same_answer(line: bytes) -> bytes:
    said = json.loads(line)
    said["id"], said["response"]["request_id"] = "batch_req_9", "other"
    return json.dumps(said).encode()


@pytest.mark.parametrize("place", ["output", "error"])
def test_two_different_answers_to_one_line_are_none(tmp_path, serve, place):
    server = serve()
    before = (lambda lines: lines) if place == "output" else (lambda lines: [])
    answered(server, **{place: lambda lines: [*before(lines), other_answer(lines[1])]})
    scores = table(run_of(tmp_path, server, 3))
    assert scores.status.tolist() == ["ok", "error", "ok"]
    assert scores.detail["w01"] == "its batch answered it twice and differently (duplicate custom_id)"
    assert len(server.batches) == 1, "what a third answer would be worth, nobody knows"


@pytest.mark.parametrize("place", ["output", "error"])
def test_the_same_answer_twice_counts_once(tmp_path, serve, place):
    server = serve()
    answered(server, **{place: lambda lines: [*lines, same_answer(lines[1])]})
    scores = table(run_of(tmp_path, server, 3))
    assert scores.status.eq("ok").all() and len(scores) == 3 and len(server.batches) == 1


def test_a_line_of_another_batch_changes_nothing(tmp_path, serve):
    server = serve()
    first: list[bytes] = []

    def lines_of(lines: list[bytes]) -> list[bytes]:
        first.extend(lines[:1])
        return lines if len(first) == 1 else [*lines, other_answer(first[0])]

    answered(server, output=lines_of)
    scores = table(run_of(tmp_path, server, 4, batch_size=2))
    assert scores.status.eq("ok").all() and len(first) == 2 and not scores.text.str.contains("another").any()


@pytest.mark.parametrize("said", [b"<html>", b"[1]", b'{"status": 3}', b'{"a":' * 100_000, b""])
@pytest.mark.parametrize("when", [is_looking, lambda handler: handler.path == "/v1/files"])
def test_an_answer_that_is_none_of_a_batch_api_is_said_so(tmp_path, serve, when, said):
    server = serve()

    def instead(handler, content) -> bool:
        if when(handler):
            handler.send(200, said)
        return when(handler)

    server.instead = instead
    with pytest.raises(BackendError, match=r"the answer is not .*; is it a Batch API\?"):
        score_shard(run_of(tmp_path, server, 2), 0)


@pytest.mark.parametrize("proxy", ["http://[::1", "ftp://127.0.0.1:9", "http://127.0.0.1:port"])
def test_a_proxy_that_is_none_is_named_as_the_cause(tmp_path, serve, monkeypatch, proxy):
    run = run_of(tmp_path, serve(), 2)
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(BackendError, match="names a proxy that cannot be used; mend or unset HTTP_PROXY"):
        score_shard(run, 0)


SLOW = {
    "status": is_looking,
    "answers": is_reading,
    "upload": lambda handler: handler.path == "/v1/files",
}


@pytest.mark.parametrize("part", ["head", "body"])
@pytest.mark.parametrize("what", SLOW)
def test_an_answer_that_drips_for_ever_ends_in_time(tmp_path, serve, what, part):
    server = serve()
    server.instead = lambda handler, content: SLOW[what](handler) and not handler.drip(part)
    with pytest.raises(BackendError, match="timeout; run it again"):
        score_shard(run_of(tmp_path, server, 2, timeout=0.5, deadline=1.0, retries=0), 0)


def test_a_drip_ends_in_time_where_nothing_is_waited_for(tmp_path, serve):
    server = serve()
    server.instead = lambda handler, content: is_looking(handler) and not handler.drip("body")
    run = run_of(tmp_path, server, 2, timeout=0.5, retries=0)
    with without_waiting():
        with pytest.raises(StillWaitingError):
            score_shard(run, 0)
        with pytest.raises(BackendError, match="timeout; run it again"):
            score_shard(run, 0)


def test_a_batch_whose_making_is_never_answered_is_made_once(tmp_path, serve):
    server = serve()
    server.instead = once(is_making, lambda handler: handler.drip("body"))
    assert table(run_of(tmp_path, server, 2, timeout=0.5)).status.eq("ok").all() and len(server.batches) == 1


@pytest.mark.parametrize("answer", ["lost", "500"])
@pytest.mark.parametrize("what", SLOW)
def test_what_fails_for_a_while_is_tried_again(tmp_path, serve, what, answer):
    server = serve()
    server.instead = once(SLOW[what], UNSURE[answer])
    assert table(run_of(tmp_path, server, 2)).status.eq("ok").all() and len(server.batches) == 1


def test_a_drip_does_not_outlast_the_shard(tmp_path, serve):
    server = serve()
    server.instead = lambda handler, content: is_reading(handler) and not handler.drip("body")
    with pytest.raises(BackendError, match="shard_deadline is over"):
        score_shard(run_of(tmp_path, server, 2, shard_deadline=2.0), 0)


def test_a_list_of_batches_without_an_end_is_left(tmp_path, serve, monkeypatch):
    from audit_lib.score.remote import batch_provider

    monkeypatch.setattr(batch_provider, "_MOST_PAGES", 5)
    server, pages = serve(), []

    def instead(handler, content) -> bool:
        if is_making(handler):
            handler.send(500, {})
        elif handler.command == "GET" and handler.path.startswith("/v1/batches?"):
            pages.append(handler.path)
            handler.send(200, {"data": [{"id": f"batch_x{len(pages)}", "metadata": None}], "has_more": True})
        else:
            return False
        return True

    server.instead = instead
    run = run_of(tmp_path, server, 2)
    with pytest.raises(BackendError, match="looks for it before it makes one"):
        score_shard(run, 0)
    del pages[:]
    with pytest.raises(BackendError, match="more than 5 pages.* look there for a batch whose metadata"):
        score_shard(run, 0)
    assert len(pages) == 5 and "after=batch_x4" in pages[4] and len(server.batches) == 1


def test_a_line_that_is_too_large_is_lost_and_the_others_are_read(tmp_path, serve):
    server = serve()
    answered(server, output=lambda lines: [b"x" * 50_000, *lines[:-1], lines[-1] + b" " * 50_000])
    scores = table(run_of(tmp_path, server, 3, max_answer_bytes=20_000, retries=0))
    assert scores.status.tolist() == ["ok", "ok", "error"]
    assert scores.detail["w02"] == "its batch gave no answer (no_line)"


def test_an_answer_that_is_too_large_is_not_held(tmp_path, serve):
    server = serve()
    server.instead = once(is_looking, lambda handler: handler.send(200, b" " * 30_000 + b"{}"))
    with pytest.raises(BackendError, match=r"larger than model\.options\.max_answer_bytes \(20,000\)"):
        score_shard(run_of(tmp_path, server, 2, max_answer_bytes=20_000), 0)


def test_a_place_without_a_batch_api_is_said_so(tmp_path, serve):
    server = serve()
    server.instead = lambda handler, content: is_making(handler) and not handler.send(404, {})
    with pytest.raises(BackendError, match="HTTP 404, no Batch API there, or a wrong base_url"):
        score_shard(run_of(tmp_path, server, 2), 0)


def test_what_fails_last_is_told_where_the_deadline_leaves_no_further_attempt(tmp_path, serve):
    server = serve()
    server.instead = lambda handler, content: is_looking(handler) and not handler.send(503, {})
    with pytest.raises(BackendError, match=r"HTTP 503 \(no code\) to a batch"):
        score_shard(run_of(tmp_path, server, 2, deadline=0.5, timeout=0.4, retries=20), 0)


@pytest.mark.parametrize("name", ["sk-echoed-key-1", "a batch", 7, None])
def test_an_id_that_may_not_be_noted_is_none(tmp_path, serve, monkeypatch, name):
    monkeypatch.setenv("TEST_API_KEY", "sk-echoed-key-1")
    server = serve()
    server.key = "sk-echoed-key-1"
    server.instead = lambda handler, content: (
        handler.path == "/v1/files" and not handler.send(200, content | {"id": name})
    )
    with pytest.raises(BackendError, match="the answer is not an id of a file or a batch") as caught:
        score_shard(run_of(tmp_path, server, 2), 0)
    assert "echoed" not in str(caught.value) and not server.batches
