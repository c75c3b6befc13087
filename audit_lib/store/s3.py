"""Object storage on S3: AWS, or any store that speaks its protocol.

Endpoint and credentials come from the environment that boto3 itself reads (``AWS_ENDPOINT_URL_S3``,
``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_DEFAULT_REGION``, ``AWS_MAX_ATTEMPTS``, profiles
and instance roles). That is the only way in: an Airflow task puts its connection into these variables
before it opens a store.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeVar, cast

from audit_lib.errors import ConflictError, NotFoundError, StoreError, StoreUnreachableError
from audit_lib.store.contract import ListedObject, LockUntil, check_key
from audit_lib.store.s3_parts import PART, parts_of, status_of, write_parts
from audit_lib.store.s3_ranges import Body

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

    Every write carries the SHA-256 of its bytes, which the store checks and keeps; of what is read, the store's
    digest is held against the bytes.

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
        self._lock_until: LockUntil | None = None
        self._has_lock: bool | None = None
        self._connection: Any = None
        self._endpoint = os.environ.get("AWS_ENDPOINT_URL_S3", "")

    def uri(self, key: str) -> str:
        """Return the ``s3://`` URI of a key."""
        return f"s3://{self.bucket}/{self._prefix}{key}".rstrip("/")

    def locking(self, lock_until: LockUntil) -> S3Store:
        """Return the store such that every ``put`` into a bucket with Object Lock carries its date in COMPLIANCE mode.

        Nothing is put over what a delete marker hides then.
        """
        found = copy.copy(self)
        found._lock_until = lock_until
        return found

    def put(self, key: str, content: bytes) -> bool:
        """Write `content` unless something is already there; return whether it was written."""
        return self.put_stream(key, io.BytesIO(content))

    def put_stream(self, key: str, stream: BinaryIO) -> bool:
        """Write what `stream` holds unless something is already there; return whether it was written.

        Raises
        ------
        ConflictError
            If a delete marker hides what was written there first.
        """
        if self.exists(key):
            return False
        lock = self._lock(key)
        first = stream.read(PART)
        rest = stream.read(1) if len(first) == PART else b""
        # 409: another conditional write of this key is under way; its outcome decides.
        for _ in range(_ATTEMPTS):
            status = (
                self._write_parts(key, parts_of(first, rest, stream), lock)
                if rest
                else self._write(key, first, IfNoneMatch="*", **lock)
            )
            if status != 409 or rest:  # a stream is read once
                break
        if status == 409:
            raise StoreError(f"{self.uri(key)}: other writers of this key kept it busy; run again")
        return status == 200

    def replace(self, key: str, content: bytes) -> None:
        """Write `content` over what is there."""
        status = self._write(key, content)
        if status != 200:
            raise StoreError(f"{self.uri(key)}: refused an unconditional write (HTTP {status})")

    def delete(self, key: str) -> None:
        """Take away the object at `key`; where versions are kept or locked, they stay."""
        self.ask(lambda s3: s3.delete_object(Bucket=self.bucket, Key=self.full_key(key)), key)

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise NotFoundError."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return the content of a key as a stream, or raise NotFoundError."""
        return self.opened(key, self._got(key))

    def _got(self, key: str, **version: str) -> Any:
        """Return the answer to a GET, whose body is held against the store's own SHA-256 as it is read."""
        return self.ask(
            lambda s3: s3.get_object(
                Bucket=self.bucket, Key=self.full_key(key), ChecksumMode="ENABLED", **version
            ),
            key,
        )

    def opened(self, key: str, answer: Any, **version: str) -> BinaryIO:
        """Return the body of such an answer as a stream whose errors are ours; a long one comes in ranges."""

        def get(**part: str) -> Any:
            from botocore.exceptions import ClientError

            def asked(s3: Any) -> Any:
                try:
                    return s3.get_object(Bucket=self.bucket, Key=self.full_key(key), **part, **version)
                except ClientError as error:
                    if status_of(error) in (404, 412):  # taken away, or changed
                        return None
                    raise

            return self.ask(asked, key)

        return cast(BinaryIO, io.BufferedReader(Body(self, key, answer, get), _CHUNK))

    def exists(self, key: str) -> bool:
        """Return whether there is an object at `key`."""
        try:
            self._head(key)
        except NotFoundError:
            return False
        return True

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders that lie in the folder `prefix` itself, sorted."""
        folder = f"{self.full_key(prefix.rstrip('/'))}/" if prefix.rstrip("/") else self._prefix

        def pages(s3: Any) -> list[str]:
            paginator = s3.get_paginator("list_objects_v2")
            return [
                found["Prefix"].removeprefix(folder).rstrip("/")
                for page in paginator.paginate(Bucket=self.bucket, Prefix=folder, Delimiter="/")
                for found in page.get("CommonPrefixes", ())
            ]

        return sorted(self.ask(pages, prefix))

    def list(self, prefix: str) -> list[str]:
        """Return the keys in the folder `prefix` and below it, sorted."""
        return sorted(key for key, _ in self._listed(prefix, _written))

    def list_between(self, prefix: str, first: str, last: str) -> Sequence[str]:
        """Return the keys of `list` in the folders of `prefix` from ``first/`` to ``last/``, and look at no other."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        found = (key.removeprefix(start).split("/") for key, _ in self._listed(prefix, _written, first, last))
        inside = (one for one in found if len(one) > 1 and f"{first}/" <= f"{one[0]}/" <= f"{last}/")
        return sorted(start + "/".join(one) for one in inside)

    def listed(self, prefix: str) -> dict[str, ListedObject]:
        """Return size, ETag and time of the last write of each key in the folder `prefix` and below it.

        A client of the store can set neither of the last two; who runs its servers can.
        """
        return dict(sorted(self._listed(prefix, _marked)))

    def newest(self, prefix: str) -> datetime | None:
        """Return when the newest object in the folder `prefix` and below it was written; None where there is none."""
        return max((written for _, written in self._listed(prefix, _written)), default=None)

    def _listed(
        self, prefix: str, said: Callable[[Any], Answer], first: str = "", last: str | None = None
    ) -> Sequence[tuple[str, Answer]]:
        folder = f"{self.full_key(prefix.rstrip('/'))}/" if prefix.rstrip("/") else self._prefix

        def pages(s3: Any) -> Sequence[tuple[str, Answer]]:
            after = {"StartAfter": f"{folder}{first}/"} if first else {}
            listing = s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=folder, **after)
            found: list[tuple[str, Answer]] = []
            for page in listing:
                items = [
                    one for one in page.get("Contents", ()) if not one["Key"].endswith("/")
                ]  # folder marks
                found += [(one["Key"].removeprefix(self._prefix), said(one)) for one in items]
                if items and last is not None and items[-1]["Key"] > f"{folder}{last}/\U0010ffff":
                    break
            return found

        return self.ask(pages, prefix)

    def size(self, key: str) -> int:
        """Return the length of an object in bytes, or raise NotFoundError."""
        return int(self._head(key)["ContentLength"])

    def full_key(self, key: str) -> str:
        """Return a key as the bucket knows it."""
        return self._prefix + check_key(key)

    def _head(self, key: str) -> Any:
        return self.ask(lambda s3: s3.head_object(Bucket=self.bucket, Key=self.full_key(key)), key)

    def has_lock(self) -> bool:
        """Whether the bucket has Object Lock; asked once. True where the store does not let us ask."""
        if self._has_lock is None:
            from botocore.exceptions import ClientError

            def enabled(s3: Any) -> bool:
                try:
                    found = s3.get_object_lock_configuration(Bucket=self.bucket)
                except ClientError as error:
                    if status_of(error) in (401, 403):
                        return True
                    if status_of(error) < 500:
                        return False
                    raise
                return bool(found.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled") == "Enabled")

            self._has_lock = self.ask(enabled, "")
        return self._has_lock

    def _lock(self, key: str) -> Mapping[str, Any]:
        """Return what locks an object that is about to be written; empty where nothing does."""
        if self._lock_until is None or not self.has_lock():
            return {}
        full = self.full_key(key)
        found = self.ask(lambda s3: s3.list_object_versions(Bucket=self.bucket, Prefix=full), key)
        if kept := [one for one in found.get("Versions", ()) if one["Key"] == full]:
            markers = [one["VersionId"] for one in found.get("DeleteMarkers", ()) if one["Key"] == full]
            raise ConflictError(
                f"{self.uri(key)}: was written on {kept[-1]['LastModified']:%Y-%m-%d %H:%M:%S} UTC and deleted since; "
                f"version {kept[-1]['VersionId']} is kept, hidden by delete marker {', '.join(markers)}. Nothing is "
                "written over it: find who deleted it, and take the delete marker away"
            )
        until = self._lock_until(datetime.now(UTC))
        if until is None:
            return {}
        return {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": until}

    def _write_parts(self, key: str, parts: Iterator[bytes], lock: Mapping[str, Any]) -> int:
        """Write an object in parts and return the HTTP status, as `_write` does."""
        place = {"Bucket": self.bucket, "Key": self.full_key(key)}
        kind = {"ContentType": _content_type(key)}
        return self.ask(lambda s3: write_parts(s3, place, parts, {**kind, **lock}), key)

    def _write(self, key: str, content: bytes, **condition: Any) -> int:
        """Write an object and return the HTTP status: 200, or 409 or 412 where the condition failed."""
        from botocore.exceptions import ClientError

        def write(s3: Any) -> int:
            try:
                s3.put_object(
                    Bucket=self.bucket,
                    Key=self.full_key(key),
                    Body=content,
                    ChecksumAlgorithm="SHA256",
                    ContentType=_content_type(key),
                    **condition,
                )
            except ClientError as error:
                status = status_of(error)
                if condition and status in (409, 412):
                    return status
                raise
            return 200

        return self.ask(write, key)

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
                    signature_version="s3v4",  # of links too, which boto3 signs in an older way by itself
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

    def ask(self, ask: Callable[[Any], Answer], key: str) -> Answer:
        """Return what boto3's client answers, its errors as ours; `key` is what they are about."""
        with self.translated(key):
            return ask(self._client())

    @contextlib.contextmanager
    def translated(self, key: str) -> Iterator[None]:
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
        except boto.FlexibleChecksumError:
            raise StoreError(
                f"{self._where(key)}: the bytes that came are not those whose SHA-256 the store keeps; read again, "
                "and if it stays so the store is damaged"
            ) from None
        except boto.BotoCoreError as error:
            raise StoreError(
                f"{self._where(key)}: not usable ({type(error).__name__}); check the AWS_* settings"
            ) from None

    def _where(self, key: str) -> str:
        endpoint = re.sub(r"//[^/@]*@", "//", self._endpoint)  # a URL may hold a password
        return f"{self.uri(key)} (bucket {self.bucket}, endpoint {endpoint})"

    def _refusal(self, error: Any, where: str) -> StoreError:
        status, code = status_of(error), error.response["Error"].get("Code", "")
        if code == "NoSuchBucket" or (status == 404 and error.operation_name == "HeadBucket"):
            return StoreError(f"{where}: there is no such bucket; make it, or correct the root")
        if status == 404:
            return NotFoundError(f"{where}: there is no such object")
        if status in (401, 403):
            return StoreError(f"{where}: access denied ({code}); check the credentials and what they may do")
        if status >= 500 or status == 429:
            return StoreUnreachableError(f"{where}: still failing after the retries (HTTP {status} {code})")
        return StoreError(f"{where}: refused (HTTP {status} {code})")


def _content_type(key: str) -> str:
    return _CONTENT_TYPES.get(key.rpartition(".")[2], "application/octet-stream")


def _written(item: Any) -> datetime:
    written: datetime = item["LastModified"]
    return written


def _marked(item: Any) -> ListedObject:
    return ListedObject(int(item["Size"]), f"{item.get('ETag', '')} {item['LastModified'].isoformat()}")
