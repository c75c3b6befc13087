"""What a snapshot says, and what differs between two: numbers as they are, not as they are printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.corpus.changes import changed_numbers, changes_between, unread
from audit_lib.corpus.page_facts import page_facts
from audit_lib.corpus.shared_counts import shared_counts
from audit_lib.documents.published_pages import (
    ListedPage,
    PageFacts,
    PageSnapshot,
    PrintedNumber,
    SeenPage,
)
from tests.corpus.summaries import COUNTS, RACES, Made

SNAPSHOT = PageSnapshot(key="snapshots/x", sha256="0" * 64, bytes=1, taken_at="2026-06-01T05:00:00+00:00")


def facts(content: bytes, folder: Path) -> PageFacts:
    path = folder / "snapshot"
    path.write_bytes(content)
    return page_facts(path, "0" * 64, "1" * 64, "nyc_ll144")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("facts")


counts = st.lists(
    st.integers(1, 5000).flatmap(lambda people: st.tuples(st.just(people), st.integers(1, people))),
    min_size=len(RACES), max_size=len(RACES),
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(counts, st.integers(0, 6), st.sampled_from([0, 1]), st.integers(1, 9))
def test_a_changed_count_is_found_and_no_other(
    folder: Path, made: list[tuple[int, int]], row: int, column: int, by: int
) -> None:
    before = facts(Made(counts=made).html(), folder)
    assert (
        list(changed_numbers(before, facts(Made(counts=made, style="<style>b{}</style>").html(), folder)))
        == []
    )
    other = list(made)
    people, picked = other[row]
    other[row] = (people + by, picked) if column == 0 or picked + by > people else (people, picked + by)
    name = "applicants" if other[row][0] != people else "selected"
    found = list(changed_numbers(before, facts(Made(counts=other).html(), folder)))
    of_people = [(one.row, one.column) for one in found if one.column in ("applicants", "selected")]
    assert of_people == [(RACES[row], name)]


def numbers(**values: str) -> PageFacts:
    found = tuple(
        PrintedNumber(table="sex", row="Female", column=column, value=value)
        for column, value in values.items()
    )
    return PageFacts(
        snapshot="0" * 64, checker="1" * 64, format="html", unchecked="", stopped=False, policy="", audited=None,
        tables=(), rebuilt=0, printed=0, findings=(), not_checked=(), numbers=found,
        unsure=False, figures={}, digits={}, overprinted=False, counted=(), words="2" * 64,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("column", "before", "now", "changed"),
    [
        ("ratio", "0.8", "0.80", False),
        ("ratio", "0.80", "0.84", True),
        ("ratio", "0.80", "0.804", False),
        ("ratio", "0.667", "0.67", False),
        ("ratio", "0.67", "0.66", True),
        ("ratio", "0.667", "0.66", True),
        ("ratio", "1", "1.000", False),
        ("rate", "0.4182", "0.42", False),
        ("applicants", "1390", "1400", True),
        ("applicants", "1390", "1390", False),
    ],
)
def test_other_digits_are_no_other_number(column: str, before: str, now: str, changed: bool) -> None:
    found = list(changed_numbers(numbers(**{column: before}), numbers(**{column: now})))
    assert bool(found) is changed


def test_numbers_that_are_gone_or_new_are_named() -> None:
    found = list(changed_numbers(numbers(ratio="0.8", rate="0.4"), numbers(ratio="0.8", share="0.1")))
    assert [(one.column, one.before, one.now) for one in found] == [
        ("rate", "0.4", None),
        ("share", None, "0.1"),
    ]


@pytest.mark.parametrize(
    ("before", "now", "kinds"),
    [
        ({"0.8": 1, "0.7": 2}, {"0.7": 1, "0.8": 2}, ["numbers_changed_silently"]),
        ({"80": 1, "70": 2}, {"70": 1, "80": 1}, ["numbers_changed_silently"]),
        ({"0.8": 1, "0.7": 2}, {"0.8": 1, "0.7": 2}, ["laid_out_anew"]),
    ],
)
def test_a_reading_from_where_words_stand_is_borne_out_by_what_is_printed(
    before: dict[str, int], now: dict[str, int], kinds: list[str]
) -> None:
    old = replace(numbers(ratio="0.7"), unsure=True, figures=before)
    new = replace(numbers(ratio="0.8"), unsure=True, figures=now)
    found = list(changes_between(old, new, SNAPSHOT, SNAPSHOT))
    assert [one.kind for one in found] == kinds
    assert all("look at both snapshots" in one.message for one in found if one.severity == "warning")


def test_digits_alone_are_compared_where_words_lie_over_them() -> None:
    old = replace(numbers(ratio="0.7"), unsure=True, figures={"0.7": 1}, digits={"0": 1, "7": 1})
    new = replace(numbers(), unsure=True, overprinted=True, figures={"0": 1, "7": 1}, digits={"7": 1, "0": 1})
    assert [one.kind for one in changes_between(old, new, SNAPSHOT, SNAPSHOT)] == ["laid_out_anew"]
    other = replace(new, digits={"0": 1, "8": 1})
    assert [one.kind for one in changes_between(old, other, SNAPSHOT, SNAPSHOT)] == [
        "numbers_changed_silently"
    ]


def test_a_page_that_cannot_be_read_any_more() -> None:
    old = replace(numbers(ratio="0.7", rate="0.41"), figures={"0.7": 1, "41": 1})
    gone = replace(old, unchecked="no table", numbers=(), figures={"41": 1})
    laid = replace(gone, figures={"0.7": 1, "41": 1, "3": 5})
    found = [[one.kind for one in unread(old, new, SNAPSHOT, SNAPSHOT)] for new in (gone, laid)]
    assert found == [["no_longer_readable"], ["laid_out_anew"]]
    assert [one.kind for one in unread(gone, laid, SNAPSHOT, SNAPSHOT)] == ["other_words"]
    assert list(unread(gone, gone, SNAPSHOT, SNAPSHOT)) == []


def test_facts_of_two_checkers_are_not_compared() -> None:
    other = replace(numbers(), checker="9" * 64)
    with pytest.raises(ValueError, match="two checkers"):
        list(changes_between(numbers(), other, SNAPSHOT, SNAPSHOT))


def test_a_table_in_a_picture_beside_the_page_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    page = Made().html().replace(b"</body>", b'<img src="secret.png"><img src="/etc/passwd"></body>')
    found = facts(page, tmp_path)
    assert found.audited == "2026-03-14"


def seen(employer: str) -> SeenPage:
    return SeenPage(
        listed=ListedPage(employer=employer, page=f"{employer}.html", vendor="", auditor=""), state="seen", why="",
        since=SNAPSHOT.taken_at, looked_at=SNAPSHOT.taken_at, answer=None, snapshot=SNAPSHOT, last_read=SNAPSHOT,
        unchecked="", audited=None, errors=0, warnings=0, notes=0, changes=(),
    )  # fmt: skip


def test_equal_counts_of_different_employers(tmp_path: Path) -> None:
    pages = {
        "A": Made(),
        "B": Made(date="2025-01-01", head="Engineers", words="Other words."),
        "C": Made(counts=[(people, picked - 1) for people, picked in COUNTS]),
        "a ": Made(),
        "Tiny": Made(counts=[(5, 2)] * 7),
        "Tiny too": Made(counts=[(5, 2)] * 7),
        "Alike": Made(counts=[(100, 50)] * 7),
        "Alike too": Made(counts=[(100, 50)] * 7),
    }
    known = [(seen(name), facts(made.html(), tmp_path)) for name, made in pages.items()]
    (found,) = shared_counts(known)
    assert [one.employer for one in found.pages] == ["A", "B", "a "]
    assert (found.tables, found.people) == (1, sum(people for people, _ in COUNTS))


def test_all_n_a_is_no_same_data(tmp_path: Path) -> None:
    page = Made().html()
    for people, picked in COUNTS:
        page = page.replace(f"<td>{people}</td><td>{picked}</td>".encode(), b"<td>N/A</td><td>N/A</td>")
    known = [(seen(name), facts(page, tmp_path)) for name in ("A", "B")]
    assert list(shared_counts(known)) == []


def test_two_summaries_on_one_page_are_told_apart(tmp_path: Path) -> None:
    other = [(people + 3, picked) for people, picked in COUNTS]
    first, second = Made(head="Engineers").html(), Made(head="Nurses", counts=other).html()
    start, end = b"<h2>", b"</table>"
    both = first.replace(b"</body>", second[second.index(start) : second.index(end) + len(end)] + b"</body>")
    swapped = second.replace(b"</body>", first[first.index(start) : first.index(end) + len(end)] + b"</body>")
    before, now = facts(both, tmp_path), facts(swapped, tmp_path)
    assert len({one.table for one in before.numbers if one.table}) == 2
    assert list(changed_numbers(before, now)) == [], "the order of tables is no number"
