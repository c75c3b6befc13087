"""The texts of many specs, read so that a file system that does not answer takes the time of its own files alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from audit_lib.errors import SpecError
from audit_lib.spec.text import read_spec_text

PATIENCE_S: Final = 2.0
"""How long is waited when nothing more comes."""
_QUIET_S: Final = 0.1
_MOST_READERS: Final = 256


def read_spec_texts(
    paths: Sequence[Path],
    *,
    patience: float = PATIENCE_S,
    enough: Callable[[Path, str], bool] | None = None,
) -> dict[Path, str | SpecError]:
    """Return the text of each file, or why it has none.

    One thread reads. While none of them gets on, there are twice as many: each that waits for a file system leaves the
    other files to them. Threads that still wait at the end are left behind; they end with the process.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    patience : float
        Seconds in which no file was read, after which those that are not read are given up.
    enough : callable, optional
        Whether a text is the one that is wanted: then nobody waits for what is not read by itself.
    """
    waiting: SimpleQueue[Path] = SimpleQueue()
    done: SimpleQueue[tuple[Path, str | SpecError]] = SimpleQueue()
    for path in paths:
        waiting.put(path)
    found: dict[Path, str | SpecError] = {}
    readers, is_there, last = 0, False, time.monotonic()
    while len(found) < len(paths):
        try:
            path, text = done.get(timeout=_QUIET_S if readers else 0)
        except Empty:
            if is_there or time.monotonic() - last > patience:
                break
            if not waiting.empty() and readers < _MOST_READERS:
                readers += _more_readers(max(readers, 1), waiting, done)
            continue
        found[path], last = text, time.monotonic()
        is_there = is_there or (enough is not None and isinstance(text, str) and enough(path, text))
    for path in paths:
        if path not in found:
            found[path] = SpecError(
                f"{path}: cannot be read: its file system did not answer within {patience:g} seconds"
            )
    return {path: found[path] for path in paths}


def _more_readers(
    count: int, waiting: SimpleQueue[Path], done: SimpleQueue[tuple[Path, str | SpecError]]
) -> int:
    def read() -> None:
        while True:
            try:
                path = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((path, _read(path)))
            except SpecError as error:
                done.put((path, error))
            except Exception as error:  # noqa: BLE001 - one bad file must never take down the others
                done.put((path, SpecError(f"{path}: {type(error).__name__}: {error}")))

    for number in range(count):
        try:
            threading.Thread(target=read, name=f"spec-reader-{number}", daemon=True).start()
        except RuntimeError:  # this process may have no more threads
            return number
    return count


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():  # a named pipe would wait for ever, a device never end
        raise SpecError(f"{path}: is not a file; give a spec's YAML file")
    return read_spec_text(path)
