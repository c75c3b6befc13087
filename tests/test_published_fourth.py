"""The corpus of `benchmarks.check_report_fourth`: clean pages have true numbers, and a fault changes its page."""

import random
from fractions import Fraction

import pytest

from benchmarks.check_report_twins import told
from benchmarks.published_fourth import corpus, draw, faults
from benchmarks.published_fourth.judge import RIGHT
from benchmarks.published_fourth.notation import bare, fraction, percent

SEED = 3


def drawn(job):
    for attempt in range(corpus.TRIES):
        try:
            return corpus.drawn(job, SEED, attempt)
        except faults.NoRoomError:
            continue
    raise AssertionError(job)


@pytest.fixture(scope="module")
def pages():
    """Jobs of each fault, with what is shown, its clean twin, and words for the fault."""
    jobs = {job.kind or job.name: job for job in corpus.plan(SEED)}
    return [(job, *drawn(job)) for job in jobs.values()]


def test_the_plan_is_as_long_as_it_says():
    jobs = corpus.plan()
    assert len(jobs) == 210 and len({(job.kind is None, job.number) for job in jobs}) == 210
    for part, layouts in corpus.PARTS.items():
        mine = [job for job in jobs if job.part == part]
        assert {job.name for job in mine} == {layout.name for layout in layouts}
        assert [job.kind is None for job in mine].count(True) == 35
        assert {job.kind for job in mine} - {None} == set(faults.KINDS)


def test_clean_numbers_are_the_true_ones(pages):
    for _, _, clean, _ in pages:
        for group in clean.groups:
            for table in group.tables.values():
                rates = [Fraction(row.selected, row.applied) for row in table.rows if row.applied]
                assert table.highest <= max(rates)
                for row in table.rows:
                    if row.ratio is not None:
                        share = Fraction(row.selected, row.applied) / table.highest
                        assert row.ratio == share <= 1
                        assert row.shown["ratio"].split(" ")[0] == clean.ratios.write(share)


def test_the_same_seed_gives_the_same_audit(pages):
    for job, shown, clean, detail in pages:
        again = drawn(job)
        assert (again[0].groups, again[1].groups, again[2]) == (shown.groups, clean.groups, detail)


def test_one_fault_changes_the_page_and_its_twin_does_not_have_it(tmp_path):
    for name in ("clean", "faults", "twins"):
        (tmp_path / name).mkdir()
    made = set()
    for job in corpus.plan(SEED):
        if job.producer.startswith("html") and job.kind not in made:
            labels = corpus.make(job, tmp_path, SEED)
            texts = {(tmp_path / label["file"]).read_text(encoding="utf-8") for label in labels}
            assert len(texts) == len(labels) == (2 if job.kind else 1)
            assert labels[0]["kind"] == (job.kind or "clean") and labels[-1]["kind"] == "clean"
            made.add(job.kind)
    assert made == {None, *faults.KINDS}


def test_numbers_are_rounded_half_up_in_each_notation():
    value = Fraction(1, 16)
    assert [way.write(value) for way in (percent(1), percent(0), bare(2))] == ["6.3%", "6%", "6.25"]
    assert [fraction(3).write(value), fraction(3, leading_zero=False).write(value)] == ["0.063", ".063"]
    assert fraction(2, leading_zero=False).write(Fraction(1)) == "1.00"


def test_dates_can_be_read_in_one_way_only():
    rng = random.Random(1)
    for _ in range(200):
        made = draw.audit(rng, draw.Taste())
        assert made.audited.day > 12 and made.audited.weekday() < 5 and made.audited <= draw.AS_OF


def test_every_kind_has_a_judge():
    assert set(RIGHT) == set(faults.KINDS)
    finding = {"id": "rate_not_rebuilt", "severity": "error", "message": "the counts give 0.91"}
    assert told(RIGHT, "wrong_rate", [finding])
    assert not told(RIGHT, "wrong_rate", [finding | {"severity": "note"}]) and not told(
        RIGHT, "stale_audit", [finding]
    )
