"""Each prompt is audited once over all windows: what comes again is left out, what came late is taken, all counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.errors import EmptyWindowError, InputError, SpecError
from audit_lib.run import Run
from audit_lib.sample import sample
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run
from tests.sample import cases
from tests.specs import load

START = datetime(2026, 1, 5, tzinfo=UTC)
WEEKS = [Window(START + timedelta(weeks=k), START + timedelta(weeks=k + 1)) for k in range(4)]


def rows(
    week: int, *, day: float = 3, of: range = range(48), as_if: int | None = None
) -> list[dict[str, Any]]:
    """Applicants of a week, by their numbers; `as_if` writes the time of another week over theirs."""
    shown = START + timedelta(weeks=week if as_if is None else as_if, days=day)
    return [
        row | {"prompt_id": f"w{week}-{row['prompt_id']}", "application_id": f"w{week}-{row['application_id']}"}
        | {"occurred_at": shown.isoformat()}
        for place, row in enumerate(applicants())
        if place in of
    ]  # fmt: skip


def opened(
    folder: Path, week: int, given: list[dict[str, Any]], late_days: int | None = 0, **sections: Any
) -> Run:
    inputs = folder / f"inputs {week} {len(list(folder.iterdir()))}"
    inputs.mkdir()
    once = {} if late_days is None else {"once": {"late_days": late_days}}
    source = {"windowed": True, **once}
    return new_run(inputs, str(folder / "store"), WEEKS[week], rows=given, source=source, **sections)


def sampled(run: Run) -> tuple[list[str], dict[str, Any] | None]:
    output = sample(run)
    return sorted(cases.prompts(output)["prompt_id"]), cases.document(output)["read_before"]


def ids(given: list[dict[str, Any]]) -> list[str]:
    return sorted(row["prompt_id"] for row in given)


def test_what_comes_again_is_left_out_and_counted(tmp_path: Path) -> None:
    first = do(opened(tmp_path, 0, rows(0)))
    again = rows(0, of=range(10), as_if=1)
    run = opened(tmp_path, 1, [*rows(1), *again])
    found, told = sampled(run)
    assert found == ids(rows(1))
    assert told is not None
    assert (told["rows_read_before"], told["rows_late"]) == (10, 0)
    assert [one["run"] for one in told["earlier"]] == [first.key.prefix.removeprefix("small/")]
    assert (
        told["earlier"][0]["sha256"] == first.stage("sample").success().artefacts["units_read.parquet"].sha256
    )
    report = verify(do(run).uri)
    assert report.ok, report
    page = run.stage("report").read("report.html").decode()
    assert "10 rows are left out, because an earlier audit of another window has read them" in page


def test_without_it_they_are_counted_twice(tmp_path: Path) -> None:
    do(opened(tmp_path, 0, rows(0), None))
    found = cases.prompts(sample(opened(tmp_path, 1, [*rows(1), *rows(0, of=range(10), as_if=1)], None)))
    assert len(found) == 58


def test_what_came_late_is_audited_with_the_next_window(tmp_path: Path) -> None:
    do(opened(tmp_path, 0, rows(0, of=range(40)), 7))
    late = rows(0, of=range(40, 48))
    run = opened(tmp_path, 1, [*rows(0, of=range(40)), *late, *rows(1)], 7)
    found, told = sampled(run)
    assert found == ids([*late, *rows(1)])
    assert told is not None
    assert (told["rows_read_before"], told["rows_late"]) == (0, 8)
    assert verify(do(run).uri).ok
    assert "8 rows came late" in run.stage("report").read("report.html").decode()
    # and the window after that has read them too
    found, _ = sampled(opened(tmp_path, 2, [*late, *rows(1), *rows(2)], 14))
    assert found == ids(rows(2))


def test_what_is_too_old_or_of_a_window_that_nobody_audited_is_not_taken(tmp_path: Path) -> None:
    do(opened(tmp_path, 0, rows(0, of=range(40)), 3))
    late = rows(0, of=range(40, 48))
    assert sampled(opened(tmp_path, 1, [*late, *rows(1)], 3))[0] == ids(rows(1))
    assert sampled(opened(tmp_path, 2, [*rows(1), *rows(2)], 14))[0] == ids(rows(2))


def test_each_is_audited_once_in_whatever_order_the_windows_are(tmp_path: Path) -> None:
    data = [*rows(0), *rows(1), *rows(0, of=range(6), as_if=1), *rows(2), *rows(1, of=range(9), as_if=2)]
    taken: list[str] = []
    for week in (1, 2, 0):
        run = opened(tmp_path, week, data, 7)
        taken += sampled(run)[0]
        do(run)
    assert sorted(taken) == sorted({row["prompt_id"] for row in data})


def test_of_a_run_from_before_what_it_drew_is_known_and_what_it_read_where_it_drew_all(
    tmp_path: Path,
) -> None:
    do(opened(tmp_path, 0, rows(0, of=range(40)), None, sample={"size": 20}))
    do(opened(tmp_path, 1, rows(1, of=range(40)), None))
    late = [*rows(0, of=range(40, 48)), *rows(1, of=range(40, 48))]
    found, told = sampled(opened(tmp_path, 2, [*late, *rows(2)], 21))
    assert found == ids([*rows(1, of=range(40, 48)), *rows(2)])
    assert told is not None
    assert [one["all_it_read"] for one in told["earlier"]] == [False, True]


def test_a_round_that_was_read_is_left_out_whole(tmp_path: Path) -> None:
    def in_rounds(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"round_id": f"{row['prompt_id'][:2]} {place // 6}"} for place, row in enumerate(given)]

    sections = {"decision": {"rule": "top_k", "k": 1, "round": "round_id"}, "sample": {"strata": []}}
    do(opened(tmp_path, 0, in_rounds(rows(0)), 7, **sections))
    one_more = [rows(0)[0] | {"prompt_id": "w0-late", "application_id": "w0-late", "round_id": "w0 0"}]
    again = [one_more[0] | {"prompt_id": "w0-again", "occurred_at": WEEKS[1].start.isoformat()}]
    found, told = sampled(opened(tmp_path, 1, [*in_rounds(rows(1)), *one_more, *again], 7, **sections))
    assert found == ids(rows(1))
    assert told is not None
    assert told["rows_read_before"] == 1


def test_a_window_with_nothing_new_is_told_as_that(tmp_path: Path) -> None:
    do(opened(tmp_path, 0, rows(0)))
    with pytest.raises(
        EmptyWindowError, match="all 48 prompts of the window were read by complete runs of other"
    ):
        sample(opened(tmp_path, 1, rows(0, as_if=1)))


def test_it_needs_windows(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="once needs windowed: true"):
        load(tmp_path, source={"windowed": False, "once": {}})


def test_a_run_whose_record_was_changed_is_refused(tmp_path: Path) -> None:
    first = do(opened(tmp_path, 0, rows(0)))
    record = tmp_path / "store" / first.key.prefix / "sample" / "units_read.parquet"
    record.chmod(0o644)
    record.write_bytes(record.read_bytes()[:-1])
    with pytest.raises((InputError, Exception), match=r"units_read\.parquet"):
        sample(opened(tmp_path, 1, rows(1)))
