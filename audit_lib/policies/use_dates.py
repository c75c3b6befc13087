"""Do the stated days of a tool's use fit together, and does an audit cover each of them?

A spec states days that a law's duties hang on. Days that cannot all be true are refused before anything is asked; no
checklist may find them met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from audit_lib.errors import GateError, SpecError
from audit_lib.policies.clocks import months_later, valid_until
from audit_lib.policies.policy import Policy

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec
    from audit_lib.window import Window

_DAY: Final = timedelta(days=1)
_FIRST, _LAST, _POSTED = "report.distribution_date", "use.last_used", "use.posted_until"
_GIVEN, _FROM, _EARLIER = "use.notice.given", "use.notice.used_from", "use.earlier_audits"
_IN_ORDER: Final = (
    (_FIRST, _LAST, "the use would end before it began"),
    (_FIRST, _FROM, "a use after the notice would come before the first use of all"),
    (_GIVEN, _FROM, "the first use after the notice would come before the notice"),
    (_FROM, _LAST, "the first use after the notice would come after the latest use"),
)
"""Pairs of days of which the first cannot be the later one."""


@dataclass(frozen=True, slots=True)
class UseDates:
    """The days that a spec states of a tool's use, beside the day of its audit.

    Parameters
    ----------
    spec : AuditSpec
        What is stated.
    audited : date
        Day of the audit; before there is one, the first day that it can have: today.
    """

    spec: AuditSpec
    audited: date

    def day(self, key: str) -> date | None:
        """Return the day that a key of the spec states."""
        use = self.spec.use
        stated = {
            _FIRST: self.spec.report.distribution_date,
            _LAST: use.last_used,
            _POSTED: use.posted_until,
            _GIVEN: use.notice.given if use.notice else None,
            _FROM: use.notice.used_from if use.notice else None,
        }[key]
        return None if stated is None else date.fromisoformat(stated)

    @property
    def earlier(self) -> list[date]:
        """Days of the audits before this one."""
        return sorted(date.fromisoformat(day) for day in self.spec.use.earlier_audits)

    @property
    def first_days(self) -> dict[str, date]:
        """Days on which the tool is said to be used for the first time: of all, and after the notice."""
        return {key: day for key in (_FIRST, _FROM) if (day := self.day(key)) is not None}

    @property
    def used_days(self) -> dict[str, date]:
        """All days on which the tool is said to be used."""
        last = self.day(_LAST)
        return self.first_days | ({} if last is None else {_LAST: last})

    @property
    def first_used(self) -> date | None:
        """The first day on which the tool is said to be used, as far as one is stated."""
        return self.day(_FIRST) or min(self.used_days.values(), default=None)

    def first_owed(self, policy: Policy, day: date) -> date:
        """Return the first day, from `day` on, on which the law's rule on use was enforced."""
        return max(day, policy.clock("validity").enforced or day)

    def covering(self, policy: Policy, day: date) -> date | None:
        """Return the audit, this one or an earlier one, that allows the use on a day."""
        audits = [*self.earlier, self.audited]
        return next((one for one in audits if one <= day <= valid_until(policy, one)), None)

    def uncovered(self, policy: Policy) -> tuple[date, date] | None:
        """Return the first run of days, between first use and this audit, on which no audit allowed the use.

        Days before the law was enforced are not asked about.
        """
        day = self.first_used
        if day is not None:
            day = self.first_owed(policy, day)
        end = min(self.day(_LAST) or self.audited, self.audited)
        while day is not None and day <= end:
            audit = self.covering(policy, day)
            if audit is None:
                later = [one for one in (*self.earlier, self.audited) if one > day]
                return day, min(end, min(later) - _DAY) if later else end
            day = valid_until(policy, audit) + _DAY
        return None


def check_dates(policy: Policy, spec: AuditSpec, today: date, window: Window | None = None) -> None:
    """Refuse days and facts of use that cannot all be true of an audit made today.

    Parameters
    ----------
    policy : Policy
        The pack as it stands for the spec.
    spec : AuditSpec
        The audit.
    today : date
        The first day that the audit can have.
    window : Window, optional
        Whose decisions are audited, where that is known.

    Raises
    ------
    SpecError
        If two stated facts contradict each other; names both, with their keys.
    GateError
        If the law lets no use begin on a stated day; names the day and the audit's.
    """
    dates = UseDates(spec, today)
    if found := [*_contradictions(dates), *_outside(dates, window)]:
        raise SpecError("\n".join(found))
    gate = policy.gate("validity")
    provenance = spec.groups.provenance
    if gate is None or provenance in (*policy.provenance.experiment, *policy.provenance.refused):
        return
    if found := list(_without_audit(policy, dates)):
        raise GateError("\n".join(f"{policy.short_law}, {gate.cite}: {gate.wording}: {one}" for one in found))


def _contradictions(dates: UseDates) -> Iterator[str]:
    use, today = dates.spec.use, dates.audited
    for first, later, why in _IN_ORDER:
        one, other = dates.day(first), dates.day(later)
        if one is not None and other is not None and one > other:
            yield f"{first} is {one} and {later} is {other}: {why}"
    posted = dates.day(_POSTED)
    if posted is not None and posted < today:
        yield (
            f"{_POSTED} is {posted} and the audit can be of {today} at the earliest: its summary would be taken down "
            "before it exists"
        )
    for day in dates.earlier:
        if day > today:
            yield f"{_EARLIER} has {day} and this audit can be of {today}: that one is not earlier"
    begun = dates.day(_FIRST)
    if use.months == 0:
        for key, day in dates.used_days.items():
            if day < today:
                yield f"use.months is 0 (never used yet) and {key} is {day}, which is before today, {today}"
    elif use.months is not None and begun is not None:
        end = min(dates.day(_LAST) or today, today)
        # A month that has begun may be counted.
        if begun > today or months_later(begun, use.months - 1) > end:
            yield (
                f"use.months is {use.months} and {_FIRST} is {begun}: from then to {end} there are not that many months"
            )
    if use.months == 0 or (begun is not None and begun > today):
        never = "use.months is 0" if use.months == 0 else f"{_FIRST} is {begun}, after today, {today}"
        for key in ("own_data_contributed", "own_data_sufficient"):
            if getattr(use, key):
                yield f"use.{key} is true and {never}: a tool that was never used has no historical data"
        if use.data == "historical":
            yield f"use.data is historical and {never}: a tool that was never used has no historical data"


def _outside(dates: UseDates, window: Window | None) -> Iterator[str]:
    """Own historical data come from the time in which the tool was used."""
    if window is None or not dates.spec.source.windowed or dates.spec.use.data != "historical":
        return
    begun, last = dates.day(_FIRST), dates.day(_LAST)
    said = f"use.data is historical, the window is {window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}"
    if begun is not None and window.end.date() <= begun:
        yield f"{said} and {_FIRST} is {begun}: its decisions would be older than the use"
    if last is not None and window.start.date() > last:
        yield f"{said} and {_LAST} is {last}: its decisions would be younger than the use"


def _without_audit(policy: Policy, dates: UseDates) -> Iterator[str]:
    if dates.spec.use.unaudited_use.strip():
        return
    today = dates.audited
    earlier = ", ".join(map(str, dates.earlier)) or "names none"
    for key, stated in dates.used_days.items():
        day = dates.first_owed(policy, stated)
        # A later audit can still cover a last use that is to come.
        if dates.covering(policy, day) is not None or (key == _LAST and day > today):
            continue
        if day > today:
            yield (
                f"{key} is {day} and this audit can be of {today}: it would be more than a year old; audit nearer to "
                "the use"
            )
        else:
            since = "" if day == stated else f" (and the law is enforced since {day})"
            yield (
                f"{key} is {stated}{since}, this audit can be of {today} at the earliest, and {_EARLIER} {earlier}: no "
                f"audit covers that use; write into {_EARLIER} the day of the one that does, or into use.unaudited_use "
                "why there is none, which is printed"
            )
