"""How two versions of an artefact are compared."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.artefact_differences import ABSOLUTE, RELATIVE, compare
from audit_lib.records import to_parquet

_SCHEMA = pa.schema([pa.field("id", pa.string()), pa.field("x", pa.float64()), pa.field("flag", pa.bool_())])


def table(*rows: tuple[str, float | None, bool | None]) -> bytes:
    return to_parquet([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA, ["id"])


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


@given(st.floats(1e-3, 1e6), st.integers(-2, 2))
def test_last_bits_of_a_number_are_noted_and_not_held_against_it(number: float, steps: int) -> None:
    moved = number
    for _ in range(abs(steps)):
        moved = math.nextafter(moved, math.inf if steps > 0 else -math.inf)
    found = compare("m.json", as_bytes([number]), as_bytes([moved]))
    if steps == 0:
        assert found is None
    else:
        assert found is not None and not found.exceeds
        assert found.numbers == 1 and 0 < found.largest < RELATIVE


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3), st.booleans())
def test_a_larger_difference_is_found(number: float, gap: float, up: bool) -> None:
    other = number + gap if up else number - gap
    expected = abs(other - number) > max(RELATIVE * max(abs(number), abs(other)), ABSOLUTE)
    found = compare("m.json", as_bytes({"a": {"b": [number]}}), as_bytes({"a": {"b": [other]}}))
    assert (found is not None and bool(found.exceeds)) == expected
    if found is not None and found.exceeds:
        assert found.exceeds == (f"a.b[0]: {number!r} archived, {other!r} recomputed",)


@pytest.mark.parametrize(
    ("archived", "recomputed", "text"),
    [
        ({"a": 1}, {"a": 2}, "a: 1 archived, 2 recomputed"),
        ({"a": 1}, {"a": 1.0}, "a: 1 archived, 1.0 recomputed"),
        ({"a": True}, {"a": 1}, "a: True archived, 1 recomputed"),
        ({"a": 1}, {"b": 1}, "the document: has other keys, or in another order"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "the document: has other keys, or in another order"),
        ([1, 2], [1], "the document: 2 entries archived, 1 recomputed"),
        ({"a": "Jane"}, {"a": "Mary"}, "a: is something else"),
        ({"a": None}, {"a": 0.0}, "a: is something else"),
        ({"a": {"undefined": "x"}}, {"a": 1.0}, "a: is something else"),
    ],
)
def test_json_differences_in_words(archived: object, recomputed: object, text: str) -> None:
    found = compare("m.json", as_bytes(archived), as_bytes(recomputed))
    assert found is not None and found.exceeds == (text,)


def test_json_of_equal_values_in_other_bytes_is_found() -> None:
    """A reader that takes the first of two equal keys would see another number than this one."""
    found = compare("m.json", b'{"a": 2, "a": 1}', b'{"a": 1}')
    assert found is not None and "was not written by this library" in found.exceeds[0]


def test_many_differences_are_counted() -> None:
    found = compare("m.json", as_bytes(list(range(100))), as_bytes(list(range(1, 101))))
    assert found is not None
    assert len(found.exceeds) == 6 and found.exceeds[-1] == "and 95 more"


def test_tables() -> None:
    base = table(("a", 1.0, True), ("b", None, None))
    assert compare("t.parquet", base, base) is None
    cases = {
        "column x, row 0: another number": table(("a", 1.5, True), ("b", None, None)),
        "column x, row 1: another value": table(("a", 1.0, True), ("b", 0.0, None)),
        "column flag, row 1: another value": table(("a", 1.0, True), ("b", None, False)),
        "column id, row 1: another value": table(("a", 1.0, True), ("c", None, None)),
        "2 rows of 3 columns archived, 1 rows of 3 columns recomputed, or of other names or types": table(
            ("a", 1.0, True)
        ),
    }
    for text, other in cases.items():
        found = compare("t.parquet", base, other)
        assert found is not None and found.exceeds == (text,)
    found = compare("t.parquet", base, table(("a", math.nextafter(1.0, 2.0), True), ("b", None, None)))
    assert found is not None and not found.exceeds and found.numbers == 1


def test_a_table_written_by_another_writer_is_the_same_table() -> None:
    import io

    import pyarrow.parquet as pq

    base, sink = table(("a", 1.0, True)), io.BytesIO()
    pq.write_table(pq.read_table(io.BytesIO(base)), sink, compression="snappy")
    assert sink.getvalue() != base
    found = compare("t.parquet", base, sink.getvalue())
    assert found is not None and not found.exceeds and found.numbers == 0


def test_text_is_compared_by_line() -> None:
    found = compare("r.html", b"<p>1</p>\n<p>2</p>\n", b"<p>1</p>\n<p>3</p>\n")
    assert found is not None and found.exceeds == ("differs from line 2 on",)
    found = compare("r.csv", b"1\n2", b"1")
    assert found is not None and found.exceeds == ("2 lines archived, 1 recomputed",)


@pytest.mark.parametrize("name", ["m.json", "t.parquet"])
def test_what_cannot_be_read_is_an_error(name: str) -> None:
    with pytest.raises((ValueError, OSError)):
        compare(name, b"\x00garbage", table(("a", 1.0, True)))
