"""Pages of ours that nobody edited: every kind of audit, both languages, signed or not, saved by other programs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.page_transcript import read_transcript, read_visible
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import page_in
from audit_lib.report.pdf import render_pdf, why_no_pdf
from audit_lib.report.readings import readings
from benchmarks.own_pages import FOUND, KINDS
from benchmarks.own_pages_edits import pdf_edit
from tests.report.runs import signature

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=list(KINDS))
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Names of pages -> HTML; one PDF of each language."""
    place = tmp_path_factory.mktemp("own")
    drafted = gather(KINDS[request.param](place, 9001))
    signed = replace(drafted, signature=signature(drafted.policy.name))
    made = {}
    for language in ("en", "es"):
        for state, content in (("draft", drafted), ("signed", signed)):
            made[f"{state}-{language}.html"] = render_html(page_in(language, content)[0])
        made |= readings(signed, "5e" * 32, (language,), ("html",))
        if why_no_pdf() is None:
            made[f"{language}.pdf"] = render_pdf(page_in(language, drafted)[0])
    return made


def found(folder: Path, name: str, content: bytes) -> list[tuple[str, str]]:
    (folder / name).write_bytes(content)
    return [
        (one.id, one.printed)
        for one in check_report(folder / name).findings
        if one.id in FOUND or one.severity == "error"
    ]


def saved(name: str, content: bytes) -> Iterator[bytes]:
    yield content
    if name.endswith(".html"):
        yield content.replace(b"\n", b"\r\n")
        yield content.replace(b"\n", b"\r\n  ").replace(b"<td ", b"<td  ")


def test_none_is_accused(pages: dict[str, bytes], tmp_path: Path) -> None:
    for name, content in pages.items():
        for version in saved(name, content):
            assert found(tmp_path, name, version) == [], name


def test_every_text_is_in_the_transcript(pages: dict[str, bytes]) -> None:
    for name, content in pages.items():
        if name.endswith(".html"):
            seen = read_visible(content.decode())
            assert read_transcript(seen.transcript).shown == seen.texts, name


def test_another_digit_in_a_pdf_is_found(pages: dict[str, bytes], tmp_path: Path) -> None:
    if why_no_pdf() is not None:
        pytest.skip(why_no_pdf() or "")
    edit = pdf_edit(random.Random(3), pages["en.pdf"])
    assert edit is not None and edit.content != pages["en.pdf"]
    assert found(tmp_path, "edited.pdf", edit.content), edit.what
