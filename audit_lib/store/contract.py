"""What a store of objects does, and what a key is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import BinaryIO, Final, NamedTuple, Protocol

from audit_lib.errors import StoreError

TEMPORARY: Final = ".tmp-"
"""How the names of files begin that are being written; no key does."""


LockUntil = Callable[[datetime], datetime | None]
"""When an object is written -> until when it is kept; None: for no longer than the bucket's own rule says."""


class ListedObject(NamedTuple):
    """What a store's own servers say of an object: its size, and a mark that another write would change."""

    size: int
    mark: str


class Store(Protocol):
    """Objects by key under one root. Keys are relative, with ``/`` between their parts."""

    root: str

    def uri(self, key: str) -> str:
        """Return the full URI of a key; of the root for an empty key."""

    def locking(self, lock_until: LockUntil) -> Store:
        """Return the store such that what is put into it is locked until then, where it can lock; a folder cannot."""

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""

    def put_stream(self, key: str, stream: BinaryIO) -> bool:
        """Write what `stream` holds as `put` does, and never more than a part of it in memory."""

    def replace(self, key: str, content: bytes) -> None:
        """Write `content` over what is there. For the published site and pointers, never evidence."""

    def delete(self, key: str) -> None:
        """Take away what is at `key`, if anything is. For probes and what is derived, never evidence."""

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""

    def exists(self, key: str) -> bool:
        """Return whether there is an object at `key` (a folder is none)."""

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders that lie in the folder `prefix` itself, sorted; of the root for an empty one.

        A tenth of what `list` costs, and less, where there is much below them.
        """

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted; of the root for an empty one."""

    def list_between(self, prefix: str, first: str, last: str) -> Sequence[str]:
        """Return the keys of `list` in the folders of `prefix` from ``first/`` to ``last/``, and look at no other."""

    def listed(self, prefix: str) -> dict[str, ListedObject] | None:
        """Return what the store says of each key in the folder `prefix` and below it, without reading any.

        None where that is worth nothing: in a folder whoever writes a file sets its size and times as well.
        """

    def newest(self, prefix: str) -> datetime | None:
        """Return when the newest object in the folder `prefix` and below it was written; None where there is none."""

    def size(self, key: str) -> int:
        """Return the length of an object in bytes, or raise NotFoundError."""


def check_key(key: str) -> str:
    """Return `key` if it is one, or raise StoreError."""
    parts = key.split("/")
    if any(part in ("", ".", "..") or part.startswith(TEMPORARY) for part in parts) or "\0" in key:
        raise StoreError(f"{key!r} is not a key: a key is relative, without empty, '.' or '..' parts")
    return key
