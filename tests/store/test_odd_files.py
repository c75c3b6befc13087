"""What a folder may hold besides files: links and pipes hide no other file, and nothing waits for them."""

from __future__ import annotations

import os
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
    assert store.links() == ["run/itself", "run/to_file", "run/to_folder", "run/to_nothing"]


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    store = LocalStore(str(tmp_path))

    for name in ("pipe", "folder", "nothing"):
        with pytest.raises(NotFoundError, match="no such file"):
            store.open(name)
