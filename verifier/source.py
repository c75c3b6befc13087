"""Where evidence is read: a folder, a zip or a tar. Nothing is unpacked, and nothing outside is ever read."""

from __future__ import annotations

import errno
import os
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from typing import IO, Any, Callable

MOST_FILES = 1_000_000
MOST_EXPANDED = 200
"""How many times its archive's size what is in it may have."""
_LEFT = re.compile(r"\.tmp-[0-9a-f]{16}")
"""Names under which a store writes files in a folder; a writing that was killed leaves one, which nothing reads."""
_SMALL = 64 << 20
_PIECE = 1 << 20
_MORE = "has more in it than its list of files says, which another program may read"
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, OSError)


class RefusedError(Exception):
    """Nothing is read: there is no evidence here, or it is damaged, or its names or sizes are an attack."""


class AttackError(RefusedError):
    """A name or a size that no honest evidence has."""


class Source:
    """Files by their path, with their sizes; `odd` has what is no file, with the reason."""

    def __init__(self, where: str, sizes: dict[str, int], opened: Callable[[str], IO[bytes]]) -> None:
        self.where = where
        self.sizes = sizes
        self.odd: list[tuple[str, str]] = []
        self._open = opened

    def pieces(self, path: str) -> Any:
        """Yield the bytes of a file, no more of them than its size says.

        Raises
        ------
        RefusedError
            If it cannot be read, or holds more or fewer bytes than its archive says.
        """
        left = self.sizes[path]
        try:
            with self._open(path) as stream:
                while True:
                    piece = stream.read(_PIECE)
                    left -= len(piece)
                    if left < 0 or (not piece and left > 0):
                        raise RefusedError(
                            f"{path}: has another size than was said; it changed, or is damaged"
                        )
                    if not piece:
                        return
                    yield piece
        except DAMAGE as error:
            raise RefusedError(f"{path}: is damaged or cannot be read ({type(error).__name__})") from None

    def read(self, path: str, most: int = 1 << 28) -> bytes:
        """Return a file of no more than `most` bytes."""
        if self.sizes[path] > most:
            raise RefusedError(f"{path}: is larger than {most >> 20} MiB; it is not read")
        return b"".join(self.pieces(path))

    def below(self, prefix: str) -> Source:
        """Return the files below a folder, which ends with a slash; all of them for an empty one."""
        own = {path[len(prefix) :]: size for path, size in self.sizes.items() if path.startswith(prefix)}
        found = Source(self.where, own, lambda path: self._open(prefix + path))
        found.odd = [(path[len(prefix) :], why) for path, why in self.odd if path.startswith(prefix)]
        return found


def open_source(path: str) -> Source:
    """Open a folder, a zip, or a tar without compression."""
    if os.path.isdir(path):
        return _folder(path)
    if not os.path.isfile(path):
        raise RefusedError(f"{path}: there is no such file or folder")
    try:
        if zipfile.is_zipfile(path):
            return _zip(path)
        if tarfile.is_tarfile(path):
            return _tar(path)
    except AttackError:
        raise
    except (*DAMAGE, ValueError, OverflowError, RecursionError) as error:
        raise RefusedError(f"{path}: is damaged ({type(error).__name__}); fetch it again") from None
    raise RefusedError(f"{path}: neither a folder, a zip, nor a tar without compression")


def _folder(root: str) -> Source:
    sizes: dict[str, int] = {}
    odd: list[tuple[str, str]] = []

    def complain(error: OSError) -> None:
        if error.errno != errno.ENAMETOOLONG:
            raise RefusedError(f"{error.filename}: cannot be read ({error.strerror})")
        deep = os.path.relpath(error.filename, root).replace(os.sep, "/")
        odd.append((deep, "is a folder so deep that what is in it cannot be read"))

    for folder, folders, files in os.walk(root, onerror=complain):
        for name in sorted(folders + files):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root).replace(os.sep, "/")
            try:
                mode = os.lstat(full).st_mode
            except OSError as error:
                odd.append((path, f"cannot be looked at ({error.strerror})"))
                continue
            if stat.S_ISLNK(mode):
                odd.append((path, "is a symbolic link, which may lead out of the run; evidence has none"))
            elif stat.S_ISREG(mode) and _LEFT.fullmatch(name):
                continue
            elif stat.S_ISREG(mode):
                sizes[path] = os.path.getsize(full)
            elif not stat.S_ISDIR(mode):
                odd.append((path, "is no file"))
        if len(sizes) > MOST_FILES:
            raise AttackError(f"{root}: more than {MOST_FILES} files")
    source = Source(root, sizes, lambda path: open(os.path.join(root, path), "rb"))  # noqa: SIM115 - who reads closes it
    source.odd = odd
    return source


def _zip(path: str) -> Source:
    archive = zipfile.ZipFile(path)
    entries = []
    for entry in archive.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not entry.filename:
            raise AttackError(f"{path}: holds a file without a name")
        if entry.flag_bits & 1:
            raise AttackError(f"{path}: {entry.filename!a} is encrypted; evidence is not")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise AttackError(f"{path}: {entry.filename!a} is a link or a device, which evidence never holds")
        if not entry.filename.endswith("/"):
            entries.append((entry.filename, entry.file_size, entry))
    _check(path, [(name, size) for name, size, _ in entries])
    _check_whole_zip(path, archive)
    members = {name: entry for name, _, entry in entries}
    return Source(path, {name: size for name, size, _ in entries}, lambda name: archive.open(members[name]))


def _tar(path: str) -> Source:
    archive = tarfile.open(path, "r:")  # noqa: SIM115 - it is read until the end
    entries = []
    for entry in archive:
        if not entry.isreg() and not entry.isdir():
            raise AttackError(f"{path}: {entry.name!a} is a link or a device, which evidence never holds")
        if entry.issparse():
            raise AttackError(f"{path}: {entry.name!a} is a sparse file, which evidence never holds")
        if entry.isreg():
            entries.append((entry.name, entry.size, entry))
        if len(entries) > MOST_FILES:
            break
    _check(path, [(name, size) for name, size, _ in entries])
    _check_whole_tar(path, archive)
    members = {name: entry for name, _, entry in entries}

    def opened(name: str) -> IO[bytes]:
        stream = archive.extractfile(members[name])
        assert stream is not None
        return stream

    return Source(path, {name: size for name, size, _ in entries}, opened)


def _check_whole_zip(path: str, archive: zipfile.ZipFile) -> None:
    """Refuse a zip with anything between, before or after its members and their list: other programs may read it."""
    at, gaps = 0, [0]
    with open(path, "rb") as stream:
        for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
            stream.seek(entry.header_offset)
            mark, name, extra = struct.unpack("<4s22xHH", stream.read(30).ljust(30))
            if entry.header_offset - at not in gaps or mark != b"PK\x03\x04" or extra > 128:
                raise AttackError(f"{path}: {_MORE}")
            at = entry.header_offset + 30 + name + extra + entry.compress_size
            # Sizes that were not known when a member was begun follow it.
            gaps = [12, 16, 20, 24, 0] if entry.flag_bits & 8 else [0]
        stream.seek(-22, os.SEEK_END)
        end = stream.read()
    if archive.start_dir - at not in gaps or end[:4] != b"PK\x05\x06" or end[-2:] != b"\0\0":
        raise AttackError(f"{path}: {_MORE}")


def _check_whole_tar(path: str, archive: tarfile.TarFile) -> None:
    """Refuse a tar with anything but zeros after its members."""
    ends = [one.offset_data + -(-one.size * one.isreg() // 512) * 512 for one in archive.getmembers()]
    with open(path, "rb") as stream:
        stream.seek(max(ends, default=0))
        if any(piece.strip(b"\0") for piece in iter(lambda: stream.read(_PIECE), b"")):
            raise AttackError(f"{path}: {_MORE}")


def _check(path: str, entries: list[tuple[str, int]]) -> None:
    """Refuse names that lead elsewhere or are one on some machines, and what never ends when it is unpacked."""
    if len(entries) > MOST_FILES:
        raise AttackError(f"{path}: more than {MOST_FILES} files")
    whole, packed = sum(size for _, size in entries), os.path.getsize(path)
    if whole > max(_SMALL, MOST_EXPANDED * packed):
        raise AttackError(f"{path}: {packed} bytes that unpack to {whole}; it is not unpacked")
    seen: dict[str, str] = {}
    for name, _ in entries:
        parts = name.split("/")
        if (
            any(part in ("", ".", "..") for part in parts)
            or "\\" in name
            or any(":" in part for part in parts)
            or any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in name)
        ):
            raise AttackError(f"{path}: {name!a} is no path within a folder")
        folded = "/".join(
            part.rstrip(". ") for part in unicodedata.normalize("NFKC", name).casefold().split("/")
        )
        if folded in seen:
            other = seen[folded]
            why = "is in it twice" if other == name else f"and {other!a} are one file on some machines"
            raise AttackError(f"{path}: {name!a} {why}")
        seen[folded] = name
