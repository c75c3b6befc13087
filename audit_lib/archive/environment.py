"""What was installed where a run was sealed: digests of distributions, of the library's own files, lock and image."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from email.message import Message
from email.parser import HeaderParser
from functools import lru_cache
from importlib.metadata import Distribution as Installed
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.environment import Distribution, Environment
from audit_lib.errors import InputError
from audit_lib.run import Run

ENVIRONMENT: Final = "environment.json"
REVISION: Final = "AUDIT_REVISION"
CONTAINER: Final = "AUDIT_CONTAINER_DIGEST"
LOCK: Final = "AUDIT_LOCK"
_PACKAGE: Final = Path(__file__).parents[1]
_NO_FILES: Final = ("__pycache__",)


def environment(run: Run, stages: Sequence[str]) -> Environment:
    """Return what is installed here, and which models answered in the shards of `stages`.

    Raises
    ------
    InputError
        If the lock file that the environment names cannot be read.
    """
    return Environment(
        python=platform.python_version(),
        code_sha256=_code(),
        revision=os.environ.get(REVISION) or _revision(),
        container=os.environ.get(CONTAINER) or None,
        lock_sha256=_lock(),
        models={
            stage: str(run.stage(stage).read_json("model.json").get("fingerprint"))
            for stage in stages
            if stage.startswith("scores/")
        },
        distributions=_installed(),
    )


def software_sha256() -> str:
    """Return the digest of Python's version, of the library's own files, and of what installed packages record."""
    packages = [one.as_dict() for one in _installed()]
    return sha256(canonical_json([platform.python_version(), _code(), packages]))


def _installed() -> tuple[Distribution, ...]:
    """Return every installed distribution; of one that is there twice, the one that is imported."""
    return _distributions(tuple((place, _changed(place)) for place in sys.path))


def _changed(place: str) -> int | None:
    """When something was last put into a folder, or taken out of it; None where it is not there."""
    try:
        return os.stat(place or ".").st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=4)
def _distributions(places: tuple[tuple[str, int | None], ...]) -> tuple[Distribution, ...]:
    """Look for distributions; in `places` as they are, what was found is found again."""
    found: dict[str, Distribution] = {}
    for each in distributions(path=[place for place, _ in places]):
        headers = _headers(each)
        name = (headers["Name"] or "").lower().replace("_", "-")
        if name and name not in found:
            found[name] = Distribution(name=name, version=headers["Version"], record_sha256=_record(each))
    return tuple(found[name] for name in sorted(found))


def _headers(installed: Installed) -> Message:
    """Return what a distribution says of itself, without its description, which takes most of the time to read."""
    said = installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""
    return HeaderParser().parsestr(said.partition("\n\n")[0])


def _record(installed: Installed) -> str | None:
    record = installed.read_text("RECORD")
    return None if record is None else sha256(record.encode())


def _code() -> str:
    """Digest the library's files, as ``sha256sum`` prints them, in order."""
    lines = [
        f"{sha256(path.read_bytes())}  {path.relative_to(_PACKAGE).as_posix()}\n"
        for path in sorted(_PACKAGE.rglob("*"))
        if path.is_file() and not set(path.parts) & set(_NO_FILES)
    ]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _revision() -> str | None:
    """Return the commit that the library was installed from, where its installer knows one."""
    try:
        said = distribution("audit-lib").read_text("direct_url.json")
        commit = json.loads(said or "{}").get("vcs_info", {}).get("commit_id")
    except (PackageNotFoundError, ValueError, AttributeError):
        return None
    return commit if isinstance(commit, str) else None


def _lock() -> str | None:
    path = os.environ.get(LOCK)
    if not path:
        return None
    try:
        return sha256(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{LOCK}={path}: the lock file cannot be read ({error.strerror})") from None
