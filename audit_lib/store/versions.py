"""What a bucket that keeps versions holds of each key: what was written first, and what came over it.

Evidence is written once. In a bucket with versions whoever may write can still put another version over an object, or a
delete marker that hides it; the version that was first is there as before, and a COMPLIANCE lock keeps it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Final, Literal

from audit_lib.errors import NotFoundError, StoreError, StoreUnreachableError
from audit_lib.store import Store, open_store
from audit_lib.store.contract import ListedObject, check_key
from audit_lib.store.s3 import S3Store

_SHOWN: Final = 3
NO_VERSION: Final = "null"
"""Id of an object's version where the bucket keeps none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of an object, or a delete marker."""

    id: str
    written: datetime
    size: int = 0

    def __str__(self) -> str:
        """Name it and say when it was written."""
        return f"{self.id} of {self.written:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLock:
    """How a version is locked."""

    mode: str | None = None
    until: datetime | None = None
    held: bool = False

    def is_locked(self, now: datetime) -> bool:
        """Whether nobody can delete it before its time, which is to come."""
        return self.mode == "COMPLIANCE" and self.until is not None and self.until > now


@dataclass(slots=True)
class KeyVersions:
    """Everything that a bucket has under a key, each kind in the order in which it came."""

    versions: list[Version] = field(default_factory=list)
    markers: list[Version] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterVersion:
    """What came over an object after it was first written.

    Attributes
    ----------
    key : str
        Of the object.
    kind : {"overwritten", "deleted"}
        Another version, or a delete marker.
    detail : str
        Which, when, and what is left of the first.
    """

    key: str
    kind: Literal["overwritten", "deleted"]
    detail: str


class FirstVersions(S3Store):
    """A bucket's prefix as it was first written: of each key its first version. What came later is not read.

    Parameters
    ----------
    root : str
        ``s3://bucket`` or ``s3://bucket/prefix``.

    Attributes
    ----------
    locks : dict of str to ObjectLock
        Key -> how its first version is locked, of the objects that were read.
    """

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.locks: dict[str, ObjectLock] = {}
        self._histories: dict[str, KeyVersions] = {}
        self._whole: set[str] = set()

    def open(self, key: str) -> BinaryIO:
        """Return the content of the first version of a key as a stream, or raise NotFoundError."""
        answer = self._got(key, **self._version(key))
        self.locks[key] = _lock_in(answer)
        return self.opened(key, answer, **self._version(key))

    def written(self, key: str) -> datetime:
        """Return when the first version of a key was written, or raise NotFoundError."""
        return self._first(key).written

    def lock_of(self, key: str) -> ObjectLock:
        """Return how the first version of a key is locked now."""
        place = {"Bucket": self.bucket, "Key": self.full_key(key), **self._version(key)}
        return _lock_in(self.ask(lambda s3: s3.head_object(**place), key))

    def set_lock(self, key: str, until: datetime) -> None:
        """Lock the first version of a key in COMPLIANCE mode until then; a store refuses what is shorter."""
        place = {"Bucket": self.bucket, "Key": self.full_key(key), **self._version(key)}
        lock = {"Mode": "COMPLIANCE", "RetainUntilDate": until}
        self.ask(lambda s3: s3.put_object_retention(**place, Retention=lock), key)

    def set_hold(self, key: str, *, on: bool) -> None:
        """Lay a legal hold on the first version of a key, or take it off."""
        place = {"Bucket": self.bucket, "Key": self.full_key(key), **self._version(key)}
        status = {"Status": "ON" if on else "OFF"}
        self.ask(lambda s3: s3.put_object_legal_hold(**place, LegalHold=status), key)

    def exists(self, key: str) -> bool:
        """Return whether there is a version at `key`."""
        return bool(self._history(key).versions)

    def size(self, key: str) -> int:
        """Return the length of the first version in bytes, or raise NotFoundError."""
        return self._first(key).size

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders that lie in the folder `prefix` itself, sorted."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        below = [key.removeprefix(start).split("/") for key in self.list(prefix)]
        return sorted({parts[0] for parts in below if len(parts) > 1})

    def list(self, prefix: str) -> list[str]:
        """Return the keys that have a version, in the folder `prefix` and below it, sorted."""
        return sorted(key for key, found in self._below(prefix).items() if found.versions)

    def list_between(self, prefix: str, first: str, last: str) -> Sequence[str]:
        """Return the keys of `list` in the folders of `prefix` from ``first/`` to ``last/``."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        below = ((key, key.removeprefix(start).split("/")) for key in self.list(prefix))
        return [key for key, parts in below if len(parts) > 1 and f"{first}/" <= f"{parts[0]}/" <= f"{last}/"]

    def listed(self, prefix: str) -> dict[str, ListedObject]:
        """Return the first size of each key that has a version, with a mark that any later version would change."""
        now = super().listed(prefix)
        return {
            key: ListedObject(
                found.versions[0].size,
                " ".join(
                    [
                        now[key].mark if key in now else "hidden",
                        *(f"{one.id} {one.written.isoformat()}" for one in (*found.versions, *found.markers)),
                    ]
                ),
            )
            for key, found in sorted(self._below(prefix).items())
            if found.versions
        }

    def newest(self, prefix: str) -> datetime | None:
        """Return when the last first version in the folder `prefix` and below it was written; None where none is."""
        times = (one.versions[0].written for one in self._below(prefix).values() if one.versions)
        return max(times, default=None)

    def later(self, prefix: str) -> Sequence[LaterVersion]:
        """Return what came over objects in the folder `prefix` and below it."""
        found = []
        for key, history in sorted(self._below(prefix).items()):
            first = history.versions[0] if history.versions else None
            left = "no version of it is left" if first is None else f"version {first}, the first, is there"
            if len(history.versions) > 1:
                said = f"was overwritten by version {_several(history.versions[1:])}; {left}"
                found.append(LaterVersion(key=key, kind="overwritten", detail=said))
            if history.markers:
                said = f"was deleted by delete marker {_several(history.markers)}; {left}"
                found.append(LaterVersion(key=key, kind="deleted", detail=said))
        return found

    def _version(self, key: str) -> dict[str, str]:
        first = self._first(key)
        return {} if first.id == NO_VERSION else {"VersionId": first.id}

    def _first(self, key: str) -> Version:
        versions = self._history(key).versions
        if not versions:
            raise NotFoundError(f"{self.uri(key)}: there is no version of such an object")
        return versions[0]

    def _history(self, key: str) -> KeyVersions:
        check_key(key)
        if key not in self._histories and not any(key.startswith(start) for start in self._whole):
            self._histories |= self._listed_versions(self.full_key(key), key)
        return self._histories.get(key, KeyVersions())

    def _below(self, prefix: str) -> Mapping[str, KeyVersions]:
        start = f"{check_key(prefix.rstrip('/'))}/" if prefix.rstrip("/") else ""
        if not any(start.startswith(whole) for whole in self._whole):
            folder = self.full_key(f"{start}x").removesuffix("x")
            self._histories |= self._listed_versions(folder, prefix)
            self._whole.add(start)
        return {key: found for key, found in self._histories.items() if key.startswith(start)}

    def _listed_versions(self, full: str, key: str) -> dict[str, KeyVersions]:
        """Return the histories of the keys that begin so; a store lists the newest version first."""
        found: dict[str, KeyVersions] = {}

        def pages(s3: Any) -> None:
            paginator = s3.get_paginator("list_object_versions")
            for page in paginator.paginate(Bucket=self.bucket, Prefix=full):
                for kind, listed in (("versions", "Versions"), ("markers", "DeleteMarkers")):
                    for one in page.get(listed, ()):
                        if one["Key"].endswith("/"):
                            continue  # folder marks that some tools write
                        version = Version(
                            id=one["VersionId"], written=one["LastModified"], size=one.get("Size", 0)
                        )
                        own = found.setdefault(one["Key"].removeprefix(self._prefix), KeyVersions())
                        getattr(own, kind).insert(0, version)

        self.ask(pages, key)
        return found


def as_first_written(root: str) -> tuple[Store, str]:
    """Return the store at a root as it was first written, and why that is not known where it is not.

    A folder keeps no versions and is returned as it is; so is a bucket whose versions cannot be listed.

    Raises
    ------
    StoreError
        If the store cannot be read at all.
    """
    store = open_store(root)
    if not isinstance(store, S3Store):
        return store, ""
    first, start = FirstVersions(root), store.full_key("x").removesuffix("x")
    try:
        first.ask(lambda s3: s3.list_object_versions(Bucket=first.bucket, Prefix=start, MaxKeys=1), "")
    except StoreUnreachableError:
        raise
    except StoreError as error:
        store.ask(lambda s3: s3.list_objects_v2(Bucket=store.bucket, Prefix=start, MaxKeys=1), "")
        return (
            store,
            f"its versions cannot be listed, so that what was overwritten is not known here: {error}",
        )
    return first, ""


def _lock_in(answer: Mapping[str, Any]) -> ObjectLock:
    return ObjectLock(
        mode=answer.get("ObjectLockMode"),
        until=answer.get("ObjectLockRetainUntilDate"),
        held=answer.get("ObjectLockLegalHoldStatus") == "ON",
    )


def _several(versions: Sequence[Version]) -> str:
    more = len(versions) - _SHOWN
    return ", ".join(map(str, versions[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
