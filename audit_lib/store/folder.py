"""A folder as object storage."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote, unquote, urlsplit

from audit_lib.errors import NotFoundError, StoreError
from audit_lib.store.contract import TEMPORARY, LockUntil, check_key

_CHUNK = 1 << 20
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Without waiting: a pipe would wait for ever for who writes to it."""


_LEFT: Final = re.compile(rf"{re.escape(TEMPORARY)}[0-9a-f]{{16}}")
"""Names of files that are being written; a `put` that was killed leaves one."""


_LINK: Final = "is a symbolic link, which may lead out of the run; evidence has none"


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

    def locking(self, lock_until: LockUntil) -> LocalStore:
        """Return the folder itself: it locks nothing."""
        return self

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""
        return self.put_stream(key, io.BytesIO(content))

    def put_stream(self, key: str, stream: BinaryIO) -> bool:
        """Write what `stream` holds unless something is already there; return whether it was written."""
        path = self.path(key)
        if path.exists():
            return False
        with self._written(path, stream) as temporary:
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
        """Write `content` over what is there, atomically."""
        path = self.path(key)
        with self._written(path, io.BytesIO(content)) as temporary:
            os.replace(temporary, path)

    def delete(self, key: str) -> None:
        """Take away the file at `key`, if there is one, and its folder if that is empty then."""
        path = self.path(key)
        try:
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        except OSError as error:
            raise StoreError(f"{path}: cannot be removed ({error.strerror})") from None

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""
        path = f"{self._folder}/{check_key(key)}"  # no Path: a verification opens hundreds of thousands
        try:
            descriptor = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"{path}: there is no such file") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise NotFoundError(f"{path}: there is no such file")
        return io.BufferedReader(io.FileIO(descriptor))

    def exists(self, key: str) -> bool:
        """Return whether there is a file at `key`."""
        return self.path(key).is_file()

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders that lie in the folder `prefix` itself, sorted."""
        start = self.path(prefix.rstrip("/")) if prefix.rstrip("/") else self._folder
        try:
            with os.scandir(start) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"{start}: cannot be read ({error.strerror})") from None

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        self.path(start.rstrip("/") or "a")  # refuses what is no key
        found, folders = [], [start]
        while folders:
            here = folders.pop()
            with contextlib.suppress(OSError), os.scandir(f"{self._folder}/{here}") as entries:
                for entry in entries:
                    is_link = entry.is_symlink()  # asked first: a link that leads to itself is no error here
                    if os.path.isdir(entry.path) if is_link else entry.is_dir():
                        if not is_link:
                            folders.append(f"{here}{entry.name}/")
                    elif not entry.name.startswith(TEMPORARY):
                        found.append(f"{here}{entry.name}")
        return sorted(found)

    def list_between(self, prefix: str, first: str, last: str) -> Sequence[str]:
        """Return the keys of `list` in the folders of `prefix` from ``first/`` to ``last/``, and look at no other."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        names = [name for name in self.folders(prefix) if f"{first}/" <= f"{name}/" <= f"{last}/"]
        return sorted(key for name in names for key in self.list(f"{start}{name}"))

    def listed(self, prefix: str) -> None:
        """Return None: whoever writes a file here sets its size and times as well."""

    def newest(self, prefix: str) -> datetime | None:
        """Return when the newest file in the folder `prefix` and below it was written; None where there is none."""
        times = []
        for key in self.list(prefix):
            with contextlib.suppress(FileNotFoundError):  # taken away since it was listed
                times.append((self._folder / key).stat().st_mtime)
        return datetime.fromtimestamp(max(times), UTC) if times else None

    def odd(self, prefix: str = "") -> Sequence[tuple[str, str]]:
        """Return what is no file in the folder `prefix` and below it, or hides in it from `list`: each key, and why.

        Left out are what a killed `put` leaves, and folders.

        Raises
        ------
        StoreError
            If a folder cannot be read.
        """
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        if start and os.path.islink(f"{self._folder}/{start}".rstrip("/")):
            return [(start.rstrip("/"), _LINK)]
        found, folders = [], [start]
        while folders:
            here = folders.pop()
            try:
                with os.scandir(f"{self._folder}/{here}") as entries:
                    for entry in entries:
                        why = _oddness(entry)
                        if why:
                            found.append((f"{here}{entry.name}", why))
                        elif entry.is_dir(follow_symlinks=False):
                            folders.append(f"{here}{entry.name}/")
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:
                    raise StoreError(f"{self._folder}/{here}: cannot be read ({error.strerror})") from None
                found.append((here.rstrip("/"), "is a folder so deep that what is in it cannot be read"))
        return sorted(found)

    def size(self, key: str) -> int:
        """Return the length of a file in bytes, or raise NotFoundError."""
        if not self.exists(key):
            raise NotFoundError(f"{self.path(key)}: there is no such file")
        return self.path(key).stat().st_size

    def path(self, key: str) -> Path:
        """Return where a key's file is."""
        return self._folder / check_key(key)

    @contextlib.contextmanager
    def _written(self, path: Path, content: BinaryIO) -> Iterator[Path]:
        """Yield a synced temporary file next to `path`; sync the folder and drop the temporary afterwards."""
        temporary = path.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            _make_folder(path.parent)
            try:
                with temporary.open("xb") as file:
                    shutil.copyfileobj(content, file, _CHUNK)
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


def _oddness(entry: os.DirEntry[str]) -> str:
    """Return why an entry of a folder is neither a file nor a folder that a store has; empty where it is one."""
    if entry.is_symlink():
        return _LINK
    if entry.name.startswith(TEMPORARY) and not _LEFT.fullmatch(entry.name):
        return "has a name that begins as those of files that are being written, and is none of ours"
    if not entry.is_file() and not entry.is_dir():
        return "is no file"
    return ""


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
