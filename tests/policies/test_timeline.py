"""Facts of a tool's use that cannot all be true are refused before anything is asked; facts that can pass."""

from __future__ import annotations

import calendar
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from audit_lib import pipeline
from audit_lib.cli.main import main
from audit_lib.errors import AuditError, GateError, SpecError
from audit_lib.policies import Policy, load_policy
from audit_lib.policies.contradictions import check_facts
from audit_lib.policies.fields import check_fields
from audit_lib.policies.timeline import Timeline
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run
from tests.specs import load, write

LL144 = load_policy("nyc_ll144")
TODAY = date(2026, 11, 22)
FEW = {"why": "few", "how": "written"}


def spec_of(first: str | None = None, policy: str = "nyc_ll144", **use: Any) -> AuditSpec:
    return load(
        groups={"provenance": "self_reported"},
        report={"distribution_date": first, "policy": policy},
        use=use,
    )


def check_facts_of(policy: Policy, spec: AuditSpec, today: date, window: Window | None = None) -> None:
    check_facts(Timeline(policy=policy, spec=spec, audited=today, window=window))


def refused(error: type[AuditError], *said: str, first: str | None = None, **use: Any) -> None:
    """The spec is refused, and one line of the message holds every one of these words."""
    with pytest.raises(error) as caught:
        check_facts_of(LL144, spec_of(first, **use), TODAY)
    assert any(all(words in line for words in said) for line in str(caught.value).splitlines()), caught.value


def test_a_first_use_before_the_first_audit() -> None:
    key = "report.distribution_date"
    refused(
        GateError, key, "2025-01-06", "2026-11-22", "use.earlier_audits", "20-871(a)(1)", first="2025-01-06"
    )
    refused(GateError, key, "2025-01-06", first="2025-01-06", earlier_audits=["2024-01-05"])
    refused(GateError, key, "2025-01-06", first="2025-01-06", earlier_audits=["2025-01-07"])
    for audited in ("2025-01-06", "2024-01-06"):
        check_facts_of(LL144, spec_of("2025-01-06", earlier_audits=[audited]), TODAY)
    check_facts_of(LL144, spec_of("2026-11-22"), TODAY)
    check_facts_of(LL144, spec_of("2027-11-22"), TODAY)
    refused(GateError, key, "2027-11-23", "2026-11-22", first="2027-11-23")
    refused(
        GateError,
        "use.notice.used_from",
        "2026-06-01",
        notice={"given": "2026-01-01", "used_from": "2026-06-01"},
    )
    refused(GateError, "use.last_used", "2026-06-01", last_used="2026-06-01")
    check_facts_of(load_policy("us_ugesp"), spec_of("2025-01-06", policy="us_ugesp"), TODAY)


def test_use_without_an_audit_is_said_and_not_met(tmp_path: Path) -> None:
    told = "Used from June 2025 on without an audit; nobody knew that one was due."
    facts = {"unaudited_use": told}
    check_facts_of(LL144, spec_of("2025-01-06", **facts), TODAY)
    run = new_run(tmp_path, str(tmp_path / "s"), report={"distribution_date": "2025-01-06"}, use=facts)
    document = json.loads(do(run, until="report").stage("report").read("report.json"))
    signed = document | {
        "attested": [one.id for one in LL144.attestations],
        "signature": {
            "auditor": "Ada Auditor",
            "organisation": "Independent LLP",
            "signed_at": document["measured_at"],
        },
    }
    line = {one.id: one for one in check_fields(signed, run.spec)}["F15"]
    assert line.status == "not met" and told in line.found and "2025-01-06" in line.found


def test_days_before_the_law_was_enforced_ask_for_no_audit() -> None:
    yearly = [f"{year}-07-01" for year in range(2023, 2027)]
    check_facts_of(LL144, spec_of("2021-01-10", earlier_audits=yearly), TODAY)
    late = ["2023-08-01", *yearly[1:]]
    refused(GateError, "2021-01-10", "enforced since 2023-07-05", first="2021-01-10", earlier_audits=late)
    refused(GateError, "2021-01-10", "enforced since 2023-07-05", first="2021-01-10")


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({"first": "2026-12-01"}, "computed"),
        ({"months": 0}, "computed"),
        ({"months": 1}, "stated"),
        ({"months": 36}, "not met"),
        ({}, "stated"),
    ],
)
def test_what_covers_the_use_is_met_only_where_it_is_this_audit(facts: dict[str, Any], status: str) -> None:
    document = {
        "measured_at": f"{TODAY}T10:00:00+00:00",
        "attested": [one.id for one in LL144.attestations],
        "signature": {
            "auditor": "Ada Auditor",
            "organisation": "Independent LLP",
            "signed_at": f"{TODAY}T12:00:00+00:00",
        },
    }
    line = {one.id: one for one in check_fields(document, spec_of(**facts))}["F15"]
    assert line.status == status, line.found


@pytest.mark.parametrize(
    ("audits", "gap"),
    [
        ([], "2025-01-06 to 2026-11-21"),
        (["2025-01-06"], "2026-01-07 to 2026-11-21"),
        (["2025-01-01", "2026-03-01"], "2026-01-02 to 2026-02-28"),
        (["2025-01-01", "2025-12-31"], None),
    ],
)
def test_days_between_audits_are_not_met(audits: list[str], gap: str | None, tmp_path: Path) -> None:
    spec = spec_of("2025-01-06", earlier_audits=audits)
    document = {
        "measured_at": f"{TODAY}T10:00:00+00:00",
        "attested": [one.id for one in LL144.attestations],
        "signature": {
            "auditor": "Ada Auditor",
            "organisation": "Independent LLP",
            "signed_at": f"{TODAY}T12:00:00+00:00",
        },
    }
    line = {one.id: one for one in check_fields(document, spec)}["F15"]
    assert line.status == ("stated" if gap is None else "not met"), line.found
    assert gap is None or f"no audit covers the use from {gap}" in line.found


def test_a_posting_that_ends_before_the_audit_exists() -> None:
    refused(SpecError, "use.posted_until", "2026-11-21", "2026-11-22", posted_until="2026-11-21")
    check_facts_of(LL144, spec_of(posted_until="2026-11-22"), TODAY)


def test_a_tool_never_used_has_no_days_of_use() -> None:
    facts: dict[str, Any] = {"months": 0, "data": "test", "test_data": FEW}
    refused(
        SpecError, "use.months is 0", "report.distribution_date is 2020-01-01", first="2020-01-01", **facts
    )
    refused(SpecError, "use.months is 0", "use.last_used", last_used="2026-01-01", **facts)
    refused(
        SpecError,
        "use.months is 0",
        "used_from",
        notice={"given": "2026-01-01", "used_from": "2026-02-01"},
        **facts,
    )
    refused(SpecError, "use.months is 0", "own_data_contributed", own_data_contributed=True, **facts)
    refused(
        SpecError,
        "distribution_date is 2027-01-01",
        "use.data is historical",
        first="2027-01-01",
        data="historical",
    )
    check_facts_of(LL144, spec_of("2027-01-01", **facts), TODAY)


def test_months_of_use_fit_between_first_and_last() -> None:
    early: dict[str, Any] = {"earlier_audits": ["2026-05-01"]}
    refused(SpecError, "use.months is 8", "2026-05-23", first="2026-05-23", months=8, **early)
    for months in (1, 6):
        check_facts_of(LL144, spec_of("2026-05-23", months=months, **early), TODAY)
    ended = early | {"last_used": "2026-06-30"}
    refused(SpecError, "use.months is 4", "2026-06-30", first="2026-05-23", months=4, **ended)
    refused(SpecError, "use.months is 1", "2026-12-01", first="2026-12-01", months=1)


def test_own_data_are_of_the_time_of_use() -> None:
    spec = load(
        groups={"provenance": "self_reported"},
        source={"kind": "files", "paths": ["prompts.jsonl"], "windowed": True},
        report={"distribution_date": "2026-06-01"},
        use={"data": "historical", "earlier_audits": ["2026-05-01"], "last_used": "2026-08-31"},
    )
    check_facts_of(LL144, spec, TODAY, Window.parse("2026-05-01", "2026-06-02"))
    for window in (Window.parse("2026-05-01", "2026-06-01"), Window.parse("2026-09-01", "2026-09-08")):
        with pytest.raises(SpecError, match="use.data is historical.*(older|younger) than the use"):
            check_facts_of(LL144, spec, TODAY, window)


def test_the_commands_refuse_and_a_planned_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in applicants())
    (tmp_path / "prompts.jsonl").write_text(lines, encoding="utf-8")
    facts = {"groups": {"provenance": "self_reported"}, "report": {"distribution_date": "2025-01-06"}}
    path = write(tmp_path, **facts)
    assert main(["validate", str(path)]) == 2
    said = capsys.readouterr().err
    assert "report.distribution_date is 2025-01-06" in said and "use.earlier_audits" in said
    week = ["--window", "2026-01-05", "2026-01-12", "--store", str(tmp_path / "store")]
    assert main(["run", str(path), *week]) == 2
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert left and all({"attempts", "journal"} & {*path.parts} for path in left), (
        "nothing but what was refused is on record"
    )
    path = write(tmp_path, use={"posted_until": "2026-11-22"}, **{"groups": facts["groups"]})
    spec = AuditSpec.load(path)
    pipeline.check(spec, TODAY)
    with pytest.raises(SpecError, match="use.posted_until"):
        pipeline.check(spec, TODAY + timedelta(days=1))
    run = new_run(tmp_path, str(tmp_path / "s"), use={"posted_until": "2026-01-12"})
    pipeline.run_stage(run, "plan")
    path = write(tmp_path, use={"posted_until": "2026-01-12"}, score={"shards": 3}, groups=facts["groups"])
    assert pipeline.open_run(path, run.key.window, str(tmp_path / "s")).uri == run.uri


# An independent statement of the rules, over days as numbers and calendars counted by hand.


def anniversary(day: date) -> date:
    last = calendar.monthrange(day.year + 1, day.month)[1]
    return day.replace(year=day.year + 1, day=min(day.day, last))


def months_begun(start: date, end: date) -> int:
    """How many months have begun from one day to another, both within them."""
    begun, year, month = 1, start.year, start.month
    while True:
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
        if date(year, month, min(start.day, calendar.monthrange(year, month)[1])) > end:
            return begun
        begun += 1


def possible(facts: dict[str, Any]) -> bool:
    """Whether the facts can all be true of an audit made today."""
    first, last, given_on, after = (facts[key] for key in ("first", "last", "given", "after"))
    line = [day for day in (first, after, last) if day is not None]
    if line != sorted(line) or (after is not None and given_on is not None and given_on > after):
        return False
    if facts["posted"] is not None and facts["posted"] < TODAY:
        return False
    if any(day > TODAY for day in facts["earlier"]):
        return False
    months = facts["months"]
    if months == 0 and any(day < TODAY for day in line):
        return False
    begins_later = first is not None and first > TODAY
    if months:
        if begins_later:
            return False
        if first is not None and months > months_begun(first, min([TODAY, *([last] if last else [])])):
            return False
    own_data = facts["contributed"] or facts["sufficient"] or facts["data"] == "historical"
    if own_data and (months == 0 or begins_later):
        return False
    if facts["data"] == "historical" and facts["contributed"] is False:
        return False
    audits = [*facts["earlier"], TODAY]

    def allowed(day: date) -> bool:
        return any(audit <= day <= anniversary(audit) for audit in audits)

    firsts = [day for day in (first, after) if day is not None]
    return all(map(allowed, firsts)) and (last is None or last > TODAY or allowed(last))


days = some.one_of(
    some.integers(-5, 5), some.integers(-900, 800), some.sampled_from([-366, -365, -364, 364, 365, 366])
).map(lambda n: TODAY + timedelta(days=n))
worlds = some.fixed_dictionaries(
    {
        **{name: some.none() | days for name in ("first", "last", "posted", "given", "after")},
        "earlier": some.lists(days, max_size=3),
        "months": some.sampled_from([None, None, 0, 1, 2, 7, 13, 30]),
        "data": some.sampled_from([None, None, "historical", "pooled", "test"]),
        "contributed": some.sampled_from([None, False, True]),
        "sufficient": some.sampled_from([None, False, True]),
    }
)
EMPTY: dict[str, Any] = {
    "first": None, "last": None, "posted": None, "given": None, "after": None, "earlier": [], "months": None,
    "data": None, "contributed": None, "sufficient": None,
}  # fmt: skip


def iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


@settings(max_examples=1500)
@given(worlds)
@example(EMPTY)
@example(EMPTY | {"first": date(2026, 2, 28), "earlier": [date(2025, 2, 28)]})
@example(EMPTY | {"first": date(2025, 11, 22), "months": 13, "earlier": [date(2025, 1, 1)]})
@example(EMPTY | {"first": date(2025, 11, 22), "months": 14, "earlier": [date(2025, 1, 1)]})
def test_refused_is_exactly_what_cannot_be(facts: dict[str, Any]) -> None:
    if facts["after"] is not None and facts["given"] is None:
        facts = facts | {"given": facts["after"]}
    notice = (
        None if facts["given"] is None else {"given": iso(facts["given"]), "used_from": iso(facts["after"])}
    )
    spec = BASE.model_copy(
        update={
            "report": BASE.report.model_copy(update={"distribution_date": iso(facts["first"])}),
            "use": type(BASE.use).model_validate(
                {
                    "last_used": iso(facts["last"]), "posted_until": iso(facts["posted"]), "notice": notice,
                    "earlier_audits": [day.isoformat() for day in facts["earlier"]], "months": facts["months"],
                    "data": facts["data"], "own_data_contributed": facts["contributed"],
                    "own_data_sufficient": facts["sufficient"],
                }
            ),
        }
    )  # fmt: skip
    if possible(facts):
        check_facts_of(LL144, spec, TODAY)
        return
    with pytest.raises((SpecError, GateError)) as caught:
        check_facts_of(LL144, spec, TODAY)
    # Every line names two facts: each by its key, or this audit by its day.
    for line in str(caught.value).splitlines():
        named = [key for key in KEYS if key in line]
        assert len(named) >= 2 or (len(named) == 1 and str(TODAY) in line), line


BASE = spec_of()
KEYS = (
    "report.distribution_date", "use.last_used", "use.posted_until", "use.notice.given", "use.notice.used_from",
    "use.earlier_audits", "use.months", "use.data", "use.own_data_contributed", "use.own_data_sufficient",
)  # fmt: skip
