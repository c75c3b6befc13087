"""Long objects are read a range at a time, all of one write: what was changed meanwhile is refused."""

from __future__ import annotations

import hashlib
import io
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from audit_lib.errors import ConflictError, StoreError, StoreUnreachableError

if TYPE_CHECKING:
    from audit_lib.store.s3 import S3Store

RANGE: Final = 16 << 20
"""Bytes that one request asks for; what is no longer is read by one."""
_TRIES: Final = 3


class Body(io.RawIOBase):
    """An S3 object's body as a raw stream whose errors are ours.

    Parameters
    ----------
    store : S3Store
    key : str
    answer : mapping
        To a GET of the whole object; of a long one its first range is read.
    get : callable
        Asks for a range of it: ``get(Range=..., IfMatch=...)``.
    """

    def __init__(self, store: S3Store, key: str, answer: Any, get: Callable[..., Any]) -> None:
        self._store, self._key, self._get = store, key, get
        self._body, self._mark = answer["Body"], answer["ETag"]
        self._size, self._at = int(answer["ContentLength"]), 0
        self._end = min(RANGE, self._size)
        self._wanted = answer.get("ChecksumSHA256") if self._size > RANGE else None
        if self._wanted is not None and "-" in self._wanted:  # of the parts, which are not known here
            self._wanted = None
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, over the end of a range and over a broken connection."""
        for remaining in reversed(range(_TRIES)):
            try:
                if self._at == self._end < self._size:
                    self._next_range()
                with self._store.translated(self._key):
                    chunk = self._body.read(
                        min(len(buffer), self._end - self._at) if self._long else len(buffer)
                    )
                if chunk or not self._long or self._at == self._size:
                    break
                raise StoreUnreachableError(f"{self._store.uri(self._key)}: ends early")
            except StoreUnreachableError:
                if not remaining or not self._long:
                    raise
                self._end = self._at  # the rest is asked for again
        self._at += len(chunk)
        if self._wanted is not None:
            self._check(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)

    @property
    def _long(self) -> bool:
        return self._size > RANGE

    def _next_range(self) -> None:
        self._body.close()
        self._end = min(self._at + RANGE, self._size)
        answer = self._get(Range=f"bytes={self._at}-{self._end - 1}", IfMatch=self._mark)
        if answer is None or answer["ETag"] != self._mark:
            raise ConflictError(
                f"{self._store.uri(self._key)}: was changed while it was read (after {self._at:,} of {self._size:,} "
                "bytes); what was read is of two contents. Read it again when nobody writes it"
            )
        part = f"bytes {self._at}-{self._end - 1}/{self._size}"
        if (came := answer.get("ContentRange")) != part:  # else the object's beginning would stand here
            answer["Body"].close()
            raise StoreError(
                f"{self._store.uri(self._key)}: asked for {part}, and {came or 'the whole object'} came; what stands "
                "between here and the store takes no ranges: let it pass them on"
            )
        self._body = answer["Body"]

    def _check(self, chunk: bytes) -> None:
        self._digest.update(chunk)
        if self._at == self._size and b64encode(self._digest.digest()).decode() != self._wanted:
            raise StoreError(
                f"{self._store.uri(self._key)}: the bytes that came are not those whose SHA-256 the store keeps; read "
                "again, and if it stays so the store is damaged"
            )

    def close(self) -> None:
        """Let go of the connection."""
        self._body.close()
        super().close()
