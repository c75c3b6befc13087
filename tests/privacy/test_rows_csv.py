"""Lines of ``metrics/scores.csv`` come apart the same way whether or not a cell of them is quoted."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import EvidenceError
from audit_lib.privacy import rows_csv
from audit_lib.privacy.rows_csv import csv_parts, whole_lines

ROWS = st.lists(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=4), min_size=5, max_size=6
    )
)


def written(rows: list[list[str]]) -> bytes:
    """Write rows as the module of the standard library does."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


@given(ROWS)
def test_cells_are_what_another_reader_reads(rows: list[list[str]]) -> None:
    parts = list(csv_parts(written(rows)))
    ids = [list(each) for part in parts for each in zip(*(one.to_pylist() for one in part.ids), strict=True)]
    assert ids == [[(cell[1:] if cell[:1] == "'" else cell) or None for cell in row[:3]] for row in rows]
    rest = "".join(text for part in parts for text in part.rest.to_pylist()).encode()
    assert rest == written([row[3:] for row in rows])


@pytest.mark.parametrize("lines", [1, 2, 7])
@pytest.mark.parametrize("quote", ["", '"'])
def test_many_parts_are_as_one(lines: int, quote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"{quote}v{n}{quote},a{n},,ok,{n / 7}\n" for n in range(20)).encode()
    (whole,) = csv_parts(body)
    monkeypatch.setattr(rows_csv, "_LINES", lines)
    parts = list(csv_parts(body))
    assert len(parts) > 1
    assert [one for part in parts for one in part.ids[0].to_pylist()] == whole.ids[0].to_pylist()
    assert [one for part in parts for one in part.rest.to_pylist()] == whole.rest.to_pylist()


@pytest.mark.parametrize("body", [b"v1,a1,,ok", b"v1,a1,ok\n", b"v1,a1,,ok\nv2\n", b'"v1",a1,,ok'])
def test_a_line_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(EvidenceError, match="holds a line that is none"):
        list(csv_parts(body))


def test_there_may_be_no_line() -> None:
    assert list(csv_parts(b"")) == []


@given(ROWS, st.integers(1, 9))
def test_no_line_is_cut_however_much_is_read_at_a_time(rows: list[list[str]], most: int) -> None:
    content = written(rows)
    blocks = list(whole_lines(io.BytesIO(content), most))
    assert b"".join(blocks) == content
    found = [row for block in blocks for row in csv.reader(io.StringIO(block.decode(), newline=""))]
    assert found == list(csv.reader(io.StringIO(content.decode(), newline="")))
