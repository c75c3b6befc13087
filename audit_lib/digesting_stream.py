"""A stream that digests what passes through it, so that a file is read once for its content and its digests."""

from __future__ import annotations

import hashlib
import io
from typing import Any, BinaryIO


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
