"""What the site says of an audit's windows: which are owed, and what became of those without a valid audit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from audit_lib.report.blocks import Block, Cell, Column, Paragraph, Row, Section, Table, code, text
from audit_lib.report.numbers import count
from audit_lib.run import Run
from audit_lib.site.window_strip import strip_chart
from audit_lib.spec import Schedule
from audit_lib.store import Store
from audit_lib.windows import STATES, OwedWindow, begun_runs, owed_windows, summary

_MOST: Final = 60


@dataclass(frozen=True, slots=True)
class OwedWindows:
    """The windows that an audit owed when its latest run was sealed: a store that stays gives the same pages."""

    owed: Sequence[OwedWindow]
    schedule: Schedule
    at: datetime

    @property
    def said(self) -> str:
        """How many there are in each state."""
        return summary(self.owed) or "none has ended yet"


def read_windows(store: Store, latest: Run, at: datetime, published: Collection[str]) -> OwedWindows:
    """Derive the windows of an audit.

    Parameters
    ----------
    store : Store
        Where its runs are.
    latest : Run
        Of the latest window; its spec has the schedule.
    at : datetime
        When the latest run was sealed.
    published : collection of str
        Folders of the runs that hold. A sealed run that is not among them is no audit.
    """
    begun = [
        one
        if one.outcome == "unfinished" or one.prefix in published
        else replace(one, outcome="not verified")
        for one in begun_runs(store, latest.key.audit)
    ]
    return OwedWindows(owed_windows(latest.spec, begun, at), latest.spec.schedule, at)


def windows_section(windows: OwedWindows) -> Section:
    """Return the section of an audit's page."""
    schedule, number = windows.schedule, len(windows.owed)
    lead = Paragraph(
        text(
            f"By {windows.at:%Y-%m-%d %H:%M} UTC, when the latest run was sealed, {count(number)} "
            f"window{'s' * (number != 1)} of the schedule ",
            code(schedule.cron),
            f" ({schedule.timezone}) {'was' if number == 1 else 'were'} owed: {windows.said}.",
        )
    )  # fmt: skip
    waiting = [one for one in windows.owed if one.state != "audited"]
    blocks: list[Block] = [lead, *([strip_chart(windows.owed)] if windows.owed else [])]
    if waiting:
        rows = tuple(
            Row(header=_name(one), cells=(Cell(one.state), Cell(STATES[one.state])))
            for one in reversed(waiting[-_MOST:])
        )
        columns = (
            Column("Window (UTC)", numeric=False),
            Column("State", numeric=False),
            Column("That is", numeric=False),
        )
        blocks.append(Table("Windows that were not audited, latest first", columns, rows))
    if len(waiting) > _MOST:
        blocks.append(Paragraph(text(f"{count(len(waiting) - _MOST)} earlier ones were not audited either.")))
    return Section("windows", "Windows", tuple(blocks))


def _name(one: OwedWindow) -> str:
    return f"{one.window.start:%Y-%m-%d %H:%M} to {one.window.end:%Y-%m-%d %H:%M}"
