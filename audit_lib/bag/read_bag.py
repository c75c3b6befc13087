"""Reads a bag that somebody handed on, as if they were an attacker: whether it is whole, and into a store.

Nothing is unpacked before every name and size in it was looked at, and nothing outside its own folder is ever written.
"""

from __future__ import annotations

import hashlib
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final, cast
from unicodedata import category, normalize

from audit_lib.bag.bagged_file import ALGORITHMS, unescaped
from audit_lib.bag.one_archive import check_tar, check_zip
from audit_lib.errors import AuditError, ConflictError, EvidenceError, InputError
from audit_lib.privacy.levels import LABEL
from audit_lib.progress import Progress, ignore
from audit_lib.run import SUCCESS
from audit_lib.store import Store

MOST_FILES: Final = 1_000_000
MOST_TAGS: Final = 256 << 20
"""Bytes that tag files may have together: lists of a million files."""
MOST_EXPANDED: Final = 200
"""How many times its archive's size what is in it may have."""
_SMALL: Final = 64 << 20
_PIECE: Final = 1 << 20
_DAMAGED: Final = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError)
_UNREADABLE: Final = (ValueError, OverflowError, RecursionError)
"""What the standard library raises on headers that no program wrote."""
_LINE: Final = re.compile(r"([0-9a-fA-F]+)[ \t]+\*?(.+)")
_RUN_FILE: Final = re.compile(
    r"data/([a-z][a-z0-9_]{0,63}/[0-9]{8}T[0-9]{6}Z_[0-9]{8}T[0-9]{6}Z/[0-9a-f]{16})/(.+)"
)


@dataclass(frozen=True, slots=True)
class BagFinding:
    """Something that is wrong with a bag: where, and what."""

    path: str
    detail: str

    def __str__(self) -> str:
        """Say it on one line."""
        return f"{self.path}: {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBag:
    """An archive whose names and sizes were looked at.

    Attributes
    ----------
    path : Path
        The archive.
    sizes : mapping of str to int
        Path in the bag -> bytes.
    read : callable
        Opens a file of it.
    """

    path: Path
    sizes: Mapping[str, int]
    read: Callable[[str], IO[bytes]]

    def content(self, path: str) -> bytes:
        """Return a tag file."""
        with self.read(path) as stream:
            return stream.read(self.sizes[path])

    @property
    def payload(self) -> list[str]:
        """Paths of the files that the bag is for, sorted."""
        return sorted(path for path in self.sizes if path.startswith("data/"))

    @property
    def runs(self) -> list[str]:
        """The runs in it, as ``audit/window/design``."""
        return sorted({found[1] for path in self.payload if (found := _RUN_FILE.fullmatch(path))})


@contextmanager
def open_bag(path: Path) -> Iterator[OpenBag]:
    """Open a bag in a zip or tar.

    Raises
    ------
    InputError
        If there is none, or it is damaged.
    EvidenceError
        If a name or a size in it is one that no honest bag has; nothing of it was unpacked.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    with ExitStack() as held:
        try:
            opened = _opened(path, held)
        except AuditError:
            raise
        except (*_DAMAGED, *_UNREADABLE) as error:
            raise _damaged(path, error) from None
        try:
            yield opened
        except _DAMAGED as error:
            raise _damaged(path, error) from None


def _opened(path: Path, held: ExitStack) -> OpenBag:
    if zipfile.is_zipfile(path):
        return _of_zip(path, held.enter_context(zipfile.ZipFile(path)))
    if tarfile.is_tarfile(path):
        return _of_tar(path, held.enter_context(tarfile.open(path, "r:")))
    raise InputError(f"{path}: neither a zip nor a tar without compression")


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: is damaged ({type(error).__name__}: {error}); fetch it again")


def _of_zip(path: Path, file: zipfile.ZipFile) -> OpenBag:
    members = []
    for entry in file.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not entry.filename:
            raise EvidenceError(f"{path}: holds a file without a name")
        if entry.flag_bits & 1:
            raise EvidenceError(f"{path}: {entry.filename!a} is encrypted; a bag is not")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise EvidenceError(f"{path}: {entry.filename!a} is a link or a device, which no bag holds")
        if not entry.is_dir():
            members.append((entry.filename, entry.file_size, entry))
    names = _checked(path, [(name, size) for name, size, _ in members])
    check_zip(path, file)
    entries = dict(zip(names, (entry for _, _, entry in members), strict=True))
    return OpenBag(
        path=path,
        sizes={name: entry.file_size for name, entry in entries.items()},
        read=lambda name: file.open(entries[name]),
    )


def _of_tar(path: Path, archive: tarfile.TarFile) -> OpenBag:
    members = []
    for entry in archive:
        if not entry.isreg() and not entry.isdir():
            raise EvidenceError(f"{path}: {entry.name!a} is a link or a device, which no bag holds")
        if entry.isreg():
            members.append((entry.name, entry.size, entry))
        if len(members) > MOST_FILES:
            break
    names = _checked(path, [(name, size) for name, size, _ in members])
    check_tar(path, archive)
    entries = dict(zip(names, (entry for _, _, entry in members), strict=True))

    def read(name: str) -> IO[bytes]:
        stream = archive.extractfile(entries[name])
        assert stream is not None
        return stream

    return OpenBag(path=path, sizes={name: entry.size for name, entry in entries.items()}, read=read)


def _checked(path: Path, members: list[tuple[str, int]]) -> list[str]:
    """Return the names without the folder that all are in, or refuse what could be written elsewhere or never ends."""
    if len(members) > MOST_FILES:
        raise EvidenceError(f"{path}: more than {MOST_FILES} files in one bag")
    whole, packed = sum(size for _, size in members), path.stat().st_size
    if whole > max(_SMALL, MOST_EXPANDED * packed):
        raise EvidenceError(f"{path}: {packed} bytes that unpack to {whole}; it is not unpacked")
    folders, found, seen = set(), [], dict[str, str]()
    for name, _ in members:
        parts = name.split("/")
        if (
            len(parts) < 2
            or any(part in ("", ".", "..") for part in parts)
            or "\\" in name
            or any(":" in part for part in parts)
            or any(category(char) in ("Cc", "Cf", "Cs") for char in name)
        ):
            raise EvidenceError(f"{path}: {name!a} is no path within a bag's folder")
        folders.add(parts[0])
        own = "/".join(parts[1:])
        # Two names that some file systems take for one: the second would be written over the first.
        other = seen.setdefault(
            "/".join(part.rstrip(". ") for part in normalize("NFKC", own).casefold().split("/")), own
        )
        if other != own:
            raise EvidenceError(f"{path}: {own!a} and {other!a} are one file on some machines")
        found.append(own)
    if len(folders) != 1:
        raise EvidenceError(f"{path}: a bag is one folder; there are {len(folders)} at its top")
    if len(set(found)) != len(found):
        raise EvidenceError(f"{path}: {Counter(found).most_common(1)[0][0]!a} is in it twice")
    return found


def check_bag(bag: OpenBag, notify: Callable[[str], None] = ignore) -> list[BagFinding]:
    """Return everything in a bag that is not as its lists say: files changed, missing, or in no list.

    Parameters
    ----------
    bag : OpenBag
        From `open_bag`.
    notify : callable
        Told how far it is.
    """
    findings = [*_declared(bag)]
    if "fetch.txt" in bag.sizes:
        findings.append(
            BagFinding("fetch.txt", "names files that are elsewhere; evidence holds all of its own")
        )
    lists = {}
    for algorithm in ALGORITHMS:
        for kind in ("manifest", "tagmanifest"):
            name = f"{kind}-{algorithm}.txt"
            if name not in bag.sizes:
                findings.append(BagFinding(name, "is missing"))
                continue
            lists[name] = _listed(bag, name, findings)
    findings += [
        BagFinding(name, "is a list by an algorithm that is not looked at")
        for name in bag.sizes
        if re.fullmatch(r"(tag)?manifest-.+\.txt", name) and name not in lists
    ]
    tags = [path for path in bag.sizes if not path.startswith(("data/", "tagmanifest-"))]
    progress = Progress("bag: files hashed", len(bag.sizes), notify)
    for path in sorted(bag.sizes):
        if path in tags or path.startswith("data/"):
            kind = "manifest" if path.startswith("data/") else "tagmanifest"
            _compare(bag, path, {a: lists.get(f"{kind}-{a}.txt") for a in ALGORITHMS}, findings)
        progress.one_more()
    for name, listed in lists.items():
        expected = bag.payload if name.startswith("manifest") else tags
        findings += [
            BagFinding(path, f"is in {name} and not in the bag")
            for path in sorted(listed.keys() - set(expected))
        ]
    return findings


def _declared(bag: OpenBag) -> Iterator[BagFinding]:
    """What the declaration and the description say of the whole."""
    tags = sum(size for path, size in bag.sizes.items() if not path.startswith("data/"))
    if tags > MOST_TAGS:
        raise EvidenceError(f"{bag.path}: {tags} bytes of lists and descriptions; they are not read")
    if "bagit.txt" not in bag.sizes:
        yield BagFinding("bagit.txt", "is missing: this is no bag")
    elif not re.fullmatch(
        rb"BagIt-Version: (0\.97|1\.0)\r?\nTag-File-Character-Encoding: UTF-8\r?\n?", bag.content("bagit.txt")
    ):
        yield BagFinding("bagit.txt", "declares neither BagIt 1.0 nor 0.97 in UTF-8")
    info = bag.content("bag-info.txt").decode(errors="replace") if "bag-info.txt" in bag.sizes else ""
    said = re.findall(r"^Payload-Oxum: *([0-9]+)\.([0-9]+)\r?$", info, re.M)
    there = (str(sum(bag.sizes[path] for path in bag.payload)), str(len(bag.payload)))
    if said != [there]:
        yield BagFinding("bag-info.txt", f"its Payload-Oxum is not {there[0]}.{there[1]}, as the files are")


def _listed(bag: OpenBag, name: str, findings: list[BagFinding]) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        text = bag.content(name).decode()
    except UnicodeDecodeError:
        findings.append(BagFinding(name, "is not UTF-8"))
        return found
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        path = "" if match is None else unescaped(match[2].removeprefix("./"))
        if match is None:
            findings.append(BagFinding(name, f"line {number} is not a digest and a path"))
        elif found.setdefault(path, match[1].lower()) != match[1].lower():
            findings.append(BagFinding(name, f"line {number}: lists {path!a} twice, with two digests"))
    return found


def _compare(
    bag: OpenBag, path: str, lists: Mapping[str, Mapping[str, str] | None], findings: list[BagFinding]
) -> None:
    digests = {algorithm: hashlib.new(algorithm) for algorithm in lists}
    try:
        with bag.read(path) as stream:
            while piece := stream.read(_PIECE):
                for digest in digests.values():
                    digest.update(piece)
    except (*_DAMAGED, OSError) as error:
        findings.append(BagFinding(path, f"cannot be read ({type(error).__name__})"))
        return
    for algorithm, listed in lists.items():
        if listed is None:
            continue
        if path not in listed:
            findings.append(BagFinding(path, f"is in no {algorithm} list"))
        elif listed[path] != digests[algorithm].hexdigest():
            findings.append(BagFinding(path, f"its {algorithm} is not the listed one"))


def unpack(bag: OpenBag, store: Store, notify: Callable[[str], None] = ignore) -> list[str]:
    """Write the runs of a bag into a store; return them, as ``audit/window/design``.

    What makes a stage complete is written after its files, and the evidence last, so that a run which was cut off is
    never taken for a whole one. What is there already and equal is left.

    Raises
    ------
    EvidenceError
        If the payload holds anything but runs.
    ConflictError
        If the store has another file under one of the names, or has the run at another level of privacy, since the two
        together would be neither; nothing is written then.
    """
    keys = {}
    for path in bag.payload:
        if (found := _RUN_FILE.fullmatch(path)) is None:
            raise EvidenceError(f"{bag.path}: {path!a} is no file of a run; only runs are imported")
        keys[path] = f"{found[1]}/{found[2]}"
    new = []
    for path, key in keys.items():
        if not store.exists(key):
            new.append(path)
        elif store.get(key) != bag.content(path):
            raise ConflictError(
                f"{store.uri(key)}: is there already, and says something else; nothing was written"
            )
    for run in bag.runs:
        _refuse_other_level(run, set(keys.values()), store)
    progress = Progress("import: files", len(new), notify)
    for path in sorted(new, key=_order):
        with bag.read(path) as stream:
            written = store.put_stream(keys[path], cast("BinaryIO", stream))
        if not written:
            raise ConflictError(f"{store.uri(keys[path])}: somebody else has just written it; import again")
        progress.one_more()
    return bag.runs


def _refuse_other_level(run: str, keys: set[str], store: Store) -> None:
    label, there = f"{run}/{LABEL}", set(store.list(run))
    more_there = label in keys and label not in there and bool(there - keys)
    if more_there or (label in there and label not in keys):
        raise ConflictError(
            f"{store.uri(run)}: is there already, at another level of privacy than in the bag; nothing was written: "
            "import it into another store"
        )


def _order(path: str) -> tuple[bool, bool, str]:
    return ("/evidence/" in path, path.endswith(f"/{SUCCESS}"), path)
