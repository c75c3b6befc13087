"""What kernels take from tables, and give back: labelled columns in one order, counts as floats, masks, tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import statsmodels.api as sm

from audit_lib import metrics
from audit_lib.errors import InputError
from audit_lib.results import Interval, Undefined

RNG = np.random.default_rng(4)
ROWS = pd.DataFrame(
    {
        "outcome": RNG.integers(0, 2, 60),
        "decision": RNG.integers(0, 2, 60),
        "score": RNG.normal(size=60),
        "sex": np.where(np.arange(60) % 2, "female", "male"),
        "dossier": np.arange(60) // 2,
    },
    index=[f"p{i}" for i in RNG.permutation(60)],
)
SHUFFLED = ROWS.sample(frac=1, random_state=3)
MASKS = pd.DataFrame({"women": ROWS["sex"] == "female", "men": ROWS["sex"] == "male"})

CALLS: dict[str, Any] = {
    "rates": lambda a, b: metrics.false_negative_rate_gap(
        a["outcome"], b["decision"], b["sex"] == "female", a["sex"] == "male"
    ),
    "auc": lambda a, b: metrics.auc(a["score"], b["outcome"]),
    "auc_gap": lambda a, b: metrics.auc_gap(a["score"], b["outcome"], b["sex"]),
    "auc_gap of masks": lambda a, b: metrics.auc_gap(a["score"], b["outcome"], MASKS.loc[b.index]),
    "effects": lambda a, b: metrics.standardised_effects(
        a["score"], {"sex": b["sex"]}, b["dossier"]
    ).effects[0].estimate,
    "scoring": lambda a, b: [row.above for row in metrics.scoring_rates(a["score"], b["sex"]).rows],
    "ranks": lambda a, b: metrics.rank_counts_by_group(a["score"], b["sex"], "male"),
    "shares": lambda a, b: metrics.selection_shares(a["score"], b["dossier"]).sum(),
    "qualified": lambda a, b: metrics.equal_opportunity_gap(
        a["decision"], b["outcome"], a["decision"].iloc[:30], a["outcome"].iloc[:30]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_series_are_put_into_one_order(name: str) -> None:
    call = CALLS[name]
    assert call(ROWS, SHUFFLED) == call(ROWS, ROWS)


@pytest.mark.parametrize("name", ["rates", "auc", "auc_gap", "effects", "scoring", "ranks", "shares"])
def test_rows_that_are_not_the_same_are_refused(name: str) -> None:
    call = CALLS[name]
    with pytest.raises(InputError, match=r"lacks 1 of the 60 rows of .* reindex it first"):
        call(ROWS, SHUFFLED.iloc[1:])
    with pytest.raises(InputError, match=r"no labels, and those of .* may have been sorted"):
        call(SHUFFLED, {name: SHUFFLED[name].to_numpy() for name in SHUFFLED})
    if name != "rates":
        with pytest.raises(InputError, match="no labels"):
            call(SHUFFLED, {name: SHUFFLED[name].tolist() for name in SHUFFLED})


def test_labels_that_come_twice_are_refused() -> None:
    twice = pd.concat([ROWS, ROWS])
    other = twice.sample(frac=1, random_state=0)
    assert metrics.auc(twice["score"], twice["outcome"]) == metrics.auc(ROWS["score"], ROWS["outcome"])
    with pytest.raises(InputError, match="labels come twice"):
        metrics.auc(twice["score"], other["outcome"])


def test_an_array_next_to_rows_in_order_is_taken_row_by_row() -> None:
    part = ROWS.reset_index(drop=True).iloc[10:50]
    assert metrics.auc(part["score"], part["outcome"].to_numpy()) == metrics.auc(
        part["score"], part["outcome"]
    )


def test_a_count_may_be_a_whole_float() -> None:
    whole = metrics.impact_ratios({"f": 3, "m": 6}, {"f": 10, "m": 10})
    selected, total = pd.Series({"f": 3.0, "m": 6.0}), pd.Series({"f": np.float32(10), "m": np.float32(10)})
    assert metrics.impact_ratios(selected, total) == whole
    assert all(isinstance(row.selected, int) for row in metrics.impact_ratios(selected, total).rows)
    for wrong in (2.5, float("nan"), float("inf"), -1.0, "3", True, None):
        with pytest.raises(InputError, match="expected a whole number of people"):
            metrics.impact_ratios({"f": wrong, "m": 6}, {"f": 10, "m": 10})


def test_tables_where_a_column_is_meant_say_what_to_do() -> None:
    counts = ROWS.groupby("sex")[["decision", "outcome"]].sum()
    with pytest.raises(InputError, match=r"got a table of 2 columns; give one, such as table\['selected'\]"):
        metrics.impact_ratios(counts, counts)
    for call in (
        lambda: metrics.scoring_rates(ROWS["score"], ROWS[["sex", "dossier"]]),
        lambda: metrics.rabbi(ROWS[["score"]], [1, 2]),
        lambda: metrics.decision_rate_gap(ROWS[["outcome"]], ROWS["decision"], MASKS["women"], MASKS["men"]),
    ):
        with pytest.raises(InputError, match="where one is meant; give one of them"):
            call()


def test_masks_of_two_groups_may_not_overlap() -> None:
    women = MASKS["women"]
    with pytest.raises(
        InputError, match=r"60 people are in is_group and in is_reference; .* such as ~is_group"
    ):
        metrics.decision_rate_gap(ROWS["outcome"], ROWS["decision"], women | True, women | True)
    gap = metrics.decision_rate_gap(ROWS["outcome"], ROWS["decision"], women, ~women)
    assert gap == ROWS["decision"][women].mean() - ROWS["decision"][~women].mean()


def test_columns_of_other_libraries_are_labels() -> None:
    words = ["a", "b", None, "a"]
    found = metrics.scoring_rates([1.0, 2.0, 3.0, 4.0], pa.chunked_array([words[:2], words[2:]]))
    assert found == metrics.scoring_rates([1.0, 2.0, 3.0, 4.0], words)


def test_an_effect_has_interval_p_and_n() -> None:
    """Against the t quantiles of statsmodels, with its own cluster-robust errors."""
    y, women = ROWS["score"].to_numpy(), (ROWS["sex"] == "female").to_numpy(dtype=float)
    effect = metrics.standardised_effects(y, {"sex": ROWS["sex"].to_numpy()}, ROWS["dossier"].to_numpy(),
                                          {"sex": "male"})["sex", "female"]  # fmt: skip
    fit = sm.OLS(y, np.column_stack([women, np.ones(60)])).fit(
        cov_type="cluster", cov_kwds={"groups": ROWS["dossier"].to_numpy()}, use_t=True
    )
    sd = y.std(ddof=1)
    assert isinstance(effect.interval, Interval)
    theirs = fit.conf_int()[0] / sd
    assert [effect.interval.low, effect.interval.high] == pytest.approx(list(theirs), rel=1e-9)
    assert effect.p_value == pytest.approx(float(fit.pvalues[0]), rel=1e-9)
    assert (effect.n, effect.clusters, effect.interval.level) == (60, 30, 0.95)
    assert effect.interval_at(0.5).low > effect.interval.low


def test_an_effect_without_an_error_says_why() -> None:
    fit = metrics.standardised_effects([1, 2, 1, 2], {"sex": ["m", "f"] * 2}, [1, 1, 2, 2])
    effect = fit["sex", "m"]
    assert (
        isinstance(effect.interval, Undefined) and effect.interval == effect.p_value == effect.standard_error
    )
    assert fit.to_frame()["undefined"].str.contains("no residual").all()


def test_results_are_tables() -> None:
    ratios = metrics.impact_ratios({"f": 3, "m": 6, "x": 0}, {"f": 10, "m": 10, "x": 0}).to_frame()
    assert (
        ratios["ratio"].tolist()[:2] == [0.5, 1.0]
        and ratios["undefined"].tolist()[2] == "no member in this category"
    )
    scoring = metrics.scoring_rates(ROWS["score"], ROWS["sex"]).to_frame()
    assert scoring["above"].sum() == 30 and scoring["n"].tolist() == [30, 30]
    areas = metrics.auc_by_group(ROWS["score"], ROWS["outcome"], MASKS).to_frame()
    assert areas["group"].tolist() == ["men", "women"] and areas["auc"].between(0, 1).all()
    effects = metrics.standardised_effects(ROWS["score"], {"sex": ROWS["sex"]}, ROWS["dossier"]).to_frame()
    assert {"estimate", "low", "high", "p_value", "n", "method"} <= set(effects.columns)
    assert effects[["level", "interval_level"]].to_numpy().tolist() == [["male", 0.95]]
