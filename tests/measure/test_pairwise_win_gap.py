"""The pairwise win gap and Table 2 as the stage gives them: by hand, against the kernels, and where undefined."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import t

from audit_lib.errors import EvidenceError, UndefinedMetricError
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.group_pairs import pair_table
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.scored import strata
from audit_lib.metrics import pairwise_output_statistics, pairwise_win_gap
from audit_lib.metrics.pairwise import paired_answers
from audit_lib.results import Undefined
from audit_lib.stats import cluster_interval, win_gap_interval
from tests.measure.tables import POLICY, scores, table, variants
from tests.metrics import slow_pairs
from tests.specs import load

SPEC = load(decision={"rule": "above_median"})


def answers(people: pd.DataFrame, seed: int = 1, repeats: int = 1) -> pd.DataFrame:
    """Random answers to every order of every pair of each round."""
    rng = np.random.default_rng(seed)
    rows = [
        (first, second, repeat)
        for _, pool in people.groupby("round_id")
        for first, second in permutations(pool["variant_id"], 2)
        for repeat in range(repeats)
    ]
    found = pd.DataFrame(rows, columns=["first", "second", "repeat"])
    return found.assign(
        answer=rng.choice(["first", "second", "tie", "unparsed"], len(found), p=[0.45, 0.35, 0.15, 0.05])
    )


def as_table(found: pd.DataFrame) -> pa.Table:
    return pa.table({name: pa.array(found[name]) for name in ("first", "second", "repeat", "answer")})


def rows_with(people: pd.DataFrame, found: pd.DataFrame):
    rows, ids = make_rows(variants(people), [scores(people)], SPEC)
    return replace(rows, pairs=PairAnswers.of(as_table(found), ids))


def gaps(rows):
    return METRICS.get("pairwise_win_gap")(rows, SPEC, POLICY).estimates


def statistics(found: pd.DataFrame):
    return pairwise_output_statistics(*paired_answers(found)[-2:])


def members(people: pd.DataFrame, cell) -> list[str]:
    return people.loc[
        np.logical_and.reduce([people[a] == level for a, level in cell.items()]), "variant_id"
    ].tolist()


def test_values_are_the_kernel_s():
    people = table()
    found = answers(people)
    for estimate in gaps(rows_with(people, found)):
        group, reference = (members(people, cell) for cell in (estimate.group, estimate.reference))
        assert estimate.value == pairwise_win_gap(slow_pairs.outcomes(found, group, reference))
        between = found[(found["first"].isin(group) & found["second"].isin(reference))]
        assert estimate.n == len(between)
        assert estimate.parameters["wins"] - estimate.parameters["losses"] == pytest.approx(
            estimate.value * estimate.n
        )


def test_the_test_is_of_the_cluster_influence_function_and_the_interval_of_the_two_shares():
    people = table()
    found = answers(people)
    estimate = gaps(rows_with(people, found))[0]
    group, reference = (set(members(people, cell)) for cell in (estimate.group, estimate.reference))
    said = {(r.first, r.second): r.answer for r in found.itertuples()}
    outcome, rounds = [], []
    home = dict(zip(people["variant_id"], people["round_id"], strict=True))
    for a, b in said:
        if a in group and b in reference:
            pair = (said[a, b], said[b, a])
            outcome.append(1 if pair == ("first", "second") else -1 if pair == ("second", "first") else 0)
            rounds.append(home[a])
    y = np.array(outcome)
    expected = cluster_interval((y - y.mean()) / y.size, rounds, float(y.mean()))
    half = (expected.high - expected.low) / 2
    assert estimate.standard_error == pytest.approx(half / t.ppf(0.975, 5))
    assert 2 * t.sf(abs(y.mean()) / estimate.standard_error, 5) == pytest.approx(estimate.tests[0].p_value)
    own = win_gap_interval(y, rounds)
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((own.low, own.high))
    assert estimate.clusters == 6 and estimate.tests[0].n == 6
    crosses = estimate.interval.low < 0 < estimate.interval.high
    assert (estimate.tests[0].p_value > 0.05) == crosses


def test_strata_hold_the_pairs_of_their_own_candidates():
    people = table()
    found = answers(people)
    whole = rows_with(people, found)
    parts = list(strata(whole, ["position"]))
    assert sum(gaps(part)[0].n for part in parts) == gaps(whole)[0].n
    cooks = people[people["position"] == "cook"]
    alone = rows_with(cooks, found[found["first"].isin(cooks["variant_id"])])
    assert gaps(parts[0])[0].value == gaps(alone)[0].value


def test_repeats_are_pairs_of_their_own():
    people = table()
    found = answers(people, repeats=3)
    estimate = gaps(rows_with(people, found))[0]
    assert estimate.n == 3 * gaps(rows_with(people, answers(people)))[0].n
    means = [gaps(rows_with(people, part.assign(repeat=0)))[0].value for _, part in found.groupby("repeat")]
    assert estimate.value == pytest.approx(np.mean(means))


def test_output_statistics_by_group_pair():
    people = table()
    found = answers(people)
    entries = [one.as_dict() for one in pair_table(rows_with(people, found), SPEC)]
    assert len(entries) == 1 + len(SPEC.groups.comparisons())
    expected = statistics(found)
    for name in ("prompts", "regular", "tie", "unparsed", "pairs", "flipped", "inconsistent", "mixed"):
        assert entries[0][name] == getattr(expected, name)
    assert entries[0]["flipped_share"] == expected.flipped_share
    first = entries[1]
    group, reference = (members(people, first[side]) for side in ("group", "reference"))
    between = found[
        (found["first"].isin(group) & found["second"].isin(reference))
        | (found["first"].isin(reference) & found["second"].isin(group))
    ]
    assert first["inconsistent"] == statistics(between).inconsistent


def test_undefined_is_a_value_with_a_reason():
    people = table()
    rows, _ = make_rows(variants(people), [scores(people)], SPEC)
    with pytest.raises(UndefinedMetricError, match="only task pairwise"):
        gaps(rows)
    one = people[people["round_id"] == "r0"]
    single = gaps(rows_with(one, answers(one)))[0]
    assert isinstance(single.value, float) and isinstance(single.interval, Undefined) and not single.tests
    women = people[people["sex"] == "female"]
    nobody = gaps(rows_with(women, answers(women)))[0]
    assert nobody.value == Undefined("no pair has one candidate of the group and one of the reference")
    same = answers(people).assign(answer="tie")
    level = gaps(rows_with(people, same))[0]
    assert level.value == 0.0 and isinstance(level.interval, Undefined)
    shares = list(pair_table(rows_with(women, answers(women)), SPEC))[1].as_dict()
    assert shares["pairs"] == 0 and shares["inconsistent_share"] is None


def test_swapping_group_and_reference_swaps_the_sign():
    people = table()
    rows = rows_with(people, answers(people))
    other = load(decision={"rule": "above_median"}, groups={"reference": {"sex": "female", "race": "White"}})
    mirrored = METRICS.get("pairwise_win_gap")(rows, other, POLICY).estimates[0]
    assert mirrored.value == -gaps(rows)[0].value
    assert mirrored.interval.low == pytest.approx(-gaps(rows)[0].interval.high)


def test_a_planted_preference_is_found_and_parity_is_not():
    people = table(480)
    sex = dict(zip(people["variant_id"], people["sex"], strict=True))
    rng = np.random.default_rng(4)
    found = answers(people)
    wins_first = [
        rng.random() < (0.8 if sex[r.first] == "female" else 0.2)
        if sex[r.first] != sex[r.second]
        else rng.random() < 0.5
        for r in found.itertuples()
    ]
    planted = gaps(rows_with(people, found.assign(answer=np.where(wins_first, "first", "second"))))[0]
    assert planted.group == {"sex": "female"} and planted.interval.low > 0
    assert planted.value == pytest.approx(0.64 - 0.04, abs=0.06)
    null = gaps(rows_with(people, found.assign(answer=rng.choice(["first", "second"], len(found)))))[0]
    assert null.interval.low < 0 < null.interval.high


def test_answers_about_strangers_are_refused():
    people = table()
    found = answers(people)
    with pytest.raises(EvidenceError, match="no variants"):
        rows_with(people.iloc[8:], found)
