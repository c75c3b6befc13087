"""Is a store one that locks? Each behaviour is tried on small objects, since stores differ in what they do.

The objects lie under ``store-probe/`` and are locked for less than a minute; an ordinary listing does not show them.
The next probe takes their versions away, where the credentials may delete. No setting of the bucket is changed.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from secrets import token_hex
from typing import Any, Final

from audit_lib.documents.store_lock import LOCKING, Behaviour, BehaviourName, StoreLock
from audit_lib.errors import StoreError
from audit_lib.store import open_store
from audit_lib.store.s3 import S3Store
from audit_lib.store.s3_parts import status_of, write_parts

FOLDER: Final = "store-probe"
_LOCKED_S: Final = 40
_HELD_S: Final = 3
"""How long the object is locked on which a legal hold is tried: a hold outlives the lock."""
_LEFT_BEHIND: Final = timedelta(minutes=2)
_FIRST, _OTHER, _PARTS, _HELD = "first", "wrong-digest", "parts", "held"


def probe(root: str) -> StoreLock:
    """Return what was found of the store at a root.

    Raises
    ------
    StoreError
        If it does not answer, or refuses what every store must allow.
    """
    store = open_store(root)
    if not isinstance(store, S3Store):
        return StoreLock(kind="folder", locked=False)
    return _Probe(store).found()


class _Probe:
    """One look at a bucket: the objects that it makes are its own."""

    def __init__(self, store: S3Store) -> None:
        self._store, self._folder = store, f"{FOLDER}/{token_hex(8)}"
        answer = store.ask(lambda s3: s3.head_bucket(Bucket=store.bucket), "")
        headers = answer["ResponseMetadata"]["HTTPHeaders"]
        self._server: str | None = headers.get("server")
        # By the store's own clock, since ours may be wrong and a lock in the past is refused.
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        self._ahead = now - datetime.now(UTC)

    def found(self) -> StoreLock:
        rule = self._rule()
        behaviours = tuple(self._behaviours(rule is not None))
        held = {one.name for one in behaviours if one.held}
        self._clear()
        return StoreLock(
            kind="s3",
            locked=held >= set(LOCKING),
            server=self._server,
            default_retention=rule or None,
            probed_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            behaviours=behaviours,
        )

    def _rule(self) -> str | None:
        """Return the bucket's default retention, empty where it has none; None where it has no Object Lock."""
        if not self._store.has_lock():
            return None
        with suppress(StoreError):  # whoever may not read it can still lock
            found = self._store.ask(
                lambda s3: s3.get_object_lock_configuration(Bucket=self._store.bucket), ""
            )["ObjectLockConfiguration"]
            rule = found.get("Rule", {}).get("DefaultRetention", {})
            for unit in ("Days", "Years"):
                if unit in rule:
                    return f"{rule['Mode']}, {rule[unit]} {unit.lower()}"
        return ""

    def _behaviours(self, has_lock: bool) -> Iterator[Behaviour]:
        lock = self._until(_LOCKED_S) if has_lock else {}
        held_until = time.monotonic() + _HELD_S + 1.5
        held = self._put(_HELD, b"held", **(self._until(_HELD_S) if has_lock else {}))
        first = self._put(_FIRST, b"first", IfNoneMatch="*", **lock)
        yield self._refused(
            "conditional_create", lambda s3: self._write(s3, _FIRST, b"second", IfNoneMatch="*", **lock)
        )
        wrong = b64encode(sha256(b"another").digest()).decode()
        yield self._refused(
            "checksum_checked",
            lambda s3: self._write(s3, _OTHER, b"bytes", ChecksumSHA256=wrong, **lock),
        )
        if not has_lock:
            return
        yield self._lock_kept("lock_kept", _FIRST, first, lock)
        yield from self._changes(first, lock)
        yield self._deletion_refused("deletion_refused", _FIRST, first)
        yield self._keeps("overwriting_keeps", first, lambda s3: self._write(s3, _FIRST, b"another", **lock))
        yield self._keeps("marker_keeps", first, lambda s3: s3.delete_object(**self._place(_FIRST)))
        yield self._parts_locked(lock)
        yield from self._hold(held, held_until)

    def _changes(self, version: str, lock: dict[str, Any]) -> Iterator[Behaviour]:
        """What may be done to the lock of a version (extend it), and what may not."""
        until = lock["ObjectLockRetainUntilDate"]
        longer = {"Mode": "COMPLIANCE", "RetainUntilDate": until + timedelta(seconds=5)}
        place = {**self._place(_FIRST), "VersionId": version}

        def set_to(retention: dict[str, Any], **said: Any) -> Callable[[Any], Any]:
            return lambda s3: s3.put_object_retention(**place, Retention=retention, **said)

        status, said = self._asked(set_to(longer))
        kept = self._retention(_FIRST, version)
        yield Behaviour(
            name="extension",
            held=status == 200 and _close(kept.get("RetainUntilDate"), longer["RetainUntilDate"]),
            said=said,
        )
        shorter = {"Mode": "COMPLIANCE", "RetainUntilDate": until - timedelta(seconds=20)}
        weaker = {"Mode": "GOVERNANCE", "RetainUntilDate": until + timedelta(seconds=60)}
        for name, retention in _less_than(shorter, weaker):
            yield self._refused(name, set_to(retention, BypassGovernanceRetention=True))

    def _lock_kept(self, name: BehaviourName, key: str, version: str, lock: dict[str, Any]) -> Behaviour:
        found = self._retention(key, version)
        close = _close(found.get("RetainUntilDate"), lock["ObjectLockRetainUntilDate"])
        return Behaviour(
            name=name,
            held=found.get("Mode") == "COMPLIANCE" and close,
            said=f"{found.get('Mode', 'no lock')}, {'until' if close else 'not until'} the date that was asked",
        )

    def _deletion_refused(self, name: BehaviourName, key: str, version: str) -> Behaviour:
        """One by one, by whoever may bypass governance, and several at once."""
        place = {**self._place(key), "VersionId": version}
        plain, said = self._asked(lambda s3: s3.delete_object(**place))
        bypassed, _ = self._asked(lambda s3: s3.delete_object(**place, BypassGovernanceRetention=True))
        several = {"Objects": [{"Key": place["Key"], "VersionId": version}]}
        self._asked(lambda s3: s3.delete_objects(Bucket=place["Bucket"], Delete=several))
        there = self._read(key, version) is not None
        return Behaviour(name=name, held=there and plain >= 400 and bypassed >= 400, said=said)

    def _keeps(self, name: BehaviourName, version: str, change: Callable[[Any], Any]) -> Behaviour:
        _, said = self._asked(change)
        kept = self._read(_FIRST, version)
        return Behaviour(
            name=name,
            held=kept == b"first",
            said=f"{said}; the version before is {'kept' if kept else 'gone'}",
        )

    def _parts_locked(self, lock: dict[str, Any]) -> Behaviour:
        place = self._place(_PARTS)
        status, said = self._asked(lambda s3: write_parts(s3, place, iter([b"part"]), lock))
        if status != 200:
            return Behaviour(name="parts_locked", held=False, said=said)
        head = self._store.ask(lambda s3: s3.head_object(**place), _PARTS)
        version = head.get("VersionId", "null")
        kept = self._lock_kept("parts_locked", _PARTS, version, lock)
        refused = self._deletion_refused("parts_locked", _PARTS, version)
        return refused if kept.held else kept

    def _hold(self, version: str, expires: float) -> Iterator[Behaviour]:
        """A hold must refuse deletion when the lock is over; without it deletion shows that it was the lock."""
        place = {**self._place(_HELD), "VersionId": version}

        def hold(status: str) -> Callable[[Any], Any]:
            return lambda s3: s3.put_object_legal_hold(**place, LegalHold={"Status": status})

        on, said = self._asked(hold("ON"))
        time.sleep(max(0.0, expires - time.monotonic()))
        deleted, answer = self._asked(lambda s3: s3.delete_object(**place))
        held = on == 200 and deleted >= 400 and self._read(_HELD, version) == b"held"
        yield Behaviour(name="legal_hold", held=held, said=answer if on == 200 else said)
        self._asked(hold("OFF"))
        status, answer = self._asked(lambda s3: s3.delete_object(**place))
        gone = status < 300 and self._read(_HELD, version) is None
        yield Behaviour(name="deletion_after", held=gone, said=answer)

    def _clear(self) -> None:
        """Hide what this probe made, and take away what earlier ones left, as far as the credentials let us."""
        for key in (_FIRST, _OTHER, _PARTS, _HELD):
            self._delete(self._place(key))
        bucket, before = self._store.bucket, self._now() - _LEFT_BEHIND
        with suppress(StoreError):
            prefix = self._store.full_key(f"{FOLDER}/x").removesuffix("x")
            left = self._store.ask(lambda s3: s3.list_object_versions(Bucket=bucket, Prefix=prefix), FOLDER)
            for one in (*left.get("Versions", ()), *left.get("DeleteMarkers", ())):
                if one["LastModified"] < before and one["VersionId"] != "null":
                    where = {"Bucket": bucket, "Key": one["Key"], "VersionId": one["VersionId"]}
                    if self._delete(where) >= 400:
                        break

    def _delete(self, where: dict[str, str]) -> int:
        return self._asked(lambda s3: s3.delete_object(**where))[0]

    def _now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def _until(self, seconds: float) -> dict[str, Any]:
        # Whole seconds, of which some stores keep no parts.
        until = (self._now() + timedelta(seconds=seconds)).replace(microsecond=0)
        return {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": until}

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._store.bucket, "Key": self._store.full_key(f"{self._folder}/{key}")}

    def _write(self, s3: Any, key: str, content: bytes, **said: Any) -> Any:
        digest = {} if "ChecksumSHA256" in said else {"ChecksumAlgorithm": "SHA256"}
        return s3.put_object(**self._place(key), Body=content, **digest, **said)

    def _put(self, key: str, content: bytes, **said: Any) -> str:
        answer = self._store.ask(lambda s3: self._write(s3, key, content, **said), f"{self._folder}/{key}")
        return str(answer.get("VersionId", "null"))

    def _read(self, key: str, version: str) -> bytes | None:
        found: list[bytes] = []

        def read(s3: Any) -> None:
            found.append(s3.get_object(**self._place(key), VersionId=version)["Body"].read())

        self._asked(read)
        return found[0] if found else None

    def _retention(self, key: str, version: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        place = {**self._place(key), "VersionId": version}
        self._asked(lambda s3: found.append(s3.get_object_retention(**place)["Retention"]))
        return found[0] if found else {}

    def _refused(self, name: BehaviourName, call: Callable[[Any], Any]) -> Behaviour:
        status, said = self._asked(call)
        return Behaviour(name=name, held=400 <= status < 500, said=said)

    def _asked(self, call: Callable[[Any], Any]) -> tuple[int, str]:
        """Return the status of an answer and what it said; a store that fails is none that refuses."""
        from botocore.exceptions import ClientError

        def asked(s3: Any) -> tuple[int, str]:
            try:
                call(s3)
            except ClientError as error:
                if status_of(error) >= 500 and status_of(error) != 501:
                    raise
                return status_of(
                    error
                ), f"{status_of(error)} {error.response['Error'].get('Code', '')}".strip()
            return 200, "accepted"

        return self._store.ask(asked, self._folder)


def _less_than(
    shorter: dict[str, Any], weaker: dict[str, Any]
) -> tuple[tuple[BehaviourName, dict[str, Any]], ...]:
    return ("shortening_refused", shorter), ("weakening_refused", weaker), ("removal_refused", {})


def _close(one: datetime | None, other: datetime) -> bool:
    return one is not None and abs((one - other).total_seconds()) < 2
