"""Object storage: put-if-absent, read, list and stream, on local folders and on S3.

Artefacts are write-once. ``put`` writes only where nothing is, all or nothing: of several writers
exactly one wins, and a reader (or a crash) never sees a part of an object.
"""

from __future__ import annotations

import re
from typing import BinaryIO
from urllib.parse import unquote

from audit_lib.errors import StoreError
from audit_lib.store.contract import Store
from audit_lib.store.folder import LocalStore

__all__ = ["LocalStore", "Store", "open_store", "open_uri", "read_uri"]


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
        from audit_lib.store.s3 import S3Store

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
