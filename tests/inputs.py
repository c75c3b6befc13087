"""Small inputs for whole audits without a model: recorded scores of synthetic applicants."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.specs import write

POSITIONS = ("cook", "driver")


def recorded_rows(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return `n` recorded decisions in two positions; a tenth of the scores is missing."""
    rng = np.random.default_rng(seed)
    return [
        {
            "prompt_id": f"p{i:05d}",
            "application_id": f"a{i:05d}",
            "position": POSITIONS[i % 2],
            "round_id": f"{POSITIONS[i % 2]}-{i // 16:04d}",
            "sex": str(rng.choice(["female", "male"])),
            "race": str(rng.choice(["White", "Black"])),
            "recorded_score": None if i % 10 == 3 else round(float(rng.normal()), 3),
            "recorded_model": "tool-1",
            "occurred_at": f"2026-01-{5 + i // 16 % 7:02d}T12:00:00+00:00",
            "resume": "kept for ten years",
        }
        for i in range(n)
    ]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def recorded_audit(folder: Path, n: int = 320, **sections: Any) -> Path:
    """Write a spec over `n` recorded decisions, top 4 of each pool of 8; return its path."""
    write_jsonl(folder / "prompts.jsonl", recorded_rows(n))
    sections = {
        "decision": {"rule": "top_k", "k": 4, "round": "round_id"},
        "checks": {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
        "score": {"shards": 4},
    } | sections
    return write(folder, **sections)


@contextmanager
def asleep(path: Path) -> Iterator[None]:
    """Hold a file such that whoever opens it waits in the kernel, as for a file system that does not answer.

    It is a lease: the kernel makes others wait until it is given up, for 45 seconds at most.
    """
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel asks for it back
    held = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield
    finally:
        os.close(held)
        signal.signal(signal.SIGIO, before)
