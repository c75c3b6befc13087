"""No verdict of a frame rests on groups of which one is answered much less often than another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import audit_lib
from audit_lib.dataframe import FrameResult


def of(missing: int, column: str) -> FrameResult:
    """4,000 people of two equal groups; of the first some answers are missing."""
    rng = np.random.Generator(np.random.PCG64(2))
    sex = np.repeat(["f", "m"], 2_000)
    rows = pd.DataFrame(
        {"sex": sex, "hired": rng.permutation(4_000) % 2 == 0, "score": rng.normal(size=4_000)}
    )
    rows = rows.astype({"hired": "boolean"})
    rows.loc[: missing - 1, column] = pd.NA if column == "hired" else np.nan
    given: dict[str, Any] = {"decision": "hired"} if column == "hired" else {"score": "score"}
    metric = {"hired": "decision_rate_gap", "score": "score_gap"}[column]
    return audit_lib.frame(
        rows, groups="sex", reference="m", metrics=[metric], measure={"margins": {metric: 0.2}}, **given
    )


@pytest.mark.parametrize("column", ["hired", "score"])
def test_groups_are_not_equivalent_where_a_third_of_one_is_missing(column: str) -> None:
    (some,) = of(90, column).gaps
    assert some.verdict is not None and some.verdict.kind == "equivalent"
    result = of(667, column)
    (one,) = result.gaps
    assert one.verdict is not None and one.verdict.kind == "undecided"
    assert "67% in one group and 100% in another; at most 5%" in str(one.verdict.reason)
    assert (
        any("67% in one group" in note for note in result.notes)
        and "67% in one group" in result._repr_html_()
    )
    assert one.value == pytest.approx(float(one.value)) and one.tests, (
        "numbers stay; what they show is left open"
    )


def test_answers_that_are_missing_alike_leave_verdicts_as_they_are() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    hired = pd.array(rng.random(4_000) < 0.5, dtype="boolean")
    hired[::3] = pd.NA
    rows = pd.DataFrame({"sex": np.tile(["f", "m"], 2_000), "hired": hired})
    result = audit_lib.frame(
        rows,
        decision="hired",
        groups="sex",
        metrics=["decision_rate_gap"],
        measure={"margins": {"decision_rate_gap": 0.2}},
    )
    assert result.gaps[0].verdict is not None and result.gaps[0].verdict.kind == "equivalent"
