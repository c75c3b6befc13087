"""A bound on what a server may send: an answer that is larger is never held in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from audit_lib.score.remote.asker import FailedError

PLAIN: Final = {"Accept-Encoding": "identity"}
"""Header that asks for answers as they are: a compressed one may be a thousand times larger than it looks."""


def bounded(most: int, library: Any = None) -> Callable[[Any], Awaitable[None]]:
    """Return a hook for the answers of a client of httpx2 (or `library`: httpx), which refuses larger bodies.

    The client must send `PLAIN`. The hook runs before the body is read, and counts it as it comes.

    Raises
    ------
    FailedError
        From the hook or while the body is read, if it is larger, or compressed.
    """
    if library is None:
        import httpx2 as library

    too_large = FailedError(f"the answer is larger than model.options.max_answer_bytes ({most:,})")

    class Counted(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._stream:
                size += len(part)
                if size > most:
                    raise too_large
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def hook(response: Any) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise FailedError("the answer is compressed, which was not asked for")
        declared = response.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > most:
            raise too_large
        response.stream = Counted(response.stream)

    return hook
