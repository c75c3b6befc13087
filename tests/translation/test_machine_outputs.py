"""What is for machines stays in English, whatever language the page is in."""

from __future__ import annotations

from pathlib import Path

from audit_lib.report.content import gather
from audit_lib.report.document import document_bytes
from audit_lib.report.tables import answers_csv, estimates_csv, tables_csv
from audit_lib.translation import speaking
from tests.report.runs import made


def test_the_document_and_the_tables_are_the_same_in_every_language(tmp_path: Path) -> None:
    content = gather(made(tmp_path, n=112))
    outputs = (document_bytes, tables_csv, estimates_csv, answers_csv)
    english = [make(content) for make in outputs]
    with speaking("es"):
        assert [make(content) for make in outputs] == english
