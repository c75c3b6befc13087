"""What the YAML of specs says, kept by the digest of its text: a scheduler reads the same thousand texts all day.

It is for a scheduler's DAG files alone. Whatever makes evidence reads the spec itself.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from audit_lib import __version__
from audit_lib.canonical import sha256
from audit_lib.progress import ignore
from audit_lib.spec import text as text_module
from audit_lib.spec.text import read_yaml

_INSTANT: Final = ""
"""The one key of a mapping that stands for a date or an instant; a spec with such a key is not kept."""
_MOST_VALUES: Final = 100_000
"""Of a spec: aliases can stand for more than memory holds."""


def parsed_specs_file() -> Path:
    """Return where they are kept: in ``$AUDIT_CACHE``, or ``~/.cache/audit_lib``."""
    folder = os.environ.get("AUDIT_CACHE") or Path.home() / ".cache" / "audit_lib"
    return Path(folder) / "parsed_specs.json"


class ParsedSpecs:
    """What specs say, in a file that is made again whenever it is not what this version of the library wrote.

    Parameters
    ----------
    path : Path
        The file. It is used only where nobody else can write it.
    notify : callable
        Told why it is not used.
    """

    def __init__(self, path: Path, notify: Callable[[str], None] = ignore) -> None:
        self._path, self._notify = path, notify
        self._kept: dict[str, Any] = self._load()
        self._used: dict[str, Any] = {}
        self._is_new = False

    def read(self, text: str, path: Path) -> dict[str, Any]:
        """Return what a text says, as `audit_lib.spec.text.read_yaml` does.

        Raises
        ------
        SpecError
            As that function. What is wrong with a text is not kept.
        """
        digest = sha256(text.encode("utf-8", "surrogatepass"))
        if digest in self._kept:
            self._used[digest] = self._kept[digest]
            content: dict[str, Any] = _decoded(self._kept[digest])
            return content
        content = read_yaml(text, path)
        try:
            self._used[digest] = _Encoder().encoded(content)
            self._is_new = True
        except ValueError:
            pass  # it says something that JSON cannot: it is read again each time
        return content

    def save(self) -> None:
        """Keep what was read, and nothing else."""
        if not self._is_new and len(self._used) == len(self._kept):
            return
        content = json.dumps(self._used, allow_nan=False).encode()
        header = json.dumps({"made_by": _made_by(), "sha256": sha256(content)}).encode()
        temporary = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(header + b"\n" + content)
                os.replace(temporary, self._path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            self._notify(f"{self._path}: parsed specs cannot be kept ({error.strerror})")

    def _load(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as file:
                about = os.fstat(file.fileno())
                if about.st_uid != os.geteuid() or about.st_mode & 0o022:
                    return self._not_used("others can write it")
                header, content = file.readline(), file.read()
        except FileNotFoundError:
            return {}
        except OSError as error:
            return self._not_used(error.strerror or type(error).__name__)
        try:
            said = json.loads(header)
            if said["made_by"] != _made_by():
                return self._not_used("another version of the library wrote it")
            if said["sha256"] != sha256(content):
                return self._not_used("it was changed")
            found = json.loads(content)
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._not_used("it is not what this library writes")
        return found if isinstance(found, dict) else self._not_used("it is not what this library writes")

    def _not_used(self, why: str) -> dict[str, Any]:
        self._notify(f"{self._path}: parsed specs that were kept are not used, and made again: {why}")
        return {}


@cache
def _made_by() -> str:
    """Return what a result depends on besides the text: the code that reads it."""
    code = [Path(name).read_bytes() for name in (__file__, text_module.__file__)]
    libyaml = getattr(yaml, "__with_libyaml__", False)
    return f"audit_lib {__version__} {sha256(b''.join(code))}, PyYAML {yaml.__version__} {libyaml}"


class _Encoder:
    """Writes content as JSON that gives exactly the same content back."""

    def __init__(self) -> None:
        self._values = 0

    def encoded(self, value: Any) -> Any:
        """Return it, or raise ValueError where it cannot."""
        self._values += 1
        if self._values > _MOST_VALUES:
            raise ValueError("too many values")
        kind = type(value)
        if kind is dict:
            if any(type(key) is not str or key == _INSTANT for key in value):
                raise ValueError("a key that JSON does not have")
            return {key: self.encoded(one) for key, one in value.items()}
        if kind is list:
            return [self.encoded(one) for one in value]
        if kind in (date, datetime):
            return {_INSTANT: value.isoformat()}
        if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
            return value
        raise ValueError("a value that JSON does not have")


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if (written := value.get(_INSTANT)) is not None:
        return datetime.fromisoformat(written) if "T" in written else date.fromisoformat(written)
    return {key: _decoded(one) for key, one in value.items()}
