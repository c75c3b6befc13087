"""What a verification of a whole store found, in words and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from audit_lib.plain_text import quoted

How = Literal["in full", "contents", "listing", "not looked at"]
"""Computed again; every byte hashed, and as when it was verified in full; as the store's own listing says; not."""
OutcomeVerdict = Literal[
    "verified", "does not verify", "gone", "could not be checked", "stopped", "put off", "unfinished"
]
BROKEN: Final = ("does not verify", "gone")
UNCHECKED: Final = ("could not be checked", "stopped")
SHOWN: Final = 1000
"""Runs that are named in the text; the others are counted there, and are in the JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerification:
    """What was found of one run, or of the journal of an audit.

    Parameters
    ----------
    name : str
        ``audit/window/design``, or ``audit/journal``.
    verdict : str
        ``verified`` where everything that was looked at holds.
    how : str
        What was looked at.
    findings, places : tuple of str
        In words, and as kinds and places without any words of a file.
    verified_at : str
        When it was verified in full last; empty where never.
    overdue : bool
        Whether it was put off without ever having been verified as it is now, or for too long.
    """

    name: str
    verdict: OutcomeVerdict
    how: How
    findings: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    verified_at: str = ""
    overdue: bool = False

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "run": self.name,
            "verdict": self.verdict,
            "how": self.how,
            "findings": list(self.findings),
            "verified_in_full_at": self.verified_at or None,
        }

    def lines(self) -> list[str]:
        """Say it."""
        return [
            f"{self.verdict.upper()}  {quoted(self.name)[1:-1]}",
            *(f"  finding: {one}" for one in self.findings),
        ]


@dataclass(slots=True)
class StoreVerification:
    """What was found of all runs.

    Parameters
    ----------
    root : str
        Of the store.
    outcomes : list of RunVerification
        Of every run and journal.
    notes : list of str
        What a reader must know of how this was found.
    """

    root: str
    outcomes: list[RunVerification] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def of(self, verdicts: Iterable[str]) -> list[RunVerification]:
        """Return the outcomes with one of these verdicts, by name."""
        wanted = set(verdicts)
        return sorted((one for one in self.outcomes if one.verdict in wanted), key=lambda one: one.name)

    @property
    def exit_code(self) -> int:
        """1 where something does not verify, 2 where something has no verdict, else 0."""
        if self.of(BROKEN):
            return 1
        return 2 if self.of(UNCHECKED) or self.overdue else 0

    @property
    def overdue(self) -> list[RunVerification]:
        """What was put off and has no verdict as it is now."""
        return [one for one in self.of(["put off"]) if one.overdue]

    @property
    def verdict(self) -> str:
        """The first line."""
        broken, unchecked = len(self.of(BROKEN)), len(self.of(UNCHECKED)) + len(self.overdue)
        runs = [one for one in self.outcomes if one.verdict != "unfinished"]
        if broken:
            return f"NOT VERIFIED: {broken:,} of {len(runs):,}"
        if unchecked:
            return f"COULD NOT BE CHECKED: {unchecked:,} of {len(runs):,}; the others hold"
        return f"VERIFIED: {len(runs):,}" if runs else "NOTHING TO VERIFY"

    def counts(self) -> dict[str, int]:
        """Return how many were looked at in which way, and how many have which verdict."""
        ways = Counter(f"{one.how}" for one in self.outcomes if one.verdict != "unfinished")
        return {
            **dict(sorted(ways.items())),
            **dict(sorted(Counter(one.verdict for one in self.outcomes).items())),
        }

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "schema": "audit-verified-store/1",
            "store": self.root,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "counts": self.counts(),
            "notes": list(self.notes),
            "runs": [one.as_dict() for one in sorted(self.outcomes, key=lambda one: one.name)],
        }

    def summary(self) -> str:
        """Return the result as text for a terminal; runs that verify are counted alone."""
        ways = Counter(one.how for one in self.of(["verified"]))
        lines = [f"{self.verdict} runs and journals  {self.root}", *_ways(ways)]
        named = self.of((*BROKEN, *UNCHECKED))
        for one in named[:SHOWN]:
            lines += [f"  {line}" for line in one.lines()]
        if len(named) > SHOWN:
            lines.append(f"  and {len(named) - SHOWN:,} more; --json lists them all")
        if off := self.of(["put off"]):
            oldest = min((one.verified_at for one in off if one.verified_at), default="")
            since = f"; the oldest was verified in full on {oldest[:10]}" if oldest else ""
            lines.append(
                f"  put off, since what this may cost was used up: {len(off):,}, of which {len(self.overdue):,} have "
                f"no verdict as they are now{since}"
            )
        if begun := self.of(["unfinished"]):
            lines.append(f"  begun, and neither sealed nor failed: {len(begun):,}; not evidence yet")
        lines += [f"  note: {one}" for one in self.notes]
        return "\n".join(lines)


def _ways(ways: Counter[How]) -> Sequence[str]:
    """Say what was looked at of those that hold."""
    said: dict[How, str] = {
        "in full": "verified in full: every byte hashed, every number computed again",
        "contents": "every byte hashed, and the same as when they were verified in full",
        "listing": "looked at by the store's listing alone: size, ETag and time of the last write are as when they "
        "were verified in full; no byte was read",
    }
    return [f"  {ways[how]:,} {words}" for how, words in said.items() if ways[how]]
