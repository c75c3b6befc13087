"""Object storage: put-if-absent, read, list and stream, on local folders and on S3.

Artefacts are write-once. ``put`` writes only where nothing is, all or nothing: of several writers
exactly one wins, and a reader (or a crash) never sees a part of an object.

Folders are here; S3 is in ``store_s3``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import quote, unquote, urlsplit

from audit_lib.errors import NotFoundError, StoreError

_TEMPORARY = ".tmp-"


class Store(Protocol):
    """Objects by key under one root. Keys are relative, with ``/`` between their parts."""

    root: str

    def uri(self, key: str) -> str:
        """Return the full URI of a key; of the root for an empty key."""

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""

    def replace(self, key: str, content: bytes) -> None:
        """Write `content` over whatever is there. For the published site and pointers, never evidence."""

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""

    def exists(self, key: str) -> bool:
        """Return whether there is an object at `key` (a folder is none)."""

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted; of the root for an empty one."""

    def size(self, key: str) -> int:
        """Return the length of an object in bytes, or raise NotFoundError."""


def open_store(root: str) -> Store:
    """Open the store at a root: a folder's path, ``file:///folder`` or ``s3://bucket/prefix``.

    Raises
    ------
    StoreError
        If the root names another kind of store.

    Examples
    --------
    >>> open_store("/data/runs").uri("a/b.json")
    '/data/runs/a/b.json'
    >>> open_store("gs://bucket")
    Traceback (most recent call last):
    audit_lib.errors.StoreError: gs://bucket: no store is known for 'gs:'; use a folder, file:// or s3://
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]*):(?=//)", root)
    if scheme is None or scheme[1] == "file":
        return LocalStore(root)
    if scheme[1] == "s3":
        from audit_lib.store_s3 import S3Store

        return S3Store(root)
    raise StoreError(f"{root}: no store is known for '{scheme[0]}'; use a folder, file:// or s3://")


def open_uri(uri: str) -> BinaryIO:
    """Return the object at a URI or local path as a stream of bytes.

    Raises
    ------
    NotFoundError
        If there is nothing at `uri`.
    """
    folder, slash, name = uri.rpartition("/")
    if uri.startswith("file://"):
        name = unquote(name)
    return open_store(folder or ("/" if slash else ".")).open(name)


def read_uri(uri: str) -> bytes:
    """Return the bytes of the object at a URI or local path.

    Raises
    ------
    NotFoundError
        If there is nothing at `uri`.
    """
    with open_uri(uri) as stream:
        return stream.read()


def check_key(key: str) -> str:
    """Return `key` if it is one, or raise StoreError."""
    parts = key.split("/")
    if any(part in ("", ".", "..") or part.startswith(_TEMPORARY) for part in parts) or "\0" in key:
        raise StoreError(f"{key!r} is not a key: a key is relative, without empty, '.' or '..' parts")
    return key


class LocalStore:
    """A folder as object storage.

    A ``put`` writes a temporary file in the target's folder, syncs it to disk, and hard-links it to
    its name, which fails where the name exists. A killed ``put`` leaves at most a temporary file
    (``.tmp-*``), which no method shows.

    Parameters
    ----------
    root : str
        Path of the folder, or ``file:///folder`` (percent-encoded). It is made when first written to.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._is_uri = root.startswith("file://")
        path = root
        if self._is_uri:
            parts = urlsplit(root)
            if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
                raise StoreError(f"{root}: not a local file URI; write file:///absolute/folder")
            path = unquote(parts.path)
        self._folder = Path(path).absolute()

    def uri(self, key: str) -> str:
        """Return the absolute path of a key, or its ``file://`` URI where the root is one."""
        path = str(self._folder / key)
        return f"file://{quote(path)}" if self._is_uri else path

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""
        path = self._path(key)
        if path.exists():
            return False
        with self._written(path, content) as temporary:
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                    raise StoreError(
                        f"{path.parent}: this file system has no hard links, which write-once needs; "
                        "use a local disk or s3://"
                    ) from None
                raise
        return True

    def replace(self, key: str, content: bytes) -> None:
        """Write `content` over whatever is there, atomically."""
        path = self._path(key)
        with self._written(path, content) as temporary:
            os.replace(temporary, path)

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""
        path = self._path(key)
        try:
            return path.open("rb")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise NotFoundError(f"{path}: there is no such file") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from None

    def exists(self, key: str) -> bool:
        """Return whether there is a file at `key`."""
        return self._path(key).is_file()

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted."""
        start = self._path(prefix.rstrip("/")) if prefix.rstrip("/") else self._folder
        return sorted(
            (Path(folder) / name).relative_to(self._folder).as_posix()
            for folder, _, names in os.walk(start)
            for name in names
            if not name.startswith(_TEMPORARY)
        )

    def size(self, key: str) -> int:
        """Return the length of a file in bytes, or raise NotFoundError."""
        if not self.exists(key):
            raise NotFoundError(f"{self._path(key)}: there is no such file")
        return self._path(key).stat().st_size

    def _path(self, key: str) -> Path:
        return self._folder / check_key(key)

    @contextlib.contextmanager
    def _written(self, path: Path, content: bytes) -> Iterator[Path]:
        """Yield a synced temporary file beside `path`; sync the folder and drop the temporary afterwards."""
        temporary = path.parent / f"{_TEMPORARY}{secrets.token_hex(8)}"
        try:
            _make_folder(path.parent)
            try:
                with temporary.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                yield temporary
            finally:
                temporary.unlink(missing_ok=True)
            _sync_folder(path.parent)
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{path}: cannot be written ({error.strerror})") from None


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    # A new name survives a power cut only once its folder is on disk.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
