"""Object storage on S3: AWS, or any store that speaks its protocol.

Endpoint and credentials come from the environment that boto3 itself reads (``AWS_ENDPOINT_URL_S3``,
``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_DEFAULT_REGION``, ``AWS_MAX_ATTEMPTS``, profiles
and instance roles). That is the only way in: an Airflow task puts its connection into these variables
before it opens a store.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO, TypeVar, cast

from audit_lib.errors import NotFoundError, StoreError, StoreUnreachableError
from audit_lib.store.contract import check_key

_ATTEMPTS = 8  # boto3 waits 50 ms, then twice as long each time: some 5 s in all
_CONNECT_TIMEOUT_S = 5
_READ_TIMEOUT_S = 30
_CHUNK = 1 << 20
# Static hosting serves objects with the type that they were written with.
_CONTENT_TYPES = {
    "atom": "application/atom+xml",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "xml": "application/xml",
}

Answer = TypeVar("Answer")


class S3Store:
    """A prefix of an S3 bucket, on AWS or on any store that speaks its protocol.

    ``put`` looks first and then writes under ``If-None-Match: *``, so that one of several writers
    wins. A store that ignores this header (some do) is still never overwritten by a later run; only
    two writers within the same few milliseconds could then both succeed. A retry after a lost
    answer may report False for bytes that this very call wrote: callers compare what is there.

    Parameters
    ----------
    root : str
        ``s3://bucket`` or ``s3://bucket/prefix``. Nothing is asked of the store before first use.
    """

    def __init__(self, root: str) -> None:
        match = re.fullmatch(r"s3://([A-Za-z0-9][A-Za-z0-9._-]+)(?:/(.*?))?/?", root)
        if match is None:
            raise StoreError(f"{root}: not an S3 root; write s3://bucket/prefix")
        self.root = root
        self.bucket = match[1]
        self._prefix = f"{match[2]}/" if match[2] else ""
        self._connection: Any = None
        self._endpoint = os.environ.get("AWS_ENDPOINT_URL_S3", "")

    def uri(self, key: str) -> str:
        """Return the ``s3://`` URI of a key."""
        return f"s3://{self.bucket}/{self._prefix}{key}".rstrip("/")

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""
        if self.exists(key):
            return False
        # 409: another conditional write of this key is under way; its outcome decides.
        for _ in range(_ATTEMPTS):
            status = self._write(key, content, IfNoneMatch="*")
            if status != 409:
                return status == 200
        raise StoreError(f"{self.uri(key)}: other writers of this key kept it busy; run again")

    def replace(self, key: str, content: bytes) -> None:
        """Write `content` over what is there."""
        status = self._write(key, content)
        if status != 200:
            raise StoreError(f"{self.uri(key)}: refused an unconditional write (HTTP {status})")

    def delete(self, key: str) -> None:
        """Take away the object at `key`; where versions are kept or locked, they stay."""
        self._call(lambda s3: s3.delete_object(Bucket=self.bucket, Key=self._key(key)), key)

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""
        answer = self._call(lambda s3: s3.get_object(Bucket=self.bucket, Key=self._key(key)), key)
        return cast(BinaryIO, io.BufferedReader(_Body(self, key, answer["Body"]), _CHUNK))

    def exists(self, key: str) -> bool:
        """Return whether there is an object at `key`."""
        try:
            self._head(key)
        except NotFoundError:
            return False
        return True

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders that lie in the folder `prefix` itself, sorted."""
        folder = f"{self._key(prefix.rstrip('/'))}/" if prefix.rstrip("/") else self._prefix

        def pages(s3: Any) -> list[str]:
            paginator = s3.get_paginator("list_objects_v2")
            return [
                found["Prefix"].removeprefix(folder).rstrip("/")
                for page in paginator.paginate(Bucket=self.bucket, Prefix=folder, Delimiter="/")
                for found in page.get("CommonPrefixes", ())
            ]

        return sorted(self._call(pages, prefix))

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted."""
        return sorted(key for key, _ in self._listed(prefix))

    def newest(self, prefix: str) -> datetime | None:
        """Return when the newest object in the folder `prefix` and below it was written; None where there is none."""
        return max((written for _, written in self._listed(prefix)), default=None)

    def _listed(self, prefix: str) -> Sequence[tuple[str, datetime]]:
        folder = f"{self._key(prefix.rstrip('/'))}/" if prefix.rstrip("/") else self._prefix

        def pages(s3: Any) -> Sequence[tuple[str, datetime]]:
            paginator = s3.get_paginator("list_objects_v2")
            return [
                (item["Key"].removeprefix(self._prefix), item["LastModified"])
                for page in paginator.paginate(Bucket=self.bucket, Prefix=folder)
                for item in page.get("Contents", ())
                if not item["Key"].endswith("/")  # folder marks that some tools write
            ]

        return self._call(pages, prefix)

    def size(self, key: str) -> int:
        """Return the length of an object in bytes, or raise NotFoundError."""
        return int(self._head(key)["ContentLength"])

    def _key(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _head(self, key: str) -> Any:
        return self._call(lambda s3: s3.head_object(Bucket=self.bucket, Key=self._key(key)), key)

    def _write(self, key: str, content: bytes, **condition: str) -> int:
        """Write an object and return the HTTP status: 200, or 409 or 412 where the condition failed."""
        from botocore.exceptions import ClientError

        def write(s3: Any) -> int:
            try:
                s3.put_object(
                    Bucket=self.bucket,
                    Key=self._key(key),
                    Body=content,
                    ChecksumAlgorithm="SHA256",
                    ContentType=_CONTENT_TYPES.get(key.rpartition(".")[2], "application/octet-stream"),
                    **condition,
                )
            except ClientError as error:
                status = _status(error)
                if condition and status in (409, 412):
                    return status
                raise
            return 200

        return self._call(write, key)

    def _client(self) -> Any:
        if self._connection is None:
            try:
                import boto3
            except ModuleNotFoundError:
                raise StoreError(f"{self.root}: s3:// needs boto3; pip install 'audit-lib[s3]'") from None
            from botocore.config import Config

            attempts = int(os.environ.get("AWS_MAX_ATTEMPTS", _ATTEMPTS))
            # A session of its own: the default one keeps the first credentials that it saw.
            client = boto3.session.Session().client(
                "s3",
                config=Config(
                    connect_timeout=_CONNECT_TIMEOUT_S,
                    read_timeout=_READ_TIMEOUT_S,
                    retries={"mode": "standard", "total_max_attempts": attempts},
                ),
            )
            self._endpoint = client.meta.endpoint_url
            # A missing bucket looks like a missing key to head_object: ask once.
            client.head_bucket(Bucket=self.bucket)
            self._connection = client
        return self._connection

    def _call(self, ask: Callable[[Any], Answer], key: str) -> Answer:
        with self._translated(key):
            return ask(self._client())

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        """Turn boto3's errors into ours; `from None`, since theirs can quote a signed request."""
        try:
            from botocore import exceptions as boto
        except ModuleNotFoundError:
            raise StoreError(f"{self.root}: s3:// needs boto3; pip install 'audit-lib[s3]'") from None
        try:
            yield
        except boto.ClientError as error:
            raise self._refusal(error, self._where(key)) from None
        except (boto.NoCredentialsError, boto.PartialCredentialsError):
            raise StoreError(
                f"{self._where(key)}: no complete credentials; "
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            ) from None
        except (boto.ConnectionError, boto.HTTPClientError, boto.IncompleteReadError) as error:
            raise StoreUnreachableError(
                f"{self._where(key)}: no answer after retries ({type(error).__name__}); check the endpoint, "
                "then run again: finished stages are kept"
            ) from None
        except boto.BotoCoreError as error:
            raise StoreError(
                f"{self._where(key)}: not usable ({type(error).__name__}); check the AWS_* settings"
            ) from None

    def _where(self, key: str) -> str:
        endpoint = re.sub(r"//[^/@]*@", "//", self._endpoint)  # a URL may hold a password
        return f"{self.uri(key)} (bucket {self.bucket}, endpoint {endpoint})"

    def _refusal(self, error: Any, where: str) -> StoreError:
        status, code = _status(error), error.response["Error"].get("Code", "")
        if code == "NoSuchBucket" or (status == 404 and error.operation_name == "HeadBucket"):
            return StoreError(f"{where}: there is no such bucket; make it, or correct the root")
        if status == 404:
            return NotFoundError(f"{where}: there is no such object")
        if status in (401, 403):
            return StoreError(f"{where}: access denied ({code}); check the credentials and what they may do")
        if status >= 500 or status == 429:
            return StoreUnreachableError(f"{where}: still failing after the retries (HTTP {status} {code})")
        return StoreError(f"{where}: refused (HTTP {status} {code})")


class _Body(io.RawIOBase):
    """An S3 object's body as a raw stream whose errors are ours."""

    def __init__(self, store: S3Store, key: str, body: Any) -> None:
        self._store, self._key, self._body = store, key, body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._store._translated(self._key):
            chunk = self._body.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._body.close()
        super().close()


def _status(error: Any) -> int:
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
