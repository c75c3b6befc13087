"""A scoring process that is killed: what was answered is not asked again, but for what was under way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score import score_shard
from tests.score.loopback import Reply
from tests.score.test_ledger import Moody, run_of, segments, serve, words
from tests.specs import REPOSITORY

__all__ = ["serve"]

FORKING = """
import os, sys
import openai
from audit_lib.run import Run
from audit_lib.window import Window
from audit_lib.score import score_shard
from audit_lib.spec import AuditSpec
import audit_lib.score.backends.openai
for line in sys.stdin:
    if not (child := os.fork()):
        spec, store = line.split()
        score_shard(Run.open(AuditSpec.load(spec), Window.parse("2026-01-05", "2026-01-12"), store), 0)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""
"""Scores in children of a process that has imported everything, so that each is there at once."""


class Scoring:
    """A process of its own that scores a run."""

    def __init__(self, parent: subprocess.Popen[str], folder: Path, run: Run) -> None:
        (folder / "small.yaml").write_bytes(run.spec.canonical())
        self._parent = parent
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdin.write(f"{folder / 'small.yaml'} {folder / 'store'}\n")
        parent.stdin.flush()
        self.pid = int(parent.stdout.readline())

    def kill(self) -> None:
        """End it by kill -9, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._parent.stdout is not None and self._parent.stdout.readline() == "ended\n"


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[[Path, Run], Scoring]]:
    with subprocess.Popen(
        [sys.executable, "-c", FORKING],
        cwd=REPOSITORY,
        env=os.environ | {"TEST_API_KEY": "any"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        yield lambda folder, run: Scoring(parent, folder, run)
        assert parent.stdin is not None
        parent.stdin.close()


def kept(folder: Path) -> set[str]:
    """Return the addresses of the answers that are written down; segments may be joined meanwhile."""
    found: set[str] = set()
    for path in segments(folder):
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        found |= {json.loads(line)["record"]["key"] for line in lines}
    return found


@pytest.mark.parametrize("at_once", [1, 5])
def test_an_answer_is_written_down_before_the_next_is_asked_in_its_place(
    tmp_path, serve, at_once, monkeypatch
):
    """The server looks, whenever it is asked, at what is on the disk."""
    monkeypatch.setattr("audit_lib.score.segments.SEGMENT_RESPONSES", 8)  # and joined all the while
    lost: list[int] = []
    lock, asked, mood = threading.Lock(), Counter[str](), Moody()

    def behave(word: str, time_asked: int) -> Reply:
        with lock:
            before = sum(asked.values())
            asked[word] += 1
            lost.append(before - len(kept(tmp_path)))
        return mood(word, time_asked)

    run = run_of(tmp_path, serve(behave), words(40), at_once=at_once)
    assert score_shard(run, 0).counts == {"rows": 40, "requests": 40, "ok": 40}
    assert len(lost) == 40 and max(lost) <= at_once - 1, (
        "of those before it, only what is under way is unwritten"
    )
    assert len(kept(tmp_path)) == 40 and len(segments(tmp_path)) <= 6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_9_again_and_again_repeats_only_what_was_under_way(tmp_path, serve, start, seed):
    count, at_once, draw = 90, 6, random.Random(seed)
    kills = draw.randint(3, 5)
    mood, asked = Moody(), threading.Semaphore(0)

    def behave(word: str, time_asked: int) -> Reply:
        asked.release()
        time.sleep(0.004 + 0.012 * (hash_of(word) % 7) / 7)
        return mood(word, time_asked)

    server = serve(behave)
    run = run_of(tmp_path, server, words(count), at_once=at_once)
    for _ in range(kills):
        before, held = sum(server.asked.values()), len(kept(tmp_path))
        scoring = start(tmp_path, run)
        for _ in range(draw.randint(1, count // kills)):
            assert asked.acquire(timeout=120), "it asks"
        time.sleep(draw.random() * 0.01)
        scoring.kill()
        while asked.acquire(blocking=False):
            pass
        new = sum(server.asked.values()) - before
        assert new - (len(kept(tmp_path)) - held) <= at_once, (
            "all that was answered but what was under way is kept"
        )
    held = len(kept(tmp_path))
    output = score_shard(run, 0)
    assert output.counts.get("from_ledger", 0) == held and output.counts["ok"] == count
    table = from_parquet(output.artefacts["scores.parquet"])
    assert sorted(table["variant_id"]) == [f"v{n:03}" for n in range(count)], "one row a request"
    assert sum(server.asked.values()) - count <= kills * at_once
    assert max(server.asked.values()) <= 1 + kills and len(server.asked) == count
    paid = sum(server.asked.values())
    assert dict(score_shard(run, 0).artefacts) == dict(output.artefacts), "the same bytes after it"
    assert sum(server.asked.values()) == paid and len(segments(tmp_path)) <= held + 1


def hash_of(word: str) -> int:
    return int(word[1:]) * 2_654_435_761 >> 7


def test_answers_are_written_down_though_nothing_more_comes(tmp_path, serve, start):
    hang, mood = threading.Event(), Moody()

    def behave(word: str, asked: int) -> Reply:
        if word == "w004" and not hang.is_set():
            hang.wait(60)
        return mood(word, asked)

    server = serve(behave)
    run = run_of(tmp_path, server, words(5))
    scoring = start(tmp_path, run)
    for _ in range(20_000):  # on a busy machine it takes its time
        if len(kept(tmp_path)) == 4:
            break
        time.sleep(0.01)
    scoring.kill()
    hang.set()
    assert len(kept(tmp_path)) == 4, "four answers are in the ledger while the fifth is waited for"
    assert score_shard(run, 0).counts["from_ledger"] == 4
    assert server.asked == Counter(w000=1, w001=1, w002=1, w003=1, w004=2)
