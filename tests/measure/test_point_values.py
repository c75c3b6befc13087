"""Every metric's point value in the audit is the public kernel's, exactly, over 1,000 random tables.

The kernels are called here on the columns of the table itself, without `Rows`: ties, missing and adjacent scores,
one group alone, groups without members, rounds of one. Inference, which no point value depends on, is left out.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audit_lib import metrics
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.metric import METRICS, Measured
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.load_texts import make_texts
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.metrics import text as text_metrics
from audit_lib.results import Undefined
from tests.measure.tables import POLICY, TEXT_SECTIONS, WORDS, answers, classified, scores, variants
from tests.metrics import slow_pairs
from tests.specs import load

TABLES = 1_000
SEX = {
    "attributes": {"sex": ["female", "male"]},
    "reference": {"sex": "male"},
    "categories": {"sex": {"female": "Female", "male": "Male"}},
}
SPEC = load(**TEXT_SECTIONS, groups=SEX, measure={"small_cell": 3, "quotas": [1, 2]})
OBSERVED = load(
    **TEXT_SECTIONS,
    groups={**SEX, "provenance": "self_reported"},
    measure={"small_cell": 3, "thresholds": [0.25, 0.5]},
)
LOW = float(np.nextafter(0.5, 0))
KINDS: Mapping[str, Callable[[np.random.Generator, int], Any]] = {
    "any": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(0, 3, n) / 2,
    "missing": lambda rng, n: np.where(rng.random(n) < 0.4, np.nan, rng.integers(0, 4, n) / 3),
    "adjacent": lambda rng, n: rng.choice([0.0, LOW, 0.5, float(np.nextafter(0.5, 1)), 1.0], n),
    "equal": lambda rng, n: np.full(n, 0.5),
}
RESAMPLING = {
    "earth_movers_distance": ("earth_movers_errors",),
    "jensen_shannon_divergence": ("jensen_shannon_errors",),
    "sentiment_parity_strict": ("earth_movers_errors", "exchange_test"),
    "cooccurrence_bias_score": ("bootstrap_totals",),
    "stereotypical_associations": ("share_errors",),
    "auc_gap": ("simultaneous_differences",),
}
OWN_DEFINITION = {
    "noise_floor": "a standard deviation of repeats and of differences: audit_lib.stats.spread defines it",
    "imputed_rate_gap": "bounds and no value; tests/measure/test_imputed.py holds them to the kernel's",
    "imputed_impact_ratio": "likewise",
    "manipulation_agreement": "a share of counts: what was said over what was asked",
}
"""Metrics without a kernel, whose number is defined in one place all the same."""


def make_table(number: int) -> dict[str, list[Any]]:
    """Up to twelve applications in two versions or one, in rounds of their own."""
    rng = np.random.default_rng([17, number])
    n = int(rng.integers(1, 13))
    kind = list(KINDS)[number % len(KINDS)]
    sex = np.where(np.arange(n) % 2, "female", "male")
    if number % 7 == 0:
        sex[:] = rng.choice(["female", "male"])  # the other group has no member
    elif number % 7 == 1:
        sex = rng.choice(["female", "male", ""], n)  # some are of no known group
    people = [f"t{number:04d}a{i // 2 if number % 2 else i:02d}" for i in range(n)]
    homes = dict(zip(people, rng.integers(0, 3, n).tolist(), strict=True))
    words = ["kind", "able", "late", "good", "work", "she", "her", "he", "his"]
    known = number % 5 != 2
    return {
        "variant_id": [f"t{number:04d}v{i:02d}" for i in range(n)],
        "application_id": people,
        "position": [f"t{number:04d}"] * n,
        "round_id": [f"t{number:04d}r{homes[one]}" for one in people],
        "sex": [one or None for one in sex.tolist()],
        "race": [None] * n,
        "score": KINDS[kind](rng, n).tolist(),
        "selected": [bool(x) for x in rng.integers(0, 2, n)],
        "qualified": [bool(x) if known else pd.NA for x in rng.integers(0, 2, n)],
        "text": [" ".join(rng.choice(words, int(rng.integers(2, 9)))) for _ in range(n)],
        "items": [rng.permutation(["a", "b", "c", "d"])[:3].tolist() for _ in range(n)],
        "rude": (rng.integers(0, 5, n) / 4).tolist(),
        "mood": rng.choice([0.25, LOW, 0.5, 0.75], n).tolist(),
        "meaning": [(rng.integers(-8, 9, 3) / 4).tolist() for _ in range(n)],
    }


def make_whole() -> pd.DataFrame:
    """All tables below one another."""
    tables = [make_table(number) for number in range(TABLES)]
    columns = {name: [value for one in tables for value in one[name]] for name in tables[0]}
    whole = pd.DataFrame(columns).astype({"selected": "boolean", "qualified": "boolean"})
    # The audit's order, on which the last digit of a sum of floats depends: by group, then from the lowest score.
    return whole.sort_values(["position", "sex", "score", "variant_id"], ignore_index=True)


def make_answers(table: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(23)
    people = list(zip(table["variant_id"], table["round_id"], strict=True))
    by_round: dict[str, list[str]] = {}
    for person, home in people:
        by_round.setdefault(home, []).append(person)
    asked = [(a, b) for pool in by_round.values() for a in pool for b in pool if a != b]
    said = rng.choice(["first", "second", "tie", "unparsed"], len(asked), p=[0.45, 0.45, 0.05, 0.05])
    return pd.DataFrame({"first": [a for a, _ in asked], "second": [b for _, b in asked], "answer": said})


@dataclass(frozen=True)
class Columns:
    """A table as arrays: what pandas does to twelve rows costs more than what is tested."""

    of: Mapping[str, np.ndarray]

    @classmethod
    def read(cls, table: pd.DataFrame) -> Columns:
        """Take the columns; who is qualified is 1, 0, or -1 where it is not known."""
        found = {name: np.array([*table[name], None], dtype=object)[:-1] for name in table}
        for name, kind in (("score", float), ("rude", float), ("mood", float), ("selected", bool)):
            found[name] = table[name].to_numpy(dtype=kind)
        found["qualified"] = table["qualified"].astype("Int8").fillna(-1).to_numpy(dtype=int)
        return cls(found)

    def __len__(self) -> int:
        return len(self.of["variant_id"])

    def __getitem__(self, name: str) -> np.ndarray:
        return self.of[name]

    def where(self, mask: np.ndarray) -> Columns:
        return Columns({name: values[mask] for name, values in self.of.items()})


@dataclass(frozen=True)
class Case:
    """One random table: as the audit sees it, and as columns."""

    rows: Rows
    observed: Rows
    table: Columns
    answers: pd.DataFrame

    @cached_property
    def sides(self) -> dict[str, Columns]:
        """The rows of each group."""
        return {sex: self.table.where(self.table["sex"] == sex) for sex in ("female", "male")}

    @cached_property
    def scored(self) -> Columns:
        """The rows with a score."""
        return self.table.where(~np.isnan(self.table["score"]))

    @cached_property
    def pairs(self) -> tuple[Columns, Columns]:
        """The answers of both sides to versions of one prompt: applications that have one of each."""
        both = zip(self.table["application_id"], self.table["sex"], strict=True)
        versions = Counter(both)
        unclear = {one for (one, _), n in versions.items() if n > 1}  # nothing says which belongs to which
        of = {}
        for sex in ("female", "male"):
            own = zip(self.scored["application_id"], self.scored["sex"], strict=True)
            of[sex] = self.scored.where(
                np.array([one not in unclear and its == sex for one, its in own], dtype=bool)
            )
        shared = set(of["female"]["application_id"]) & set(of["male"]["application_id"])
        found = []
        for side in of.values():
            own = side.where(np.array([one in shared for one in side["application_id"]], dtype=bool))
            found.append(own.where(np.argsort(own["application_id"])))
        return found[0], found[1]

    def of(self, sex: str) -> Columns:
        return self.sides[sex]

    def scores(self, sex: str) -> np.ndarray:
        found: np.ndarray = self.sides[sex]["score"]
        return found[~np.isnan(found)]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """All tables as the strata of one audit, so that they are loaded once."""
    whole = make_whole()
    asked = make_answers(whole)
    parts = []
    for spec in (SPEC, OBSERVED):
        rows, ids = make_rows(variants(whole), [scores(whole)], spec)
        columns = {name: pa.array(asked[name]) for name in asked}
        both = pa.table({**columns, "repeat": pa.array([0] * len(asked), pa.int32())})
        rows = replace(rows, pairs=PairAnswers.of(both, ids))
        own = variants(whole)
        own = own.append_column("prompt_id", own["application_id"])
        for name, value in (("perturbation", "none"), ("edits", "{}")):
            own = own.append_column(name, pa.array([value] * len(own), pa.string()))
        texts = make_texts(own, [answers(whole)], [classified(whole)], rows, ids, spec, WORDS)
        rows = replace(rows, texts=texts)
        parts.append({part.levels["position"]: part for part in strata(rows, ["position"])})
    asked["table"] = asked["first"].str[:5]
    by_table = dict(list(asked.groupby("table")))
    none, every = asked.head(0), Columns.read(whole)
    return [
        Case(parts[0][name], parts[1][name], every.where(every["position"] == name), by_table.get(name, none))
        for name in parts[0]
    ]


@pytest.fixture(autouse=True)
def no_resampling(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*args: Any, **kwargs: Any) -> None:
        raise UndefinedMetricError("not asked here")

    for name, functions in RESAMPLING.items():
        module = importlib.import_module(f"audit_lib.measure.metrics.{name}")
        for function in functions:
            stand_in = (lambda *a, **k: None) if function == "exchange_test" else nothing
            monkeypatch.setattr(module, function, stand_in)


Number = float | Undefined


def or_reason(kernel: Callable[[], Any]) -> Number:
    try:
        return float(kernel())
    except UndefinedMetricError as error:
        return Undefined(str(error))


def gap(kernel: Callable[[np.ndarray, np.ndarray], float]) -> Callable[[Case], list[Number]]:
    return lambda case: [or_reason(lambda: kernel(case.scores("female"), case.scores("male")))]


def places(case: Case) -> Iterator[tuple[Columns, np.ndarray]]:
    """The scored people of rounds with at least k of them, and their shares, at each quota."""
    scored = case.scored
    sizes = Counter(scored["round_id"])
    size = np.array([sizes[one] for one in scored["round_id"]], dtype=int)
    for k in (1, 2):
        playing = scored.where(size >= k)
        shares = (
            metrics.selection_shares(playing["score"], playing["round_id"], k=k)
            if len(playing)
            else np.zeros(0)
        )
        yield playing, shares


def parity(case: Case) -> list[Number]:
    return [
        or_reason(
            lambda p=p, s=s: metrics.demographic_parity_gap(s[p["sex"] == "female"], s[p["sex"] == "male"])
        )
        for p, s in places(case)
    ]


def opportunity(case: Case) -> list[Number]:
    found = []
    for people, shares in places(case):
        sides = [people["sex"] == sex for sex in ("female", "male")]
        able = people["qualified"] == 1
        found.append(
            or_reason(
                lambda a=able, s=shares, sides=sides: metrics.equal_opportunity_gap(
                    s[sides[0]], a[sides[0]], s[sides[1]], a[sides[1]]
                )
            )
        )
    return found


def errors(kernel: Callable[..., float]) -> Callable[[Case], list[Number]]:
    def of(case: Case) -> list[Number]:
        one = case.table.where(case.table["qualified"] >= 0)
        outcome, decision = one["qualified"] == 1, one["selected"]
        return [or_reason(lambda: kernel(outcome, decision, one["sex"] == "female", one["sex"] == "male"))]

    return of


def decisions(case: Case) -> list[Number]:
    one = case.table
    sides = [one["sex"] == sex for sex in ("female", "male")]
    return [or_reason(lambda: metrics.decision_rate_gap(one["selected"], one["selected"], *sides))]


def flipped(case: Case) -> list[Number]:
    one = case.table
    sides = [one["sex"] == sex for sex in ("female", "male")]
    found = or_reason(lambda: metrics.decision_flip_share(one["selected"], one["application_id"], *sides))
    if isinstance(found, Undefined):
        return [found, found]
    net = []
    for person in sorted(set(one["application_id"])):
        own = [one["selected"][side & (one["application_id"] == person)] for side in sides]
        if own[0].size and own[1].size:
            net.append(Fraction(int(own[0].sum()), own[0].size) - Fraction(int(own[1].sum()), own[1].size))
    return [found, float(sum(net) / len(net))]


def calibration(case: Case) -> list[Number]:
    one = case.scored.where(case.scored["qualified"] >= 0)
    sides = [one.where(one["sex"] == sex) for sex in ("female", "male")]
    columns = [side[name] for side in sides for name in ("score", "qualified")]
    return [or_reason(lambda: metrics.calibration_gap(*columns))]


def exposed(case: Case) -> list[Number]:
    one = case.scored
    if not len(one):
        return [Undefined("no round")]
    shown = metrics.exposures(*metrics.pool_standing(one["score"], one["round_id"]))
    return [
        or_reason(lambda: metrics.exposure_gap(*(shown[one["sex"] == sex] for sex in ("female", "male"))))
    ]


def skewed(case: Case) -> list[Number]:
    def of(people: Columns, k: int, sex: str) -> Number:
        mine = people["sex"] == sex
        return or_reason(lambda: metrics.skew_at_k(people["score"], people["round_id"], mine, k))

    return [
        of(people, k, sex) if len(people) else Undefined("no round")
        for k, (people, _) in enumerate(places(case), 1)
        for sex in ("female", "male")
    ]


def diverged(case: Case) -> list[Number]:
    one = case.scored.where(np.isin(case.scored["sex"], ["female", "male"]))
    columns = one["score"], one["round_id"], one["sex"]
    found = or_reason(lambda: metrics.ndkl(*columns))
    if isinstance(found, Undefined):
        return [found, found]
    excess: float = pytest.approx(found - metrics.ndkl_at_random(*columns), abs=1e-12)
    return [found, excess]


def unequal(case: Case) -> list[Number]:
    one = case.table.where(case.table["qualified"] >= 0)
    columns = one["qualified"], one["selected"]
    sexes = np.where(np.isin(one["sex"], ["female", "male"]), one["sex"], None)
    return [
        or_reason(lambda: metrics.theil_index(*columns)),
        or_reason(lambda: metrics.theil_between(*columns, sexes)),
    ]


def conditional(case: Case) -> list[Number]:
    one = case.table
    sides = [one["sex"] == sex for sex in ("female", "male")]
    return [
        or_reason(lambda: metrics.conditional_demographic_disparity(one["selected"], one["position"], *sides))
    ]


def ratios(selected: Mapping[str, int], total: Mapping[str, int]) -> list[Number]:
    """Of the policy's categories in its order; the highest is the comparator."""
    table = metrics.impact_ratios(selected, total)
    return [row.ratio if isinstance(row.ratio, Undefined) else float(row.ratio) for row in table.rows]


def selection_ratios(case: Case) -> list[Number]:
    sides = {"Male": case.of("male"), "Female": case.of("female")}
    order = ["Male", "Female"]
    return ratios(
        {name: int(sides[name]["selected"].sum()) for name in order},
        {name: len(sides[name]) for name in order},
    )


def scoring_ratios(case: Case) -> list[Number]:
    one = case.table
    try:
        found = metrics.scoring_rates(one["score"], one["sex"], POLICY.median)  # type: ignore[arg-type]
    except UndefinedMetricError as error:
        return [Undefined(str(error))] * 2
    rows = {row.category: row for row in found.rows}
    counts = [(rows[sex].above, rows[sex].total) if sex in rows else (0, 0) for sex in ("female", "male")]
    counts.reverse()
    return ratios({"F": counts[0][0], "M": counts[1][0]}, {"F": counts[0][1], "M": counts[1][1]})


def adverse(case: Case) -> list[Number]:
    found: list[Number] = []
    for threshold in (0.25, 0.5):
        at = [case.scores(sex) >= threshold for sex in ("female", "male")]
        table = metrics.impact_ratios([int(x.sum()) for x in at], [x.size for x in at], comparator=1)
        ratio = table.rows[0].ratio
        found.append(float(ratio) if isinstance(ratio, Fraction) else ratio)
    return found


def areas(case: Case) -> list[Number]:
    """The largest gap, that of the two groups (the same pair, where both have an AUC), and everybody's and each AUC."""
    one = case.scored.where(case.scored["qualified"] >= 0)
    kept = {}
    for sex in ("female", "male"):
        own = one.where(one["sex"] == sex)
        units = [len(set(own["application_id"][own["qualified"] == side])) for side in (1, 0)]
        if len(own) >= SPEC.measure.small_cell and min(units) >= 2:
            kept[sex] = one["sex"] == sex
    score, outcome = one["score"], one["qualified"] == 1
    known = one["qualified"] >= 0
    each = [known & members for members in (known, one["sex"] == "female", one["sex"] == "male")]
    alone = [
        metrics.auc(score[own], outcome[own])
        if 0 < outcome[own].sum() < own.sum()
        else Undefined("one class")
        for own in each
    ]
    if len(kept) < 2:
        return [Undefined("too few")] * 2 + alone
    both = [metrics.auc(score[members], outcome[members]) for members in kept.values()]
    return [metrics.auc_gap(score, outcome, kept), both[0] - both[1], *alone]


def wins(case: Case) -> list[Number]:
    ours, theirs = (case.of(sex)["variant_id"].tolist() for sex in ("female", "male"))
    return [or_reason(lambda: metrics.pairwise_win_gap(slow_pairs.outcomes(case.answers, ours, theirs)))]


def flags(kernel: Callable[..., float]) -> Callable[[Case], list[Number]]:
    """Of all, of each group, and the gap, over the answers that were classified."""

    def of(case: Case) -> list[Number]:
        one = case.scored
        cells = [one, one.where(one["sex"] == "female"), one.where(one["sex"] == "male")]
        found = [or_reason(lambda c=c: kernel(c["rude"], c["variant_id"])) for c in cells]
        difference: Number = Undefined("a side has no value")
        if not isinstance(found[1], Undefined) and not isinstance(found[2], Undefined):
            difference = found[1] - found[2]
        return [*found, difference]

    return of


def over_pairs(kernel: Callable[..., Any], column: str, *more: Any) -> Callable[[Case], list[Number]]:
    def of(case: Case) -> list[Number]:
        ours, theirs = case.pairs
        if not len(ours):
            return [Undefined("no pair")]
        found = or_reason(lambda: kernel(_column(ours, column), _column(theirs, column), *more))
        return [found]

    return of


def _column(table: Columns, name: str) -> Any:
    return np.array(table[name].tolist()) if name in ("mood", "meaning") else table[name].tolist()


def mean(kernel: Callable[..., Any]) -> Callable[..., float]:
    def of(*args: Any) -> float:
        found: float = kernel(*args).mean
        return found

    return of


def company(case: Case) -> list[Number]:
    said = case.scored["text"].tolist()
    lists = (WORDS.protected["sex"]["female"], WORDS.protected["sex"]["male"], WORDS.targets)
    if not said:
        return [Undefined("no text")] * 2
    try:
        found = text_metrics.cooccurrence_bias_score(said, *lists, SPEC.texts.window)
        sizes = [abs(value) for value in found.values if not isinstance(value, Undefined)]
        return [found.mean, math.fsum(sizes) / len(sizes), *found.values]
    except UndefinedMetricError as error:
        return [Undefined(str(error))] * 2


def associations(case: Case) -> list[Number]:
    said = case.scored["text"].tolist()
    if not said:
        return [Undefined("no text")]
    return [
        or_reason(
            lambda: text_metrics.stereotypical_associations(said, WORDS.protected["sex"], WORDS.targets).mean
        )
    ]


def effect(case: Case) -> list[Number]:
    one = case.scored.where(np.isin(case.scored["sex"], ["female", "male"]))
    if len(set(one["sex"])) < 2:
        return [Undefined("no attribute has two levels here")]
    return [
        or_reason(
            lambda: (
                metrics.standardised_effects(
                    one["score"],
                    {"sex": one["sex"]},
                    one["application_id"],
                    {"sex": "male"},
                )["sex", "female"].estimate
                + 0.0
            )
        )
    ]


MASKED = sorted({word for levels in WORDS.protected.values() for words in levels.values() for word in words})
KERNELS: dict[str, Callable[[Case], list[Number]]] = {
    "adverse_impact_ratio": adverse,
    "auc_gap": areas,
    "average_odds_gap": errors(metrics.average_odds_gap),
    "calibration_gap": calibration,
    "conditional_demographic_disparity": conditional,
    "cooccurrence_bias_score": company,
    "counterfactual_bleu": over_pairs(mean(text_metrics.counterfactual_bleu), "text", MASKED),
    "counterfactual_cosine": over_pairs(mean(text_metrics.counterfactual_cosine), "meaning"),
    "counterfactual_rouge_l": over_pairs(mean(text_metrics.counterfactual_rouge_l), "text", MASKED),
    "decision_flip_share": flipped,
    "decision_rate_gap": decisions,
    "demographic_parity_gap": parity,
    "earth_movers_distance": gap(metrics.earth_movers_distance),
    "equal_opportunity_gap": opportunity,
    "equalised_odds_gap": errors(metrics.equalised_odds_gap),
    "expected_maximum": flags(text_metrics.expected_maximum),
    "exposure_gap": exposed,
    "false_discovery_rate_gap": errors(metrics.false_discovery_rate_gap),
    "false_negative_rate_gap": errors(metrics.false_negative_rate_gap),
    "false_omission_rate_gap": errors(metrics.false_omission_rate_gap),
    "false_positive_rate_gap": errors(metrics.false_positive_rate_gap),
    "fraction": flags(text_metrics.fraction),
    "impact_ratio": selection_ratios,
    "jaccard_at_k": over_pairs(mean(metrics.jaccard_at_k), "items", 3),
    "jensen_shannon_divergence": gap(metrics.jensen_shannon_divergence),
    "ndkl": diverged,
    "pairwise_win_gap": wins,
    "prag_at_k": over_pairs(mean(metrics.prag_at_k), "items", 3),
    "probability_of_any": flags(text_metrics.probability_of_any),
    "rabbi": gap(metrics.rabbi),
    "score_gap": gap(metrics.score_gap),
    "scoring_rate_impact_ratio": scoring_ratios,
    "sentiment_parity_strict": over_pairs(text_metrics.sentiment_parity_strict, "mood"),
    "sentiment_parity_weak": over_pairs(mean(text_metrics.sentiment_parity_weak), "mood"),
    "serp_at_k": over_pairs(mean(metrics.serp_at_k), "items", 3),
    "skew_at_k": skewed,
    "standardised_effect": effect,
    "stereotypical_associations": associations,
    "theil_index": unequal,
}


def test_every_metric_is_here() -> None:
    assert {*KERNELS, *OWN_DEFINITION} == set(METRICS.names()) - set(METRICS.plugins.names())


def values(found: Measured) -> list[Number]:
    return [one.value for one in found.estimates] + [
        row.impact_ratio.value for table in found.tables for row in table.rows
    ]


@pytest.mark.parametrize("name", KERNELS)
def test_the_audit_s_value_is_the_kernel_s(name: str, cases: list[Case]) -> None:
    defined = 0
    for case in cases:
        spec, rows = (OBSERVED, case.observed) if name == "adverse_impact_ratio" else (SPEC, case.rows)
        ours, expected = values(METRICS.get(name)(rows, spec, POLICY)), KERNELS[name](case)
        assert len(ours) == len(expected), case.table
        for one, other in zip(ours, expected, strict=True):
            if isinstance(other, Undefined):
                assert isinstance(one, Undefined), (one, other, case.table)
            else:
                assert not isinstance(one, Undefined), (one, other, case.table)
                assert one == other and math.isfinite(one), case.table
                defined += 1
    assert defined > 150, "most tables say nothing of it"
