"""The corpus of `benchmarks.check_report_published`: what is called clean is clean, what is called a fault shows."""

import copy
import random
from fractions import Fraction

import pytest

from benchmarks.published import draw, faults, rebuild, web, words_third
from benchmarks.published.judge import RIGHT, judge
from benchmarks.published.shown import ShownRow

HALVES = sorted(draw.HALVES)


@pytest.fixture(scope="module", params=HALVES)
def bases(request):
    return draw.bases(request.param, 3, 16)


def test_clean_numbers_are_the_true_ones(bases):
    for base in bases:
        assert rebuild.page(base.shown) == []
        for position, true in zip(base.shown.positions, base.shown.audit.positions, strict=True):
            for family, table in position.tables.items():
                rows = {key: row for key, row in true.tables[family].items() if row.n and not row.excluded}
                top = max(Fraction(row.k, row.n) for row in rows.values())
                for line in table.rows:
                    if line.key in rows:
                        share = Fraction(rows[line.key].k, rows[line.key].n)
                        assert line.ratio == base.shown.convention.ratio(share / top)


def test_every_number_stands_on_the_page(bases):
    for base in bases:
        text = web.render(base.page(base.shown))
        for position in base.shown.positions:
            for table in position.tables.values():
                for line in table.rows:
                    assert all(line.get(column) in text for column in base.shown.columns()), base.layout.name


def test_one_fault_changes_the_page_and_is_provable(bases):
    clean = {base.at: web.render(base.page(base.shown)) for base in bases}
    made = set()
    for at, kind in enumerate(faults.KINDS):
        for base in bases[at % 4 :]:
            shown = copy.deepcopy(base.shown)
            label = draw.fault(kind, shown, base, random.Random(1))
            if label is not None:
                assert web.render(base.page(shown)) != clean[base.at], (base.layout.name, kind)
                assert label["contradictions"] or kind not in draw.NUMERIC
                made.add(kind)
                break
    assert made == set(faults.KINDS)


def test_halves_share_no_layout_and_no_sentence():
    names, sentences = [], []
    for layouts, words, _ in draw.HALVES.values():
        names.append({layout.name for layout in layouts})
        facts = {fact[2] for choices in words.FACTS.values() for fact in choices}
        sentences.append(facts | set(words.INTRO) | set(words.TITLES) | set(words.DEFINE))
    for found in (names, sentences):
        assert len(set().union(*found)) == sum(map(len, found))


def test_ways_to_write_numbers_can_be_read_back():
    written = set()
    for convention in words_third.CONVENTIONS:
        for value in (Fraction(7, 8), Fraction(1, 16), Fraction(1)):
            row = ShownRow((), "", "", "", convention.rate(value), convention.ratio(value))
            for read in (rebuild.rate_of(row, convention), rebuild.ratio_of(row, convention)):
                assert abs(read[0] - value) <= 2 * read[1]
            written |= {row.rate, row.ratio}
        assert rebuild.number(convention.count(12345), convention)[0] == 12345
    assert {"87.5%", "87.5\N{NO-BREAK SPACE}%", "87.5", ".88", ".875", "0.875", "100%", "1.00"} <= written


def test_judge_asks_for_a_finding_that_the_clean_twin_lacks():
    finding = {
        "id": "ratio_not_rebuilt",
        "severity": "error",
        "message": "the counts give 0.91",
        "table": "2",
    }
    finding |= {"row": "Asian", "column": "Impact Ratio", "printed": "0.19", "recomputed": "0.91"}
    label = {"kind": "ratio", "category": "Asian", "to": "0.19", "rows": ["Asian", "White"]}
    assert judge(label, [finding], []) == "error"
    assert judge(label, [finding], [finding]) == "missed"
    assert judge(label, [finding | {"row": "Men", "printed": "0.50"}], []) == "elsewhere"


def test_every_kind_has_a_judge():
    assert set(faults.KINDS) <= set(RIGHT)
