"""Runs of which many tests need one alike: what was made once from the same files in the same way is copied."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from audit_lib.canonical import sha256
from audit_lib.run import Run
from audit_lib.window import Window
from tests.archive.cases import do, new_run

_KEPT: dict[str, Path] = {}


def sealed(folder: Path, inputs: Path, window: Window, **options: Any) -> Run:
    """A run sealed in the store of `folder`, whose inputs are in a folder in it; not for tests of what making it does.

    Equal means equal bytes of all that is in `folder` before, and equal options.
    """
    inputs.mkdir(exist_ok=True)
    root = str(folder / "store")
    before = sorted(
        f"{path.relative_to(folder)} {sha256(path.read_bytes())}"
        for path in folder.rglob("*")
        if path.is_file()
    )
    key = sha256(repr([before, str(inputs.relative_to(folder)), window, options]).encode())
    if key in _KEPT:
        shutil.copytree(_KEPT[key], folder, dirs_exist_ok=True)
        return new_run(inputs, root, window, **options)
    run = do(new_run(inputs, root, window, **options))
    kept = _place() / key
    shutil.copytree(folder, kept)
    _KEPT[key] = kept
    return run


@cache
def _place() -> Path:
    place = tempfile.mkdtemp(prefix="kept-runs-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)
