"""Opposite words do not cancel unseen: the absolute score and the table by word find both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib.documents.estimates import limits
from audit_lib.measure.metric import METRICS, owner_of, record_of
from audit_lib.results import Estimate, Undefined
from tests.measure.tables import POLICY, SPEC, as_rows, table

OTHER = "late"


def said(of_women: Mapping[str, float], applications: int = 300) -> pd.DataFrame:
    """One letter an application; each word is in a woman's letter with its share, in a man's with 1 less it."""
    rng = np.random.default_rng(5)
    rows = table(applications)
    rows["application_id"] = rows["variant_id"]
    texts = []
    for sex in rows["sex"]:
        own = [w for w, p in of_women.items() if rng.random() < (p if sex == "female" else 1 - p)]
        texts.append(f"{'she' if sex == 'female' else 'he'} is {' and '.join([*own, 'there'])} at work")
    rows["text"] = texts
    return rows


def estimates(rows: pd.DataFrame) -> dict[str, Estimate]:
    """Of women against men, by the end of the name, or the word."""
    found = METRICS.get("cooccurrence_bias_score")(as_rows(rows), SPEC, POLICY).estimates
    return {
        str(e.parameters.get("word", e.metric.removeprefix("cooccurrence_bias_score"))): e
        for e in found
        if e.group == {"sex": "female"}
    }


def ends(e: Estimate) -> tuple[float, float]:
    found = limits(e.interval)
    assert found is not None
    return found.low, found.high


def test_opposite_words_cancel_in_the_mean_and_are_found_one_by_one() -> None:
    found = estimates(said({"kind": 0.8, "able": 0.2, OTHER: 0.5}))
    assert ends(found[""])[0] < 0 < ends(found[""])[1], "the signed mean shows nothing"
    assert ends(found["_absolute"])[0] > 0.2
    assert ends(found["kind"])[0] > 0.5 and ends(found["able"])[1] < -0.5
    assert ends(found[OTHER])[0] < 0 < ends(found[OTHER])[1]
    # A mean of absolute values, of the words that the table prints.
    values = [float(found[word].value) for word in ("kind", "able", OTHER)]  # type: ignore[arg-type]
    assert found["_absolute"].value == pytest.approx(np.mean(np.abs(values)), rel=1e-12)
    assert found[""].value == pytest.approx(np.mean(values), rel=1e-12)
    near = found["kind"].parameters
    texts = said({"kind": 0.8, "able": 0.2, OTHER: 0.5})
    for side, sex in (("near_group", "female"), ("near_reference", "male")):
        assert near[side] == texts.loc[texts["sex"] == sex, "text"].str.contains("kind").sum()


def test_words_alike_on_both_sides_show_nothing() -> None:
    found = estimates(said({"kind": 0.5, "able": 0.5, OTHER: 0.5}))
    assert ends(found["_absolute"])[0] == 0.0
    assert all(ends(found[word])[0] < 0 < ends(found[word])[1] for word in ("kind", "able", OTHER))


def test_a_word_near_one_side_has_its_reason_and_no_number() -> None:
    found = estimates(said({"kind": 1.0, "able": 0.5}))
    value = found["kind"].value
    assert isinstance(value, Undefined) and "near no word of the reference" in value.reason
    assert isinstance(found[OTHER].value, Undefined)
    assert found[""].parameters["words_defined"] == 1


def test_its_records_say_how_to_read_them() -> None:
    absolute: Any = record_of("cooccurrence_bias_score_absolute")
    assert (absolute.signed, absolute.parity, absolute.better) == (False, 0.0, "lower")
    assert record_of("cooccurrence_bias_score_by_word").title == "Co-occurrence bias by word"
    assert owner_of("cooccurrence_bias_score_absolute") == "cooccurrence_bias_score"
    assert owner_of("auc") == "auc_gap" and owner_of("nobody_s") == "nobody_s"
