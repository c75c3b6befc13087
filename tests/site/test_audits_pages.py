"""The list of all audits: light pages, in every order, that say how each audit stands."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.documents.run_index import AuditState, LatestReport
from audit_lib.monitor.sequences import follow
from audit_lib.report.html import render_html
from audit_lib.site.audit_state_page import AuditPlaces, audit_state_page
from audit_lib.site.audits_pages import FOLDER, audits_pages, urgency
from audit_lib.site.monitor_page import monitor_page
from audit_lib.site.window_strip import window_strip
from audit_lib.windows import STATES, OwedWindow
from tests.monitor.test_sequences import WEEKS, baseline_of, week
from tests.report.axe import assert_accessible, needs_axe

AUDITED = ("audited",) * 26
LATEST = LatestReport(
    run="hiring/w/d",
    sign_offs=1,
    rejected_by=None,
    signed_by="Ada Byron",
    audited="2026-01-12",
    no_use_after="2027-01-12",
    why_no_audit=None,
    finding="0.712 for <Women> (40 of 100)",
    ratio=0.712,
)


def state(number: int, strip: tuple[str, ...] = AUDITED, **values: object) -> AuditState:
    made = AuditState(
        audit=f"audit_{number:04d}",
        title=f"Screening {number}",
        folders="",
        settled=True,
        as_of="2026-06-01T00:00:00+00:00",
        until="2026-06-08T00:00:00+00:00",
        cron="0 0 * * 1",
        timezone="UTC",
        states={"audited": 26},
        strip=strip,
        first="2026-01-05T00:00:00+00:00",
        next_window="20260601T000000Z_20260608T000000Z",
        latest=LATEST,
        drift="no alarm",
        alarms=0,
        notes=(),
    )
    return replace(made, **values)  # type: ignore[arg-type]


def ordered(page: bytes) -> list[str]:
    return re.findall(r"<small>(audit_[0-9]{4})</small></th>", page.decode())


def test_who_needs_attention_comes_first() -> None:
    states = [
        state(0),
        state(1, (*AUDITED, "late")),
        state(2, ("failed", *AUDITED)),
        state(3, alarms=1, drift="1 alarm"),
        state(4, (*AUDITED, "missed")),
        state(5, notes=("two windows overlap",)),
        state(6, (*AUDITED, "due")),
    ]
    assert [urgency(one) for one in states] == [9, 3, 1, 0, 2, 4, 9]
    pages = audits_pages(states, [])
    assert ordered(pages[f"{FOLDER}/index.html"]) == [f"audit_{n:04d}" for n in (3, 2, 4, 1, 5, 0, 6)]
    assert ordered(pages[f"{FOLDER}/attention.html"]) == [f"audit_{n:04d}" for n in (3, 2, 4, 1, 5)]
    assert ordered(pages[f"{FOLDER}/by-name.html"]) == [f"audit_{n:04d}" for n in range(7)]
    soon = replace(LATEST, no_use_after="2026-05-01")
    by_end = audits_pages([state(0), state(1, latest=soon), state(2, latest=None)], [])[
        f"{FOLDER}/by-validity.html"
    ]
    assert ordered(by_end) == ["audit_0001", "audit_0000", "audit_0002"]
    assert "past: valid until 2026-05-01" in by_end.decode() and "no valid report" in by_end.decode()


def test_pages_are_light_and_every_audit_is_on_one_of_each_order() -> None:
    states = [state(number) for number in range(1050)]
    pages = audits_pages(states, ["lending: cannot be read: x"])
    for order in ("index", "by-name", "by-validity", "by-next"):
        own = [
            page for path, page in pages.items() if re.fullmatch(rf"{FOLDER}/{order}(-[0-9]+)?\.html", path)
        ]
        assert len(own) == 11
        assert sorted(name for page in own for name in ordered(page)) == [one.audit for one in states]
    assert max(map(len, pages.values())) < 200_000
    links = set(re.findall(r'href="([^"#.]+(?:-[0-9]+)?\.html)"', b"".join(pages.values()).decode()))
    assert {f"{FOLDER}/{link}" for link in links} <= set(pages)
    first = pages[f"{FOLDER}/index.html"].decode()
    assert "cannot be read" in first and "<script" not in first and "&lt;Women&gt;" in first
    assert not re.search(r'(src|href)="https?:', first)


def test_a_strip_says_in_words_what_it_draws() -> None:
    drawn = window_strip([*AUDITED, "failed", "late"])
    assert 'aria-label="26 audited, 1 failed, 1 late"' in drawn
    assert all("<path" in window_strip([one]) for one in STATES)
    shapes = {one: re.sub(r"M[0-9]+", "M", window_strip([one])).split("><")[1] for one in STATES}
    assert len(set(shapes.values())) == 5  # failed is drawn as not verified, unfinished as due
    assert "no window has ended yet" in window_strip([])


def test_the_page_of_an_audit_links_its_reports_and_dag_runs() -> None:
    page = html_of_an_audit()
    assert 'href="/r/hiring/a/b"' in page and 'href="/dags/hiring/runs/x"' in page
    assert "one of 2 runs" in page and "two windows overlap" in page
    assert "Selection rate: female less male" in page


def html_of_an_audit() -> str:
    history = [week(k, (0.5, 0.5)) for k in range(8)] + [
        week(k, (0.2, 0.5), version="2") for k in range(8, 16)
    ]
    owed = [
        OwedWindow(WEEKS[0], "audited", ("hiring/a/b", "hiring/a/c")),
        OwedWindow(WEEKS[1], "failed", ("hiring/d/e",)),
        OwedWindow(WEEKS[2], "late"),
    ]
    places = AuditPlaces(
        report=lambda run: f"/r/{run}",
        all_audits="/audits/",
        dag_runs="/dags/hiring/runs",
        dag_run={"hiring/a/b": "/dags/hiring/runs/x"},
    )
    shown = state(0, ("audited", "failed", "late"), notes=("two windows overlap",))
    return render_html(
        audit_state_page(shown, owed, follow("hiring", baseline_of(history[:4]), history), places)
    ).decode()


def html_of_sequences() -> str:
    history = [week(k, (0.5, 0.5)) for k in range(8)] + [
        week(k, (0.2, 0.5), version="2") for k in range(8, 16)
    ]
    return render_html(
        monitor_page("Screening", follow("hiring", baseline_of(history[:4]), history))
    ).decode()


def html_of_the_list() -> str:
    states = [
        state(0, (*AUDITED, "late", "failed")),
        state(1, alarms=2, drift="2 alarms"),
        state(2, latest=None),
    ]
    return audits_pages([*states, *(state(number) for number in range(3, 120))], ["x: y"])[
        f"{FOLDER}/index.html"
    ].decode()


@needs_axe
@pytest.mark.slow  # a browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("made", [html_of_the_list, html_of_an_audit, html_of_sequences])
def test_axe_finds_nothing(made: object, dark: bool, tmp_path: Path) -> None:
    assert_accessible(made(), tmp_path, dark)  # type: ignore[operator]
