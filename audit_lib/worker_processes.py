"""Processes that do jobs: each does one at a time, and one that hangs, grows or crashes is ended and named.

A process is told its settings and its jobs by lines of JSON on its standard input, and answers each job by a line on
its standard output (`serve`). What stopped a job is said under ``stopped``: nobody takes silence for an answer.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

import audit_lib
from audit_lib.errors import AuditError, StoreUnreachableError, is_out_of_memory

Job = TypeVar("Job")
Jobs = Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]
"""What a process does, by the name that a job has under ``do``."""

_START_S: Final = 120.0
"""On a busy machine the first answer waits for the process itself."""
_SMALL: Final = 1 << 26
"""Bytes up to which work is done sooner than other processes have started."""
_EACH: Final = 1 << 30
"""Memory that a process may need."""
LONGEST: Final = 400
"""Characters of an error's message that are handed on."""


def processes_for(size: int) -> int:
    """Return how many processes work on so many bytes: one a processor, as far as there is memory for them."""
    if size < _SMALL:
        return 1
    return max(1, min(processors(), free_memory() // _EACH))


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def free_memory() -> int:
    """Return how many bytes of memory there are to be had; more than any machine has, where nobody says."""
    found = [1 << 62]
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        said = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(said.split()[1]) << 10)
    with suppress(OSError, ValueError):  # of a container; "max" is no number
        group = Path("/sys/fs/cgroup")
        most, taken = ((group / f"memory.{name}").read_text(encoding="ascii") for name in ("max", "current"))
        found.append(int(most) - int(taken))
    return max(min(found), 0)


class WorkerProcess:
    """One process, started when it is first needed.

    Parameters
    ----------
    module : str
        Whose ``main`` calls `serve`.
    settings : mapping
        What it is told first.
    seconds : float, optional
        A job is stopped after it.
    memory : int, optional
        Bytes that it may take, where the system can say so.
    """

    def __init__(
        self,
        module: str,
        settings: Mapping[str, Any],
        *,
        seconds: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._module, self._settings = module, {**settings, "memory": memory}
        self._seconds, self._memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Have a job done; what stopped it is said under ``stopped``."""
        slack = 0.0
        if self._process is None:
            slack = _START_S
            self._start()
        seconds = None if self._seconds is None else self._seconds + slack
        line = self._exchange(json.dumps(job).encode() + b"\n", seconds)
        if line is None:
            self.end()
            return {"stopped": f"took more than {self._seconds:g} s"}
        if not line:
            return {"stopped": self._why_ended()}
        answer: dict[str, Any] = json.loads(line)
        if answer.get("stopped") == "memory":
            self.end()  # what it holds still would count against the next job
            most = (
                "memory than there is" if self._memory is None else f"than {self._memory:,} bytes of memory"
            )
            return {"stopped": f"took more {most}"}
        return answer

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._rest = b""

    def _start(self) -> None:
        ours = [str(Path(audit_lib.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                self._module,
            ],  # -P: the working folder may be the run that is verified
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a library may quote what it read
            env=os.environ
            | {
                "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
                "PYTHONPATH": os.pathsep.join(ours),
            },
        )
        self._send(json.dumps(self._settings).encode() + b"\n")

    def _send(self, content: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(content)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended, which the missing answer shows

    def _exchange(self, content: bytes, seconds: float | None) -> bytes | None:
        """Return the answer; None where none came in time, nothing where the process ended."""
        self._send(content)
        assert self._process is not None and self._process.stdout is not None
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = None if until is None else max(until - time.monotonic(), 0)
            ready, _, _ = select.select([self._process.stdout], [], [], left)
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
    processes: Sequence[WorkerProcess],
    jobs: Iterable[Job],
    message: Callable[[Job], Mapping[str, Any]],
    told: Callable[[Job, dict[str, Any]], None],
) -> None:
    """Have jobs done by several processes, in their order; `told` gets each answer as it comes.

    Parameters
    ----------
    processes : sequence of WorkerProcess
        That work at once.
    jobs : iterable
        Taken one by one, so that a bound may end them.
    message : callable
        What a process is asked of a job.
    told : callable
        Called from this thread alone.
    """
    answers: SimpleQueue[tuple[WorkerProcess, Job, dict[str, Any] | BaseException]] = SimpleQueue()

    def ask(process: WorkerProcess, job: Job) -> None:
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


def serve(opened: Callable[[Mapping[str, Any]], AbstractContextManager[Jobs]]) -> None:
    """Answer each line of the standard input with one on the standard output.

    Parameters
    ----------
    opened : callable
        Given the settings, what this process does.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    settings = json.loads(sys.stdin.readline())
    if settings["memory"] is not None:
        _bound_memory(settings["memory"])
    with opened(settings) as jobs:
        for line in sys.stdin:
            answers.write(json.dumps(answer_to(jobs, json.loads(line))) + "\n")
            answers.flush()


def answer_to(jobs: Jobs, job: Mapping[str, Any]) -> dict[str, Any]:
    """Do a job; an error is an answer too."""
    try:
        return jobs[job["do"]](job)
    except StoreUnreachableError as error:
        return {"unreachable": str(error)[:LONGEST]}
    except AuditError as error:
        return {"unchecked": str(error)[:LONGEST]}
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything; its words may be theirs too
        return {"stopped": "memory"} if is_out_of_memory(error) else {"unchecked": type(error).__name__}


def _bound_memory(size: int) -> None:
    """Let this process have no more memory than this, where the system can say so."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    if sys.platform == "linux":  # elsewhere it is not kept, or bounds what is only reserved
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
