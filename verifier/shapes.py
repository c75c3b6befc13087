"""What documents must look like: small checks that are put together, each raising `OddError` with the place."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any, Callable

from verifier.strict_json import OddError

Check = Callable[[Any, str], None]
"""Takes a value and where it is."""


def text(pattern: str = "") -> Check:
    """Accept a text, all of which matches `pattern`."""
    compiled = re.compile(pattern or r"(?s).*")

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise OddError(f"{where}: is not what must be there")

    return check


def whole(least: int = 0) -> Check:
    """Accept a whole number."""

    def check(value: Any, where: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise OddError(f"{where}: is no whole number of {least} or more")

    return check


def one_of(*values: str | None) -> Check:
    """Accept some texts, or null if None is among them."""

    def check(value: Any, where: str) -> None:
        if value not in values or isinstance(value, (bool, int, float)):
            raise OddError(f"{where}: is not one of what may be there")

    return check


def boolean(value: Any, where: str) -> None:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise OddError(f"{where}: is neither true nor false")


def anything(value: Any, where: str) -> None:
    """Accept any value of JSON."""


def nullable(inner: Check) -> Check:
    """Accept null too."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            inner(value, where)

    return check


def listing(inner: Check, least: int = 0) -> Check:
    """Accept a list."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise OddError(f"{where}: is no list of {least} or more")
        for place, one in enumerate(value):
            inner(one, f"{where}[{place}]")

    return check


def mapping(key: Check, inner: Check) -> Check:
    """Accept an object with any keys that `key` accepts."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise OddError(f"{where}: is no object")
        for name, one in value.items():
            key(name, f"a key of {where}")
            inner(one, f"{where}.{name}")

    return check


def fields(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """Accept an object with these keys and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise OddError(f"{where}: is no object")
        for name in required:
            if name not in value:
                raise OddError(f"{where}.{name}: is missing")
        for name, one in value.items():
            if name not in known:
                raise OddError(f"{where}: has a key that it must not have")
            known[name](one, f"{where}.{name}")

    return check


def instant_of(words: Any) -> datetime:
    """Return an instant with an offset.

    Raises
    ------
    OddError
        If it is none.
    """
    try:
        found = datetime.fromisoformat(words)
    except (ValueError, TypeError):
        raise OddError("is no instant") from None
    if found.tzinfo is None:
        raise OddError("has no UTC offset")
    try:
        return found.astimezone(timezone.utc)
    except OverflowError:
        raise OddError("lies beyond all years in UTC") from None


def instant(value: Any, where: str) -> None:
    """Accept an instant in UTC as the library writes one: whole, or to the millisecond or microsecond."""
    try:
        utc = instant_of(value)
    except OddError as error:
        raise OddError(f"{where}: {error}") from None
    if value not in (utc.isoformat(timespec="milliseconds"), utc.isoformat()):
        raise OddError(f"{where}: is written in another form than the library's")


def moment(value: Any, where: str) -> None:
    """Accept an instant in UTC to the second."""
    instant(value, where)
    if value != instant_of(value).isoformat(timespec="seconds"):
        raise OddError(f"{where}: is no instant in UTC to the second")


SHA256 = text(r"[0-9a-f]{64}")
ANY = text()
LISTED = fields({"path": ANY, "sha256": SHA256, "bytes": whole()})
VERSIONS = mapping(
    text(r"[a-z][a-z0-9_.-]{0,40}|scores:[A-Za-z0-9_.-]{1,60}"),
    text(r"[A-Za-z0-9_.+!~-]+(?:, [A-Za-z0-9_.+!~-]+)*(?:, )?|not installed as a package"),
)
