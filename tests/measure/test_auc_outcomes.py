"""AUCs of outcomes that are cut at a threshold, or are one class against the others: held against scikit-learn."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from audit_lib import pipeline
from audit_lib.errors import SpecError
from audit_lib.run import Run
from tests.archive.cases import do, new_run

GROUPS: dict[str, Any] = {
    "provenance": "self_reported",
    "attributes": {"sex": ["female", "male"], "race": ["Black", "White"]},
    "reference": {"sex": "male", "race": "White"},
    "categories": {},
}
BANDS = ["behind", "on track", "ahead"]


def students(n: int = 400) -> pd.DataFrame:
    """Grade points with many at the threshold, some without one, tied scores, and people with several rows."""
    rng = np.random.Generator(np.random.PCG64(11))
    mastery = rng.normal(size=n)
    points = np.round(np.clip(2 + mastery + 0.5 * rng.normal(size=n), 0, 4) * 2) / 2
    points[rng.random(n) < 0.05] = np.nan
    band = np.select([points < 1.5, points < 3], BANDS[:2], BANDS[2]).astype(object)
    band[np.isnan(points)] = np.nan
    return pd.DataFrame(
        {
            "prompt_id": [f"p{i}" for i in range(n)], "application_id": [f"a{i // 2}" for i in range(n)],
            "position": "course", "resume": "r", "sex": rng.choice(["female", "male"], n),
            "race": rng.choice(["Black", "White"], n), "points": points, "band": band,
            "recorded_score": np.round(mastery + rng.normal(size=n), 1),
        }
    )  # fmt: skip


def audited(folder: Path, outcome: str, how: dict[str, Any], **sections: Any) -> tuple[Run, pd.DataFrame]:
    table = students()
    rows = table.drop(columns=[c for c in ("points", "band") if c != outcome]).rename(
        columns={outcome: "outcome"}
    )
    told = [{k: v for k, v in row.items() if v is not None and v == v} for row in rows.to_dict("records")]
    source = {"fields": ["resume"], "outcome": how}
    measure = {"metrics": ["auc_gap"], "strata": [[]]}
    given = {
        "groups": GROUPS,
        "source": source,
        "measure": measure,
        "report": {"policy": "generic"},
    } | sections
    return do(new_run(folder, str(folder / "store"), rows=told, **given), until="metrics"), table


def check(run: Run, table: pd.DataFrame, positive: pd.Series) -> None:
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    areas = {tuple(e["group"].items()): e for e in found if e["metric"] == "auc"}
    cells = [
        (),
        *((("sex", s),) for s in GROUPS["attributes"]["sex"]),
        *((("race", r),) for r in GROUPS["attributes"]["race"]),
    ]
    cells += [
        (("sex", s), ("race", r)) for s in GROUPS["attributes"]["sex"] for r in GROUPS["attributes"]["race"]
    ]
    assert set(areas) == set(cells)
    own = {}
    for cell in cells:
        mask = table["points"].notna().to_numpy()
        for axis, level in cell:
            mask = mask & (table[axis] == level).to_numpy()
        own[cell] = roc_auc_score(positive[mask], table["recorded_score"][mask])
        e = areas[cell]
        assert e["value"] == pytest.approx(own[cell], abs=1e-12)
        assert (e["n"], e["parameters"]["positives"]) == (int(mask.sum()), int(positive[mask].sum()))
    (gap,) = [e for e in found if e["metric"] == "auc_gap" and not e["group"]]
    subgroups = [own[cell] for cell in cells if cell]
    assert gap["value"] == pytest.approx(max(abs(a - b) for a, b in combinations(subgroups, 2)), abs=1e-12)


@pytest.mark.parametrize("threshold", [1.5, 2, 3])
def test_an_outcome_at_the_threshold_is_positive_and_an_unknown_one_neither(
    tmp_path: Path, threshold: float
) -> None:
    run, table = audited(tmp_path, "points", {"threshold": threshold})
    assert (table["points"] == threshold).sum() > 10, "else the boundary is not tested"
    check(run, table, table["points"] >= threshold)


@pytest.mark.parametrize("band", BANDS)
def test_each_class_against_all_others(tmp_path: Path, band: str) -> None:
    run, table = audited(tmp_path, "band", {"positive": [band], "negative": [b for b in BANDS if b != band]})
    check(run, table, table["band"] == band)


@pytest.mark.parametrize("metric", ["auc_gap", "calibration_gap", "equal_opportunity_gap", "theil_index"])
def test_classes_of_which_none_is_favourable_are_refused_before_the_run(tmp_path: Path, metric: str) -> None:
    """One score orders two classes: which of several is positive has to be said, and is not guessed."""
    table = students().assign(resume="on track")
    rows = table.drop(columns=["points"]).rename(columns={"band": "outcome"}).to_dict("records")
    sections: dict[str, Any] = {
        "groups": GROUPS, "source": {"fields": ["resume"], "outcome": {"classes": BANDS}},
        "decision": {"rule": "above_median", "classes": BANDS, "class_field": "resume"},
        "measure": {"metrics": ["score_gap", metric], "strata": [[]]}, "report": {"policy": "generic"},
    }  # fmt: skip
    told = [{k: v for k, v in row.items() if isinstance(v, str) or v == v} for row in rows]

    def checked(name: str, rows: list[dict[str, Any]], **sections: Any) -> None:
        (tmp_path / name).mkdir()
        pipeline.check(new_run(tmp_path / name, str(tmp_path / "store"), rows=rows, **sections).spec)

    with pytest.raises(
        SpecError, match=rf"{metric}: .* not one a class.*positive: \[ahead\].*false_negative_rate"
    ):
        checked("classes", told, **sections)
    checked("qualified", [{**row, "qualified": row.get("outcome") == "ahead"} for row in told], **sections)
    checked("without", told, **(sections | {"measure": {"metrics": ["score_gap"], "strata": [[]]}}))
    one = {"positive": ["ahead"], "negative": BANDS[:2]}
    checked("one", told, **(sections | {"source": {"fields": ["resume"], "outcome": one}}))
