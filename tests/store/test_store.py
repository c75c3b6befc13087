"""The contract of a store, held by every store, and what is particular to each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import NotFoundError, StoreError, StoreUnreachableError
from audit_lib.store import LocalStore, Store, open_store, open_uri, read_uri
from audit_lib.store.s3 import S3Store


@pytest.fixture(params=["path", "file_uri", "s3", "s3_prefix"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "path":
        return str(tmp_path / "a store")
    if request.param == "file_uri":
        return (tmp_path / "a store").as_uri()
    bucket: str = request.getfixturevalue("s3")
    return bucket if request.param == "s3" else f"{bucket}/deep/prefix"


@pytest.fixture
def store(root: str) -> Store:
    return open_store(root)


class TestContract:
    def test_a_put_reads_back(self, store: Store) -> None:
        assert store.put("audit/run/plan.json", b"\x00\xffbytes\n")
        assert store.get("audit/run/plan.json") == b"\x00\xffbytes\n"
        assert store.size("audit/run/plan.json") == 8

    def test_an_empty_object_is_an_object(self, store: Store) -> None:
        assert store.put("empty", b"")
        assert store.exists("empty")
        assert store.get("empty") == b""
        assert store.size("empty") == 0
        assert not store.put("empty", b"x")

    def test_a_second_put_changes_nothing(self, store: Store) -> None:
        assert store.put("a/k", b"first") is True
        assert store.put("a/k", b"second") is False
        assert store.get("a/k") == b"first"

    def test_of_twelve_writers_one_wins(self, store: Store, root: str) -> None:
        start = threading.Barrier(12)

        def write(number: int) -> bool:
            mine = open_store(root)
            mine.exists("other")  # connected before the race starts
            start.wait()
            return mine.put("a/race", b"%d" % number * 1000)

        with ThreadPoolExecutor(12) as pool:
            won = list(pool.map(write, range(12)))
        assert won.count(True) == 1
        assert store.get("a/race") == b"%d" % won.index(True) * 1000
        assert store.list("a") == ["a/race"]

    def test_replace_overwrites(self, store: Store) -> None:
        store.replace("latest", b"1")
        store.replace("latest", b"22")
        assert store.get("latest") == b"22"

    def test_what_is_not_there(self, store: Store, root: str) -> None:
        store.put("folder/k", b"")
        for key in ("nothing", "folder", "folder/k/below", "folder/nothing"):
            assert not store.exists(key)
            for method in (store.get, store.size, store.open):
                with pytest.raises(NotFoundError, match=key):
                    method(key)
        assert store.list("nothing") == []

    def test_list_is_recursive_sorted_and_by_folder(self, store: Store) -> None:
        keys = ["a/2/x", "a/10/y", "a/10/y.z", "ab/x", "a.b", "b"]
        for key in keys:
            store.put(key, b"")
        assert store.list("") == sorted(keys)
        assert store.list("a") == store.list("a/") == ["a/10/y", "a/10/y.z", "a/2/x"]
        assert store.list("a/10") == ["a/10/y", "a/10/y.z"]

    def test_folders_are_those_one_level_down(self, store: Store) -> None:
        for key in ("a/b/c", "a/d", "a/e/f/g", "h"):
            store.put(key, b"")
        assert store.folders("") == ["a"]
        assert store.folders("a") == store.folders("a/") == ["b", "e"]
        assert store.folders("a/b") == store.folders("a/d") == store.folders("none") == []

    def test_a_list_between_folders_has_those_of_no_other(self, store: Store) -> None:
        for key in (
            "a/1/x",
            "a/2-1/x",
            "a/2/x",
            "a/2/y/z",
            "a/3/x",
            "a/31/x",
            "a/4/x",
            "a/3.txt",
            "a/22",
            "b/3/x",
        ):
            store.put(key, b"")
        assert store.list_between("a", "2", "3") == ["a/2/x", "a/2/y/z", "a/3/x"]
        assert store.list_between("a/", "2", "2") == ["a/2/x", "a/2/y/z"]
        assert store.list_between("", "b", "c") == ["b/3/x"]
        assert store.list_between("a", "5", "9") == store.list_between("none", "0", "9") == []

    def test_newest_is_that_of_all_below_a_folder(self, store: Store) -> None:
        assert store.newest("") is None
        before = datetime.now(UTC) - timedelta(seconds=2)  # a store may have whole seconds
        store.put("a/2/x", b"")
        newest = store.newest("a")
        assert newest is not None
        assert before <= newest <= datetime.now(UTC) + timedelta(seconds=2)
        assert store.newest("") == newest
        assert store.newest("b") is None

    def test_uri_opens_again(self, store: Store) -> None:
        store.put("audit/w/k 100%.json", b"1")
        uri = store.uri("audit/w/k 100%.json")
        assert read_uri(uri) == b"1"
        folder = store.uri("audit/w").rsplit("/", 1)
        assert open_store(folder[0]).list(folder[1]) == ["w/k 100%.json"]
        assert open_store(store.uri("")).list("") == store.list("")

    def test_a_stream_can_be_read_by_line(self, store: Store) -> None:
        lines = [b"%d\n" % number for number in range(300_000)]
        store.put("big.jsonl", b"".join(lines))
        with open_uri(store.uri("big.jsonl")) as stream:
            assert stream.readline() == lines[0]
            assert list(stream) == lines[1:]

    @pytest.mark.parametrize("key", ["", "/a", "a//b", "../a", "a/../../b", "a/.", "a\0b", ".tmp-x"])
    def test_a_bad_key_is_refused(self, store: Store, key: str) -> None:
        for use in (store.get, store.exists, store.size, lambda k: store.put(k, b"")):
            with pytest.raises(StoreError, match="is not a key"):
                use(key)


@given(content=st.binary(max_size=300))
def test_bytes_are_kept_as_they_are(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = open_store(str(tmp_path_factory.mktemp("store")))
    store.put("k", content)
    assert store.get("k") == content


@pytest.mark.parametrize("root", ["gs://bucket", "https://host/x", "s3://", "s3:///x", "file://host/x"])
def test_an_unknown_root_is_refused(root: str) -> None:
    with pytest.raises(StoreError):
        open_store(root)


def test_relative_paths_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.csv").write_bytes(b"1")
    assert read_uri("here.csv") == read_uri("./here.csv") == b"1"


class TestLocal:
    def test_a_root_of_either_form_is_the_same_folder(self, tmp_path: Path) -> None:
        LocalStore(str(tmp_path)).put("k", b"1")
        assert LocalStore(tmp_path.as_uri()).get("k") == b"1"

    def test_files_get_the_permissions_that_the_umask_leaves(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_bytes(b"")
        LocalStore(str(tmp_path)).put("k", b"")
        assert (tmp_path / "k").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_a_killed_put_leaves_nothing_visible_and_can_be_done_again(self, tmp_path: Path) -> None:
        """Kill -9 while 400 MB are under way, again and again; a put is never seen in part."""
        size = 400 << 20
        child = (
            "import sys; from audit_lib.store import open_store; s = open_store(sys.argv[1]);"
            f"content = b'x' * {size}; print('go', flush=True); s.put('stage/k', content)"
        )
        store = LocalStore(str(tmp_path))
        for _ in range(3):
            process = subprocess.Popen(
                [sys.executable, "-c", child, str(tmp_path)],
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[1],
            )
            assert process.stdout is not None and process.stdout.readline() == b"go\n"
            while not list(tmp_path.glob("stage/.tmp-*")):
                time.sleep(0.001)
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            process.stdout.close()
            assert list(tmp_path.glob("stage/.tmp-*")), "the kill came too late to prove anything"
            assert not store.exists("stage/k")
            assert store.list("") == []
        assert store.put("stage/k", b"whole")
        assert store.list("") == ["stage/k"]

    def test_a_failed_write_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\)"):
            LocalStore(str(tmp_path)).put("k", b"x")
        assert list(tmp_path.iterdir()) == []

    def test_a_file_system_without_hard_links_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unable(source: Path, target: Path) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", unable)
        with pytest.raises(StoreError, match="no hard links"):
            LocalStore(str(tmp_path)).put("k", b"x")
        assert list(tmp_path.iterdir()) == []


class TestS3:
    def test_pages_of_a_long_list_are_joined(self, s3: str) -> None:
        store = open_store(s3)
        keys = [f"stage/{number:04}" for number in range(1003)]
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(lambda key: store.put(key, b""), keys))
        assert store.list("stage") == keys

    def test_no_overwrite_where_the_condition_is_ignored(self, s3: str) -> None:
        store = S3Store(s3)
        store.put("k", b"first")

        def drop_condition(request, **_):  # a botocore event handler
            del request.headers["If-None-Match"]

        store._client().meta.events.register("before-sign.s3.PutObject", drop_condition)
        assert (
            store._write("proof", b"1", IfNoneMatch="*")
            == store._write("proof", b"2", IfNoneMatch="*")
            == 200
        )
        assert store.put("k", b"second") is False
        assert store.get("k") == b"first"

    def test_the_condition_alone_refuses(self, s3: str) -> None:
        """The writer who looked before the other wrote is stopped by the store itself."""
        store = S3Store(s3)
        store.put("k", b"first")
        store.exists = lambda key: False  # type: ignore[method-assign]
        assert store.put("k", b"second") is False
        assert store.get("k") == b"first"

    def test_the_digest_is_stored_with_the_object(self, s3: str) -> None:
        store = S3Store(s3)
        store.put("k", b"abc")
        head = store._client().head_object(Bucket=store.bucket, Key="k", ChecksumMode="ENABLED")
        assert head["ChecksumSHA256"] == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

    def test_a_missing_bucket_is_named(self, s3: str) -> None:
        for use in (
            lambda s: s.exists("k"),
            lambda s: s.get("k"),
            lambda s: s.put("k", b""),
            lambda s: s.list(""),
        ):
            with pytest.raises(
                StoreError, match=r"bucket no-such-bucket.* there is no such bucket"
            ) as caught:
                use(open_store("s3://no-such-bucket/x"))
            assert not isinstance(caught.value, NotFoundError)

    def test_wrong_credentials_are_refused_without_telling_them(
        self, s3: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        open_store(s3).put("k", b"")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-wrong-secret")
        with pytest.raises(StoreError, match="access denied") as caught:
            open_store(s3).get("k")
        assert "the-wrong-secret" not in repr(caught.value)
        assert caught.value.__cause__ is None
        assert os.environ["AWS_ACCESS_KEY_ID"] not in str(caught.value)

    def test_missing_credentials_are_named(
        self, s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        with pytest.raises(StoreError, match="set AWS_ACCESS_KEY_ID"):
            open_store(s3).get("k")

    def test_an_unreachable_store_is_tried_again_and_then_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = []
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def hang_up() -> None:
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    calls.append(1)
                    connection.close()

            thread = threading.Thread(target=hang_up, daemon=True)
            thread.start()
            endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
            monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-id")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
            monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
            with pytest.raises(
                StoreUnreachableError, match="bucket my-bucket, endpoint " + endpoint
            ) as caught:
                open_store("s3://my-bucket/x").put("k", b"")
            listener.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=5)
        assert len(calls) == 3
        assert "hush-hush" not in repr(caught.value) and caught.value.__cause__ is None

    def test_a_password_in_the_endpoint_is_not_told(self) -> None:
        store = S3Store("s3://my-bucket")
        store._endpoint = "https://user:hush@store.example:9000"
        assert store._where("k") == "s3://my-bucket/k (bucket my-bucket, endpoint https://store.example:9000)"
