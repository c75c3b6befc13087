"""Which pages there are: the files of a folder, or the addresses and files that an operator lists with what is known.

A list is a CSV (comma, semicolon, tab or bar; UTF-8 with or without a mark, or what Windows saves) or YAML with the
columns ``employer``, ``url`` or ``file``, and, where known, ``vendor`` and ``auditor``.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from audit_lib.corpus.web_address import AddressRefusedError, web_address
from audit_lib.documents.published_pages import ListedPage
from audit_lib.errors import InputError, SpecError
from audit_lib.plain_text import is_named, is_text
from audit_lib.spec.text import read_yaml

_COLUMNS: Final = ("employer", "url", "file", "vendor", "auditor")
_DELIMITERS: Final = ",;\t|"
_MOST_BYTES: Final = 16 * 2**20
_MOST_PAGES: Final = 20_000
_LONGEST: Final = 300
_YAML: Final = (".yaml", ".yml")
_OF_A_PAGE: Final = ("_files", ".files")
"""How browsers end the name of the folder in which they save a page's pictures and scripts."""
_NOT_SUMMARIES: Final = frozenset({"thumbs.db", "desktop.ini", "__macosx"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCorpus:
    """The pages that are to be looked at.

    Parameters
    ----------
    source : str
        Folder or list, as named.
    folder : Path
        That files lie in.
    pages : tuple of ListedPage
        Each once.
    files : frozenset of str
        Pages that are files, not addresses.
    refused : dict of ListedPage to str
        Pages that are not looked at, and why.
    told : tuple of str
        What was left out or repeated.
    is_folder : bool
        Whether each file of a folder is a page, so that one that is gone was taken down.
    """

    source: str
    folder: Path
    pages: tuple[ListedPage, ...]
    files: frozenset[str]
    refused: Mapping[ListedPage, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    is_folder: bool = False


def read_corpus(source: str) -> PageCorpus:
    """Read a folder or a list.

    Raises
    ------
    InputError
        If there is none, it cannot be read, or it names no page.
    """
    path = Path(source)
    try:
        if path.is_dir():
            return _of_folder(source, path)
        size = path.stat().st_size if path.is_file() else None
        content = path.read_bytes() if size is not None and size <= _MOST_BYTES else None
    except OSError as error:
        raise InputError(f"{source}: cannot be read ({error.strerror})") from None
    if size is None:
        raise InputError(f"{source}: is neither a folder of saved pages nor a list (CSV or YAML)")
    if content is None:
        raise InputError(f"{source}: a list of more than {_MOST_BYTES // 2**20} MiB; split it")
    text = _decoded(content, source)
    rows = _yaml_rows(text, path) if path.suffix.lower() in _YAML else _csv_rows(text, source)
    return _of_rows(source, path.parent, rows)


def _of_folder(source: str, folder: Path) -> PageCorpus:
    pages: list[ListedPage] = []
    refused: dict[ListedPage, str] = {}
    hidden, parts = 0, 0

    def failed(error: OSError) -> None:
        name = Path(error.filename or folder).relative_to(folder).as_posix()
        refused[_page_of_file(name)] = f"a folder that cannot be read ({error.strerror})"

    for at, folders, names in os.walk(folder, onerror=failed):
        kept = [one for one in sorted(folders) if not _is_hidden(one) and not one.endswith(_OF_A_PAGE)]
        parts += sum(one.endswith(_OF_A_PAGE) for one in folders)
        for one in kept:
            if Path(at, one).is_symlink():
                name = Path(at, one).relative_to(folder).as_posix()
                refused[_page_of_file(name)] = "a link to a folder: not followed"
        folders[:] = kept
        for name in sorted(names):
            if _is_hidden(name):
                hidden += 1
                continue
            path = Path(at, name)
            page = _page_of_file(path.relative_to(folder).as_posix())
            pages.append(page)
            if why := _why_not(path, folder):
                refused[page] = why
    pages += [page for page in refused if page not in pages]
    told = [f"{hidden} hidden or system files are not summaries"] if hidden else []
    told += (
        [f"{parts} folders of pictures and scripts beside saved pages: not read as pages"] if parts else []
    )
    if not pages:
        raise InputError(f"{source}: no file is in this folder")
    if len(pages) > _MOST_PAGES:
        raise InputError(f"{source}: more than {_MOST_PAGES:,} files; split the folder")
    ordered = tuple(sorted(pages, key=lambda page: page.page))
    return PageCorpus(
        source=source, folder=folder, pages=ordered, files=frozenset(page.page for page in ordered),
        refused=refused, told=tuple(told), is_folder=True,
    )  # fmt: skip


def _page_of_file(name: str) -> ListedPage:
    """The employer is the folder that a file lies in, or else the file's own name without its ending."""
    path = PurePosixPath(name)
    employer = path.parts[0] if len(path.parts) > 1 else path.stem
    return ListedPage(employer=_text(employer), page=_text(name), vendor="", auditor="")


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name.lower() in _NOT_SUMMARIES


def _why_not(path: Path, folder: Path) -> str:
    """Return why a file must not be read; empty where it may be, or is not there."""
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return "a link to a file outside of the folder"
        if path.exists() and not path.is_file():
            return "no regular file"
    except (OSError, ValueError, RuntimeError) as error:  # a link to itself
        return f"cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})"
    name = path.relative_to(folder).as_posix()
    return "" if _text(name) == name else "its name is not text that can be written down; rename it"


def _of_rows(source: str, folder: Path, rows: Iterable[tuple[str, Mapping[str, str]]]) -> PageCorpus:
    """Make pages of the rows of a list; what is wrong in one row refuses this row alone."""
    pages: dict[tuple[str, str], ListedPage] = {}
    refused: dict[ListedPage, str] = {}
    files: set[str] = set()
    told: list[str] = []
    for where, row in rows:
        page, why, is_file = _listed(row, folder)
        key = (page.employer.casefold(), page.page)
        if key in pages:
            told.append(f"{where}: {page.employer}, {page.page}: listed before; looked at once")
            continue
        if len(pages) >= _MOST_PAGES:
            raise InputError(f"{source}: more than {_MOST_PAGES:,} pages; split the list")
        pages[key] = page
        if is_file:
            files.add(page.page)
        if why:
            refused[page] = f"{where}: {why}"
    if not pages:
        raise InputError(f"{source}: names no page; each row has an employer, and a url or a file")
    return PageCorpus(
        source=source, folder=folder, pages=tuple(pages.values()), files=frozenset(files), refused=refused,
        told=tuple(told),
    )  # fmt: skip


def _listed(row: Mapping[str, str], folder: Path) -> tuple[ListedPage, str, bool]:
    """Return the page of a row, why it is refused, and whether it is a file."""
    said = {name: " ".join(row.get(name, "").split()) for name in ("employer", "vendor", "auditor")}
    url, file = row.get("url", "").strip(), row.get("file", "").strip().replace("\\", "/")
    page = ListedPage(
        employer=_text(said["employer"]) or "(no name)", page=_text(url or file) or "(nothing)",
        vendor=_text(said["vendor"]), auditor=_text(said["auditor"]),
    )  # fmt: skip
    if not is_named(said["employer"]):
        return page, "names no employer", not url
    if bool(url) == bool(file):
        return page, "give a url or a file, and not both", not url
    if any(not is_text(one) or len(one) > _LONGEST for one in said.values()):
        return page, f"a name with characters that do not show, or of more than {_LONGEST}", not url
    if file:
        if PurePosixPath(file).is_absolute() or re.match("[A-Za-z]:", file):
            return page, "a file is named below the folder of the list", True
        return page, _why_not(folder / file, folder), True
    try:
        return (
            ListedPage(
                employer=page.employer, page=str(web_address(url)), vendor=page.vendor, auditor=page.auditor
            ),
            "",
            False,
        )
    except AddressRefusedError as error:
        return page, str(error), False


def _text(words: str) -> str:
    """Put a mark where there is half a character, as in names of files that are no text."""
    return words.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def _decoded(content: bytes, source: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\0" in content:
        raise InputError(f"{source}: is no text; save the list as CSV or YAML")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _csv_rows(text: str, source: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputError(f"{source}: not CSV: {error}") from None
    start = next((i for i, row in enumerate(rows) if any(map(str.strip, row))), len(rows))
    header = [name.strip().lower() for name in rows[start]] if start < len(rows) else []
    _check_columns(header, source)
    for number, row in enumerate(rows[start + 1 :], start + 2):
        if any(map(str.strip, row)):
            yield f"row {number}", dict(zip(header, row, strict=False))


def _check_columns(names: Iterable[str], source: str) -> None:
    known = list(names)
    if "employer" not in known or not {"url", "file"} & set(known):
        raise InputError(
            f"{source}: its first row names the columns: employer, url (or file), and, where known, vendor and auditor"
        )
    if twice := [name for name in _COLUMNS if known.count(name) > 1]:
        raise InputError(f"{source}: the column {twice[0]} is there twice")


def _yaml_rows(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        found: Any = read_yaml(text, path, "list")
    except SpecError as error:
        raise InputError(f"{error}; a list is `pages:` with an employer and a url (or file) each") from None
    pages = found.get("pages")
    if not isinstance(pages, list):
        raise InputError(f"{path}: has no list `pages`, each with an employer and a url (or file)")
    for number, row in enumerate(pages, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path}: pages: number {number} is not an employer with a url (or file)")
        if nested := [name for name, value in row.items() if isinstance(value, list | dict)]:
            raise InputError(f"{path}: pages: number {number}: {nested[0]!a} is more than one word or number")
        yield (
            f"page {number}",
            {str(name).lower(): str(value) for name, value in row.items() if value is not None},
        )
