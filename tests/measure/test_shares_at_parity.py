"""Stereotypical associations against other shares than equal ones: those that a spec gives."""

from __future__ import annotations

from typing import Any

import pytest

from audit_lib.errors import SpecError
from audit_lib.measure.metric import METRICS
from audit_lib.measure.requirements import check_metrics
from audit_lib.metrics import stereotypical_associations
from tests.measure.tables import POLICY, TEXT_SECTIONS, WORDS, as_rows, table
from tests.specs import load


def spec_with(shares: dict[str, Any]) -> Any:
    return load(**{**TEXT_SECTIONS, "texts": {**TEXT_SECTIONS["texts"], "shares": shares}})


def test_the_distance_is_from_the_shares_of_the_spec() -> None:
    rows = as_rows(table(240))
    assert rows.texts is not None
    said = rows.texts.text.tolist()
    shares = {"female": 0.3, "male": 0.7}
    found = METRICS.get("stereotypical_associations")(rows, spec_with({"sex": shares}), POLICY).estimates
    (sex,), (race,) = ([e for e in found if e.parameters["attribute"] == axis] for axis in ("sex", "race"))
    own = stereotypical_associations(said, WORDS.protected["sex"], WORDS.targets, shares)
    assert sex.value == own.mean and "texts.shares" in sex.method
    assert sex.value != stereotypical_associations(said, WORDS.protected["sex"], WORDS.targets).mean
    assert race.value == stereotypical_associations(said, WORDS.protected["race"], WORDS.targets).mean
    assert "equal shares" in race.method


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ({"sex": {"female": 0.3, "male": 0.6}}, "sum to 0.9, not 1"),
        ({"sex": {"female": 1.0}}, "sex: give a share for each level"),
        ({"age": {"old": 1.0}}, "age: give a share for each level"),
    ],
)
def test_shares_that_are_no_distribution_are_refused(shares: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        check_metrics(spec_with(shares), {})
