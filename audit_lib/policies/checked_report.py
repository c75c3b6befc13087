"""What the checks behind a pack's required fields look at, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from audit_lib.documents.pages_seen import PageSeen, WebsiteKey
from audit_lib.policies.audit_claim import why_no_audit
from audit_lib.policies.policy import Policy
from audit_lib.policies.seen import pages_seen
from audit_lib.policies.timeline import Timeline, timeline_of_report
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

DutyStatus = Literal["computed", "stated", "seen", "missing", "not met", "not applicable"]
"""``computed``: found in the run's own artefacts. ``stated``: somebody wrote it into the spec, and nothing here can
tell whether it is so. ``seen``: its page was there on a day, and its digest is kept. ``missing``: neither. ``not met``:
what is stated or computed breaks the rule, or contradicts itself."""
DutyAnswer = tuple[DutyStatus, str]


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """What a check looks at."""

    policy: Policy
    spec: AuditSpec
    document: Mapping[str, Any]

    @property
    def tables(self) -> list[Mapping[str, Any]]:
        """All rate tables of the audit."""
        return list(self.document.get("metrics", {}).get("tables", ()))

    @property
    def pooled(self) -> list[Mapping[str, Any]]:
        """Rate tables of the whole audit."""
        return [table for table in self.tables if not table["stratum"]]

    def page(self, key: WebsiteKey) -> PageSeen | None:
        """Return what came of fetching the page at an address of the website; None where nobody did."""
        return next((one for one in pages_seen(self.spec) if one.key == key), None)

    def day(self, name: str) -> date | None:
        """Return the day of a time in the document."""
        stated = self.document.get(name)
        return datetime.fromisoformat(stated).date() if stated else None

    @property
    def last_day(self) -> date | None:
        """The last day of the audit's window: whether a law was in force is asked of it."""
        window = self.document.get("window")
        if not window:
            return None
        return (datetime.fromisoformat(window["end"]) - timedelta(microseconds=1)).date()

    @property
    def no_audit(self) -> str | None:
        """Why the law does not take this for an audit; None where it does."""
        if (times := self.timeline) is None:
            return t("the metrics are not computed yet")
        return why_no_audit(times, self.document.get("attested", ()))

    @property
    def timeline(self) -> Timeline | None:
        """The facts of law; None where nothing is computed yet."""
        return timeline_of_report(self.policy, self.spec, self.document)
