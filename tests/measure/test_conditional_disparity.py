"""What conditional demographic disparity leaves out is counted next to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.measure.tables import SPEC, measured, table


def _of(rows: pd.DataFrame) -> dict[str, object]:
    estimate = measured("conditional_demographic_disparity", rows)[0]["estimates"][0]
    return {**estimate["parameters"], "value": estimate["value"], "n": estimate["n"]}


def test_strata_with_one_decision_are_counted_with_their_people() -> None:
    assert SPEC.measure.condition == "position"
    rows = table()
    both = _of(rows)
    assert both["strata_of_one_decision"] == both["people_in_strata_of_one_decision"] == 0
    cook = rows["position"] == "cook"
    rows["selected"] = pd.array(np.where(cook, rows["selected"], False), dtype="boolean")
    found = _of(rows)
    assert found["strata_of_one_decision"] == 1
    assert found["people_in_strata_of_one_decision"] == int((~cook).sum())
    assert found["n"] == len(rows)
    alone = _of(rows[cook])
    assert found["value"] == pytest.approx(alone["value"], abs=1e-12)
