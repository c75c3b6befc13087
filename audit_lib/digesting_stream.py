"""A stream that digests what passes through it, so that a file is read once for its content and its digests."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from audit_lib.store import Store


class DigestingStream(io.RawIOBase):
    """Digests what is read from a stream.

    Parameters
    ----------
    raw : binary stream
        What is read.
    algorithms : str
        Names of digests, as `hashlib` knows them.

    Examples
    --------
    >>> stream = DigestingStream(io.BytesIO(b"abc"), "sha256")
    >>> stream.read(), stream.digests()["sha256"][:8]
    (b'abc', 'ba7816bf')
    """

    def __init__(self, raw: BinaryIO, *algorithms: str) -> None:
        self._raw = raw
        self._digests = {name: hashlib.new(name) for name in algorithms}

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        content = self._raw.read(len(buffer))
        for digest in self._digests.values():
            digest.update(content)
        buffer[: len(content)] = content
        return len(content)

    def digests(self) -> dict[str, str]:
        """Return the digests of what was read so far, by algorithm."""
        return {name: digest.hexdigest() for name, digest in self._digests.items()}


def digest_of(store: Store, key: str) -> tuple[str, int]:
    """Return the SHA-256 of what a store has at `key` and its size in bytes, read as a stream."""
    digest, size = hashlib.sha256(), 0
    with store.open(key) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
