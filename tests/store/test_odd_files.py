"""What a folder may hold besides files: links and pipes hide no other file, and nothing waits for them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from audit_lib.errors import NotFoundError
from audit_lib.store import LocalStore


def test_links_hide_no_file_of_their_folder(tmp_path: Path) -> None:
    for name in ("a", "m", "z"):
        (tmp_path / "run" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text(name)
    (tmp_path / "run" / "below").mkdir()
    (tmp_path / "run" / "below" / "b").write_text("b")
    (tmp_path / "run" / "itself").symlink_to("itself")
    (tmp_path / "run" / "to_folder").symlink_to("below")
    (tmp_path / "run" / "to_file").symlink_to("a")
    (tmp_path / "run" / "to_nothing").symlink_to("nowhere")

    store = LocalStore(str(tmp_path))

    walked = [
        f"{Path(folder).relative_to(tmp_path)}/{name}"
        for folder, _, names in os.walk(tmp_path)
        for name in names
    ]
    assert store.list("run") == sorted(walked)
    assert {"run/a", "run/m", "run/z", "run/below/b", "run/itself", "run/to_file"} < set(store.list(""))
    odd = [path for path, why in store.odd() if "symbolic link" in why]
    assert odd == ["run/itself", "run/to_file", "run/to_folder", "run/to_nothing"]
    assert store.odd("run") == store.odd()
    assert [path for path, _ in store.odd("run/to_folder")] == ["run/to_folder"]


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    store = LocalStore(str(tmp_path))

    for name in ("pipe", "folder", "nothing"):
        with pytest.raises(NotFoundError, match="no such file"):
            store.open(name)


def test_what_is_no_file_or_hides_from_a_listing_is_told(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("run/a", b"a")
    os.mkfifo(tmp_path / "run" / "pipe")
    for name in (".tmp-mine.json", f".tmp-{'0' * 15}", f".tmp-{'0' * 16}"):
        (tmp_path / "run" / name).write_text("x")
    (tmp_path / "run" / f".tmp-{'0' * 16}").rename(tmp_path / "run" / f".tmp-{'1' * 16}")
    deep = os.getcwd()
    try:
        os.chdir(tmp_path / "run")
        for _ in range(50):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        Path("hidden").write_text("x")
    finally:
        os.chdir(deep)

    assert store.list("") == ["run/a", "run/pipe"]
    told = dict(store.odd())
    assert {told.pop(f"run/{name}") for name in (".tmp-mine.json", f".tmp-{'0' * 15}")} == {
        "has a name that begins as those of files that are being written, and is none of ours"
    }
    assert told.pop("run/pipe") == "is no file"
    ((path, why),) = told.items()
    assert path.startswith("run/ddd") and "so deep that what is in it cannot be read" in why
    shutil.rmtree(tmp_path / "run")
