"""JSON as it is written: one byte string for one value."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.canonical import DEEPEST, canonical_json, jcs, jcs_rows, pretty_json, strict_json
from audit_lib.canonical_columns import jcs_columns
from audit_lib.documents.evidence import odd_json
from verifier import strict_json as other_json
from verifier.strict_json import OddError

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


class TestJcs:
    """RFC 8785, against another's implementation and the RFC's own examples."""

    @pytest.mark.parametrize(
        ("bits", "text"),
        [
            ("0000000000000000", "0"),
            ("8000000000000000", "0"),
            ("0000000000000001", "5e-324"),
            ("8000000000000001", "-5e-324"),
            ("7fefffffffffffff", "1.7976931348623157e+308"),
            ("4340000000000000", "9007199254740992"),
            ("4430000000000000", "295147905179352830000"),
            ("44b52d02c7e14af5", "9.999999999999997e+22"),
            ("44b52d02c7e14af6", "1e+23"),
            ("444b1ae4d6e2ef4e", "999999999999999700000"),
            ("444b1ae4d6e2ef50", "1e+21"),
            ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
            ("3eb0c6f7a0b5ed8d", "0.000001"),
            ("41b3de4355555553", "333333333.3333332"),
        ],
    )
    def test_numbers_of_the_appendix(self, bits: str, text: str) -> None:
        (number,) = struct.unpack(">d", bytes.fromhex(bits))
        assert jcs([number]).decode() == f"[{text}]"

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8"))
            | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
        )
    )  # fmt: skip
    def test_another_implementation_writes_the_same(self, value: object) -> None:
        rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
        assert jcs(value) == rfc8785.dumps(value)

    @given(st.data())
    def test_rows_of_columns_are_written_the_same(self, data: st.DataObject) -> None:
        rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
        names = data.draw(
            st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5, unique=True)
        )
        length = data.draw(st.integers(0, 5))
        finite = st.floats(allow_nan=False, allow_infinity=False)
        kinds = [
            st.none() | st.text(st.characters(codec="utf-8"), max_size=3),
            st.none() | finite,
            st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | finite,
            st.none() | st.lists(finite),
        ]
        columns = {
            name: data.draw(st.lists(data.draw(st.sampled_from(kinds)), min_size=length, max_size=length))
            for name in names
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        assert list(jcs_rows(columns)) == [rfc8785.dumps(row) for row in rows]

    @given(st.data())
    def test_columns_of_arrow_are_written_the_same(self, data: st.DataObject) -> None:
        rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
        names = data.draw(
            st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5, unique=True)
        )
        length = data.draw(st.integers(0, 5))
        finite = st.floats(allow_nan=False, allow_infinity=False)
        kinds = {
            pa.string(): st.text(st.characters(codec="utf-8"), max_size=3)
            | st.sampled_from(["", "plain", '"']),
            pa.float64(): finite | st.sampled_from([0.0, -0.0, 1e9, 999999999.9999999, 1e-6, 1e-7, 5e-324]),
            pa.int64(): st.integers(-(2**53) + 1, 2**53 - 1),
            pa.bool_(): st.booleans(),
            pa.list_(pa.float64()): st.lists(finite, max_size=2),
        }
        columns: dict[str, pa.Array | pa.Scalar] = {}
        values = {}
        for name in names:
            kind = data.draw(st.sampled_from(list(kinds)))
            drawn = st.none() | kinds[kind]
            values[name] = data.draw(st.lists(drawn, min_size=length, max_size=length))
            columns[name] = pa.array(values[name], kind)
        said = data.draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=3))
        if "of all" not in columns:
            columns["of all"], values["of all"] = pa.scalar(said, pa.string()), [said] * length
        rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
        assert [bytes(row) for row in jcs_columns(columns)] == [rfc8785.dumps(row) for row in rows]

    @given(st.lists(st.floats(-1e9, 1e9), min_size=1) | st.lists(st.floats(-1.0, 1.0), min_size=1))
    def test_numbers_of_arrow_are_written_the_same(self, numbers: list[float]) -> None:
        written = [bytes(row) for row in jcs_columns({"n": pa.array(numbers)})]
        assert written == [jcs({"n": number}) for number in numbers]

    @pytest.mark.parametrize(
        "column", [pa.array([1.0, float("nan")]), pa.array([float("inf")]), pa.array([2**53])]
    )
    def test_a_column_with_what_is_no_number_is_refused(self, column: pa.Array) -> None:
        with pytest.raises(ValueError, match="number"):
            list(jcs_columns({"n": column}))

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), [2**53], {"a": [float("-inf")]}])
    def test_what_is_no_number_is_refused(self, value: object) -> None:
        with pytest.raises(ValueError, match="number"):
            jcs(value)


@pytest.mark.parametrize("text", [r'"\ud800"', r'{"a": ["\uDFFF x"]}', r'{"\ud83d": 1}'])
def test_half_of_a_pair_of_surrogates_is_no_character(text: str) -> None:
    with pytest.raises(ValueError, match="no character"):
        strict_json(text.encode())
    with pytest.raises(OddError, match="character that is none"):
        other_json.read(text.encode())


def test_a_whole_pair_is_one() -> None:
    content = rb'"\ud83d\ude00"'
    assert strict_json(content) == other_json.read(content) == "\N{GRINNING FACE}"


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1])
def test_depth_is_bounded(levels: int) -> None:
    content = b"[" * levels + b"]" * levels
    if levels == DEEPEST:
        assert strict_json(content) is not None
    else:
        with pytest.raises(ValueError, match="nested too deeply"):
            strict_json(content)


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.canonical.LARGEST", 1 << 20)
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        strict_json(b" " * (1 << 20) + b"1")


@pytest.mark.parametrize("digits", [401, 4300])
def test_a_whole_number_beyond_every_double_is_refused_as_the_second_verifier_does(digits: int) -> None:
    for content in (b"9" * digits, b'{"a": [-' + b"9" * (digits - 1) + b"]}"):
        with pytest.raises(ValueError, match="too many digits"):
            strict_json(content)
        with pytest.raises(OddError, match="too many digits"):
            other_json.read(content)
    assert odd_json(b"[" + b"9" * digits + b"]") == "holds a whole number of too many digits"
    assert strict_json(b"9" * 400) == other_json.read(b"9" * 400) == 10**400 - 1
