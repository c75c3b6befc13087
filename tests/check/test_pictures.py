"""Pictures and scans: recognised with a caution, or named as not read; never fetched, and never a clean page."""

from __future__ import annotations

import base64
import io
import os
import struct
import zlib
from pathlib import Path

import pytest

from audit_lib.check import check_report, picture_files, picture_words
from audit_lib.check.pdf_pictures import words_in_pictures
from audit_lib.check.picture_words import can_read
from audit_lib.errors import CorruptFileError, InputError
from tests.check.cases import HEADER, html, kinds, save, summary

Image = pytest.importorskip("PIL.Image", reason="makes the pictures")
ImageDraw = pytest.importorskip("PIL.ImageDraw", reason="makes the pictures")
ImageFont = pytest.importorskip("PIL.ImageFont", reason="makes the pictures")
needs_ocr = pytest.mark.skipif(not can_read(), reason="the extra ocr is not installed")


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_files, "can_read", lambda: False)
    monkeypatch.setattr("audit_lib.check.pdf_pictures.can_read", lambda: False)


def drawn(rows: list[list[str]], size: int = 26) -> bytes:
    picture = Image.new("RGB", (1300, 60 + 60 * len(rows)), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    for line, row in enumerate(rows):
        for x, text in zip((30, 480, 740, 900, 1120), row, strict=True):
            pen.text((x, 30 + 60 * line), text, fill="black", font=font)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def with_picture(source: str, more: str = "") -> str:
    return html(summary()).replace("</body>", f'<img src="{source}" {more}></body>')


def inside(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


SEX = [list(HEADER), *summary()["Sex categories"]]


@pytest.mark.usefixtures("blind")
def test_a_picture_that_cannot_be_read_is_named_and_the_page_is_not_clean(tmp_path: Path) -> None:
    report = check_report(save(tmp_path, with_picture(inside(drawn(SEX)), 'alt="Results by sex"')))
    (found,) = report.findings
    assert (found.id, found.severity, report.ok) == ("picture_not_read", "warning", False)
    assert "Results by sex" in found.message and "audit-lib[ocr]" in found.message


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/table.png",
        "//example.org/table.png",
        "/etc/hostname",
        "../secret.png",
        "gone.png",
    ],
)
def test_nothing_is_fetched_and_nothing_outside_the_folder_is_read(source: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(drawn(SEX))
    folder = tmp_path / "page"
    folder.mkdir()
    report = check_report(save(folder, with_picture(source)))
    assert kinds(report) == ["picture_not_read"] and "not fetched" in report.findings[0].message


@pytest.mark.parametrize("more", ['width="24" height="24"', 'height="16px"'])
def test_icons_are_no_tables(more: str, tmp_path: Path) -> None:
    assert check_report(save(tmp_path, with_picture("https://example.org/logo.png", more))).findings == ()


def test_a_small_picture_next_to_the_page_is_no_table(tmp_path: Path) -> None:
    Image.new("RGB", (40, 40), "red").save(tmp_path / "logo.png")
    report = check_report(save(tmp_path, with_picture("logo.png")))
    assert kinds(report) in ([], ["picture_not_read"]) and (not can_read() or report.ok)


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(8000, 8000), (60000, 60000)])
def test_a_huge_picture_is_refused_before_it_is_unpacked(size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    path.write_bytes(bomb(*size))
    with pytest.raises(InputError, match="million pixels|does not open"):
        check_report(path)


def test_a_broken_picture_in_a_page_is_named(tmp_path: Path) -> None:
    if not can_read():
        pytest.skip("named as not read for want of the extra")
    report = check_report(save(tmp_path, with_picture(inside(b"\x89PNG\r\n\x1a\nbroken"))))
    assert kinds(report) == ["picture_not_read"] and "does not open" in report.findings[0].message


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    Image.open(io.BytesIO(drawn(SEX))).save(path, "PDF", resolution=150)
    return path


@pytest.mark.usefixtures("blind")
def test_a_scan_that_cannot_be_read_says_what_is_lacking(scan: Path) -> None:
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    with pytest.raises(InputError, match=r"a scan cannot be checked: pictures on page 1: .*audit-lib\[ocr\]"):
        check_report(scan)


@pytest.mark.usefixtures("blind")
def test_a_picture_file_that_cannot_be_read_says_what_is_lacking(tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    path.write_bytes(drawn(SEX))
    with pytest.raises(InputError, match=r"a picture, and reading pictures needs .*audit-lib\[ocr\]"):
        check_report(path)


def test_pages_without_pictures_ask_for_nothing() -> None:
    assert words_in_pictures(b"", []) == ({}, ())


@pytest.mark.slow
@needs_ocr
@pytest.mark.parametrize("kind", ["png", "scan", "page"])
def test_a_picture_is_read_with_the_caution_in_each_line(kind: str, tmp_path: Path, scan: Path) -> None:
    wrong = [list(row) for row in SEX]
    wrong[2][4] = "0.111"
    path = tmp_path / "page.png"
    path.write_bytes(drawn(wrong))
    if kind == "page":
        path = save(tmp_path, f"<html><body><p>Words.</p><img src={inside(drawn(wrong))}></body></html>")
    elif kind == "scan":
        path = scan
        Image.open(io.BytesIO(drawn(wrong))).save(path, "PDF", resolution=150)
    report = check_report(path)
    found = [f for f in report.findings if f.id == "ratio_not_rebuilt"]
    assert [(f.row, f.printed, f.severity) for f in found] == [("Female", "0.111", "warning")]
    about_table = [f for f in report.findings if f.table]
    assert about_table and all("recognised" in f.unsure for f in about_table)
    assert not any(f.severity == "error" for f in report.findings)


@pytest.mark.slow
@needs_ocr
def test_the_reader_reports_nothing_to_its_maker() -> None:
    """onnxruntime reads this when it is loaded; without it, it looks for a host of its maker's."""
    picture_words._engine()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


@needs_ocr
def test_without_its_models_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import rapidocr

    monkeypatch.setattr(rapidocr, "__file__", str(tmp_path / "__init__.py"))
    picture_words._engine.cache_clear()
    with pytest.raises(InputError, match="models of RapidOCR are not in its package"):
        picture_words._engine()
    picture_words._engine.cache_clear()


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(CorruptFileError, match="does not open"):
        list(picture_words.pictures_of(b"\x89PNG not at all", "it"))
