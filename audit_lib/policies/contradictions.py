"""Which facts of one audit cannot all be true: each rule names the two facts, and the lines of a checklist they break.

Before anything is asked they are refused (`check_facts`). On a report the lines that they break are not met, and the
page has no statutory title and no day of validity (`audit_lib.policies.audit_claim`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from audit_lib.errors import GateError, SpecError
from audit_lib.policies.clocks import months_later
from audit_lib.policies.independence import is_another, not_independent
from audit_lib.policies.pack_schema import CheckName
from audit_lib.policies.seen import SEEN, pages_seen
from audit_lib.policies.timeline import EARLIER, FIRST, GIVEN, LAST, POSTED, USED_FROM, DayKey, Timeline
from audit_lib.translation import mark, t

_DAY: Final = timedelta(days=1)
_OF_DATA: Final[tuple[CheckName, ...]] = ("data_source", "data_explained")
_IN_ORDER: Final[tuple[tuple[DayKey, DayKey, str, tuple[CheckName, ...]], ...]] = (
    (FIRST, LAST, mark("the use would end before it began"), ("first_use", "posted_long_enough")),
    (
        FIRST,
        USED_FROM,
        mark("a use after the notice would come before the first use of all"),
        ("first_use", "notice_given"),
    ),
    (
        GIVEN,
        USED_FROM,
        mark("the first use after the notice would come before the notice"),
        ("notice_given",),
    ),
    (
        USED_FROM,
        LAST,
        mark("the first use after the notice would come after the latest use"),
        ("notice_given", "posted_long_enough"),
    ),
)
"""Pairs of days of which the first cannot be the later one."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts that cannot both be true.

    Parameters
    ----------
    one, other : str
        The facts in words, each with its key.
    why : str
        What would follow from both.
    breaks : tuple of str
        Checks of a checklist that rest on them.
    """

    one: str
    other: str
    why: str
    breaks: tuple[CheckName, ...]

    def __str__(self) -> str:
        return t("{one} and {other}: {why}", one=self.one, other=self.other, why=self.why)


def contradictions(times: Timeline) -> list[Contradiction]:
    """Return the facts that cannot all be true, two by two.

    Examples
    --------
    >>> from datetime import date
    >>> from audit_lib.policies import policy_of
    >>> from audit_lib.spec import AuditSpec
    >>> spec = AuditSpec.load("include/examples/recorded_decisions.yaml").override(
    ...     "use", months=0, last_used="2026-01-31"
    ... )
    >>> times = Timeline(policy=policy_of(spec), spec=spec, audited=date(2026, 11, 22))
    >>> [(one.one, one.other) for one in contradictions(times)]
    [('use.months is 0', 'use.last_used is 2026-01-31')]
    """
    return [
        *_order(times),
        *_posting(times),
        *_audits(times),
        *_response(times),
        *_length_of_use(times),
        *_never_used(times),
        *_data(times),
        *_signature(times),
        *_pages(times),
        *_lock(times),
    ]


def check_facts(times: Timeline) -> None:
    """Refuse facts that cannot all be true of this audit, and days on which the law lets no use begin.

    Raises
    ------
    SpecError
        If two facts contradict each other; names both, with their keys.
    GateError
        If no audit covers a stated day of use, or the auditor who is named is not independent; names both facts.
    """
    if contradicting := contradictions(times):
        raise SpecError("\n".join(map(str, contradicting)))
    policy, provenance = times.policy, times.spec.groups.provenance
    if provenance in (*policy.provenance.experiment, *policy.provenance.refused):
        return
    gate = policy.gate("validity")
    found = [] if gate is None else [f"{gate.cite}: {gate.wording}: {one}" for one in _without_audit(times)]
    if policy.attestations:
        cites = ", ".join(dict.fromkeys(one.cite for one in policy.attestations))
        found += [f"{cites}: {one}" for one in _named_auditor(times)]
    if found:
        raise GateError("\n".join(f"{policy.short_law}, {one}" for one in found))


def _says(key: str, value: object) -> str:
    return t("{key} is {value}", key=key, value=value)


def _is_written(key: str) -> str:
    return t("{key} is written", key=key)


def _day(times: Timeline, key: DayKey) -> str:
    return _says(key, times.day(key))


def _order(times: Timeline) -> Iterator[Contradiction]:
    for first, later, why, breaks in _IN_ORDER:
        one, other = times.day(first), times.day(later)
        if one is not None and other is not None and one > other:
            yield Contradiction(_says(first, one), _says(later, other), t(why), breaks)


def _posting(times: Timeline) -> Iterator[Contradiction]:
    posted = times.day(POSTED)
    if posted is not None and posted < times.audited:
        why = t("its summary would be taken down before it exists")
        yield Contradiction(_day(times, POSTED), times.this_audit, why, ("posted_long_enough",))


def _audits(times: Timeline) -> Iterator[Contradiction]:
    for day in times.earlier:
        if day > times.audited:
            yield Contradiction(
                t("{key} has {value}", key=EARLIER, value=day),
                times.this_audit,
                t("that one is not earlier"),
                ("within_validity",),
            )


def _response(times: Timeline) -> Iterator[Contradiction]:
    """What was done about the results of the audit before this one asks for such an audit."""
    if times.spec.use.response.strip() and not times.earlier:
        none = t("{key} names none", key=EARLIER)
        why = t("there are no results of an earlier audit that something was done about")
        yield Contradiction(_is_written("use.response"), none, why, ("result_acted_on", "within_validity"))


def _length_of_use(times: Timeline) -> Iterator[Contradiction]:
    months, begun, today = times.spec.use.months, times.day(FIRST), times.audited
    if months == 0:
        for key, day in times.used_days.items():
            if day < today:
                why = t("a tool that was never used yet was not used before this audit, {today}", today=today)
                breaks: tuple[CheckName, ...] = ("first_use", "within_validity", "notice_given")
                yield Contradiction(_months(times), _says(key, day), why, breaks)
    elif months is not None and begun is not None:
        end = min(times.day(LAST) or today, today)
        # A month that has begun may be counted.
        if begun > today or months_later(begun, months - 1) > end:
            why = t("from then to {end} there are not that many months", end=end)
            yield Contradiction(_months(times), _day(times, FIRST), why, ("first_use", "within_validity"))


def _months(times: Timeline) -> str:
    return _says("use.months", times.spec.use.months)


def _never_used(times: Timeline) -> Iterator[Contradiction]:
    """A tool that is not used yet has neither data of its use nor a use without an audit."""
    use, begun = times.spec.use, times.day(FIRST)
    if use.months == 0:
        never = _months(times)
    elif begun is not None and begun > times.audited:
        never = t("{first}, after {today}", first=_day(times, FIRST), today=times.audited)
    else:
        return
    why = t("a tool that was never used has no historical data")
    gave: tuple[CheckName, ...] = ("pooled_contributed", "test_data_allowed")
    for key in ("own_data_contributed", "own_data_sufficient"):
        if getattr(use, key):
            yield Contradiction(_says(f"use.{key}", "true"), never, why, gave)
    if use.data == "historical":
        yield Contradiction(_says("use.data", use.data), never, why, (*_OF_DATA, "first_use"))
    if use.unaudited_use.strip():
        why = t("a tool that was never used was not used without an audit either")
        yield Contradiction(_is_written("use.unaudited_use"), never, why, ("within_validity",))


def _data(times: Timeline) -> Iterator[Contradiction]:
    """Own historical data come from the time in which the tool was used, and from before the audit."""
    use, begun, last = times.spec.use, times.day(FIRST), times.day(LAST)
    if use.test_data is not None and use.test_data.how.strip() and use.data in ("historical", "pooled"):
        why = t("test data are made where historical data are not used")
        yield Contradiction(_says("use.data", use.data), _is_written("use.test_data.how"), why, _OF_DATA)
    if use.data == "historical" and use.own_data_contributed is False:
        why = t("its own data would be used and not have been given")
        yield Contradiction(
            _says("use.data", use.data), _says("use.own_data_contributed", "false"), why, _OF_DATA
        )
    yield from _to_come(times)
    if use.data != "historical":
        return
    older, younger = (
        t("its decisions would be older than the use"),
        t("its decisions would be younger than the use"),
    )
    if (window := times.window) is not None and times.spec.source.windowed:
        said = t(
            "use.data is {data}, the window is {start} to {end}",
            data=use.data,
            start=f"{window.start:%Y-%m-%d}",
            end=f"{window.end:%Y-%m-%d}",
        )
        if begun is not None and window.end.date() <= begun:
            yield Contradiction(said, _day(times, FIRST), older, (*_OF_DATA, "first_use"))
        if last is not None and window.start.date() > last:
            yield Contradiction(said, _day(times, LAST), younger, (*_OF_DATA, "posted_long_enough"))
    if times.decided is not None:
        first, latest = times.decided
        if begun is not None and first < begun:
            said = t("use.data is historical, its first decision is of {day}", day=first)
            yield Contradiction(said, _day(times, FIRST), older, (*_OF_DATA, "first_use"))
        if last is not None and latest > last:
            said = t("use.data is historical, its last decision is of {day}", day=latest)
            yield Contradiction(said, _day(times, LAST), younger, (*_OF_DATA, "posted_long_enough"))


def _to_come(times: Timeline) -> Iterator[Contradiction]:
    """Decisions are taken before they are audited; places whose day is another may be a day ahead."""
    data, tomorrow = times.spec.use.data, times.audited + _DAY
    window = times.window if times.spec.source.windowed and data in ("historical", "pooled") else None
    if window is not None and window.end.date() > tomorrow:
        said = t(
            "use.data is {data}, the window is {start} to {end}",
            data=data,
            start=f"{window.start:%Y-%m-%d}",
            end=f"{window.end:%Y-%m-%d}",
        )
        yield Contradiction(said, times.this_audit, t("its decisions are still to come"), _OF_DATA)
    if times.decided is not None and times.decided[1] > tomorrow:
        said = t("the last decision is of {day}", day=times.decided[1])
        yield Contradiction(said, times.this_audit, t("its decisions are still to come"), _OF_DATA)


def _signature(times: Timeline) -> Iterator[Contradiction]:
    # Clocks of two people may be a day apart.
    breaks: tuple[CheckName, ...] = ("independence_attested", "within_validity")
    if times.signed is not None and times.computed and times.signed < times.audited - _DAY:
        signed = t("the auditor signed on {day}", day=times.signed)
        yield Contradiction(signed, times.this_audit, t("it would be signed before it exists"), breaks)
    named = (times.spec.report.auditor or "").strip()
    if times.signer is not None and is_another(named, *times.signer):
        auditor, organisation = times.signer
        signed = t("{auditor}, {organisation}, signed", auditor=auditor, organisation=organisation)
        why = t("who signs is another auditor than the one named")
        yield Contradiction(_says("report.auditor", named), signed, why, breaks)


_OF_PAGE: Final[dict[str, tuple[CheckName, ...]]] = {
    "summary": ("summary_posted",),
    "retention_policy": ("retention_published",),
    "requests": ("requests_explained",),
}


def _pages(times: Timeline) -> Iterator[Contradiction]:
    """The page that was seen is the one at the address that is stated, and was seen before this audit."""
    for page in pages_seen(times.spec):
        stated = getattr(times.spec.use.website, page.key).strip()
        seen = t("{key} has {value}", key=SEEN, value=page.url)
        if stated != page.url:
            why = t("another page was seen; look again")
            yield Contradiction(_says(f"use.website.{page.key}", stated), seen, why, _OF_PAGE[page.key])
        if date.fromisoformat(page.at[:10]) > times.audited + _DAY:
            seen = t("{key} has {value}", key=SEEN, value=page.at[:10])
            why = t("it would have been seen in the future")
            yield Contradiction(seen, times.this_audit, why, _OF_PAGE[page.key])


def _lock(times: Timeline) -> Iterator[Contradiction]:
    retention = times.spec.retention
    if retention.lock == "none" and retention.days is not None:
        yield Contradiction(
            _says("retention.lock", "none"),
            _says("retention.days", retention.days),
            t("what is not locked is locked for no days"),
            ("system_data_kept",),
        )


def _named_auditor(times: Timeline) -> Iterator[str]:
    """Yield that the auditor whom the spec names is the vendor or the employer that it names."""
    named = times.spec.report.auditor or ""
    if who := not_independent(times.spec.use, named):
        yield t("report.auditor is {auditor}, and that is {who}", auditor=named, who=who)


def _without_audit(times: Timeline) -> Iterator[str]:
    if times.spec.use.unaudited_use.strip() or times.owes_none():
        return
    today = times.audited
    earlier = ", ".join(map(str, times.earlier)) or "names none"
    for key, stated in times.used_days.items():
        day = times.first_owed(stated)
        # A later audit can still cover a last use that is to come.
        if times.covering(day) is not None or (key == LAST and day > today):
            continue
        if day > today:
            yield (
                f"{key} is {day} and {times.this_audit}: it would be more than a year old; audit nearer to the use"
            )
        else:
            since = "" if day == stated else f" (and the law is enforced since {day})"
            yield (
                f"{key} is {stated}{since}, {times.this_audit}, and {EARLIER} {earlier}: no audit covers that use; "
                f"write into {EARLIER} the day of the one that does, or into use.unaudited_use why there is none, "
                "which is printed"
            )
