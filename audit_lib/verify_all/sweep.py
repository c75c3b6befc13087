"""One verification of a whole store while it goes on: what is asked, what it has found, and what may still be begun."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from audit_lib import __version__
from audit_lib.documents.verified_runs import ListedRun, VerifiedJournal, VerifiedRun
from audit_lib.errors import StoreUnreachableError
from audit_lib.verify_all.bounds import INTERVAL, CostBounds
from audit_lib.verify_all.kept import KEY, KeptVerifications
from audit_lib.verify_all.outcome import OutcomeVerdict, RunVerification, StoreVerification

_SAVE_S: Final = 60.0
_SILENT: Final = 3
"""Answers in a row without the store, after which it is taken for unreachable."""
_LISTED: Final = (
    "what was looked at by listing alone is believed of whoever writes through the store's interface, which sets ETag "
    "and time itself, and not of who runs the store's servers; it is read in full within {days} days"
)
_INSIDE: Final = (
    "what earlier verifications found is kept in the store itself ({place}), without a key: whoever can write there "
    "can make a changed run look verified until it is verified in full again, within {days} days; name another "
    "place, or give the verifier a key in {key}"
)
_OPEN: Final = (
    "what earlier verifications found is kept without a key ({place}): it is believed as far as those are who can "
    "write there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What is asked.

    Parameters
    ----------
    trust : tuple of str
        Paths of trust files, or of keys of auditors.
    interval : timedelta
        Every run is verified in full at least once in it.
    full : bool
        Whether all are verified in full now.
    by_listing : bool
        Whether a run whose objects are as they were by the store's own listing is left at that; of a folder, whose
        listing says nothing, all bytes are read in any case.
    """

    trust: tuple[str, ...] = ()
    interval: timedelta = INTERVAL
    full: bool = False
    by_listing: bool = True

    def trust_digest(self) -> str | None:
        """Return the digest of the trust files or keys; None without any."""
        if not self.trust:
            return None
        digests = [hashlib.sha256(Path(one).read_bytes()).hexdigest() for one in self.trust]
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@dataclass(slots=True)
class Sweep:
    """One verification of a store.

    Parameters
    ----------
    kept : KeptVerifications
        What earlier ones found.
    options, bounds : VerifyOptions, CostBounds
        What is asked, and what it may cost.
    now : datetime
        The clock.
    found : StoreVerification
        What this one has found.
    told : callable
        Told each outcome.
    trust : str or None
        Digest of what is trusted.
    began, saved : float
        When it began, and when what it found was kept last, by the machine's steady clock.
    read, silent : int
        Bytes that were read, and answers in a row without the store.
    """

    kept: KeptVerifications
    options: VerifyOptions
    bounds: CostBounds
    now: datetime
    found: StoreVerification
    told: Callable[[RunVerification], None]
    trust: str | None
    began: float = field(default_factory=time.monotonic)
    saved: float = field(default_factory=time.monotonic)
    read: int = 0
    silent: int = 0

    def outcome(self, outcome: RunVerification) -> None:
        """Take note of what was found, and tell it."""
        self.found.outcomes.append(outcome)
        self.told(outcome)

    def holds(self, name: str, how: Literal["contents", "listing"], verified_at: str) -> None:
        """Take note of what is as it was when it was verified in full."""
        self.outcome(RunVerification(name=name, verdict="verified", how=how, verified_at=verified_at))

    def heard(self, answer: Mapping[str, Any]) -> None:
        """Keep what was found now and then; raise where the store does not answer any more."""
        self.silent = self.silent + 1 if "unreachable" in answer else 0
        if self.silent >= _SILENT:
            raise StoreUnreachableError(str(answer["unreachable"]))
        if time.monotonic() - self.saved > _SAVE_S:
            self.kept.write()
            self.saved = time.monotonic()

    def may_begin(self, size: int) -> bool:
        """Count what is to be read, if that is within the bounds."""
        if self.bounds.seconds is not None and time.monotonic() - self.began >= self.bounds.seconds:
            return False
        if self.bounds.bytes is not None and self.read + size > self.bounds.bytes:
            return False
        self.read += size
        return True

    def put_off(self, name: str, *, changed: bool) -> None:
        """Take note of a run that is not looked at, since the bounds are reached."""
        before = self.kept.runs.get(name)
        late = before is None or self.age(before.verified_at) > 2 * self.options.interval
        self.outcome(
            RunVerification(
                name=name,
                verdict="put off",
                how="not looked at",
                verified_at="" if before is None else before.verified_at,
                overdue=changed or late,
            )
        )

    def keep(self, one: ListedRun, verdict: OutcomeVerdict, answer: Mapping[str, Any]) -> None:
        """Keep how a run verified in full; of what has no verdict nothing is kept that was not before."""
        if "verdict" not in answer or verdict not in ("verified", "does not verify", "could not be checked"):
            return
        self.kept.runs[one.run] = VerifiedRun(
            run=one.run,
            verdict=verdict,
            sealed=one.state == "sealed",
            sha256=answer.get("sha256"),
            files=answer.get("files", 0),
            bytes=answer.get("bytes", 0),
            listing=one.listing,
            verified_at=self.instant,
            looked_at=self.instant,
            version=__version__,
            trust=self.trust,
        )

    def keep_looked_at(self, one: ListedRun) -> None:
        """Keep that a run was as it was now."""
        before = self.kept.runs[one.run]
        self.kept.runs[one.run] = replace(before, listing=one.listing, looked_at=self.instant)

    def is_as_listed(self, before: VerifiedRun | VerifiedJournal, listing: str | None) -> bool:
        """Whether the store itself says that nothing was written since, and that will do."""
        if self.options.full or not self.options.by_listing or listing is None:
            return False
        return before.listing == listing

    def is_of_this_trust(self, before: VerifiedRun) -> bool:
        """Whether it verified under what is trusted now; under more than nothing will do for nothing."""
        return self.trust is None or before.trust == self.trust

    def is_due(self, before: VerifiedRun | VerifiedJournal) -> bool:
        """Whether it is to be verified in full again: between half the interval and all of it, spread by name."""
        name = before.run if isinstance(before, VerifiedRun) else before.audit
        share = int(hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8], 16) / 16**8
        return self.options.full or self.age(before.verified_at) >= self.options.interval * (1 - share / 2)

    def age(self, instant: str) -> timedelta:
        """Return how long ago something was."""
        return self.now - datetime.fromisoformat(instant)

    @property
    def instant(self) -> str:
        """Now, as it is written."""
        return self.now.astimezone(UTC).isoformat(timespec="milliseconds")

    def note(self) -> None:
        """Say what a reader must know of how this was found."""
        kept, notes = self.kept, self.found.notes
        days = self.options.interval.days
        ways = {one.how for one in self.found.of(["verified"])}
        if "listing" in ways:
            notes.append(_LISTED.format(days=days))
        if ways & {"listing", "contents"} and not kept.key:
            words = _INSIDE if kept.inside else _OPEN
            notes.append(words.format(place=kept.place.root, days=days, key=KEY))
        notes += [
            f"{one}; what it says of earlier verifications was not believed" for one in kept.not_believed
        ]
        if kept.not_written:
            notes.append(
                f"what was found cannot be kept, so that all is verified in full each time: {kept.not_written}"
            )
