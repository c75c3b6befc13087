"""The complete runs of an audit in the order of their windows, whenever they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from audit_lib.run import Run, StageFolder
from audit_lib.store import Store
from audit_lib.window import Window
from audit_lib.windows import BegunRun, OwedWindow, begun_runs, owed_windows


@dataclass(frozen=True, slots=True)
class CompleteRun:
    """A complete run: its window, its folder, and when its evidence was sealed."""

    window: Window
    prefix: str
    sealed_at: datetime

    @property
    def design(self) -> str:
        """The beginning of its spec's digest."""
        return self.prefix.rsplit("/", 1)[1]


@dataclass(frozen=True, slots=True)
class History:
    """All runs of an audit that were begun, and those of them that are complete, by window."""

    begun: Sequence[BegunRun]
    complete: Sequence[CompleteRun]

    def before(self, window: Window, design: str) -> CompleteRun | None:
        """Return the complete run that a run of a window and design is compared with, or None.

        Of those whose window ended before this one begins, the one whose window ended last; among several of one
        window one of this design rather than another, then the one sealed last.
        """
        earlier = [one for one in self.complete if one.window.end <= window.start]
        return max(
            earlier,
            key=lambda one: (
                one.window.end,
                one.window.start,
                one.design == design,
                one.sealed_at,
                one.prefix,
            ),
            default=None,
        )

    def after(self, window: Window) -> list[CompleteRun]:
        """Return the complete runs whose comparison a run of a window can change: no other window lies between."""
        later = [one for one in self.complete if one.window.start >= window.end]
        found = []
        for one in later:
            before = self.before(one.window, one.design)
            if before is None or before.window.end <= window.end:
                found.append(one)
        return found

    def not_audited(self, run: Run, since: CompleteRun | None) -> list[OwedWindow]:
        """Return the windows that were owed between a run and the one before it and that nobody audited."""
        sealed = next((one.sealed_at for one in self.complete if one.prefix == run.key.prefix), None)
        owed = owed_windows(run.spec, self.begun, sealed or run.key.window.end)
        return [
            one
            for one in owed
            if one.state != "audited"
            and one.window.end <= run.key.window.start
            and (since is None or one.window.start >= since.window.end)
        ]


def read_history(store: Store, audit: str) -> History:
    """Read the history of an audit from the store."""
    begun = begun_runs(store, audit)
    complete = []
    for one in begun:
        if one.outcome == "complete":
            sealed = StageFolder(store, f"{one.prefix}/evidence").success().finished
            complete.append(CompleteRun(one.window, one.prefix, sealed))
    complete.sort(key=lambda one: (one.window.end, one.window.start, one.sealed_at, one.prefix))
    return History(begun, complete)
