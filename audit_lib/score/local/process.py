"""A scoring process, seen from the one that asks: started with a model, asked line by line; why it ended."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import audit_lib
from audit_lib import errors
from audit_lib.errors import BackendError
from audit_lib.score.remote.credentials import is_secret_name
from audit_lib.score.remote.error_texts import told

_SIGNALS: Final = {
    "SIGKILL": "killed, most likely for want of memory: use a machine with more, or a smaller model",
    "SIGSEGV": "a library crashed",
    "SIGABRT": "a library gave up, perhaps for want of memory",
    "SIGILL": "a library uses an instruction that this processor lacks",
    "SIGBUS": "a file that was read was cut short, or memory ran out",
    "SIGTERM": "somebody ended it",
    "SIGINT": "somebody ended it",
}
_FRAME: Final = re.compile(r"\s|Traceback |Thread 0x|Current thread|Stack |Extension modules|.*\d+%\|")
_LINES: Final = 3
_SECRET: Final = 6  # characters; shorter ones may be any word


class ScoringProcess:
    """A process that holds a model; it ends with this one, and never outlives it.

    Parameters
    ----------
    name : str
        The model's, for messages.
    threads : int
        Of its libraries.
    module : str
        What it runs; it reads and writes as `audit_lib.score.local.worker` does.
    interpreter : str or None
        Of another environment, which has audit_lib and the libraries; None: this one's.

    Attributes
    ----------
    progress : list of str
        What the process said takes long.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        module: str = "audit_lib.score.local.worker",
        interpreter: str | None = None,
    ) -> None:
        self._name, self._threads = name, str(threads)
        self._foreign = interpreter is not None
        self._command = [interpreter or sys.executable, "-P", "-X", "faulthandler", "-m", module]
        self._process: subprocess.Popen[str] | None = None
        self._printed: Any = None
        self._texts: list[str] = []  # of the last order: what the process may repeat when it ends
        self.progress: list[str] = []

    @property
    def is_running(self) -> bool:
        """Whether it was started and not closed."""
        return self._process is not None

    def start(self, order: dict[str, Any], **environment: str) -> dict[str, Any]:
        """Begin with a model; return what was loaded.

        Raises
        ------
        AuditError
            If it cannot be loaded.
        """
        given = {
            **os.environ,
            "OMP_NUM_THREADS": self._threads,
            "MKL_NUM_THREADS": self._threads,
            "MKL_DYNAMIC": "FALSE",
            # Waiting threads sleep: spinning ones take the cores from each other when shards share a machine.
            "OMP_WAIT_POLICY": "PASSIVE",
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_VERBOSITY": "error",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            **environment,
        }
        if (
            not self._foreign
        ):  # another environment has an audit_lib of its own, and must not find our packages
            ours = [str(Path(audit_lib.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
            given["PYTHONPATH"] = os.pathsep.join(ours)
        self._printed = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        # -P: a torch.py in the working folder is not torch.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            text=True,
            encoding="utf-8",
            env=given,
        )
        loaded: dict[str, Any] = self.ask(order)["loaded"]
        return loaded

    def ask(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return what the process answers to an order.

        Raises
        ------
        AuditError
            If it refuses, or ended; the message holds nothing of a prompt.
        """
        self._texts = _texts_of(content)
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise BackendError("the scoring process is not running")
        try:
            process.stdin.write(json.dumps(content) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; its last words are read below
        reply: dict[str, Any] = {"progress": ""}
        while "progress" in reply:
            if not (line := process.stdout.readline()):
                raise self._ended(process.wait())
            reply = json.loads(line)
            self.progress += [reply["progress"]] if "progress" in reply else []
        if (error := reply.get("error")) is not None:
            kind = getattr(errors, error["type"], BackendError)
            said = told(error["message"], self._texts, self._secrets(), 800) or "its message repeats a prompt"
            raise kind(said if self._name in said else f"model {self._name!r}: {said}")
        return reply

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._printed.close()

    def _ended(self, code: int) -> BackendError:
        self._printed.seek(0)
        lines = [told(line, self._texts, self._secrets()) for line in _last_words(self._printed.read())]
        said = " | ".join(filter(None, lines)) or "it printed nothing that may be told"
        return BackendError(
            f"model {self._name!r}: the scoring process ended with code {code}{_meaning(code)}; its last words: "
            f"{said}"
        )

    @staticmethod
    def _secrets() -> list[str]:
        return [value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= _SECRET]


def _meaning(code: int) -> str:
    """Return what an exit code means, where a signal ended the process."""
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if not number or number not in {member.value for member in signal.Signals}:
        return ""
    name = signal.Signals(number).name
    return f" ({name}: {_SIGNALS[name]})" if name in _SIGNALS else f" ({name})"


def _last_words(printed: str) -> list[str]:
    """Return the last lines that a process printed, without the frames of a stack and what shows progress."""
    lines = [
        line for line in printed.splitlines() if line.strip() and not _FRAME.match(line) and "\r" not in line
    ]
    fatal = [line for line in lines if line.startswith("Fatal Python error")]
    return [*fatal[:1], *(line for line in lines[-_LINES:] if line not in fatal)]


def _texts_of(order: Any) -> list[str]:
    """Return the prompts that an order holds."""
    if isinstance(order, dict):
        return [order["content"]] if "content" in order else [t for v in order.values() for t in _texts_of(v)]
    return [text for one in order for text in _texts_of(one)] if isinstance(order, list) else []
