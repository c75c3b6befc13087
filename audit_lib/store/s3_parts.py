"""Objects that are too long for one request: they go up in parts, each with its SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

from audit_lib.errors import StoreError

PART: Final = 64 << 20
"""Bytes of a part, of which S3 takes 10,000; what is no longer goes up in one request."""


def parts_of(first: bytes, start: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Give the first part, and the others as they are read; `start` is what was read of the second."""
    yield first
    part = start + stream.read(PART - len(start))
    while part:
        yield part
        part = stream.read(PART)


def write_parts(s3: Any, place: Mapping[str, str], parts: Iterator[bytes], said: Mapping[str, Any]) -> int:
    """Write an object where none is, and return the HTTP status: 200, or 409 or 412 where one is.

    Parameters
    ----------
    s3 : boto3 client
        To write with.
    place : mapping
        Bucket and key.
    parts : iterator of bytes
        All but the last have at least 5 MiB.
    said : mapping
        Content type and lock, which the object has from its first moment on.

    Raises
    ------
    StoreError
        If the store's digest of the whole is not that of what was sent.
    """
    from botocore.exceptions import ClientError

    upload = s3.create_multipart_upload(**place, ChecksumAlgorithm="SHA256", **said)["UploadId"]
    done, digests = [], []
    try:
        for number, part in enumerate(parts, start=1):
            digests.append(hashlib.sha256(part).digest())
            mark = {"PartNumber": number, "ChecksumSHA256": b64encode(digests[-1]).decode()}
            tag = s3.upload_part(**place, UploadId=upload, Body=part, **mark)["ETag"]
            done.append({**mark, "ETag": tag})
        whole = s3.complete_multipart_upload(
            **place, UploadId=upload, MultipartUpload={"Parts": done}, IfNoneMatch="*"
        )
    except BaseException as error:
        with contextlib.suppress(Exception):  # what went wrong first is told
            s3.abort_multipart_upload(**place, UploadId=upload)
        if isinstance(error, ClientError) and status_of(error) in (409, 412):
            return status_of(error)
        raise
    ours = b64encode(hashlib.sha256(b"".join(digests)).digest()).decode()
    if whole.get("ChecksumSHA256", "").partition("-")[0] not in ("", ours):
        raise StoreError(f"{place['Key']}: the store's SHA-256 of the parts is not that of what was sent")
    return 200


def status_of(error: Any) -> int:
    """Return the HTTP status that an error of boto3 came with."""
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
