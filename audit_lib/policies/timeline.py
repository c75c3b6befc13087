"""The days and facts that a law's duties hang on, of one audit, in one place, and which audit covers which use.

First use, each audit, the window of the data, the notice, the posting and the latest use are as a spec states them; the
days of the decisions are as the data give them; the day of the audit and of the signature are as the run has them.
`contradictions` says which of them cannot all be true. What is not known is None, and never
taken as the favourable one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from audit_lib.policies.clocks import months_later, valid_until
from audit_lib.policies.policy import Policy
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec
    from audit_lib.window import Window

_DAY: Final = timedelta(days=1)
DayKey = Literal[
    "report.distribution_date",
    "use.notice.given",
    "use.notice.used_from",
    "use.last_used",
    "use.posted_until",
]
"""Keys of the spec that state a day."""
FIRST: Final[DayKey] = "report.distribution_date"
GIVEN: Final[DayKey] = "use.notice.given"
USED_FROM: Final[DayKey] = "use.notice.used_from"
LAST: Final[DayKey] = "use.last_used"
POSTED: Final[DayKey] = "use.posted_until"
MONTHS: Final = "use.months"
EARLIER: Final = "use.earlier_audits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What is known of when a tool was used, audited, announced, posted and signed.

    Parameters
    ----------
    policy : Policy
        The pack as it stands for the spec.
    spec : AuditSpec
        What is stated.
    audited : date
        Day of the audit; before there are numbers, the first day that it can have: today.
    computed : bool
        Whether there are numbers, so that `audited` is the day of the audit itself.
    window : Window, optional
        Whose decisions are audited.
    decided : tuple of date, optional
        Days of the first and the last decision, as the data give them.
    signed : date, optional
        Day of the auditor's signature.
    signer : tuple of str, optional
        Name and organisation of who signed.
    """

    policy: Policy
    spec: AuditSpec
    audited: date
    computed: bool = False
    window: Window | None = None
    decided: tuple[date, date] | None = None
    signed: date | None = None
    signer: tuple[str, str] | None = None

    def day(self, key: DayKey) -> date | None:
        """Return the day that a key of the spec states."""
        use, report = self.spec.use, self.spec.report
        stated: dict[DayKey, str | None] = {
            FIRST: report.distribution_date,
            GIVEN: use.notice.given if use.notice else None,
            USED_FROM: use.notice.used_from if use.notice else None,
            LAST: use.last_used,
            POSTED: use.posted_until,
        }
        day = stated[key]
        return None if day is None else date.fromisoformat(day)

    @property
    def this_audit(self) -> str:
        """Say of which day this audit is, or can be."""
        if self.computed:
            return t("this audit is of {day}", day=self.audited)
        return t("this audit can be of {day} at the earliest", day=self.audited)

    @property
    def earlier(self) -> list[date]:
        """Days of the audits before this one."""
        return sorted(date.fromisoformat(day) for day in self.spec.use.earlier_audits)

    @property
    def first_days(self) -> dict[DayKey, date]:
        """Days on which the tool is said to be used for the first time: of all, and after the notice."""
        return {key: day for key in (FIRST, USED_FROM) if (day := self.day(key)) is not None}

    @property
    def used_days(self) -> dict[DayKey, date]:
        """All days on which the tool is said to be used."""
        last = self.day(LAST)
        return self.first_days | ({} if last is None else {LAST: last})

    @property
    def begun(self) -> dict[str, date]:
        """What says since when the tool is used: the stated first use, or else all that bounds it, by its keys."""
        first = self.day(FIRST)
        if first is not None:
            return {FIRST: first}
        days = {str(key): day for key, day in self.used_days.items()}
        if self._months_since is not None:
            days[MONTHS] = self._months_since
        return days

    @property
    def first_used(self) -> date | None:
        """The first day on which the tool is said to be used, as far as one is stated or follows."""
        return min(self.begun.values(), default=None)

    @property
    def _months_since(self) -> date | None:
        """The latest day on which a use of so many months, one that has begun counted, can have begun."""
        months = self.spec.use.months
        if not months:
            return None
        end = min(self.day(LAST) or self.audited, self.audited)
        day = months_later(end, 1 - months)
        # At the end of a month several days are a month before one.
        while months_later(day + _DAY, months - 1) <= end:
            day += _DAY
        return day

    def first_owed(self, day: date) -> date:
        """Return the first day, from `day` on, on which the law's rule on use was enforced."""
        return max(day, self.policy.clock("validity").enforced or day)

    def owes_none(self) -> bool:
        """Whether the use ended before the law's rule on it was enforced."""
        last, enforced = self.day(LAST), self.policy.clock("validity").enforced
        return last is not None and enforced is not None and last < enforced

    def covering(self, day: date) -> date | None:
        """Return the audit, this one or an earlier one, that allows the use on a day."""
        audits = [*self.earlier, self.audited]
        return next((one for one in audits if one <= day <= valid_until(self.policy, one)), None)

    def uncovered(self) -> tuple[date, date] | None:
        """Return the first run of days, between first use and this audit, on which no audit allowed the use.

        Days before the law was enforced are not asked about.
        """
        day = self.first_used
        if day is not None:
            day = self.first_owed(day)
        end = min(self.day(LAST) or self.audited, self.audited)
        while day is not None and day <= end:
            audit = self.covering(day)
            if audit is None:
                later = [one for one in (*self.earlier, self.audited) if one > day]
                return day, min(end, min(later) - _DAY) if later else end
            day = valid_until(self.policy, audit) + _DAY
        return None


def timeline_of(
    policy: Policy,
    spec: AuditSpec,
    measured_at: datetime,
    *,
    window: Window | None = None,
    decided: tuple[str, str] | None = None,
    signed_at: datetime | None = None,
    signer: tuple[str, str] | None = None,
) -> Timeline:
    """Return the timeline of an audit whose numbers are computed.

    Parameters
    ----------
    policy : Policy
        The pack as it stands for the spec.
    spec : AuditSpec
        What is stated.
    measured_at : datetime
        When the numbers were computed.
    window : Window, optional
        Whose decisions are audited.
    decided : tuple of str, optional
        When the first and the last of them were taken, ISO 8601, as the data say.
    signed_at : datetime, optional
        When the auditor signed.
    signer : tuple of str, optional
        Name and organisation of the auditor who signed.
    """
    return Timeline(
        policy=policy,
        spec=spec,
        audited=measured_at.date(),
        computed=True,
        window=window,
        decided=None if decided is None else (_date(decided[0]), _date(decided[1])),
        signed=None if signed_at is None else signed_at.date(),
        signer=signer,
    )


def timeline_of_report(policy: Policy, spec: AuditSpec, report: Mapping[str, Any]) -> Timeline | None:
    """Return the timeline that a report's document (``report.json``) gives; None where nothing is computed yet."""
    from audit_lib.window import Window

    if not report.get("measured_at"):
        return None
    window, occurred = report.get("window"), (report.get("sample") or {}).get("occurred")
    signature = report.get("signature") or {}
    signed_at = signature.get("signed_at")
    return timeline_of(
        policy,
        spec,
        datetime.fromisoformat(report["measured_at"]),
        window=None if window is None else Window.parse(window["start"], window["end"]),
        decided=None if occurred is None else (occurred["first"], occurred["last"]),
        signed_at=None if signed_at is None else datetime.fromisoformat(signed_at),
        signer=(signature["auditor"], signature["organisation"]) if signature else None,
    )


def _date(moment: str) -> date:
    return datetime.fromisoformat(moment).date()
