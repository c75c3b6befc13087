"""A file of Word or Excel as the package of parts that it is, within bounds: no bomb, no entity, nothing fetched."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.parsers import expat

from audit_lib.errors import CorruptFileError, InputError

SIGNATURE: Final = b"PK\x03\x04"
_OLD_SIGNATURE: Final = b"\xd0\xcf\x11\xe0"
_MOST_PARTS: Final = 2_000
_MOST_BYTES: Final = 128 * 2**20
_DEEPEST: Final = 200
_MAIN: Final = {"word/document.xml": "docx", "xl/workbook.xml": "xlsx"}


def is_office(content: bytes) -> bool:
    """Whether bytes may be a package of Word or Excel, of today or of before 2007."""
    return content.startswith((SIGNATURE, _OLD_SIGNATURE))


def open_package(content: bytes, path: Path) -> tuple[str, zipfile.ZipFile]:
    """Open a package; return ``docx`` or ``xlsx`` and its parts, each of which is XML without surprises, or no XML.

    Raises
    ------
    CorruptFileError
        If it is no such package, or one of its parts is broken.
    InputError
        If it needs a password, would unpack to too much, or a part declares entities or nests too deep.
    """
    if content.startswith(_OLD_SIGNATURE):
        raise InputError(
            f"{path}: a file of Word or Excel from before 2007, or one with a password; save it as DOCX, XLSX or HTML"
        )
    try:
        package = zipfile.ZipFile(io.BytesIO(content))
        parts = package.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise CorruptFileError(f"{path}: does not open as a file of Word or Excel ({error})") from None
    kind = next((kind for name, kind in _MAIN.items() if name in package.namelist()), None)
    if kind is None:
        raise CorruptFileError(f"{path}: a zip and no file of Word or Excel; give the summary itself")
    if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > _MOST_BYTES:
        raise InputError(
            f"{path}: unpacks to more than {_MOST_PARTS} parts or {_MOST_BYTES // 2**20} MiB; save the summary alone"
        )
    for part in parts:
        if part.filename.endswith((".xml", ".rels", ".vml")):
            _check_xml(part_of(package, part.filename, path), part.filename, path)
    return kind, package


def part_of(package: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Read a part; never more than its entry declares, which `open_package` has added up.

    Raises
    ------
    CorruptFileError
        If it cannot be unpacked.
    """
    try:
        return package.read(name)
    except (
        zipfile.BadZipFile,
        RuntimeError,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
        KeyError,
    ) as error:
        raise CorruptFileError(f"{path}: part {name} cannot be unpacked ({error})") from None
    except Exception as error:  # noqa: BLE001 - zlib.error and lzma's have no common base
        raise CorruptFileError(f"{path}: part {name} cannot be unpacked ({error})") from None


def _check_xml(content: bytes, name: str, path: Path) -> None:
    parser = expat.ParserCreate()
    depth = 0

    def opened(element: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise InputError(
                f"{path}: part {name} nests deeper than {_DEEPEST} elements; save the summary again"
            )

    def closed(element: str) -> None:
        nonlocal depth
        depth -= 1

    def declared(*words: object) -> None:
        raise InputError(f"{path}: part {name} declares a document type, which no Word or Excel writes")

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise CorruptFileError(f"{path}: part {name} is broken ({error})") from None
