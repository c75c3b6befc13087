"""A scoring process that is killed: what it had written down is not asked again."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter

from audit_lib.score import score_shard
from tests.score.loopback import Reply
from tests.score.test_ledger import Moody, run_of, segments, serve, words
from tests.specs import REPOSITORY

__all__ = ["serve"]


KILLED = """
import sys
from audit_lib.run import Run
from audit_lib.window import Window
from audit_lib.score import ledger, score_shard
from audit_lib.spec import AuditSpec
ledger.SEGMENT_RESPONSES = 8
run = Run.open(AuditSpec.load(sys.argv[1]), Window.parse("2026-01-05", "2026-01-12"), sys.argv[2])
score_shard(run, 0)
"""


def test_kill_9_in_the_middle_loses_at_most_the_open_segment(tmp_path, serve, monkeypatch):
    count, mood = 60, Moody()

    def behave(word: str, asked: int) -> Reply:
        time.sleep(0.02)
        return mood(word, asked)

    server = serve(behave)
    run = run_of(tmp_path, server, words(count))
    (tmp_path / "small.yaml").write_bytes(run.spec.canonical())
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "small.yaml"), str(tmp_path / "store")], cwd=REPOSITORY
    ) as process:
        while len(segments(tmp_path)) < 2:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)
        process.kill()
    kept = sum(len(path.read_bytes().splitlines()) for path in segments(tmp_path))
    asked_before = sum(server.asked.values())
    assert 16 <= kept < count
    output = score_shard(run, 0)
    assert output.counts["from_ledger"] == kept and output.counts["ok"] == count
    # of what was answered and not yet written: one segment, and what was under way and waiting
    assert asked_before - kept <= 8 + 3 * 8
    again = score_shard(run, 0)
    assert dict(again.artefacts) == dict(output.artefacts), "byte-identical after the restart"


HANGING = """
import sys
from audit_lib.run import Run
from audit_lib.window import Window
from audit_lib.score import ledger, score_shard
from audit_lib.spec import AuditSpec
ledger.SEGMENT_S = 0.3
run = Run.open(AuditSpec.load(sys.argv[1]), Window.parse("2026-01-05", "2026-01-12"), sys.argv[2])
score_shard(run, 0)
"""


def test_answers_are_written_down_in_time_though_nothing_more_comes(tmp_path, serve):
    hang, mood = threading.Event(), Moody()

    def behave(word: str, asked: int) -> Reply:
        if word == "w004" and not hang.is_set():
            hang.wait(60)
        return mood(word, asked)

    server = serve(behave)
    run = run_of(tmp_path, server, words(5))
    (tmp_path / "small.yaml").write_bytes(run.spec.canonical())
    command = [sys.executable, "-c", HANGING, str(tmp_path / "small.yaml"), str(tmp_path / "store")]
    with subprocess.Popen(command, cwd=REPOSITORY) as process:
        for _ in range(20_000):  # a process that starts on a busy machine takes its time
            kept = sum(len(path.read_bytes().splitlines()) for path in segments(tmp_path))
            if kept == 4 or process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
    hang.set()
    assert kept == 4, "four answers are in the ledger while the fifth is waited for"
    assert score_shard(run, 0).counts["from_ledger"] == 4
    assert server.asked == Counter(w000=1, w001=1, w002=1, w003=1, w004=2)
