"""The checks of what a spec states and nothing in a run can show: addresses, dates, facts of use, explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from audit_lib.documents.pages_seen import WebsiteKey
from audit_lib.policies.audit_claim import PROVENANCE
from audit_lib.policies.checked_report import CheckedReport, DutyAnswer, DutyStatus
from audit_lib.policies.clocks import add, notice_ends
from audit_lib.policies.gates import reliance
from audit_lib.policies.pack_schema import CheckName
from audit_lib.policies.standing import since
from audit_lib.policies.timeline import LAST, POSTED, Timeline
from audit_lib.translation import known, mark, t

STATED: Final[DutyStatus] = "stated"
_WHOSE: Final = {
    "historical": mark("historical data"),
    "pooled": mark("pooled data"),
    "test": mark("test data"),
}
_DATA_ARE: Final = {
    "historical": mark("the data are historical"),
    "pooled": mark("the data are pooled"),
    "test": mark("the data are test"),
}


def stated(text: str, key: str) -> DutyAnswer:
    """Answer with what the spec says under a key, or that it says nothing."""
    return (STATED, text.strip()) if text.strip() else ("missing", _write(key))


def _write(key: str) -> str:
    return t("write {key} in the spec", key=key)


def _address(case: CheckedReport, key: WebsiteKey) -> DutyAnswer:
    website = case.spec.use.website
    status, address = stated(getattr(website, key) if website else "", f"use.website.{key}")
    if status != STATED:
        return status, address
    page = case.page(key)
    if page is None:
        return status, t("said to be at {address}; nobody looked there", address=address)
    day = page.at[:10]
    if page.sha256 is not None:
        return "seen", t(
            "seen on {day} at {address}: {bytes} bytes, SHA-256 {digest}; what the page says was not read",
            day=day,
            address=address,
            bytes=page.bytes,
            digest=page.sha256,
        )
    if page.status is not None:
        return "not met", t(
            "use.website.{key} is {address}, and on {day} there was no page: {fault}",
            key=key,
            address=address,
            day=day,
            fault=page.fault,
        )
    return status, t(
        "said to be at {address}; on {day} it could not be fetched: {fault}",
        address=address,
        day=day,
        fault=page.fault,
    )


def _data_source(case: CheckedReport) -> DutyAnswer:
    sources = case.document.get("sample", {}).get("sources", ())
    if not sources:
        return "missing", t("no file was read")
    # A file's name alone tells the public nothing about whose data these are.
    whose = case.spec.use.data
    if whose is None:
        return "missing", t("say whose data these are: use.data (historical, pooled or test)")
    return STATED, f"{t(_WHOSE[whose])}: " + "; ".join(s["path"] for s in sources)


def _data_explained(case: CheckedReport) -> DutyAnswer:
    return stated(case.spec.source.reason, "source.reason")


def _first_use(case: CheckedReport) -> DutyAnswer:
    day = case.spec.report.distribution_date
    if day is None and case.spec.use.months == 0:
        return "not applicable", t("the tool was never used (use.months: 0)")
    return (STATED, day) if day else ("missing", _write("report.distribution_date"))


def _exclusions(case: CheckedReport) -> DutyAnswer:
    excluded = [row for table in case.pooled for row in table["rows"] if row["excluded"] is not None]
    if not excluded:
        return "not applicable", t("no category is left out")
    for row in excluded:
        if not case.spec.use.exclusions.get(row["label"], "").strip():
            return "missing", t(
                "{category} is left out without a justification; write use.exclusions",
                category=known(row["label"]),
            )
    return STATED, "; ".join(
        t("{category}: {selected} of {n}", category=known(row["label"]), selected=row["selected"], n=row["n"])
        for row in excluded
    )


def _test_data(case: CheckedReport) -> DutyAnswer:
    use = case.spec.use
    if use.data is None:
        return "missing", t("write use.data in the spec: historical, pooled or test")
    if use.data != "test":
        return "not applicable", t(_DATA_ARE[use.data])
    told = use.test_data
    if told is None or not (told.why.strip() and told.how.strip()):
        return "missing", t("write use.test_data.why and use.test_data.how in the spec")
    return STATED, f"{told.why} {told.how}"


def _summary(case: CheckedReport) -> DutyAnswer:
    return _address(case, "summary")


def _posted(case: CheckedReport) -> DutyAnswer:
    times, clock = _times(case), case.policy.clock("posting")
    posted, used = times.day(POSTED), times.used_days
    if posted is None and times.day(LAST) is None:
        return ("not applicable", t("the use has not ended (use.last_used is empty)"))
    latest = max(used, key=lambda key: used[key], default=None)
    until = None if latest is None else add(clock, used[latest])
    if posted is None:
        return "missing", t("keep it posted until {until} and write use.posted_until", until=until)
    if latest is not None and until is not None and posted < until:
        return "not met", t(
            "use.posted_until is {posted} and {key} is {day}: asked until {until}",
            posted=posted,
            key=latest,
            day=used[latest],
            until=until,
        )
    if until is None:
        return STATED, t("posted until {posted}, asked until a time after the latest use", posted=posted)
    return STATED, t("posted until {posted}, asked until {until}", posted=posted, until=until)


def _times(case: CheckedReport) -> Timeline:
    """Return the timeline; before anything is computed, that of an audit of no day yet."""
    return case.timeline or Timeline(policy=case.policy, spec=case.spec, audited=date.min)


def _rely(case: CheckedReport, data: str) -> DutyAnswer:
    if case.spec.use.data is None:
        return "missing", t("write use.data in the spec: historical, pooled or test")
    if case.spec.use.data != data:
        return "not applicable", t(_DATA_ARE[case.spec.use.data])
    found = next((one for one in reliance(case.policy, case.spec.use) if one.data == data), None)
    if found is None:
        return "not applicable", t("no rule on whose data may be relied on")
    if found.allowed is False:
        return "not met", t("use.data is {data}: {reason}", data=data, reason=found.reason)
    return (STATED if found.allowed else "missing"), found.reason


def _demographics(case: CheckedReport) -> DutyAnswer:
    provenance, rule = case.spec.groups.provenance, case.policy.provenance
    if provenance in rule.experiment:
        return "not applicable", t("assigned: an experiment, and no bias audit")
    return (STATED if provenance in rule.audit else "not met"), t(PROVENANCE[provenance])


def _notice(case: CheckedReport) -> DutyAnswer:
    notice = case.spec.use.notice
    if notice is None:
        return "missing", _write("use.notice")
    allowed = notice_ends(case.policy, date.fromisoformat(notice.given))
    used = _times(case).used_days
    first = min(used, key=lambda key: used[key], default=None)
    if first is not None and allowed is not None and used[first] < allowed:
        return "not met", t(
            "use.notice.given is {given} and {key} is {used}: use may begin on {allowed}, later with holidays",
            given=notice.given,
            key=first,
            used=used[first],
            allowed=allowed,
        )
    if allowed is None:  # a law that asks for a notice before the use, and for no days between them
        return _before_use(case, notice.given)
    return STATED, t(
        "given {given}; use from {allowed}, later with holidays", given=notice.given, allowed=allowed
    )


def _before_use(case: CheckedReport, given: str) -> DutyAnswer:
    line = next(field for field in case.policy.required_fields if field.check == "notice_given")
    used, owed = _times(case).used_days, since(case.policy, line)
    for key, day in used.items():
        asked = max(day, owed) if owed is not None else day
        if asked < date.fromisoformat(given):
            return "not met", t(
                "use.notice.given is {given} and {key} is {used}: the notice comes before the use",
                given=given,
                key=key,
                used=day,
            )
    return STATED, t("given {given}", given=given)


def _alternative(case: CheckedReport) -> DutyAnswer:
    notice = case.spec.use.notice
    return stated(notice.alternative if notice else "", "use.notice.alternative")


def _retention(case: CheckedReport) -> DutyAnswer:
    return _address(case, "retention_policy")


def _requests(case: CheckedReport) -> DutyAnswer:
    return _address(case, "requests")


def _known(case: CheckedReport) -> DutyAnswer:
    rows = case.document.get("metrics", {}).get("rows")
    if not rows:
        return "missing", t("the metrics are not computed yet")
    return (
        STATED,
        t(
            "{provenance}; {unknown} of {total} unknown",
            provenance=t(PROVENANCE[case.spec.groups.provenance]),
            unknown=rows["unknown_group"],
            total=rows["total"],
        ),
    )


def _purpose(case: CheckedReport) -> DutyAnswer:
    return stated(case.spec.report.tool, "report.tool")


def _response(case: CheckedReport) -> DutyAnswer:
    return stated(case.spec.use.response, "use.response")


def _review(case: CheckedReport) -> DutyAnswer:
    return stated(case.spec.use.human_review, "use.human_review")


STATED_CHECKS: Final[Mapping[CheckName, Callable[[CheckedReport], DutyAnswer]]] = {
    "data_source": _data_source,
    "data_explained": _data_explained,
    "first_use": _first_use,
    "exclusions_justified": _exclusions,
    "test_data_explained": _test_data,
    "summary_posted": _summary,
    "posted_long_enough": _posted,
    "pooled_contributed": lambda case: _rely(case, "pooled"),
    "test_data_allowed": lambda case: _rely(case, "test"),
    "demographics_accepted": _demographics,
    "notice_given": _notice,
    "alternative_explained": _alternative,
    "retention_published": _retention,
    "requests_explained": _requests,
    "demographics_known": _known,
    "purpose_stated": _purpose,
    "result_acted_on": _response,
    "human_review_stated": _review,
}
"""Name in a pack -> the check."""
