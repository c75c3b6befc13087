"""The power engine: its tests are the stage's, its family is the audit's, and its limits are those of formulas."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import nct, norm
from scipy.stats import t as student

from audit_lib.measure.inference import mean_gap, rank_index
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side
from audit_lib.measure.stage import measure_rows
from audit_lib.plan.power import table as table_of_power
from audit_lib.plan.power.planned_design import FamilyOfTests, PlannedDesign, family_of
from audit_lib.plan.power.simulated_audits import SimulatedAudits, SimulatedSides
from audit_lib.plan.power.simulated_comparison import PlannedTest, SimulatedComparison
from audit_lib.plan.power.simulated_tests import adjusted, p_values_of_gap, p_values_of_index
from audit_lib.plan.power.smallest_found import Limit, limit_of, smallest_ratio
from audit_lib.results import Undefined
from audit_lib.stats import clustered_equal_rates, equal_rates, holm
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.planned_tables import (
    LawOfTables,
    evidence_of_tables,
    p_values_of_pairs,
    p_values_of_tables,
)
from tests.measure.tables import POLICY, SPEC, as_rows, table

DESIGN = PlannedDesign(
    levels=(("sex", ("f", "m")), ("race", ("a", "b", "c"))), applications=40, copies=2, within=True,
    rule="top_k", k=2, competes="one_per_group", rate=None, by_round=False, version_sd=0.5, name_sd=0.1, names=None,
    metrics=("impact_ratio", "rabbi", "score_gap"), quotas=(), seed=3,
    tests=FamilyOfTests(tables=3, others=20, alpha=0.05),
)  # fmt: skip


def sides_of(design: PlannedDesign, audits: int) -> SimulatedSides:
    simulated = SimulatedAudits(design, ("race",))
    (rng, number), *_ = simulated.parts(audits)
    return simulated.sides(simulated.lowered(simulated.scores(rng, number), 0.3), ("race",))


def side(values: np.ndarray, units: int, first: int) -> Side:
    clusters = (np.repeat(np.arange(len(values)), values.shape[1]) + first).astype(np.int32)
    occurs = np.zeros(units, dtype=bool)
    occurs[clusters] = True
    return Side(values=values.ravel(), clusters=clusters, units=units, occurs=occurs)


@pytest.mark.parametrize("within", [True, False])
def test_tests_of_scores_are_those_of_the_stage(within: bool) -> None:
    design = replace(DESIGN, within=within, applications=60)
    sides = sides_of(design, 15)
    gaps, indices = p_values_of_gap(sides), p_values_of_index(sides)
    for one in range(15):
        a, b = sides.group[one], sides.reference[one]
        units, first = (len(a), 0) if sides.shared else (len(a) + len(b), len(a))
        both = side(a, units, 0), side(b, units, first)
        gap = mean_gap(*both, 0.95).test
        assert not isinstance(gap, Undefined)
        assert gaps[one] == pytest.approx(gap.p_value, rel=1e-9)
        ranks = np.argsort(np.argsort(np.concatenate([a.ravel(), b.ravel()]))).astype(np.int32)
        ranked = (
            replace(both[0], values=ranks[: a.size]), replace(both[1], values=ranks[a.size :])
        )  # fmt: skip
        index = rank_index(*ranked, 0.95).test
        assert not isinstance(index, Undefined)
        assert indices[one] == pytest.approx(index.p_value, rel=1e-9)


def test_tests_of_tables_are_those_of_the_stage() -> None:
    simulated = SimulatedAudits(DESIGN, ("sex", "race"))
    (rng, number), *_ = simulated.parts(6)
    drawn = simulated.selected(simulated.lowered(simulated.scores(rng, number), 0.8), ("sex", "race"))
    evidence = evidence_of_tables(drawn.selected, drawn.people, 0)
    strongest = 0
    for one, own in zip(drawn.selected, evidence, strict=True):
        rates = ClusteredRates.of(one.astype(int), drawn.people.astype(int))
        found = clustered_equal_rates(rates, seed=5)
        assert found.statistics[0] == pytest.approx(own)
        if found.statistic == found.statistics[0]:  # the first step is of the strongest
            strongest += 1
            law = LawOfTables(one, drawn.people, 0, seed=5)
            assert law.p_values(np.array([own]))[0] == pytest.approx(found.p_values[0], rel=0.02)
    assert strongest > 2


def test_tests_of_pairs_are_those_of_the_stage() -> None:
    design = replace(DESIGN, levels=(("sex", ("f", "m")),), copies=1, rule="above_median", competes=None)
    simulated = SimulatedAudits(design, ("sex",))
    (rng, number), *_ = simulated.parts(30)
    drawn = simulated.selected(simulated.lowered(simulated.scores(rng, number), 0.2), ("sex",))
    evidence = evidence_of_tables(drawn.selected, drawn.people, 0)
    found, compared = p_values_of_pairs(drawn.selected, evidence), 0
    for one, own, p in zip(drawn.selected, evidence, found, strict=True):
        theirs = clustered_equal_rates(ClusteredRates.of(one.astype(int), drawn.people.astype(int)), seed=5)
        if own > 0.0 and theirs.p_values[0] > 10 / 2001:
            compared += 1
            assert p == pytest.approx(theirs.p_values[0], abs=5 * (p * (1 - p) / 2000) ** 0.5 + 0.001)
    assert compared > 10


def test_pools_share_no_more_applications_than_chance_gives() -> None:
    # Scores that are the application's number: who competes with whom can be read off.
    design = replace(DESIGN, applications=60, copies=1)
    scores = np.broadcast_to(np.arange(60.0)[None, :, None, None], (1, 60, 1, 6))
    pools = SimulatedAudits(design, ("race",))._competing(np.array(scores))[0]
    assert all(sorted(column) == list(range(60)) for column in pools.T)
    shared = [len(set(a) & set(b)) for a, b in pairwise(pools)]
    assert np.mean(shared) < 2  # 36 pairs of candidates, each the same application in one of 60


def test_tests_of_independent_people_are_those_of_the_stage() -> None:
    rng = np.random.default_rng(2)
    x, n = rng.binomial(40, [0.2, 0.45, 0.5], (20, 3)), np.full(3, 40)
    found, strongest = p_values_of_tables(x, n, 0, seed=5), 0
    for row, p in zip(x, found, strict=True):
        theirs = equal_rates(row.tolist(), n.tolist(), seed=5)
        if theirs.statistic == theirs.statistics[0] > 0:
            strongest += 1
            assert p == pytest.approx(theirs.p_values[0], rel=1e-9)
    assert strongest > 10


def test_steps_are_holm_s_with_weights() -> None:
    rng = np.random.default_rng(8)
    p_values = rng.random((30, 4)) ** 3
    weights = np.array([0.5, 1 / 6, 1 / 6, 1 / 6])
    found = adjusted(p_values, weights, np.array([0.0, *weights[1:]]))
    for own, ours in zip(p_values, found, strict=True):
        # The table keeps its place: its highest category is never found.
        theirs = holm([*own, 1.0], ["t", 1, 2, 3, "t"], ["law", *["rest"] * 3, "law"])
        assert ours == pytest.approx(theirs.p_values[:4], abs=1e-12)


def test_the_family_is_counted_as_the_stage_does() -> None:
    spec = SPEC.model_copy(update={"measure": SPEC.measure.model_copy(update={"strata": [[]]})})
    rows: Rows = as_rows(table(400))
    document = measure_rows(rows, spec, POLICY)
    tables = sum(one.multiplicity is not None for one in document.tables)
    others = sum(one.multiplicity is not None for one in document.estimates)
    size = int(np.bincount(rows.round[rows.round >= 0]).max())
    assert family_of(spec, size) == FamilyOfTests(tables=tables, others=others, alpha=spec.measure.alpha)


def test_the_limit_of_one_t_test_is_that_of_the_noncentral_t() -> None:
    alone = FamilyOfTests(tables=0, others=1, alpha=0.05)
    design = replace(DESIGN, metrics=("score_gap",), tests=alone, copies=1, levels=(("sex", ("f", "m")),))
    found = limit_of(design, PlannedTest("score_gap", ("sex",)), 0.8)
    critical = student.ppf(0.975, 39)
    noncentral = brentq(lambda shift: nct.sf(critical, 39, shift) - 0.8, 1, 6)
    exact = noncentral * 0.5 * 2**0.5 / 40**0.5 / design.score_sd
    assert isinstance(found, Limit) and found.audits == 2_000
    assert found.value == pytest.approx(exact, abs=4 * found.error)
    assert 0 < found.error < 0.03 * exact


def test_the_limit_of_a_large_audit_is_that_of_the_noncentral_t() -> None:
    alone = FamilyOfTests(tables=0, others=1, alpha=0.05)
    large = replace(
        DESIGN,
        metrics=("score_gap",),
        tests=alone,
        copies=1,
        levels=(("sex", ("f", "m")),),
        applications=100_000,
    )
    found = limit_of(large, PlannedTest("score_gap", ("sex",)), 0.8)
    exact = (norm.ppf(0.975) + norm.ppf(0.8)) * 0.5 * 2**0.5 / 100_000**0.5 / large.score_sd
    assert isinstance(found, Limit) and found.value == pytest.approx(exact, abs=4 * found.error)
    assert 0 < found.error < 0.05 * exact


def test_sides_of_applications_in_one_version_each_are_by_audit_and_application() -> None:
    design = replace(DESIGN, within=False, competes=None, rule="threshold", copies=1)
    simulated = SimulatedAudits(design, ("sex",))
    scores = np.arange(7 * 40, dtype=float).reshape(7, 40, 1, 1)
    sides = simulated.sides(scores, ("sex",))
    women = np.arange(40) % 6 < 3  # groups in turn: three races of women, then of men
    assert np.array_equal(sides.group[:, :, 0], scores[:, women, 0, 0])
    assert np.array_equal(sides.reference[:, :, 0], scores[:, ~women, 0, 0])


def test_a_category_with_one_application_is_not_promised_anything() -> None:
    design = replace(DESIGN, within=False, competes=None, rule="threshold", copies=1, applications=7)
    said = limit_of(design, PlannedTest("score_gap", ("sex", "race")), 0.8)
    assert isinstance(said, Undefined) and "fewer than two applications" in said.reason


def test_what_nobody_can_find_is_said() -> None:
    tiny = replace(DESIGN, applications=3, copies=1)
    found = limit_of(tiny, PlannedTest("impact_ratio", ("sex", "race")), 0.8)
    assert isinstance(found, Undefined) and "even a difference of 6 standard deviations" in found.reason
    assert isinstance(smallest_ratio(10, 14, 0.1, 0.01, 0.8, 1), Undefined)


def test_a_smaller_level_asks_for_a_larger_difference_and_the_same_design_gives_the_same() -> None:
    one = PlannedTest("impact_ratio", ("race",))
    strict = replace(DESIGN, tests=FamilyOfTests(tables=3, others=2_000, alpha=0.001))
    found, less = limit_of(DESIGN, one, 0.8), limit_of(strict, one, 0.8)
    assert isinstance(found, Limit) and isinstance(less, Limit) and less.value < found.value - 0.1
    limit_of.cache_clear()
    assert limit_of(DESIGN, one, 0.8) == found


def test_names_ask_for_more() -> None:
    few = replace(
        DESIGN,
        metrics=("standardised_effect",),
        names=3,
        name_sd=0.3,
        tests=FamilyOfTests(tables=0, others=1, alpha=0.05),
    )
    one = PlannedTest("standardised_effect", ("sex",))
    found, fixed = limit_of(few, one, 0.8), limit_of(replace(few, names=None), one, 0.8)
    assert isinstance(found, Limit) and isinstance(fixed, Limit) and found.value > 1.5 * fixed.value


def test_values_are_those_of_the_metric() -> None:
    comparison = SimulatedComparison(DESIGN, ("sex",))
    index, _ = comparison.value(PlannedTest("rabbi", ("sex",)), 0.7, 50)
    assert index == pytest.approx(2 * norm.cdf(0.7 / 2**0.5 / DESIGN.score_sd) - 1)
    ratio, rate = comparison.value(PlannedTest("impact_ratio", ("sex",)), 0.7, 400)
    assert rate * (1 + ratio) / 2 == pytest.approx(
        2 / 6, abs=1e-6
    )  # two of six are selected, half of them women


def test_a_long_simulation_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_of_power, "_SILENT_SECONDS", -1.0)
    told: list[str] = []
    found = table_of_power.power_table(SPEC, {}, told.append)
    assert len(told) == len(found) > 0
    assert told[0].startswith("power: the planned audit is simulated, difference 1 found: ")
