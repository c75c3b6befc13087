"""A second thread beside the first: what comes is fetched ahead, what goes is written behind, in its order.

Reading, digesting and compressing do not hold Python's lock, so that they run while rows are made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")

_END: Final = object()
_WAITING: Final = 1


def ahead(values: Iterator[T]) -> Generator[T]:
    """Yield values, of which a second thread fetches the next while the caller looks at one.

    Examples
    --------
    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, "ahead") as pool:
        coming = pool.submit(next, values, cast(T, _END))
        while (value := coming.result()) is not _END:
            coming = pool.submit(next, values, cast(T, _END))
            yield value


class Behind:
    """Makes calls in a second thread, one after the other; the caller makes the next while one is done.

    What a call raises is raised by a later `do`, or at the end of the block.

    Examples
    --------
    >>> written = []
    >>> with Behind() as behind:
    ...     behind.do(written.append, "a")
    >>> written
    ['a']
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "behind")
        self._waiting: deque[Future[Any]] = deque()

    def __enter__(self) -> Behind:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            while kind is None and self._waiting:
                self._waiting.popleft().result()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def do(self, call: Callable[..., Any], *values: Any) -> None:
        """Make a call, once those before it are done."""
        while len(self._waiting) >= _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(call, *values))
