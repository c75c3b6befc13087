"""The text of dossiers: plain, PDF, DOCX, and files that are none."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest

from audit_lib.errors import CorruptFileError, InputError, NeedsOcrError
from audit_lib.perturb.documents import read_dossier
from audit_lib.perturb.redact import Applicant, redact

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def docx(path: Path, body: str, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"document": f"<w:body>{body}</w:body>", **parts}.items():
            archive.writestr(f"word/{name}.xml", f'<w:x xmlns:w="{W}" xmlns:mc="{MC}">{content}</w:x>')
    return path


def paragraph(*runs: str) -> str:
    return "<w:p>" + "".join(f"<w:r><w:t>{run}</w:t></w:r>" for run in runs) + "</w:p>"


def test_plain_text_keeps_every_byte(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("Ana\r\n\tRuiz\x0b é".encode())
    assert read_dossier(file).text.encode() == file.read_bytes()


def test_docx_joins_runs_and_reads_headers_tables_and_boxes_once(tmp_path: Path) -> None:
    choices = [f"<mc:{kind}>{paragraph('Box')}</mc:{kind}>" for kind in ("Choice", "Fallback")]
    box = f"<mc:AlternateContent>{''.join(choices)}</mc:AlternateContent>"
    table = f"<w:tbl><w:tr><w:tc>{paragraph('2011')}</w:tc><w:tc>{paragraph('UCLA')}</w:tc></w:tr></w:tbl>"
    line = "<w:p><w:r><w:t>Tel</w:t><w:tab/><w:t>1</w:t><w:br/><w:t>x</w:t></w:r>"
    line += "<w:del><w:r><w:t>gone</w:t></w:r></w:del></w:p>"
    body = paragraph("An", "a Ruiz") + table + line + f"<w:p><w:r>{box}</w:r></w:p>"
    file = docx(tmp_path / "a.docx", body, header1=paragraph("Resume of Ana"))
    dossier = read_dossier(file)
    assert dossier.format == "docx"
    assert dossier.text == "Resume of Ana\n\nAna Ruiz\n2011\tUCLA\nTel\t1\nx\n\nBox"


def test_pdf_text_is_read_and_redacted(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    weasyprint = pytest.importorskip("weasyprint")
    file = tmp_path / "a.pdf"
    weasyprint.HTML(string="<h1>Ana Ruiz</h1><p>Ms. Ruiz likes her class.</p>").write_pdf(file)
    dossier = read_dossier(file)
    assert dossier.format == "pdf" and dossier.pages_without_text == ()
    assert (
        "{{title}} {{last_name}} likes {{pronoun.possessive}} class."
        in redact(dossier.text, Applicant()).template
    )


def scan(*texts: bool) -> bytes:
    pypdf = pytest.importorskip("pypdf")
    weasyprint = pytest.importorskip("weasyprint")
    writer = pypdf.PdfWriter()
    for text in texts:
        if text:
            writer.append(io.BytesIO(weasyprint.HTML(string="<p>Ana Ruiz</p>").write_pdf()))
        else:
            writer.add_blank_page(300, 300)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_pdf_without_text_needs_ocr(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(scan(False, False))
    with pytest.raises(NeedsOcrError, match="needs OCR: none of its 2 pages holds text"):
        read_dossier(file)
    file.write_bytes(scan(True, False))
    assert read_dossier(file).pages_without_text == (2,)


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.rtf", b"{\\rtf1}", InputError, "cannot read a dossier of the kind '.rtf'"),
        ("a.txt", b"\xff\xfe", CorruptFileError, "not UTF-8 text .byte 0."),
        ("a.txt", b" \n", CorruptFileError, "holds no text"),
        ("a.pdf", b"not a pdf", CorruptFileError, "does not open as a PDF"),
        ("a.docx", b"PK\x03\x04", CorruptFileError, "does not open as a DOCX"),
    ],
)
def test_files_that_cannot_be_read(
    tmp_path: Path, name: str, content: bytes, error: type[Exception], message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=message):
        read_dossier(tmp_path / name)


def test_a_zip_that_is_no_docx(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(CorruptFileError, match=r"no word/document\.xml"):
        read_dossier(tmp_path / "a.docx")


def test_pdf_without_pypdf_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(InputError, match=r"audit-lib\[redact\]"):
        read_dossier(tmp_path / "a.pdf")
