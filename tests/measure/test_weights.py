"""Sampling weights: by hand and by statsmodels' clustered WLS, what takes none, and rows without a usable weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student

import audit_lib
from audit_lib.documents.metrics import read_metrics
from audit_lib.errors import InputError, SpecError
from audit_lib.measure.requirements import check_metrics
from audit_lib.results import Estimate, Interval
from audit_lib.stats import kish_effective_size
from tests.archive.cases import do, new_run
from tests.dataframe.people import people
from tests.specs import load

KEYS: dict[str, Any] = {"groups": "sex", "reference": "male", "clusters": "who", "sampling_weights": "w"}


def drawn(n: int = 240, shared: bool = False) -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(8))
    who = np.arange(n) // 2
    sex = np.where(np.arange(n) % 2 == 0, "female", "male") if shared else np.where(who % 2, "female", "male")
    score = rng.normal(size=n) + rng.normal(size=n // 2)[who]
    return pd.DataFrame(
        {"who": who.astype(str), "sex": sex, "score": score, "hired": score + rng.normal(size=n) > 0.3,
         "w": rng.choice([1.0, 2.5, 8.0], n)}
    )  # fmt: skip


def of_one_size(table: pd.DataFrame) -> pd.DataFrame:
    """The same people with weights that add up to 9 in each cluster and sex, of two rows each."""
    place = table.groupby(["who", "sex"]).cumcount()
    first = table.groupby(["who", "sex"])["w"].transform("first")
    return table.assign(w=np.where(place == 0, first, 9.0 - first))


def law(sums: pd.Series, weights: pd.Series) -> tuple[float, float]:
    """Variance of the mean whose linearised values these are, and its degrees, by the law of uneven clusters by hand.

    Each cluster is measured from the others, by its share of the weight.
    """
    share, count = weights / weights.sum(), len(sums)
    moved = sums * (1 - 1 / count) / (1 - share)
    squares = moved**2
    satterthwaite = 2 / ((squares**2).sum() / squares.sum() ** 2 - 1 / count)
    return count / (count - 1) * squares.sum(), min(1 / (share**2).sum() - 1, satterthwaite)


def gap(table: pd.DataFrame, metric: str, **more: Any) -> Estimate:
    return audit_lib.frame(
        table, decision="hired", score="score", metrics=[metric], **(KEYS | more)
    ).gaps[0]  # fmt: skip


@pytest.mark.parametrize(("metric", "column"), [("score_gap", "score"), ("decision_rate_gap", "hired")])
def test_it_is_clustered_weighted_least_squares(metric: str, column: str) -> None:
    table = of_one_size(drawn())
    found = gap(table, metric)
    x = sm.add_constant((table["sex"] == "female").astype(float))
    fitted = sm.WLS(table[column].astype(float), x, weights=table["w"]).fit(
        cov_type="cluster", cov_kwds={"groups": table["who"].astype(int), "use_correction": False}
    )
    assert found.value == pytest.approx(fitted.params.iloc[1])
    # 60 clusters a side, none on both: each side's variance is corrected by 60 / 59.
    assert isinstance(found.interval, Interval)
    error = (found.interval.high - found.interval.low) / 2 / _quantile(found)
    assert error == pytest.approx(fitted.bse.iloc[1] * (60 / 59) ** 0.5, rel=1e-5)  # the degrees are rounded


def _quantile(found: Estimate) -> float:
    assert isinstance(found.interval, Interval)
    df = float(found.interval.method.partition("t(")[2].rstrip(")"))
    assert 59 <= df <= 118
    return float(student.ppf(0.975, df))


def test_clusters_on_both_sides_count_what_they_share() -> None:
    table = drawn(shared=True)
    table = of_one_size(table.assign(who=(np.arange(len(table)) // 4).astype(str)))
    x = sm.add_constant((table["sex"] == "female").astype(float))
    fitted = sm.WLS(table["score"], x, weights=table["w"]).fit(
        cov_type="cluster", cov_kwds={"groups": table["who"].astype(int), "use_correction": False}
    )
    found = gap(table, "score_gap").interval
    assert isinstance(found, Interval)
    error = (found.high - found.low) / 2 / float(student.ppf(0.975, 59))
    assert error == pytest.approx(fitted.bse.iloc[1] * (60 / 59) ** 0.5)


def test_rates_ratio_and_effective_sizes_by_hand() -> None:
    table = drawn()
    own = gap(table, "decision_rate_gap").weighted
    assert own is not None and own.rate_group is not None and own.rate_reference is not None
    rates, logs, degrees = [], [], []
    for sex, size, rate in (
        ("female", own.effective_group, own.rate_group), ("male", own.effective_reference, own.rate_reference)
    ):  # fmt: skip
        side = table[table["sex"] == sex]
        w, y = side["w"], side["hired"].astype(float)
        assert size == pytest.approx(w.sum() ** 2 / (w**2).sum())
        p = (w * y).sum() / w.sum()
        u = (w * (y - p) / w.sum()).groupby(side["who"]).sum()
        v, df = law(u, w.groupby(side["who"]).sum())
        logit, half = np.log(p / (1 - p)), student.ppf(0.975, df) * v**0.5 / (p * (1 - p))
        assert rate.value == pytest.approx(p) and isinstance(rate.interval, Interval)
        assert (rate.interval.low, rate.interval.high) == pytest.approx(
            (1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit)))
        )
        rates.append(p)
        logs.append(v / p**2)
        degrees.append(df)
    df = sum(logs) ** 2 / sum(v**2 / df for v, df in zip(logs, degrees, strict=True))
    half = student.ppf(0.975, df) * sum(logs) ** 0.5
    assert own.ratio == pytest.approx(rates[0] / rates[1]) and isinstance(own.ratio_interval, Interval)
    assert np.log([own.ratio_interval.low, own.ratio_interval.high]) == pytest.approx(
        [np.log(rates[0] / rates[1]) - half, np.log(rates[0] / rates[1]) + half]
    )


def test_a_cluster_with_much_of_the_weight_counts_by_what_it_holds() -> None:
    """400 draws of 30 clusters a side, one of which has 40% of the weight: counted as of one size they held in 82%."""
    held, draws = 0, 400
    for number in range(draws):
        rng = np.random.Generator(np.random.PCG64([4, number]))
        who = np.arange(60).repeat(2)
        sex = np.where(who < 30, "female", "male")
        score = rng.normal(size=60)[who] + rng.normal(size=120)
        weight = np.where(np.isin(who, (0, 30)), 20.0, 1.0)
        table = pd.DataFrame(
            {"who": who.astype(str), "sex": sex, "score": score, "hired": score > 0, "w": weight}
        )
        found = gap(table, "score_gap").interval
        assert isinstance(found, Interval)
        held += found.low <= 0.0 <= found.high
    assert held / draws >= 0.93
    table["w"] = np.where(np.isin(who, (0, 30)), 1000.0, 1.0)
    assert "worth" in str(gap(table, "score_gap").interval)


def test_equal_weights_change_no_value_and_their_unit_no_number() -> None:
    table = drawn()
    plain = audit_lib.frame(
        table,
        decision="hired",
        score="score",
        metrics=["score_gap"],
        groups="sex",
        reference="male",
        clusters="who",
    ).gaps[0]
    even = gap(table.assign(w=3.7), "score_gap")
    assert even.value == pytest.approx(plain.value)
    assert isinstance(even.interval, Interval) and isinstance(plain.interval, Interval)
    assert (even.interval.low, even.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))
    assert even.weighted is not None and even.weighted.effective_group == pytest.approx(120)
    once, thousand = (
        gap(table, "decision_rate_gap"),
        gap(table.assign(w=1000 * table["w"]), "decision_rate_gap"),
    )
    assert once.value == pytest.approx(thousand.value) and plain.weighted is None
    assert kish_effective_size([1e200, 1e200]) == 2.0


def test_where_everybody_of_a_side_is_selected_there_is_no_interval() -> None:
    table = drawn()
    found = gap(table.assign(hired=table["hired"] | (table["sex"] == "male")), "decision_rate_gap")
    assert "weights leave no spread" in str(found.interval) and found.weighted is not None
    assert "weights leave no spread" in str(found.weighted.ratio_interval)


@pytest.mark.parametrize("bad", [None, 0.0, -1.0, float("inf"), float("nan")])
def test_a_row_without_a_usable_weight_is_refused_with_the_count(bad: float | None) -> None:
    weights = [bad, bad, *drawn()["w"].tolist()[2:]]
    with pytest.raises(
        InputError,
        match="2 of 240 rows have no sampling weight that is positive and finite|2 values are infinite",
    ):
        gap(drawn(), "score_gap", sampling_weights=weights)


def test_a_spec_is_refused_by_the_metric_s_name_and_the_decision_s_rule() -> None:
    source = {"fields": ["resume", "w"]}
    for metrics, decision, said in (
        (["score_gap", "rabbi"], {"rule": "recorded"}, "rabbi cannot take sampling weights; leave out"),
        (
            ["impact_ratio"],
            {"rule": "recorded"},
            "no metric of measure.metrics takes them; add decision_rate_gap",
        ),
        (["decision_rate_gap"], {"rule": "above_median"}, "above_median decides by the other rows"),
    ):
        spec = load(source=source, decision=decision, measure={"metrics": metrics, "weights": "w"})
        with pytest.raises(SpecError, match=said):
            check_metrics(spec, spec.read_design_files())
    spec = load(source=source, measure={"metrics": ["score_gap"], "weights": "v"})
    with pytest.raises(SpecError, match="'v' is not one of source.fields"):
        check_metrics(spec, spec.read_design_files())


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"prompt_id": f"p{i:03d}", "application_id": who, "position": "all", "resume": "r", "sex": sex,
         "recorded_score": score, "recorded_selected": bool(hired), "w": str(w)}
        for i, (who, sex, score, hired, w) in enumerate(table.itertuples(index=False))
    ]  # fmt: skip


def run_of(folder: Path, table: pd.DataFrame, policy: str) -> Any:
    groups = {"provenance": "self_reported", "attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"},
              "categories": {"sex": {"female": "Female", "male": "Male"}}}  # fmt: skip
    return new_run(
        folder, str(folder / "store"), rows=rows_of(table), groups=groups, source={"fields": ["resume", "w"]},
        decision={"rule": "recorded"}, report={"policy": policy, "languages": ["es"]},
        measure={"metrics": ["impact_ratio", "decision_rate_gap", "score_gap"], "strata": [[]], "weights": "w"},
    )  # fmt: skip


def test_a_run_has_a_frame_s_numbers_and_the_law_s_table_stays_counts(tmp_path: Path) -> None:
    table = drawn()
    run = do(run_of(tmp_path, table, "nyc_ll144"))
    found = read_metrics(run.stage("metrics").read("metrics.json"))
    ours = {one.metric: one for one in found.estimates}
    for name in ("decision_rate_gap", "score_gap"):
        theirs = gap(table, name)
        assert (ours[name].value, ours[name].weighted) == (theirs.value, theirs.weighted)
    counted = {row.label: (row.selected, row.n) for row in found.tables[0].rows}
    by_hand = table.groupby("sex")["hired"].agg(["sum", "size"])
    assert counted == {sex.capitalize(): tuple(by_hand.loc[sex]) for sex in ("female", "male")}
    page, spanish = (run.stage("report").read(f"report{end}.html").decode() for end in ("", ".es"))
    assert "The sampling weights of this audit are in none of their numbers" in page
    assert "Decision rate gap: by sampling weights" in page and "Effective n, group" in page
    assert "por pesos de muestreo" in spanish and "n efectivo" in spanish


def test_a_run_stops_at_the_sample_where_a_weight_is_missing(tmp_path: Path) -> None:
    table = drawn(40)
    table.loc[[3, 4, 5], "w"] = 0.0
    with pytest.raises(InputError, match="column 'w': 3 of 40 rows have no sampling weight"):
        do(run_of(tmp_path, table, "generic"))


def test_a_frame_leaves_out_and_tells_what_takes_no_weights() -> None:
    rows = people().assign(w=1.5)
    found = audit_lib.frame(rows, decision="hired", score="score", groups="sex", sampling_weights="w")
    assert found.spec.measure.metrics == ["decision_rate_gap", "score_gap"]
    assert {"weighted_ratio", "effective_n_group"} <= set(found.to_frame().columns)
    assert any("worth 160.0 rows of equal weight (Kish)" in note for note in found.notes)
    with pytest.raises(SpecError, match="rabbi cannot take"):
        audit_lib.frame(
            rows, score="score", groups="sex", sampling_weights="w", metrics=["rabbi", "score_gap"]
        )
    with pytest.raises(InputError, match="give one of the two"):
        audit_lib.frame(rows, score="score", groups="sex", sampling_weights="w", weights="w")
