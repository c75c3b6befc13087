"""What `audit_lib.metrics` exports, what importing it costs, and how labels are numbered."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib import metrics
from audit_lib.errors import InputError
from audit_lib.metrics._arrays import as_codes


def test_every_exported_name_is_there():
    for name in metrics.__all__:
        module = metrics._LAZY.get(name)
        if module is None or importlib.util.find_spec(module):
            assert callable(getattr(metrics, name)), name
    assert metrics.__all__ == sorted(metrics.__all__, key=lambda name: (name[0].islower(), name))
    assert set(metrics._LAZY) <= set(metrics.__all__) <= set(dir(metrics))
    with pytest.raises(AttributeError, match="no attribute 'rabi'"):
        metrics.rabi  # noqa: B018


HEAVY = {
    "airflow", "matplotlib", "pandas", "pydantic", "pyarrow", "rapidfuzz", "scipy", "sklearn", "statsmodels", "torch",
    "transformers", "yaml",
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "also"),
    [
        ("import audit_lib.metrics", set()),
        ("import audit_lib, audit_lib.results; audit_lib.Estimate", set()),
        ("import audit_lib.metrics as m; [getattr(m, name) for name in m.__all__]", set()),
        ("import audit_lib.stats", {"scipy"}),
    ],
)
def test_import_is_light(code: str, also: set[str]) -> None:
    code = f"import sys; {code}; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(also))


LABELS = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c"])) | st.integers(-2, 40), max_size=30)


@given(LABELS | st.lists(st.integers(0, 9)))
def test_codes_give_the_labels_back(labels):
    codes, levels = as_codes(labels, "labels")
    assert [None if code < 0 else levels[code] for code in codes] == labels
    assert len(set(levels.tolist())) == len(levels)


def test_numbering_does_not_depend_on_the_container():
    labels = [3, 1, 3, 20]
    forms = [labels, np.array(labels), np.array(labels, np.int8), pd.Series(labels), pd.Categorical(labels)]
    forms += [pd.Series(labels, dtype="category"), pd.Series(labels, dtype="Int64"), np.array(labels, object)]
    for form in forms:
        codes, levels = as_codes(form, "labels")
        assert (codes.tolist(), levels.tolist()) == ([1, 0, 1, 2], [1, 3, 20])


def test_missing_labels_of_every_kind():
    for labels in (["x", None], ["x", float("nan")], ["x", pd.NA], pd.Categorical(["x", None], ["y", "x"])):
        codes, levels = as_codes(labels, "labels")
        assert (codes.tolist(), levels.tolist()) == ([0, -1], ["x"])
    assert as_codes([("f", "White"), ("m", "White")], "labels")[1].tolist() == [
        ("f", "White"),
        ("m", "White"),
    ]


def test_labels_of_two_types_and_one_text_are_numbered_whatever_the_order_of_rows():
    for rows in ([1, "1", None], ["1", 1, None]):
        codes, levels = as_codes(rows, "labels")
        assert [type(level) for level in levels] == [int, str]
        assert [None if code < 0 else levels[code] for code in codes] == rows


def test_exact_numbers_only_are_rounded_for_print():
    with pytest.raises(InputError, match="expected an exact value"):
        metrics.round_half_up(0.125, 2)
