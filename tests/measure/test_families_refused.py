"""What would show only after the model was asked is refused before."""

from __future__ import annotations

import pytest

from audit_lib.errors import SpecError
from audit_lib.measure.requirements import check_metrics
from tests.specs import load


def test_a_condition_that_is_no_column_is_refused_by_name() -> None:
    asked = {"metrics": ["conditional_demographic_disparity"], "condition": "positon"}
    with pytest.raises(
        SpecError, match="measure.condition: 'positon' is neither position nor one of source.fields"
    ):
        check_metrics(load(measure=asked), {})
    check_metrics(load(measure={**asked, "condition": "position"}), {})


def test_flips_are_refused_where_candidates_compete() -> None:
    asked = {"metrics": ["decision_flip_share"]}
    competing = load(measure=asked, decision={"rule": "top_k", "k": 1, "round": "round_id"})
    with pytest.raises(
        SpecError, match="measure.metrics: decision_flip_share: decision.rule top_k selects a version"
    ):
        check_metrics(competing, {})
    check_metrics(load(measure=asked, decision={"rule": "threshold", "threshold": 0.5}), {})
