"""JSON as it is written: one byte string for one value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.canonical import canonical_json, pretty_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(VALUES)
def test_indented_json_has_the_bytes_of_the_standard_library(value: Any) -> None:
    assert pretty_json(value) == (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


@pytest.mark.parametrize("write", [canonical_json, pretty_json])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_refused(write: Any, number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write({"value": [number]})
