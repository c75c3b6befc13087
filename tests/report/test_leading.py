"""What leads a page, in random tables: what has evidence, and never a cell below the minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit_lib.documents.estimates import adjusted_p
from audit_lib.documents.metrics import Metrics
from audit_lib.errors import EvidenceError
from audit_lib.measure.multiplicity import Hypotheses, adjust
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.statutory.rate_tables import rate_tables
from audit_lib.policies import policy_of
from audit_lib.report.content import Content, gather, read_table
from audit_lib.report.leading import convincing, distinguishable, headline
from audit_lib.report.sections.rate_charts import ratios_chart
from audit_lib.report.sections.rate_table import rate_table
from audit_lib.report.sections.summary import leaders, summary
from audit_lib.report.suppress import masked
from audit_lib.report.suppress.cells import items
from audit_lib.report.verdict_words import shown_verdict
from audit_lib.site.trend import _point
from audit_lib.typed_json import decode_value
from tests.measure.tables import scores, variants
from tests.report.runs import made
from tests.specs import load

RACES = [
    "White", "Black or African American", "Asian", "Hispanic or Latino", "Two or More Races",
    "Native American or Alaska Native",
]  # fmt: skip
GROUPS = {
    "provenance": "self_reported",
    "attributes": {"sex": ["female", "male"], "race": RACES},
    "reference": {"sex": "male", "race": "White"},
    "categories": {"sex": {"female": "Female", "male": "Male"}},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Content:
    return gather(made(tmp_path_factory.mktemp("leading")))


def people(seed: int) -> pd.DataFrame:
    """Twelve cells from a few people to a few hundred; in every third draw all of them have a few only."""
    rng = np.random.default_rng(seed)
    most = 6 if seed % 3 == 0 else 260
    rows = []
    for sex in ("female", "male"):
        for race in RACES:
            n, rate = (
                int(rng.integers(1, most) if rng.random() < 0.7 else rng.integers(1, 6)),
                rng.uniform(0, 0.9),
            )
            rows += [(sex, race, bool(hit)) for hit in rng.random(n) < rate]
    table = pd.DataFrame(rows, columns=["sex", "race", "selected"])
    index = [f"v{i:05d}" for i in range(len(table))]
    return table.assign(
        variant_id=index, application_id=index, position="all", round_id=index, score=table["selected"].astype(float),
        selected=table["selected"].astype("boolean"), qualified=pd.array([True] * len(table), dtype="boolean"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def drawn(base: Content) -> Callable[[int, int, str], Content]:
    """The tables of a draw, made once for all who ask for them."""
    return cache(lambda seed, small_cell, policy: content_of(base, people(seed), small_cell, policy))


def content_of(base: Content, table: pd.DataFrame, small_cell: int, policy_name: str) -> Content:
    """The tables of these people, as the stages make them."""
    spec = load(
        groups=GROUPS, decision={"rule": "threshold", "threshold": 0.5},
        measure={"small_cell": small_cell, "strata": [[]]}, report={"policy": policy_name},
    )  # fmt: skip
    policy = policy_of(spec)
    rows, _ = make_rows(variants(table), [scores(table)], spec)
    found = rate_tables("selection", "impact_ratio", rows, spec, policy, rows.decisions.selected)
    tested, family = adjust(
        Hypotheses(tables=tuple(found), estimates=(), heterogeneity=()), spec.measure.alpha
    )
    document = {
        "tables": [one.as_dict() for one in tested.tables], "estimates": [], "heterogeneity": [],
        "multiplicity": family.as_dict(),
    }  # fmt: skip
    metrics = decode_value(Metrics, base.metrics.as_dict() | document, "metrics.json")
    tables = tuple(read_table(one, policy) for one in metrics.tables)
    return replace(base, spec=spec, policy=policy, tables=tables, metrics=metrics)


def surviving(content: Content) -> dict[tuple[int, str], tuple[float, int]]:
    """By table and label: the adjusted p, and the smaller of the two groups."""
    found = {}
    for number, table in enumerate(content.headline):
        sizes = {row.label: row.n for row in table.rows}
        for row in table.rows:
            if isinstance(table.comparator, str) and (adjusted := adjusted_p(row.estimate)) is not None:
                found[number, row.label] = adjusted, min(row.n, sizes[table.comparator])
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("small_cell", "policy"), [(5, "generic"), (30, "nyc_ll144"), (1, "us_ugesp")])
def test_the_leading_figure_has_the_evidence_and_rests_on_no_small_cell(
    drawn: Callable[[int, int, str], Content], seed: int, small_cell: int, policy: str
) -> None:
    content = drawn(seed, small_cell, policy)
    least = max(5, small_cell)
    found = surviving(content)
    firm = [key for key, (p, n) in found.items() if n >= least and p < 0.05]
    enough = [key for key, (_, n) in found.items() if n >= least]
    lead, (figure,) = headline(content, "selection"), leaders(content)
    if lead is None:
        assert figure.value == "too few to tell" and figure.tone == "plain"
        assert policy == "us_ugesp" or not enough
        return
    assert min(lead.n, lead.comparator_n) >= least, "a small cell leads"
    assert figure.value.startswith(f"{float(lead.ratio):.3f}"[:4])
    if firm and policy != "us_ugesp":
        assert any(
            (row.label, row.selected, row.n) == (lead.label, lead.selected, lead.n) and key in firm
            for key in found
            for row in [content.headline[key[0]].row(key[1])]
        ), "a finding that survives the adjustment does not lead"
    small = {row.label for table in content.headline for row in table.rows if row.n < least}
    for table in content.headline:
        for row in rate_table(content, table).rows:
            flagged = any(cell.tone == "flag" for cell in row.cells)
            assert not (flagged and row.header.removesuffix(" \N{DAGGER}") in small), (
                "a small cell has the flag's colour"
            )


def test_the_draws_hold_what_they_are_to_show(drawn: Callable[[int, int, str], Content]) -> None:
    """Both kinds: the smallest ratio is that of a small cell while a larger one survives; and all are small."""
    shadowed = nothing = 0
    for seed in range(12):
        content = drawn(seed, 5, "generic")
        found = surviving(content)
        ratios = {key: content.headline[key[0]].row(key[1]).ratio for key in found}
        smallest = min(found, key=lambda key: ratios[key])  # type: ignore[arg-type,return-value]
        firm = any(n >= 5 and p < 0.05 for p, n in found.values())
        shadowed += firm and found[smallest][1] < 5
        nothing += not any(n >= 40 for _, n in found.values())
    assert shadowed >= 3 and nothing >= 1, (shadowed, nothing)


def test_the_chart_flags_what_the_figure_flags(base: Content, tmp_path: Path) -> None:
    table = people(1)
    table["score"] = table["score"].where(table["race"] != "Two or More Races", 0.0)
    content = content_of(base, table, 5, "generic")
    chart = ratios_chart(content, list(content.headline))
    assert chart is not None
    below = sum(bool(row.below) for one in content.headline for row in one.rows)
    assert 0 < chart.wide.count('class="dot flagged"') < below


def test_the_trend_follows_what_leads_and_no_small_cell(drawn: Callable[[int, int, str], Content]) -> None:
    none = 0
    for seed in (0, 1, 2, 3):
        content = drawn(seed, 30, "nyc_ll144")
        small = {(row.label, row.n) for table in content.headline for row in table.rows if row.n < 30}
        for table in content.headline:
            point = _point(None, content, table, ())  # type: ignore[arg-type]
            assert (point.label, point.n) not in small
            assert not (point.flagged and point.high is not None and point.high >= 1)
            if point.ratio is None:
                none += 1
                assert point.label == "every ratio rests on fewer than 30 people"
            else:
                own = table if "set aside" not in point.label or table.larger is None else table.larger
                (row,) = [
                    row
                    for row in own.rows
                    if row.label == point.label.split(" (")[0] or row.label == point.label
                ]
                assert (point.low, point.high) == tuple(
                    getattr(row.estimate.intervals[0], end) for end in ("low", "high")
                )
                assert row.estimate.intervals[0].kind == "simultaneous"
    assert none


def few_at_the_top(
    base: Content,
    policy: str = "generic",
    asian: tuple[int, int] = (188, 448),
    black: tuple[int, int] = (47, 224),
) -> Content:
    """3 of 3, 188 of 448, 47 of 224 and 0 of 4 were selected: the highest and the lowest rate are of a few people."""
    counts = {
        "White": (3, 3),
        "Asian": asian,
        "Black or African American": black,
        "Two or More Races": (0, 4),
    }
    rows = [("female" if i % 2 else "male", race, i < k) for race, (k, n) in counts.items() for i in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "race", "selected"])
    index = [f"v{i:05d}" for i in range(len(table))]
    table = table.assign(
        variant_id=index, application_id=index, position="all", round_id=index, score=table["selected"].astype(float),
        selected=table["selected"].astype("boolean"), qualified=pd.array([True] * len(table), dtype="boolean"),
    )  # fmt: skip
    return content_of(base, table, 5, policy)


@pytest.mark.parametrize("policy", ["generic", "nyc_ll144", "us_ugesp"])
def test_a_few_people_at_the_top_silence_no_difference_between_hundreds(base: Content, policy: str) -> None:
    content = few_at_the_top(base, policy)
    lead, (figure,) = headline(content, "selection"), leaders(content)
    assert lead is not None
    assert (lead.selected, lead.n, lead.comparator_selected, lead.comparator_n) == (47, 224, 188, 448)
    assert (figure.value, figure.tone) == ("0.500", "flag")
    assert "3 of 3: so few are set aside" in figure.detail and "nothing can be told" not in figure.detail
    (race,) = [table for table in content.headline if table.larger is not None and len(table.rows) < 9]
    assert race.comparator.startswith("White"), "the law's comparator stays"  # type: ignore[union-attr]
    assert any("0.500" in note and "3 of 3" in note for note in rate_table(content, race).notes)
    point = _point(None, content, race, ())  # type: ignore[arg-type]
    assert point.ratio == Fraction(1, 2) and point.flagged and "set aside" in point.label
    assert race.larger is not None
    shares = {row.label: row.share for row in race.rows}
    assert all(row.share == shares[row.label] for row in race.larger.rows)


def test_larger_categories_that_differ_by_their_own_interval_alone_are_not_flagged(base: Content) -> None:
    """30 of 60 against 45 of 65, whose own p of about 0.03 is one of those of three tables."""
    content = few_at_the_top(base, "nyc_ll144", asian=(45, 65), black=(30, 60))
    (race,) = [table for table in content.headline if table.larger is not None and len(table.rows) < 9]
    assert race.larger is not None
    black = race.larger.row("Black or African American (Not Hispanic or Latino)")
    assert black.below and distinguishable(black) and shown_verdict(black.estimate) is None
    assert not convincing(content, race.larger, black)
    (figure,) = leaders(content)
    assert figure.tone == "plain" and "so few are set aside" in figure.detail
    said = "".join(str(one) for one in summary(content).blocks)
    assert "distinguishable from 1 by its own interval only" in said and "The plan has no such" in said


def test_what_sets_hidden_rows_aside_is_hidden(base: Content) -> None:
    content = few_at_the_top(base)
    (race,) = [table for table in content.headline if table.larger is not None and len(table.rows) < 9]
    top = race.row(str(race.comparator))
    hidden = frozenset({(items(race.stratum), items(top.levels))})
    assert race.larger is not None and masked(race, hidden).larger is None


def test_other_counts_of_the_larger_categories_are_refused(base: Content) -> None:
    (race,) = [t for t in few_at_the_top(base).metrics.tables if t.larger is not None and len(t.rows) < 9]
    assert race.larger is not None
    assert race.larger.rows[0].n == 448 or len(race.larger.rows) == 2
    first = race.larger.rows[0]
    rows = [replace(row, label=row.label + " x") if row.label == first.label else row for row in race.rows]
    other = replace(race, larger=replace(race.larger, rows=(first,)), rows=tuple(rows))
    with pytest.raises(EvidenceError, match="not as in the whole table|not a row of the table"):
        read_table(other, policy_of(few_at_the_top(base).spec))
