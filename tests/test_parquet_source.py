"""Parquet is read from memory that Arrow owns, so that no thread of Arrow's lets go of a Python object at the end."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import audit_lib
from audit_lib.records import parquet_source


def test_the_source_holds_no_python_object() -> None:
    content = b"PAR1" * 1000
    before = sys.getrefcount(content)
    source = parquet_source(content)
    assert sys.getrefcount(content) == before
    assert source.read() == content


def test_no_other_way_of_reading_is_used() -> None:
    folder = Path(audit_lib.__file__).parent
    other = re.compile(r"BufferReader\(|(read_table|read_schema|ParquetFile)\(\s*io\.")
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if other.search(path.read_text())}
    assert found == {"records.py"}
