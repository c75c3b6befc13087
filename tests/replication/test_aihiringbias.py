"""The page on pointwise scores, computed a second time with pandas, numpy and scipy only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit_lib.results import Interval, Undefined
from benchmarks import replication_aihiringbias as hiring
from benchmarks.replication_page import data_folder

FOLDER = data_folder() / hiring.FOLDER
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no recorded scores in {FOLDER}; set AUDIT_SHARED_DATA"
)

ROWS = {"GPT-3.5": 2_761, "GPT-5.1, file 1": 2_916, "GPT-5.1, file 2": 8_748}
#: All answers came, so every group met every pair equally often.
COMPLETE = ["GPT-5.1, file 1", "GPT-5.1, file 2"]


@pytest.fixture(params=list(ROWS))
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def rows(model: str) -> pd.DataFrame:
    return hiring.load(data_folder(), model)


@pytest.fixture
def raw(model: str) -> pd.DataFrame:
    """The file itself, with the total and the group in the authors' words."""
    raw = pd.read_csv(FOLDER / hiring.FILES[model])
    raw["total"] = raw[["Experience", "Skills", "Achievements", "Resume"]].sum(axis=1)
    raw["pair"] = raw["job_file"] + raw["resume_file"]
    return raw


def test_every_row_is_read(model: str, rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    assert len(rows) == len(raw) == ROWS[model]
    assert sum(ROWS.values()) == 14_425
    assert (rows["total"] == raw["total"]).all()
    assert not rows.isna().any(axis=None)
    if "Total" in raw:  # the file with the authors' own columns
        assert (raw["Total"] == raw["total"]).all()
        assert (raw["resume industry match"] == rows["match"]).all()
    assert set(rows["group"]) == set(hiring.GROUPS)


def test_dropped_answers(model: str, rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    found = {d.what: (d.missing, d.expected) for d in hiring.dropped(rows)}
    design = pd.MultiIndex.from_product([raw["name"].unique(), raw["pair"].unique()])
    repeats = 1 if model == "GPT-3.5" else 3
    lacking = repeats - raw.groupby(["name", "pair"]).size().reindex(design, fill_value=0)
    assert (lacking >= 0).all()
    if model in COMPLETE:
        assert not lacking.any()
        assert {missing for missing, _ in found.values()} == {0}
        return
    who = raw.drop_duplicates("name").set_index("name")
    names = lacking.groupby(level=0).sum()
    assert names.groupby([who["race"], who["gender"]]).sum().to_dict() == {
        ("AA_US", "female"): 47,
        ("AA_US", "male"): 37,
        ("White_US", "female"): 40,
        ("White_US", "male"): 31,
    }
    assert [found[g] for g in hiring.GROUPS] == [(47, 729), (37, 729), (40, 729), (31, 729)]
    by_job = lacking.groupby(level=1).sum().groupby(lambda pair: pair[3]).sum().to_dict()
    assert by_job == {"1": 13, "2": 129, "3": 13}
    assert [found[i] for i in hiring.INDUSTRIES.values()] == [(13, 972), (129, 972), (13, 972)]
    assert found["matching"] == (int(lacking[[p[3] == p[-6] for _, p in lacking.index]].sum()), 972)
    exact = stats.fisher_exact([[84, 1458 - 84], [71, 1458 - 71]]).pvalue
    assert hiring.dropped_by_race(hiring.dropped(rows)).p_value == pytest.approx(exact, rel=1e-9)


def test_matching_resumes_score_higher(model: str, rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    gap = hiring.match_gap(rows)
    match = raw["job_file"].str[3] == raw["resume_file"].str[6]
    x, y = raw["total"][match], raw["total"][~match]
    assert (gap.n_group, gap.n_reference) == (len(x), len(y))
    if model == "GPT-5.1, file 1":
        assert len(y) == 0
        assert isinstance(gap.value, Undefined)
        assert "no scores" in gap.value.reason
        return
    assert gap.value == pytest.approx(x.mean() - y.mean(), rel=1e-12)
    _same(gap.by_row, stats.ttest_ind(x, y, equal_var=False))
    if model in COMPLETE:
        means = raw.groupby("pair")["total"].mean()
        own = match.groupby(raw["pair"]).first()
        _same(gap.by_pair, stats.ttest_ind(means[own], means[~own], equal_var=False))
    assert isinstance(gap.by_row, Interval) and isinstance(gap.by_pair, Interval)
    assert gap.by_pair.low > 0
    assert gap.by_pair.high - gap.by_pair.low > 4 * (gap.by_row.high - gap.by_row.low)


def _same(interval: Interval | Undefined, test: object) -> None:
    assert isinstance(interval, Interval)
    limits = test.confidence_interval(0.95)  # type: ignore[attr-defined]
    np.testing.assert_allclose([interval.low, interval.high], [limits.low, limits.high], rtol=1e-9, atol=1e-9)


def test_gaps_between_groups(model: str, rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    masks = {
        "Black less White": (raw["race"] == "AA_US", raw["race"] == "White_US"),
        "women less men": (raw["gender"] == "female", raw["gender"] == "male"),
    }
    white_men = (raw["race"] == "White_US") & (raw["gender"] == "male")
    for race, sex, label in [
        ("AA_US", "female", "Black women less White men"),
        ("AA_US", "male", "Black men less White men"),
        ("White_US", "female", "White women less White men"),
    ]:
        masks[label] = ((raw["race"] == race) & (raw["gender"] == sex), white_men)
    found = {gap.label: gap for gap in hiring.group_gaps(rows)}
    assert list(found) == list(masks)
    for label, (one, other) in masks.items():
        gap, x, y = found[label], raw[one], raw[other]
        assert gap.value == pytest.approx(x["total"].mean() - y["total"].mean(), abs=1e-12)
        _same(gap.by_row, stats.ttest_ind(x["total"], y["total"], equal_var=False))
        assert isinstance(gap.by_pair, Interval)
        if gap.by_pair.low > 0 or gap.by_pair.high < 0:
            assert gap.value > 0  # as the page says: in favour of Black names or women
        if model not in COMPLETE:
            continue
        by_pair = [side.groupby("pair")["total"].mean() for side in (x, y)]
        _same(gap.by_pair, stats.ttest_rel(*by_pair))
        by_name = [side.groupby("name")["total"].mean() for side in (x, y)]
        _same(gap.by_name, stats.ttest_ind(*by_name, equal_var=False))


def test_effects_with_a_constant_for_each_pair(rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    x = np.column_stack([raw["race"] == "AA_US", raw["gender"] == "female"]).astype(float)
    dummies = pd.get_dummies(raw["pair"]).to_numpy(dtype=float)
    y = raw["total"].to_numpy(dtype=float)
    design = np.hstack([x, dummies])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    within = x - dummies @ (dummies.T @ x / dummies.sum(axis=0)[:, None])
    scores = dummies.T @ (within * (y - design @ beta)[:, None])
    bread = np.linalg.inv(within.T @ within)
    g, n = dummies.shape[1], len(y)
    errors = np.sqrt(np.diag(bread @ scores.T @ scores @ bread) * g / (g - 1) * (n - 1) / (n - 3))
    found = hiring.adjusted_gaps(rows)
    assert [effect.label for effect in found] == ["Black less White", "women less men"]
    for effect, value, error in zip(found, beta[:2], errors, strict=True):
        half = stats.t.ppf(0.975, g - 1) * error
        assert effect.value == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(
            [effect.interval.low, effect.interval.high], [value - half, value + half], rtol=1e-8
        )
        assert effect.standardised == pytest.approx(value / y.std(ddof=1), rel=1e-9)


def test_rates_ratios_and_ties(rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    group = raw["race"].map({"AA_US": "Black", "White_US": "White"}) + raw["gender"].map(
        {"female": " women", "male": " men"}
    )
    median = raw["total"].median()
    rules = [raw["total"] > median, *(raw["total"] >= t for t in hiring.THRESHOLDS)]
    found = hiring.rates(rows)
    assert len(found) == len(rules)
    for rule, chosen in zip(found, rules, strict=True):
        counts = chosen.groupby(group).agg(["sum", "size"])
        rates = {g: Fraction(int(c["sum"]), int(c["size"])) for g, c in counts.iterrows()}
        for row, interval in zip(rule.ratios.rows, rule.intervals, strict=True):
            assert (row.selected, row.total) == tuple(counts.loc[row.category])
            assert row.ratio == rates[row.category] / max(rates.values())
            assert interval.low <= row.ratio <= interval.high
            assert not row.is_below("0.8")
    scoring = found[0].scoring
    assert scoring is not None
    assert scoring.median == median
    assert scoring.tied == (raw["total"] == median).sum()
    for part, s in hiring.scoring_by_part(rows).items():
        assert (s.median, s.tied, s.above) == (
            raw[part].median(),
            (raw[part] == raw[part].median()).sum(),
            (raw[part] > raw[part].median()).sum(),
        )


@pytest.mark.parametrize("model", COMPLETE)
def test_intervals_of_ratios_use_the_pairs(model: str, rows: pd.DataFrame) -> None:
    """Their limits are exp(log ratio -+ c SE), SE from means by pair and c between one pair's and Bonferroni's."""
    rule = hiring.rates(rows)[0]
    above = (rows["total"] > rows["total"].median()).astype(float)
    means = above.groupby([rows["pair"], rows["group"]]).mean().unstack()
    low = min(rule.ratios.rows, key=lambda row: row.rate)
    high = rule.ratios.comparators[0]
    influence = means[low.category] / means[low.category].mean() - means[high] / means[high].mean()
    error, df = influence.std(ddof=1) / len(means) ** 0.5, len(means) - 1
    limit = rule.intervals[rule.ratios.rows.index(low)].low
    c = (np.log(float(low.ratio)) - np.log(limit)) / error
    assert stats.t.ppf(0.975, df) < c <= stats.t.ppf(1 - 0.025 / 6, df)


@pytest.mark.parametrize("model", ["GPT-3.5"])
def test_what_the_dropped_answers_could_do(model: str, rows: pd.DataFrame) -> None:
    above = (rows["total"] > 70).groupby(rows["group"]).sum()
    women, men = int(above["Black women"]), int(above["White men"])
    low, high = hiring.bounds_of_ratio(rows, "Black women", "White men")
    assert low == Fraction(women, 729) / Fraction(men + 31, 729)
    assert high == Fraction(women + 47, 729) / Fraction(men, 729)
    assert low < 1 < high


def test_repeated_prompts(model: str, rows: pd.DataFrame, raw: pd.DataFrame) -> None:
    asked, same, spread = hiring.repeats(rows)
    if model == "GPT-3.5":
        assert (asked, same, spread) == (0, 0, 0.0)
        return
    ranges = raw.groupby(["name", "pair"])["total"].agg(np.ptp)
    assert (asked, same) == (len(ranges), (ranges == 0).sum())
    assert spread == pytest.approx(ranges.mean(), rel=1e-12)
