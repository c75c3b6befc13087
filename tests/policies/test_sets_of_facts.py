"""Sets of legal facts: those that contradict themselves or the law are refused or not met, the others pass.

What comes of each is written here by hand, from the text of the law. A set that is refused or not met has to name both
facts, in one line.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Final

import pytest

from audit_lib.errors import GateError, SpecError
from audit_lib.policies import policy_of
from audit_lib.policies.contradictions import check_facts
from audit_lib.policies.fields import check_fields
from audit_lib.policies.gates import check_spec
from audit_lib.policies.timeline import Timeline
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.specs import load

TODAY: Final = date(2026, 11, 22)
Facts = dict[str, Any]

SOUND: Final[Facts] = {
    "first": "2025-06-02",
    "earlier_audits": ["2025-05-20", "2026-05-01"],
    "data": "historical",
    "months": 18,
    "own_data_sufficient": True,
    "notice": {"given": "2025-05-01", "used_from": "2025-06-02", "alternative": "Write to us."},
    "employer": "Example Hotels Inc.",
    "vendor": "Toolmaker LLC",
}
"""Facts that hold together; a set changes some of them."""
NEVER: Final[Facts] = {
    "first": None, "earlier_audits": [], "data": "test", "months": 0, "own_data_sufficient": None, "notice": None,
    "test_data": {"why": "Never used.", "how": "Written by the vendor."},
}  # fmt: skip

# What differs, and the two facts that the refusal or the line of the checklist names.
CONTRADICTORY: Final[dict[str, tuple[Facts, str, str]]] = {
    # First use and audits.
    "used two years before the only audit": (
        {"first": "2025-01-06", "earlier_audits": [], "notice": None, "months": None},
        "report.distribution_date is 2025-01-06", "2026-11-22",
    ),
    "used from 2020, audited from 2026": (
        {"first": "2020-01-01", "earlier_audits": [], "notice": None, "months": None},
        "report.distribution_date is 2020-01-01", "2026-11-22",
    ),
    "first audit the day after first use": (
        {"first": "2025-06-02", "earlier_audits": ["2025-06-03", "2026-05-01"]},
        "report.distribution_date is 2025-06-02", "2025-06-03",
    ),
    "audit older than a year at first use": (
        {"first": "2025-06-02", "earlier_audits": ["2024-06-01", "2025-12-01"]},
        "report.distribution_date is 2025-06-02", "2024-06-01",
    ),
    "in use before the law, first audit after it was enforced": (
        {"first": "2021-01-10", "earlier_audits": ["2023-08-01", "2024-07-01", "2025-06-01", "2026-05-01"],
         "notice": None, "months": None},
        "report.distribution_date is 2021-01-10", "2023-08-01",
    ),
    "a year without an audit between two": (
        {"earlier_audits": ["2025-05-20"], "unaudited_use": "We forgot."},
        "report.distribution_date is 2025-06-02", "use.earlier_audits has 2025-05-20",
    ),
    "use without an audit that is owned up to": (
        {"earlier_audits": [], "unaudited_use": "Nobody knew."},
        "report.distribution_date is 2025-06-02", "use.earlier_audits names none",
    ),
    "first use more than a year after this audit": (
        {**NEVER, "first": "2027-11-23"},
        "report.distribution_date is 2027-11-23", "2026-11-22",
    ),
    "an earlier audit that is still to come": (
        {"earlier_audits": ["2025-05-20", "2026-05-01", "2026-11-23"]},
        "use.earlier_audits has 2026-11-23", "2026-11-22",
    ),
    "latest use that no audit covers": (
        {"first": None, "earlier_audits": ["2024-01-01"], "last_used": "2026-06-01", "notice": None},
        "use.last_used is 2026-06-01", "2024-01-01",
    ),
    # First use and never used.
    "never used, in use since 2020": (
        {**NEVER, "first": "2020-01-01"},
        "use.months is 0", "report.distribution_date is 2020-01-01",
    ),
    "never used, with a latest use": (
        {**NEVER, "last_used": "2026-01-01"},
        "use.months is 0", "use.last_used is 2026-01-01",
    ),
    "never used, used after its notice": (
        {**NEVER, "notice": {"given": "2026-01-01", "used_from": "2026-02-02"}},
        "use.months is 0", "use.notice.used_from is 2026-02-02",
    ),
    "never used, own data given": (
        {**NEVER, "own_data_contributed": True},
        "use.own_data_contributed is true", "use.months is 0",
    ),
    "never used, own data enough": (
        {**NEVER, "own_data_sufficient": True},
        "use.own_data_sufficient is true", "use.months is 0",
    ),
    "never used, historical data": (
        {**NEVER, "data": "historical", "test_data": None},
        "use.data is historical", "use.months is 0",
    ),
    "used from next month, historical data": (
        {**NEVER, "first": "2026-12-22", "data": "historical", "months": None, "test_data": None},
        "use.data is historical", "report.distribution_date is 2026-12-22",
    ),
    "never used, used without an audit": (
        {**NEVER, "unaudited_use": "We forgot."},
        "use.unaudited_use is written", "use.months is 0",
    ),
    "more months of use than there were": (
        {"months": 30},
        "use.months is 30", "report.distribution_date is 2025-06-02",
    ),
    "months of a use that ended before them": (
        {"months": 9, "last_used": "2025-12-01", "posted_until": "2026-12-01"},
        "use.months is 9", "report.distribution_date is 2025-06-02",
    ),
    # Order of use.
    "ended before it began": (
        {"last_used": "2025-06-01", "months": None, "notice": None},
        "report.distribution_date is 2025-06-02", "use.last_used is 2025-06-01",
    ),
    "used after the notice before first use": (
        {"notice": {"given": "2025-05-01", "used_from": "2025-05-28"}},
        "report.distribution_date is 2025-06-02", "use.notice.used_from is 2025-05-28",
    ),
    "used before the notice": (
        {"notice": {"given": "2025-07-01", "used_from": "2025-06-30"}},
        "use.notice.given is 2025-07-01", "use.notice.used_from is 2025-06-30",
    ),
    "used after the notice, after the latest use": (
        {"notice": {"given": "2026-09-01", "used_from": "2026-10-01"}, "last_used": "2026-09-15", "months": None,
         "posted_until": "2027-03-15"},
        "use.notice.used_from is 2026-10-01", "use.last_used is 2026-09-15",
    ),
    # Notice: ten business days.
    "a notice nine business days before": (
        {"notice": {"given": "2025-05-20", "used_from": "2025-06-02", "alternative": "Write."}},
        "use.notice.given is 2025-05-20", "report.distribution_date is 2025-06-02",
    ),
    "a notice years after first use": (
        {"notice": {"given": "2026-11-01", "alternative": "Write."}},
        "use.notice.given is 2026-11-01", "report.distribution_date is 2025-06-02",
    ),
    # Posting: six months after the latest use.
    "taken down before this audit exists": (
        {"posted_until": "2026-11-21"},
        "use.posted_until is 2026-11-21", "2026-11-22",
    ),
    "taken down five months after the latest use": (
        {"last_used": "2026-10-31", "months": None, "posted_until": "2027-04-29"},
        "use.posted_until is 2027-04-29", "use.last_used is 2026-10-31",
    ),
    "taken down before the latest use": (
        {"last_used": "2027-06-01", "months": None, "posted_until": "2027-05-01"},
        "use.posted_until is 2027-05-01", "use.last_used is 2027-06-01",
    ),
    # Data and their window.
    "a window before the use": (
        {"window": ("2025-01-01", "2025-06-01")},
        "the window is 2025-01-01 to 2025-06-01", "report.distribution_date is 2025-06-02",
    ),
    "a window after the use": (
        {"last_used": "2026-06-30", "months": None, "posted_until": "2026-12-31",
         "window": ("2026-07-01", "2026-10-01")},
        "the window is 2026-07-01 to 2026-10-01", "use.last_used is 2026-06-30",
    ),
    "a window that is still to come": (
        {"window": ("2027-01-01", "2027-02-01")},
        "the window is 2027-01-01 to 2027-02-01", "2026-11-22",
    ),
    "decisions older than the use": (
        {"decided": ("2025-05-30T09:00:00+00:00", "2026-01-31T17:00:00+00:00")},
        "its first decision is of 2025-05-30", "report.distribution_date is 2025-06-02",
    ),
    "decisions younger than the use": (
        {"last_used": "2026-06-30", "months": None, "posted_until": "2026-12-31",
         "decided": ("2026-06-01T09:00:00+00:00", "2026-07-01T09:00:00+00:00")},
        "its last decision is of 2026-07-01", "use.last_used is 2026-06-30",
    ),
    "a window that is not over": (
        {"window": ("2026-06-01", "2026-12-01")},
        "the window is 2026-06-01 to 2026-12-01", "2026-11-22",
    ),
    "pooled data of a window that is still to come": (
        {"data": "pooled", "own_data_contributed": True, "window": ("2027-01-01", "2027-02-01")},
        "the window is 2027-01-01 to 2027-02-01", "2026-11-22",
    ),
    "decisions younger than this audit": (
        {"decided": ("2026-01-01T09:00:00+00:00", "2026-11-30T17:00:00+00:00")},
        "the last decision is of 2026-11-30", "this audit is of 2026-11-22",
    ),
    "pooled decisions younger than this audit": (
        {"data": "pooled", "own_data_contributed": True,
         "decided": ("2026-01-01T09:00:00+00:00", "2027-11-30T17:00:00+00:00")},
        "the last decision is of 2027-11-30", "this audit is of 2026-11-22",
    ),
    "its own data used and not given": (
        {"own_data_contributed": False},
        "use.data is historical", "use.own_data_contributed is false",
    ),
    "two years of use, and no audit before this one": (
        {"first": None, "notice": None, "months": 24, "earlier_audits": []},
        "use.months is 24, so since 2024-12-22", "use.earlier_audits names none",
    ),
    "years of use that ended, audited for one of them": (
        {"first": None, "notice": None, "months": 30, "earlier_audits": ["2026-05-01"], "last_used": "2026-10-31",
         "posted_until": "2027-06-01"},
        "use.months is 30, so since 2024-05-31", "use.earlier_audits has 2026-05-01",
    ),
    "use without an audit, where audits cover all days": (
        {"unaudited_use": "We forgot one month."},
        "use.earlier_audits has 2025-05-20, 2026-05-01", "use.unaudited_use says",
    ),
    "historical data that were made": (
        {"test_data": {"why": "few", "how": "written"}},
        "use.data is historical", "use.test_data.how is written",
    ),
    "test data where its own are enough": (
        {"data": "test", "test_data": {"why": "few", "how": "written"}},
        "use.data is test", "historical data are enough",
    ),
    "pooled data that it gave nothing to": (
        {"data": "pooled", "own_data_contributed": False},
        "use.data is pooled", "gave the auditor none of its own data",
    ),
    # Auditor, signature, retention.
    "the vendor as its own auditor": (
        {"auditor": "Ada Maker, TOOLMAKER"},
        "report.auditor is Ada Maker, TOOLMAKER", "use.vendor",
    ),
    "the vendor by another form of its name": (
        {"auditor": "The Tool-Maker L.L.C."},
        "report.auditor is The Tool-Maker L.L.C.", "use.vendor",
    ),
    "the employer's own department": (
        {"auditor": "Ada Insider, Example Hotels Internal Audit Department"},
        "report.auditor is Ada Insider, Example Hotels Internal Audit Department", "use.employer",
    ),
    "signed for the vendor by another form of its name": (
        {"organisation": "TOOLMAKER L.L.C."},
        "signed for TOOLMAKER L.L.C.", "use.vendor",
    ),
    "the vendor's name with Cyrillic letters in it": (
        {"auditor": "Ada Maker, T\u043e\u043elm\u0430ker LLC"},
        "report.auditor is Ada Maker, T\u043e\u043elm\u0430ker LLC", "use.vendor",
    ),
    "the vendor's name in Cyrillic and Greek letters, and its digits": (
        {"vendor": "Aco Test1 Inc.", "auditor": "\u0410\u0441\u03bf \u0422\u0435\u0455\u03c4l"},
        "report.auditor is \u0410\u0441\u03bf \u0422\u0435\u0455\u03c4l", "use.vendor",
    ),
    "a vendor named in Greek letters, and signing in Latin ones": (
        {"vendor": "\u03a4\u03bf\u03bflmaker", "organisation": "Toolmaker"},
        "signed for Toolmaker", "use.vendor",
    ),
    "the employer signing in full-width and Cyrillic letters": (
        {"organisation": "\uff25x\u0430mple Hotels"},
        "signed for \uff25x\u0430mple Hotels", "use.employer",
    ),
    "the vendor as the one who signs": (
        {"signer": "Toolmaker"},
        "signed by Toolmaker", "use.vendor",
    ),
    "somebody at the vendor": (
        {"auditor": "Ada Maker at Toolmaker LLC"},
        "report.auditor is Ada Maker at Toolmaker LLC", "use.vendor",
    ),
    "the vendor, by its address": (
        {"auditor": "Ada Maker <ada@toolmaker.com>"},
        "report.auditor is Ada Maker <ada@toolmaker.com>", "use.vendor",
    ),
    "the vendor's holding": (
        {"organisation": "Toolmaker Holdings Pty Ltd"},
        "signed for Toolmaker Holdings Pty Ltd", "use.vendor",
    ),
    "the department of the employer that audits": (
        {"auditor": "Internal Audit Department of Example Hotels"},
        "report.auditor is Internal Audit Department of Example Hotels", "use.employer",
    ),
    "signed by another auditor than the one named": (
        {"auditor": "Bob Builder, Other LLP"},
        "report.auditor is Bob Builder, Other LLP", "Ada Auditor, Independent LLP, signed",
    ),
    "something done about an audit that never was": (
        {**NEVER, "response": "We retrained the tool."},
        "use.response is written", "use.earlier_audits names none",
    ),
    "signed before the numbers were computed": (
        {"signed": "2026-11-20"},
        "the auditor signed on 2026-11-20", "this audit is of 2026-11-22",
    ),
    "locked for ten days and not locked": (
        {"retention": {"lock": "none", "days": 10}},
        "retention.lock is none", "retention.days is 10",
    ),
}  # fmt: skip

CONSISTENT: Final[dict[str, Facts]] = {
    "all of it": {},
    "nothing stated": {
        "first": None, "earlier_audits": [], "months": None, "notice": None, "data": None, "own_data_sufficient": None,
    },
    "audited on the day of first use": {"earlier_audits": ["2025-06-02", "2026-06-02"]},
    "audited a year before first use, to the day": {"earlier_audits": ["2024-06-02", "2025-06-02", "2026-06-02"]},
    "audits a year apart, to the day": {"earlier_audits": ["2025-05-20", "2026-05-20"]},
    "first use today": {**NEVER, "first": "2026-11-22", "months": None, "data": None, "test_data": None},
    "first use next year, within this audit": {**NEVER, "first": "2027-11-22"},
    "never used": NEVER,
    "never used, pooled data of others": {**NEVER, "data": "pooled", "test_data": None},
    "in use before the law, audited when it was enforced": {
        "first": "2021-01-10", "earlier_audits": [f"{year}-07-01" for year in range(2023, 2027)], "notice": None,
        "months": 60,
    },
    "a notice ten business days before": {
        "notice": {"given": "2025-05-19", "used_from": "2025-06-02", "alternative": "Write."},
    },
    "ended, and posted for six months after": {
        "last_used": "2026-10-31", "months": 17, "posted_until": "2027-04-30",
    },
    "ended, and posted for years": {"last_used": "2026-10-31", "months": 17, "posted_until": "2030-01-01"},
    "posted until further notice, still in use": {"posted_until": None},
    "a month that has begun is counted": {"months": 18},
    "used with pauses": {"months": 5},
    "use that ended before the law was enforced": {
        "first": "2022-01-01", "last_used": "2023-06-01", "earlier_audits": [], "notice": None, "months": 17,
        "posted_until": "2027-01-01",
    },
    "months alone, with an audit for each year of them": {
        "first": None, "notice": None, "months": 24, "earlier_audits": ["2024-06-01", "2025-05-30", "2026-05-30"],
    },
    "a first month that has begun, and nothing before it": {
        "first": None, "notice": None, "months": 1, "earlier_audits": [],
    },
    "an auditor whose name begins like the vendor's": {"auditor": "Ada, Toolmakers Watch LLP"},
    "signed by a colleague of the auditor who is named": {"auditor": "Bob Builder; Independent L.L.P."},
    "signed by the person who is named, with a title": {"auditor": "Ada Auditor, CPA"},
    "an auditor with a name in Cyrillic letters": {
        "auditor": "\u0410\u0434\u0430", "signer": "\u0410\u0434\u0430",
        "organisation": "\u0410\u0443\u0434\u0438\u0442",
    },
    "something done about the audit before": {"response": "We retrained the tool."},
    "a window of the use": {"window": ("2026-01-01", "2026-10-01")},
    "decisions of the use": {"decided": ("2025-06-02T09:00:00+00:00", "2026-11-21T17:00:00+00:00")},
    "pooled data that it gave its own to": {"data": "pooled", "own_data_contributed": True},
    "signed the next day, by an auditor of another name": {
        "auditor": "Ada Auditor, Independent LLP", "signed": "2026-11-23",
        "retention": {"lock": "buckets", "days": 400},
    },
}  # fmt: skip


def audit_of(changes: Facts) -> tuple[AuditSpec, Window | None, dict[str, Any]]:
    """Return the spec, its window, and what a report of it would say of its days."""
    facts = SOUND | changes
    use = {
        key: facts[key]
        for key in facts
        if key
        not in ("first", "auditor", "retention", "window", "decided", "signed", "signer", "organisation")
    }
    spec = load(
        source={"kind": "files", "paths": ["prompts.jsonl"], "windowed": "window" in facts},
        groups={"provenance": "self_reported"},
        report={"distribution_date": facts["first"], "auditor": facts.get("auditor")},
        retention=facts.get("retention", {}),
        use=use,
    )
    start, end = facts.get("window", ("2026-01-01", "2026-02-01"))
    decided = facts.get("decided")
    document = {
        "measured_at": f"{TODAY}T10:00:00+00:00",
        "window": {"start": f"{start}T00:00:00+00:00", "end": f"{end}T00:00:00+00:00"},
        "sample": {"occurred": decided and {"first": decided[0], "last": decided[1], "not_stated": 0}},
        "attested": [one.id for one in policy_of(spec).attestations],
        "signature": {
            "auditor": facts.get("signer", "Ada Auditor"), "organisation": facts.get("organisation", "Independent LLP"),
            "signed_at": f"{facts.get('signed', TODAY)}T12:00:00+00:00",
        },
    }  # fmt: skip
    return spec, Window.parse(start, end), document


def refusal(spec: AuditSpec, window: Window | None) -> str:
    """What `audit validate` and the plan of a run say; nothing where they let it pass."""
    policy = policy_of(spec)
    try:
        check_spec(policy, spec)
        check_facts(Timeline(policy=policy, spec=spec, audited=TODAY, window=window))
    except (SpecError, GateError) as error:
        return str(error)
    return ""


def not_met(spec: AuditSpec, document: dict[str, Any]) -> list[str]:
    return [one.found for one in check_fields(document, spec) if one.status == "not met"]


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_a_contradictory_set_is_refused_or_not_met_with_both_facts(name: str) -> None:
    changes, one, other = CONTRADICTORY[name]
    spec, window, document = audit_of(changes)
    lines = [*refusal(spec, window).splitlines(), *not_met(spec, document)]
    assert any(one in line and other in line for line in lines), lines


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_no_line_of_its_checklist_says_that_a_contradictory_fact_is_met(name: str) -> None:
    """Should such a set be in a run all the same, no line that rests on it is met."""
    changes, *_ = CONTRADICTORY[name]
    spec, window, document = audit_of(changes)
    kept = {  # on no line of their own: the auditor who is named is not the one who signs
        "the vendor as its own auditor", "the vendor by another form of its name", "the employer's own department",
        "locked for ten days and not locked",
    }  # fmt: skip
    assert not_met(spec, document) or (name in kept and refusal(spec, window))


@pytest.mark.parametrize("name", CONSISTENT)
def test_a_consistent_set_is_accepted(name: str) -> None:
    spec, window, document = audit_of(CONSISTENT[name])
    assert refusal(spec, window) == "" and not_met(spec, document) == []
