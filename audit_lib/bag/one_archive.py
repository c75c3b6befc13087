"""Whether an archive is one thing for every program that reads it: a zip or a tar, from its first byte to its last.

A file may be a zip for one program and a tar for another, or hold files between those that its list names. Who verifies
the one and opens the other has been shown something else.
"""

from __future__ import annotations

import struct
import tarfile
import zipfile
from pathlib import Path
from typing import BinaryIO, Final

from audit_lib.errors import EvidenceError

_LOCAL: Final = struct.Struct("<4s22xHH")
_END: Final = 22
"""Bytes of a zip's last record, without a comment."""
_DESCRIPTORS: Final = (12, 16, 20, 24)
"""Bytes that may follow a member whose sizes were not known when it was begun."""
_MOST_EXTRA: Final = 128
_BLOCK: Final = 512
_PIECE: Final = 1 << 20


def check_zip(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse a zip that has more in it than its members, one next to the other, and their list.

    Raises
    ------
    EvidenceError
        If it has.
    """
    at, may_follow = 0, False
    with path.open("rb") as stream:
        for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
            _check_gap(path, entry.header_offset - at, described=may_follow)
            stream.seek(entry.header_offset)
            mark, name, extra = _LOCAL.unpack(stream.read(_LOCAL.size).ljust(_LOCAL.size))
            if mark != b"PK\x03\x04" or extra > _MOST_EXTRA:
                raise _more(path)
            at = entry.header_offset + _LOCAL.size + name + extra + entry.compress_size
            may_follow = bool(entry.flag_bits & 8)
        _check_gap(path, archive.start_dir - at, described=may_follow)
        stream.seek(-_END, 2)
        end = stream.read()
        if end[:4] != b"PK\x05\x06" or end[-2:] != b"\0\0":
            raise _more(path)


def check_tar(path: Path, archive: tarfile.TarFile) -> None:
    """Refuse a tar after whose members there is anything but zeros.

    Raises
    ------
    EvidenceError
        If there is.
    """
    last = max(archive.getmembers(), key=lambda entry: entry.offset_data, default=None)
    with path.open("rb") as stream:
        if last is not None:
            size = last.size if last.isreg() else 0
            stream.seek(last.offset_data + -(-size // _BLOCK) * _BLOCK)
        if not _is_zeros(stream):
            raise _more(path)


def _check_gap(path: Path, gap: int, *, described: bool) -> None:
    if gap and not (described and gap in _DESCRIPTORS):
        raise _more(path)


def _is_zeros(stream: BinaryIO) -> bool:
    return all(not piece.strip(b"\0") for piece in iter(lambda: stream.read(_PIECE), b""))


def _more(path: Path) -> EvidenceError:
    return EvidenceError(
        f"{path}: has more in it than its list of files says, which another program may read"
    )
