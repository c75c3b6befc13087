"""The ledger: what is asked again, what is not, and that no table shows the difference."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.errors import StoreError
from audit_lib.run import Run
from audit_lib.score import ledger as ledger_module
from audit_lib.score import score_shard, shards
from audit_lib.score.asking import _missing
from audit_lib.score.ledger import Ledger, ledger_keys
from audit_lib.score.requests import Candidate, Message, Request, Response
from audit_lib.store import LocalStore
from audit_lib.window import Window
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import Loopback, Reply, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


class Moody:
    """Answers each call otherwise than the one before, so that a table shows who was asked again."""

    def __init__(self) -> None:
        self.calls, self.lock = 0, threading.Lock()

    def __call__(self, word: str, asked: int) -> Reply:
        with self.lock:
            self.calls += 1
            return completion(
                {" Yes": -1.0 - self.calls / 1000, " No": -2.0, "x": -12.0},
                more={"usage": {"prompt_tokens": 7}},
            )


def run_of(
    folder: Path, server: Loopback, words: list[str], shards: int = 1, at_once: int = 8, **sections
) -> Run:
    folder.mkdir(exist_ok=True)
    rows = [variant(f"v{i:03}", messages=messages(f"{word} asks")) for i, word in enumerate(words)]
    options = {"api_key_env": "TEST_API_KEY", "base_url": server.url, "retries": 1, "timeout": 10.0}
    options |= {"max_concurrency": at_once}
    model = {"backend": "openai", "name": "model-1", "served": "any", "options": options}
    return run_with(
        folder, rows, model=model, **{**sections, "score": {"shards": shards, **sections.get("score", {})}}
    )


def words(count: int) -> list[str]:
    return [f"w{i:03}" for i in range(count)]


def test_a_cold_and_a_warm_run_give_the_same_bytes(tmp_path, serve):
    server = serve(Moody())
    run = run_of(tmp_path, server, words(130), shards=2)
    cold = [score_shard(run, shard) for shard in shards(run)]
    assert len(cold) == 2 and sum(server.asked.values()) == 130
    warm = [score_shard(run, shard) for shard in shards(run)]
    assert [dict(output.artefacts) for output in warm] == [dict(output.artefacts) for output in cold]
    assert sum(server.asked.values()) == 130
    assert "from_ledger" not in cold[0].counts and warm[0].counts["from_ledger"] == cold[0].counts["rows"]


def test_attempts_are_those_of_the_answer(tmp_path, serve):
    mood = Moody()
    server = serve(lambda word, asked: (503, {}, b"") if asked == 1 else mood(word, asked))
    run = run_of(tmp_path, server, words(3))
    cold, warm = score_shard(run, 0), score_shard(run, 0)
    assert dict(cold.artefacts) == dict(warm.artefacts)
    assert sum(server.asked.values()) == 6


def test_another_spec_over_the_same_window_asks_only_what_is_new(tmp_path, serve):
    server = serve(Moody())
    score_shard(run_of(tmp_path, server, words(10)), 0)
    output = score_shard(run_of(tmp_path, server, words(14), title="Another title"), 0)
    assert output.counts["from_ledger"] == 10
    assert sum(server.asked.values()) == 14


@pytest.mark.parametrize(("kept", "calls"), [("window", 8), ("shared", 4), ("off", 12)])
def test_what_may_be_used_again(tmp_path, serve, kept, calls):
    server = serve(Moody())
    for window in (("2026-01-05", "2026-01-12"), ("2026-01-05", "2026-01-12"), ("2026-01-12", "2026-01-19")):
        run = run_of(tmp_path, server, words(4), score={"ledger": kept})
        moved = Run.open(run.spec, Window.parse(*window), str(tmp_path / "store"))
        if not moved.stage("variants").is_complete():
            from datetime import UTC, datetime

            from audit_lib.run import StageOutput

            content = run.stage("variants").read("variants.parquet")
            moved.stage("variants").commit(StageOutput({"variants.parquet": content}), datetime.now(UTC))
        score_shard(moved, 0)
    assert sum(server.asked.values()) == calls


def test_another_model_or_option_is_another_ledger(tmp_path, serve):
    server = serve(Moody())
    run = run_of(tmp_path, server, words(3))
    score_shard(run, 0)
    options = dict(run.spec.model.options)
    for change in ({"options": options | {"seed": 5}}, {"name": "model-2"}):
        other = run_of(tmp_path, server, words(3))
        spec = other.spec.override("model", **change)
        moved = run_with(
            tmp_path,
            [variant(f"v{i:03}", messages=messages(f"{w} asks")) for i, w in enumerate(words(3))],
            model=spec.model.model_dump(),
            score={"shards": 1},
        )
        score_shard(moved, 0)
    assert sum(server.asked.values()) == 9
    faster = run_with(
        tmp_path,
        [variant(f"v{i:03}", messages=messages(f"{w} asks")) for i, w in enumerate(words(3))],
        model=run.spec.model.model_dump() | {"options": options | {"max_concurrency": 2}},
        score={"shards": 1},
    )
    score_shard(faster, 0)
    assert sum(server.asked.values()) == 9, "how fast a model is asked changes no answer"


def test_applicants_with_the_same_text_are_asked_one_by_one(tmp_path, serve):
    server = serve(Moody())
    run = run_of(tmp_path, server, ["same", "same", "same"])
    cold, warm = score_shard(run, 0), score_shard(run, 0)
    assert server.asked == Counter(same=3)
    assert dict(cold.artefacts) == dict(warm.artefacts)


def test_failures_are_asked_again_and_refusals_are_not(tmp_path, serve):
    healed = {"now": False}

    def behave(word: str, asked: int) -> Reply:
        if word == "w001" and not healed["now"]:
            return 400, {}, b"{}"
        reason = "content_filter" if word == "w002" else "stop"
        return completion({" Yes": -1.0, " No": -2.0, "x": -12.0}, finish_reason=reason)

    server = serve(behave)
    run = run_of(tmp_path, server, words(4))
    assert score_shard(run, 0).counts == {"rows": 4, "requests": 4, "ok": 2, "error": 1, "refused": 1}
    healed["now"] = True
    counts = score_shard(run, 0).counts
    assert counts == {"rows": 4, "requests": 4, "ok": 3, "refused": 1, "from_ledger": 3}
    assert server.asked == Counter(w000=1, w001=2, w002=1, w003=1)


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "store" / "ledger").rglob("*.jsonl"))


@pytest.mark.parametrize("damage", ["digit", "cut", "garbage", "gone"])
def test_a_damaged_record_is_asked_again_and_counted(tmp_path, serve, damage):
    server = serve(Moody())
    run = run_of(tmp_path, server, words(5))
    score_shard(run, 0)
    (path,) = segments(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    place = lines[2].index(b"0.")
    lines[2] = {
        "digit": lines[2][: place + 3]
        + b"%d" % ((int(lines[2][place + 3 : place + 4]) + 1) % 10)
        + lines[2][place + 4 :],
        "cut": lines[2][:40] + b"\n",
        "garbage": b"\xff\x00\n",
        "gone": b"",
    }[damage]
    path.unlink()
    path.write_bytes(b"".join(lines))
    output = score_shard(run, 0)
    assert output.counts["from_ledger"] == 4 and output.counts["ok"] == 5
    assert output.counts.get("damaged_in_ledger", 0) == (0 if damage == "gone" else 1)
    assert sum(server.asked.values()) == 6
    assert dict(score_shard(run, 0).artefacts) == dict(output.artefacts)
    assert sum(server.asked.values()) == 6


def test_the_order_in_which_logs_are_read_changes_nothing(tmp_path, monkeypatch):
    keys = {("a", 0): "ka", ("b", 0): "kb"}
    store = LocalStore(str(tmp_path / "store"))
    # All are open before any writes, as runs are that ask the same at the same time.
    ledgers = {log: Ledger(store, "ledger/x", log, keys) for log in ("0-of-1", "10-of-16", "3-of-8")}
    for log, ledger in ledgers.items():
        ledger.add(answer("a", log))
        ledger.add(answer("b", f"{log} too"))
        ledger.flush()

    def reads(log: str) -> list[str]:
        found = Ledger(store, "ledger/x", log, keys)
        return [found.get(key).text for key in keys]

    forwards = {log: reads(log) for log in (*ledgers, "5-of-6")}
    whole = LocalStore.list
    monkeypatch.setattr(LocalStore, "list", lambda self, prefix: whole(self, prefix)[::-1])
    assert {log: reads(log) for log in forwards} == forwards
    for log in ledgers:
        assert forwards[log] == [log, f"{log} too"], "a log's own answers are those its table was made of"


def request(name: str, repeat: int = 0) -> Request:
    return Request(
        request_id=name,
        repeat=repeat,
        section="s",
        family="f",
        messages=(Message(role="user", content=name[0]),),
        candidates=(Candidate(variant_id=name),),
    )


def answer(name: str, text: str) -> Response:
    return Response(request_id=name, text=text, model="m", method="generated")


def test_the_address_is_of_what_is_asked_and_of_which_request():
    one = ledger_keys([(request("a1"), request("b1"))])
    two = ledger_keys([(request("x1"),), (request("b1"),), (request("a1"),)])
    assert one["a1", 0] == two["a1", 0] and one["b1", 0] == two["b1", 0], "packs and shards do not matter"
    changed = replace(request("a1"), messages=(Message(role="user", content="else"),))
    asked = [(request("a1"), request("a2"), request("a1", 1))]
    assert len({*ledger_keys(asked).values(), *ledger_keys([(changed,)]).values()}) == 4


def test_where_neighbours_matter_the_pack_is_part_of_the_address():
    packs = [(request("a1"), request("b1")), (request("c1"),)]
    here = ledger_keys(packs, {"versions": {"torch": "2"}})
    assert here == ledger_keys(packs, {"versions": {"torch": "2"}})
    assert not set(here.values()) & set(ledger_keys(packs, {"versions": {"torch": "3"}}).values())
    other = ledger_keys([(request("a1"),), (request("b1"), request("c1"))], {"versions": {"torch": "2"}})
    assert not set(here.values()) & set(other.values())
    known = {("a1", 0): answer("a1", "x")}
    assert _missing(packs, known, alone=False) == packs
    assert _missing(packs, known, alone=True) == [(request("b1"),), (request("c1"),)]


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path):
    if request.param == "folder":
        return LocalStore(str(tmp_path / "store"))
    from audit_lib.store import open_store

    return open_store(request.getfixturevalue("s3"))


def test_the_first_written_answer_is_everybodys(store):
    keys = {("a", 0): "ka", ("b", 0): "kb", ("c", 0): "kc"}
    first, second = Ledger(store, "ledger/x", "0-of-1", keys), Ledger(store, "ledger/x", "0-of-1", keys)
    first.add(answer("a", "first"))
    second.add(answer("a", "second"))
    second.add(answer("b", "second"))
    first.flush()
    second.flush()
    assert second.settle(answer("a", "second")).text == "first"
    assert second.settle(answer("b", "second")).text == "second"
    later = Ledger(store, "ledger/x", "1-of-2", keys)
    assert [later.get((name, 0)) and later.get((name, 0)).text for name in "abc"] == ["first", "second", None]
    assert len(store.list("ledger/x")) == 2


def test_small_segments_are_joined_under_the_last_one_s_number(store):
    keys = {(name, 0): f"k{name}" for name in "abcde"}
    first = Ledger(store, "ledger/x", "0-of-1", keys)
    for name in "abc":
        first.add(answer(name, "first"))
        first.flush()
    assert len(store.list("ledger/x")) == 3, "each is written at once"
    meanwhile = Ledger(store, "ledger/x", "0-of-1", keys)
    first.close()
    assert store.list("ledger/x") == ["ledger/x/0-of-1/000002.jsonl"]
    assert len(store.get("ledger/x/0-of-1/000002.jsonl").splitlines()) == 3
    for found in (meanwhile, Ledger(store, "ledger/x", "0-of-1", keys)):
        assert [found.get((name, 0)) and found.get((name, 0)).text for name in "abcd"] == ["first"] * 3 + [
            None
        ]
    meanwhile.add(answer("d", "second"))
    meanwhile.close()
    assert store.list("ledger/x")[-1] == "ledger/x/0-of-1/000003.jsonl", "the numbers go on"


def test_a_store_that_lets_nothing_be_replaced_keeps_the_small_segments(tmp_path):
    class WriteOnce(LocalStore):
        def replace(self, key: str, content: bytes) -> None:
            raise StoreError(f"{key}: may not be replaced")

    store, keys = WriteOnce(str(tmp_path)), {("a", 0): "ka", ("b", 0): "kb"}
    ledger = Ledger(store, "ledger/x", "0-of-1", keys)
    for name in "ab":
        ledger.add(answer(name, "kept"))
        ledger.flush()
    ledger.close()
    assert len(store.list("ledger/x")) == 2
    found = Ledger(store, "ledger/x", "0-of-1", keys)
    assert [found.get((name, 0)).text for name in "ab"] == ["kept", "kept"]


def test_an_answer_of_a_model_that_may_not_be_is_not_used_and_not_asked_for_ever(tmp_path):
    store, keys = LocalStore(str(tmp_path)), {("a", 0): "ka"}
    ledger = Ledger(store, "ledger/x", "0-of-1", keys)
    ledger.add(answer("a", "of another"))
    ledger.close()
    strict = Ledger(store, "ledger/x", "0-of-1", keys, lambda model: model == "n")
    assert strict.get(("a", 0)) is None
    strict.add(replace(answer("a", "its own"), model="n"))
    strict.close()
    again = Ledger(store, "ledger/x", "0-of-1", keys, lambda model: model == "n")
    assert again.get(("a", 0)).text == "its own"


def test_shards_at_once_do_not_disturb_each_other(store, monkeypatch):
    monkeypatch.setattr(ledger_module, "SEGMENT_RESPONSES", 3)
    keys = {(f"r{i}", 0): f"k{i}" for i in range(40)}
    faults: list[BaseException] = []

    def write(log: int) -> None:
        try:
            mine = Ledger(store, "ledger/y", f"{log}-of-4", keys)
            for i in range(log, 40, 4):
                mine.add(answer(f"r{i}", f"by {log}"))
            mine.flush()
        except BaseException as error:  # noqa: BLE001 - shown by the test
            faults.append(error)

    threads = [threading.Thread(target=write, args=(log,)) for log in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    after = Ledger(store, "ledger/y", "9-of-9", keys)
    assert [after.get((f"r{i}", 0)).text for i in range(40)] == [f"by {i % 4}" for i in range(40)]
    assert after.damaged == 0


def test_canaries_are_an_artefact_and_no_rows(tmp_path, serve):
    server = serve(
        lambda word, asked: completion(
            {" Yes": -1.0, " No": -2.0, "x": -12.0}, more={"system_fingerprint": "fp"}
        )
    )
    run = run_of(tmp_path, server, words(70), shards=2, score={"canaries": ["canary one", "canary two"]})
    first, second = (score_shard(run, shard) for shard in shards(run))
    content = json.loads(first.artefacts["canaries.json"])
    assert [entry["status"] for entry in content] == ["ok", "ok"]
    assert content[0]["system_fingerprint"] == "fp" and len(content[0]["label_probabilities"]) == 2
    assert "canaries.json" not in second.artefacts
    assert first.counts["rows"] + second.counts["rows"] == 70
    assert server.asked["canary"] == 2
    assert dict(score_shard(run, 0).artefacts) == dict(first.artefacts)


def test_a_canary_is_asked_anew_in_every_window(tmp_path, serve):
    server = serve(lambda word, asked: completion({" Yes": -1.0}))
    run = run_of(tmp_path, server, words(2), score={"canaries": ["canary"], "ledger": "shared"})
    score_shard(run, 0)
    later = Run.open(run.spec, Window.parse("2026-01-12", "2026-01-19"), str(tmp_path / "store"))
    from datetime import UTC, datetime

    from audit_lib.run import StageOutput

    content = run.stage("variants").read("variants.parquet")
    later.stage("variants").commit(StageOutput({"variants.parquet": content}), datetime.now(UTC))
    score_shard(later, 0)
    assert server.asked == Counter(w000=1, w001=1, canary=2)


def test_a_deep_line_is_damage_and_a_stray_file_is_nobody_s(tmp_path):
    store, keys = LocalStore(str(tmp_path / "store")), {("a", 0): "ka"}
    store.put("ledger/x/0-of-1/notes.txt", b"mine")
    store.put("ledger/x/0-of-1/000003.jsonl", b"[" * 200_000)
    ledger = Ledger(store, "ledger/x", "0-of-1", keys)
    ledger.add(answer("a", "text"))
    ledger.flush()
    assert ledger.damaged == 1 and store.exists("ledger/x/0-of-1/000004.jsonl")


@pytest.mark.slow
def test_a_local_model_s_pack_is_asked_again_as_a_whole(tmp_path, tiny_model):
    rows = [
        variant(f"v{i:03}", messages=messages(f"applicant {i} {'of many words ' * (i % 5)}"))
        for i in range(24)
    ]
    model = {"backend": "transformers", "name": str(tiny_model), "options": {"pack_size": 8}}
    run = run_with(tmp_path, rows, model=model, score={"shards": 1})
    cold = score_shard(run, 0)
    (path,) = segments(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    path.write_bytes(b"".join(lines[1:]))
    warm = score_shard(run, 0)
    assert warm.counts["from_ledger"] == 23
    assert dict(warm.artefacts) == dict(cold.artefacts)
    assert len(segments(tmp_path)) == 2 and len(segments(tmp_path)[1].read_bytes().splitlines()) == 8
    assert score_shard(run, 0).counts["from_ledger"] == 24
