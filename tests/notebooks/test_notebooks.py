"""The notebooks of docs/notebooks run from top to bottom, and show what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.notebooks.run import NOTEBOOKS, cells, run

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4 and cells(path, "markdown")[0].startswith("# ")
    for cell in document["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
    again = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    assert path.read_text(encoding="utf-8") == again, "as Jupyter writes it"


def value(table: pd.DataFrame, metric: str, **where: str) -> float:
    """The one value of a metric."""
    for name, level in where.items():
        table = table[table[name] == level]
    (found,) = table.loc[table["metric"] == metric, "value"]
    return float(found)


def test_recidivism() -> None:
    names, _ = run(NOTEBOOKS / "recidivism.ipynb")
    people, table = names["people"].dropna(), names["risk"].to_frame()
    rates = people.groupby(["race", "again"])["high"].mean()
    gap = rates["Black", False] - rates["White", False]
    assert value(table, "false_positive_rate_gap") == pytest.approx(gap, abs=1e-12)
    assert gap > 0.05 and abs(value(table, "auc", group="Black") - value(table, "auc", group="White")) < 0.05
    assert names["risk"].metrics.rows.unknown_group == 40
    assert list(names["held"].to_frame()["verdict"].str.contains("beyond the margin").fillna(False)) != [
        False,
        False,
    ]


def test_correspondence() -> None:
    names, shown = run(NOTEBOOKS / "correspondence.ipynb")
    ratings, table = names["ratings"], names["names"].to_frame()
    by_sex = ratings.groupby("sex")["rating"].mean()
    effect = (by_sex["woman"] - by_sex["man"]) / ratings["rating"].std()
    assert value(table, "standardised_effect", group="woman") == pytest.approx(effect, abs=1e-12)
    found: Any = shown[-1].set_index("level")["estimate"]
    assert found["woman"] == pytest.approx(effect, abs=1e-12)
    verdicts = table[table["metric"] == "standardised_effect"].set_index("group")["verdict"]
    assert verdicts["woman"] == "difference" and verdicts["Black"] == "undecided"


def test_ranking() -> None:
    names, _ = run(NOTEBOOKS / "ranking.ipynb")
    ranking, table = names["ranking"], names["places"].to_frame()
    best = ranking.groupby("round")["score"].rank(ascending=False) <= 2
    rates = best.groupby(ranking["group"]).mean()
    parity = table[(table["metric"] == "demographic_parity_gap") & (table["at"] == "k = 2")].set_index(
        "group"
    )["value"]
    for group in ("Black women", "Black men", "White women"):
        assert parity[group] == pytest.approx(rates[group] - rates["White men"], abs=1e-12)
    a, b = (
        ranking.loc[ranking["group"] == group, "score"].to_numpy() for group in ("Black men", "White men")
    )
    assert value(table, "rabbi", group="Black men") == np.sign(a[:, None] - b).mean()
    ratios = names["firsts"].to_frame().query("kind == 'ratio'").set_index("group")["value"]
    firsts = ranking.groupby("group")["first"].mean()
    assert ratios.to_dict() == pytest.approx((firsts / firsts.max()).to_dict(), abs=1e-12)
