"""Strata by who is qualified and by a field; the bins of the Jensen-Shannon divergence."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from audit_lib import pipeline
from audit_lib.errors import SpecError
from tests.archive.cases import applicants, do, new_run
from tests.measure.tables import measured, table
from tests.specs import load


def test_metrics_of_the_qualified_alone(tmp_path: Path) -> None:
    rows = [
        row | {"qualified": [True, False, None][index % 3], "band": index % 2 + 1}
        for index, row in enumerate(applicants())
    ]
    run = new_run(
        tmp_path, str(tmp_path / "store"), rows=rows, source={"fields": ["resume", "band"]},
        measure={"metrics": ["rabbi", "score_gap"], "strata": [[], ["qualified"], ["qualified", "band"]]},
    )  # fmt: skip
    pipeline.check(run.spec)
    do(run, until="metrics")
    estimates = run.stage("metrics").read_json("metrics.json")["estimates"]
    found = [e for e in estimates if e["group"] == {"sex": "female"}]
    strata = [tuple(e["stratum"].items()) for e in found if e["metric"] == "rabbi"]
    by_two = [(("qualified", q), ("band", b)) for q, b in product(("unknown", "no", "yes"), "12")]
    assert sorted(strata) == sorted([(), *((("qualified", q),) for q in ("unknown", "no", "yes")), *by_two])
    (gap,) = [e for e in found if e["metric"] == "score_gap" and e["stratum"] == {"qualified": "yes"}]
    qualified = [row for row in rows if row["qualified"]]
    means = {
        sex: np.mean([row["recorded_score"] for row in qualified if row["sex"] == sex])
        for sex in ("female", "male")
    }
    assert gap["value"] == pytest.approx(means["female"] - means["male"], abs=1e-12)
    assert gap["n"] == len(qualified) == 16


def test_samples_keep_the_shares_of_a_field_and_of_the_qualified(tmp_path: Path) -> None:
    rows = [
        row | {"qualified": index % 4 == 0, "band": "low" if index % 2 else "high"}
        for index, row in enumerate(applicants())
    ]
    run = new_run(
        tmp_path, str(tmp_path / "store"), rows=rows, source={"fields": ["resume", "band"]},
        sample={"size": 12, "strata": ["qualified", "band"]},
    )  # fmt: skip
    pipeline.check(run.spec)
    do(run, until="sample")
    assert run.stage("sample").read_json("sample.json")["strata"] == [
        {"qualified": "no", "band": "high", "available": 12, "drawn": 3},
        {"qualified": "no", "band": "low", "available": 24, "drawn": 6},
        {"qualified": "yes", "band": "high", "available": 12, "drawn": 3},
    ]


@pytest.mark.parametrize("bins", [2, 7, 20, 50])
def test_the_divergence_has_the_bins_of_the_spec(bins: int) -> None:
    spec, rows = load(measure={"bins": bins}), table(400)
    whole, *_ = measured("jensen_shannon_divergence", rows, spec=spec)
    found = next(e for e in whole["estimates"] if e["group"] == {"sex": "female"})
    a, b = (rows.loc[rows["sex"] == sex, "score"] for sex in ("female", "male"))
    edges = np.linspace(rows["score"].min(), rows["score"].max(), bins + 1)
    p, q = (np.histogram(one, edges)[0] for one in (a, b))
    assert found["parameters"] == {"bins": bins}
    assert found["value"] == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-12)
    assert found["value"] <= math.log(2)


def test_the_default_of_bins_leaves_the_digest_of_a_spec() -> None:
    assert load(measure={"bins": 20}).canonical() == load().canonical()
    assert b'"bins"' not in load().canonical()
    assert load(measure={"bins": 10}).digest({}) != load().digest({})
    with pytest.raises(SpecError, match=r"measure\.bins"):
        load(measure={"bins": 1})
