"""Artefacts that are too large to be held in memory: a temporary file in place of bytes."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

if TYPE_CHECKING:
    from audit_lib.store import Store

LARGE: Final = 1 << 25
"""Bytes from which an artefact is kept in a file: 32 MiB."""


class LargeFile:
    """What a file holds, known by its digest. A file of our own goes when nobody refers to it any longer.

    Parameters
    ----------
    path : Path
    sha256 : str
        Of the content, in hex.
    size : int
        In bytes.
    own : bool
        Whether it is a temporary file of ours.
    """

    __slots__ = ("__weakref__", "path", "sha256", "size")

    def __init__(self, path: Path, sha256: str, size: int, *, own: bool) -> None:
        self.path, self.sha256, self.size = path, sha256, size
        if own:
            weakref.finalize(self, _remove, path)

    def open(self) -> BinaryIO:
        """Return the content as a stream."""
        return self.path.open("rb")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LargeFile) and (self.sha256, self.size) == (other.sha256, other.size)

    def __hash__(self) -> int:
        return hash(self.sha256)


Content: TypeAlias = bytes | LargeFile
"""What an artefact holds."""


def sha256_of(content: Content) -> str:
    """Return the SHA-256 of an artefact in hex."""
    return content.sha256 if isinstance(content, LargeFile) else hashlib.sha256(content).hexdigest()


def size_of(content: Content) -> int:
    """Return the size of an artefact in bytes."""
    return content.size if isinstance(content, LargeFile) else len(content)


def stream_of(content: Content) -> BinaryIO:
    """Return an artefact as a stream."""
    return content.open() if isinstance(content, LargeFile) else io.BytesIO(content)


def bytes_of(content: Content) -> bytes:
    """Return an artefact as bytes, however many they are."""
    with stream_of(content) as stream:
        return stream.read()


def fetched(store: Store, key: str) -> LargeFile:
    """Return a copy of what a store has at `key`, in a temporary file.

    Raises
    ------
    NotFoundError
        If it has nothing there.
    """
    sink = Sink(0)
    with store.open(key) as stream:
        while part := stream.read(1 << 20):
            sink.write(part)
    found = sink.content()
    assert isinstance(found, LargeFile)
    return found


class Sink(io.RawIOBase):
    """Takes what is written, in memory while it is little and then in a temporary file, and digests it.

    Parameters
    ----------
    most : int
        Bytes held in memory.

    Examples
    --------
    >>> sink = Sink()
    >>> sink.write(b"abc")
    3
    >>> sink.content()
    b'abc'
    """

    def __init__(self, most: int = LARGE) -> None:
        self._most, self._digest, self._size = most, hashlib.sha256(), 0
        self._held: BinaryIO = io.BytesIO()
        self._path: Path | None = None
        if not most:
            self._to_file()

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def tell(self) -> int:
        """Return how much was written."""
        return self._size

    def write(self, part: Any) -> int:
        """Take a part."""
        with memoryview(part) as view:
            self._digest.update(view)
            self._size += view.nbytes
            if self._path is None and self._size > self._most:
                self._to_file()
            self._held.write(view)
            return view.nbytes

    def content(self) -> Content:
        """Return all that was written. Nothing can be written afterwards."""
        if self._path is None:
            assert isinstance(self._held, io.BytesIO)
            return self._held.getvalue()
        self._held.close()
        path, self._path = self._path, None
        return LargeFile(path, self._digest.hexdigest(), self._size, own=True)

    def _to_file(self) -> None:
        before = self._held
        descriptor, name = tempfile.mkstemp(prefix="audit-")
        self._path, self._held = Path(name), os.fdopen(descriptor, "wb")
        if isinstance(before, io.BytesIO):
            self._held.write(before.getbuffer())

    def __del__(self) -> None:
        if self._path is not None:  # given up before its content was asked for
            self._held.close()
            _remove(self._path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
