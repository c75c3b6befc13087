"""Segments of few answers, joined into larger ones while the asking goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from audit_lib.errors import StoreError
from audit_lib.store import Store

SEGMENT_RESPONSES: Final = 256
"""Answers in a segment that is joined no more."""


class SegmentJoiner:
    """Joins the small segments that one writer wrote.

    Answers are written down before the next ones are asked for, so most segments hold few of them. What is joined
    takes the place of the last of its parts, and only then are the others taken away: whoever reads the log in order
    meanwhile finds every answer, and whoever writes to it finds the same next number. A store that lets nothing be
    replaced or taken away keeps the small ones.

    Parameters
    ----------
    store : Store
        Where the log is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts: list[tuple[str, bytes]] = []
        self._answers = 0
        self._worker: ThreadPoolExecutor | None = None

    def wrote(self, key: str, content: bytes, answers: int) -> None:
        """Take note of a segment that was written; join it with those before it if that makes a full one."""
        self._parts.append((key, content))
        self._answers += answers
        if self._answers >= SEGMENT_RESPONSES:
            self._begin()

    def close(self) -> None:
        """Join what is left, and wait until it is done."""
        self._begin()
        if self._worker is not None:
            self._worker.shutdown()
            self._worker = None

    def _begin(self) -> None:
        parts, self._parts, self._answers = self._parts, [], 0
        if len(parts) > 1:
            self._worker = self._worker or ThreadPoolExecutor(1, thread_name_prefix="joining")
            self._worker.submit(_join, self._store, parts)


def _join(store: Store, parts: list[tuple[str, bytes]]) -> None:
    with suppress(StoreError):
        store.replace(parts[-1][0], b"".join(content for _, content in parts))
        for key, _ in parts[:-1]:
            store.delete(key)
