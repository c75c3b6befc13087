"""The site says which windows an audit owes and what became of those that nobody audited."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from audit_lib.run import SUCCESS, Run
from audit_lib.site import publish
from audit_lib.window import Window
from tests.archive.cases import applicants, as_format_1
from tests.archive.kept_runs import sealed

WEEKS = [Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 7:02d}") for day in (5, 12, 19)]
SCHEDULE = {"schedule": {"cron": "0 0 * * 1", "catchup": 2}}


def run(folder: Path, week: int, *, answered: bool = True) -> Run:
    rows = applicants()
    for row in rows[1::4] if not answered else []:
        row["recorded_score"] = None
    done = sealed(folder, folder / f"inputs {week}", WEEKS[week], rows=rows, **SCHEDULE)
    # As if it had been made when its window ended: the site speaks as of the latest sealing. Format 1 seals no times,
    # and there was no journal then.
    as_format_1(Path(done.uri))
    shutil.rmtree(folder / "store/small/journal")
    for record in Path(done.uri).rglob(SUCCESS):
        said = record.read_text(encoding="utf-8")
        record.write_text(re.sub(r"20\d\d-\d\d-\d\d(?=T)", f"{WEEKS[week].end:%Y-%m-%d}", said), "utf-8")
    return done


def words(path: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    run(tmp_path, 0)
    run(tmp_path, 2)
    publish(str(tmp_path / "store"))
    return tmp_path / "store" / "site"


def test_a_window_that_nobody_audited_is_on_the_page(site: Path, tmp_path: Path) -> None:
    page = words(site / "small/index.html")
    assert "3 windows of the schedule 0 0 * * 1 (UTC) were owed: 2 audited, 1 late." in page
    assert "2026-01-12 00:00 to 2026-01-19 00:00 late ended a day or its own length ago" in page
    assert "Windows 2 audited, 1 late" in words(site / "index.html")
    listed = (site / "all-audits/index.html").read_text(encoding="utf-8")
    assert 'aria-label="1 audited, 1 late, 1 audited"' in listed and 'href="../small/index.html"' in listed
    assert "2026-02-02 00:00" in words(site / "all-audits/index.html")  # the next window's end
    assert 'aria-label="1 audited, 1 late, 1 audited"' in (site / "small/index.html").read_text(
        encoding="utf-8"
    )
    assert publish(str(tmp_path / "store")).written == 0


def test_one_that_failed_and_one_that_does_not_verify(site: Path, tmp_path: Path) -> None:
    run(tmp_path, 1, answered=False)
    store = str(tmp_path / "store")
    publish(store)
    assert "2 audited, 1 failed" in words(site / "index.html")
    metrics = next((tmp_path / "store/small" / WEEKS[0].label).glob("*/metrics/metrics.json"))
    metrics.write_bytes(metrics.read_bytes() + b" ")
    publish(store)
    assert "1 audited, 1 failed, 1 not verified" in words(site / "index.html")
    assert "2026-01-05 00:00 to 2026-01-12 00:00 not verified" in words(site / "small/index.html")
