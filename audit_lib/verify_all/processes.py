"""Processes that verify: each does one job at a time, and one that hangs, grows or crashes is ended and replaced."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from audit_lib.verify_all.bounds import CostBounds

Job = TypeVar("Job")

_START_S: Final = 120.0
"""On a busy machine the first answer waits for the process itself."""


class VerifyingProcess:
    """One process, started when it is first needed.

    Parameters
    ----------
    root : str
        Of the store.
    trust : sequence of str
        Paths of trust files or keys.
    bounds : CostBounds
        Seconds and bytes of one run.
    """

    def __init__(self, root: str, trust: Sequence[str], bounds: CostBounds) -> None:
        self._settings = {"root": root, "trust": list(trust), "run_bytes": bounds.run_bytes}
        self._bounds = bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Have a job done; what stopped it is said under ``stopped``."""
        slack = 0.0
        if self._process is None:
            slack = _START_S
            self._start()
        line = self._exchange(json.dumps(job).encode() + b"\n", self._bounds.run_seconds + slack)
        if line is None:
            self.end()
            return {"stopped": f"took more than {self._bounds.run_seconds:g} s"}
        if not line:
            return {"stopped": self._why_ended()}
        answer: dict[str, Any] = json.loads(line)
        if answer.get("stopped") == "memory":
            self.end()  # what it holds still would count against the next run
            return {"stopped": f"took more than {self._bounds.run_bytes:,} bytes of memory"}
        return answer

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._rest = b""

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit_lib.verify_all.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a library may quote what it read
            env=os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
        )
        self._send(json.dumps(self._settings).encode() + b"\n")

    def _send(self, content: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(content)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended, which the missing answer shows

    def _exchange(self, content: bytes, seconds: float) -> bytes | None:
        """Return the answer; None where none came in time, nothing where the process ended."""
        self._send(content)
        assert self._process is not None and self._process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._process.stdout], [], [], max(until - time.monotonic(), 0))
            if not ready:
                return None
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                return b""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _why_ended(self) -> str:
        assert self._process is not None
        self._process.communicate()
        code = self._process.returncode
        self._process, self._rest = None, b""
        return f"ended its process ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"


def ask_all(
    processes: Sequence[VerifyingProcess],
    jobs: Iterable[Job],
    message: Callable[[Job], Mapping[str, Any]],
    told: Callable[[Job, dict[str, Any]], None],
) -> None:
    """Have jobs done by several processes, in their order; `told` gets each answer as it comes.

    Parameters
    ----------
    processes : sequence of VerifyingProcess
        That work at once.
    jobs : iterable
        Taken one by one, so that a bound may end them.
    message : callable
        What a process is asked of a job.
    told : callable
        Called from this thread alone.
    """
    answers: SimpleQueue[tuple[VerifyingProcess, Job, dict[str, Any] | BaseException]] = SimpleQueue()

    def ask(process: VerifyingProcess, job: Job) -> None:
        try:
            answers.put((process, job, process.ask(message(job))))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            answers.put((process, job, error))

    waiting, idle, busy = iter(jobs), list(processes), 0
    while True:
        while idle and (job := next(waiting, None)) is not None:
            Thread(target=ask, args=(idle.pop(), job), daemon=True).start()
            busy += 1
        if not busy:
            return
        process, job, answer = answers.get()
        busy -= 1
        idle.append(process)
        if isinstance(answer, BaseException):
            raise answer
        told(job, answer)
