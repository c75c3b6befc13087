"""Writes a run as a bag: each file of its folder with two digests, what it is in words, and a crate's metadata.

The same run with the same journal gives the same bytes: files are in order, stored without compression, and carry no
time of their own.

References
----------
Kunze, J. and others (2018). The BagIt File Packaging Format. RFC 8493.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import tarfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from audit_lib import __version__
from audit_lib.bag.bagged_file import ALGORITHMS, BaggedFile, escaped
from audit_lib.bag.certificate import certificate_draft
from audit_lib.bag.crate import crate_metadata
from audit_lib.bag.verify_text import verify_text
from audit_lib.digesting_stream import DigestingStream
from audit_lib.documents.privacy import PrivacyLabel, PrivacyLevel, label_bytes
from audit_lib.errors import (
    AuditError,
    ConflictError,
    EvidenceError,
    IncompleteRunError,
    InputError,
    WithheldError,
)
from audit_lib.journal import read_journal
from audit_lib.journal_lines import NAME as JOURNAL
from audit_lib.journal_lines import journal_lines
from audit_lib.privacy.levels import DEFAULT, LABEL, is_fuller
from audit_lib.privacy.withheld_files import files_withheld, level_of
from audit_lib.progress import Progress, ignore
from audit_lib.run import Run, StageFolder
from audit_lib.store import Store, open_store
from audit_lib.window import Window

_PIECE: Final = 1 << 20
_1980: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedBag:
    """What was written.

    Attributes
    ----------
    path : Path
        The archive.
    files, size : int
        Of the payload, in bytes.
    withheld : int
        Files of the run that it was written without.
    tag_manifest_sha256 : str
        Digest of ``tagmanifest-sha256.txt``, which covers all of the bag.
    """

    path: Path
    files: int
    size: int
    withheld: int
    tag_manifest_sha256: str


def export_run(
    uri: str, out: Path, notify: Callable[[str], None] = ignore, *, level: PrivacyLevel = DEFAULT
) -> ExportedBag:
    """Write a sealed run as a bag.

    Parameters
    ----------
    uri : str
        The run's folder, or a copy of it.
    out : Path
        A name that ends with ``.zip`` or ``.tar``; nothing is overwritten.
    notify : callable
        Told how far it is.
    level : str
        ``full``, ``redacted`` or ``digests`` (`audit_lib.privacy.levels`): what of it may be seen.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed.
    WithheldError
        If it is a copy itself, which was handed on without what the level shows.
    ConflictError
        If the file is there.
    InputError
        If its name says no format.
    EvidenceError
        If the journal of its audit is no chain.
    """
    kinds: dict[str, type[_Archive]] = {".zip": _Zip, ".tar": _Tar}
    if out.suffix not in kinds:
        raise InputError(f"{out}: cannot tell the format by the name; use .zip or .tar")
    if out.exists():
        raise ConflictError(f"{out}: is there already; name another file")
    sealed = _Sealed.at(uri, level)
    partial = out.with_name(f".{out.name}.partial")
    try:
        with kinds[out.suffix].at(partial, sealed.name.replace("/", "_")) as archive:
            files = list(_payload(archive, sealed, notify))
            tags = _tags(sealed, files)
            for path, content in sorted(tags.items()):
                archive.add(path, len(content), io.BytesIO(content))
        partial.rename(out)
    finally:
        partial.unlink(missing_ok=True)
    return ExportedBag(
        path=out,
        files=len(files),
        size=sum(one.size for one in files),
        withheld=len(sealed.withheld),
        tag_manifest_sha256=hashlib.sha256(tags["tagmanifest-sha256.txt"]).hexdigest(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sealed:
    """A sealed run: where it is, its name, the file that lists its files, its title, and the day of its seal; the
    level at which it is handed on, and what that withholds; and the journal of its audit, as lines, where it is entered
    in one next to it.
    """

    store: Store
    name: str
    manifest: str
    title: str
    day: str
    level: PrivacyLevel
    withheld: frozenset[str]
    journal: bytes | None

    @classmethod
    def at(cls, uri: str, level: PrivacyLevel) -> _Sealed:
        store = open_store(uri.rstrip("/") or "/")
        failed = [key for key in store.list("attempts") if key.endswith("/manifest.json")]
        stage = "evidence"
        if not store.exists("evidence/manifest.json"):
            if not failed:
                raise IncompleteRunError(
                    f"{uri}: only a sealed run is exported, complete or failed; there is no evidence/manifest.json"
                )
            stage = max(failed, key=lambda key: int(key.split("/")[1])).rpartition("/")[0]
        folder, manifest = StageFolder(store, stage), f"{stage}/manifest.json"
        said = folder.read_json("manifest.json")
        try:
            name = f"{said['audit']}/{Window.from_label(said['window']).label}/{said['spec_digest'][:16]}"
        except (KeyError, TypeError, ValueError):
            raise EvidenceError(
                f"{store.uri(manifest)}: does not say audit, window and spec_digest"
            ) from None
        if is_fuller(level, had := level_of(store, "")):
            raise WithheldError(f"{uri}: is a copy of level {had}; nothing fuller can be made of it")
        title = name
        with contextlib.suppress(AuditError):
            title = Run.from_bundle(uri.rstrip("/") or "/").spec.title
        return cls(
            store=store,
            name=name,
            manifest=manifest,
            title=title,
            day=folder.success().finished.date().isoformat(),
            level=level,
            withheld=frozenset(() if level == "full" else files_withheld(store, "", level)),
            journal=_journal(store, name),
        )


def _journal(store: Store, name: str) -> bytes | None:
    """Return the journal next to the audit of a run that lies at its place in a store."""
    place = store.uri("").rstrip("/")
    if not place.endswith(f"/{name}"):
        return None
    entries = read_journal(open_store(place.removesuffix(f"/{name}") or "/"), name.split("/")[0])
    own = [one for one in entries if f"{one.audit}/{one.window}/{one.run}" == name]
    return journal_lines(entries) if own else None


def _payload(archive: _Archive, run: _Sealed, notify: Callable[[str], None]) -> Iterator[BaggedFile]:
    """Add every file of the run's folder that the level shows, and yield its digests."""
    store, name = run.store, run.name
    made = {} if run.level == "full" else {LABEL: label_bytes(PrivacyLabel(level=run.level))}
    if run.journal is not None:
        made[JOURNAL] = run.journal
    there = {path for path in store.list("") if path not in run.withheld and path != LABEL}
    paths = sorted(there | made.keys())
    progress = Progress("export: files", len(paths), notify)
    for path in paths:
        size = len(made[path]) if path in made else store.size(path)
        with io.BytesIO(made[path]) if path in made else store.open(path) as raw:
            stream = DigestingStream(raw, *ALGORITHMS)
            archive.add(f"data/{name}/{path}", size, stream)
        yield BaggedFile(path=f"data/{name}/{path}", size=size, digests=stream.digests())
        progress.one_more()


def _tags(run: _Sealed, files: list[BaggedFile]) -> dict[str, bytes]:
    """Return the files next to the payload: declaration, description, manifests."""
    manifest = next(one for one in files if one.path == f"data/{run.name}/{run.manifest}").digests["sha256"]
    info = {
        "Bag-Software-Agent": f"audit_lib {__version__}",
        "Bagging-Date": run.day,
        "External-Description": " ".join(run.title.split()),
        "External-Identifier": run.name,
        "Internal-Sender-Identifier": f"sha256:{manifest}",
        "Privacy-Level": run.level,
        "Payload-Oxum": f"{sum(one.size for one in files)}.{len(files)}",
    }
    tags = {
        "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": "".join(f"{label}: {value}\n" for label, value in info.items()).encode(),
        "ro-crate-metadata.json": crate_metadata(run.name, run.title, files, run.day),
        "CERTIFICATE-DRAFT.txt": certificate_draft(
            run.name, run.manifest, manifest, f"audit_lib {__version__}"
        ),
        "VERIFY.txt": verify_text(run.name, run.manifest, manifest, run.level, len(run.withheld)),
    }
    tags |= {
        f"manifest-{algorithm}.txt": _lines((one.digests[algorithm], one.path) for one in files)
        for algorithm in ALGORITHMS
    }
    listed = dict(tags)
    tags |= {
        f"tagmanifest-{algorithm}.txt": _lines(
            (hashlib.new(algorithm, content).hexdigest(), path) for path, content in sorted(listed.items())
        )
        for algorithm in ALGORITHMS
    }
    return tags


def _lines(entries: Any) -> bytes:
    return "".join(f"{digest}  {escaped(path)}\n" for digest, path in entries).encode()


class _Archive(ABC):
    """Where files are added, one after the other, below a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @classmethod
    @abstractmethod
    @contextmanager
    def at(cls, path: Path, folder: str) -> Iterator[_Archive]:
        """Make the archive at a path."""

    @abstractmethod
    def add(self, path: str, size: int, stream: BinaryIO | io.RawIOBase) -> None:
        """Add a file."""


class _Zip(_Archive):
    def __init__(self, file: zipfile.ZipFile, folder: str) -> None:
        super().__init__(folder)
        self._file = file

    @classmethod
    @contextmanager
    def at(cls, path: Path, folder: str) -> Iterator[_Archive]:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_STORED) as file:
            yield cls(file, folder)

    def add(self, path: str, size: int, stream: BinaryIO | io.RawIOBase) -> None:
        entry = zipfile.ZipInfo(f"{self.folder}/{path}", _1980)
        entry.external_attr, entry.create_system, entry.file_size = 0o644 << 16, 3, size
        with self._file.open(entry, "w") as target:
            while piece := stream.read(_PIECE):
                target.write(piece)


class _Tar(_Archive):
    def __init__(self, file: tarfile.TarFile, folder: str) -> None:
        super().__init__(folder)
        self._file = file

    @classmethod
    @contextmanager
    def at(cls, path: Path, folder: str) -> Iterator[_Archive]:
        with tarfile.open(path, "x", format=tarfile.PAX_FORMAT) as file:
            yield cls(file, folder)

    def add(self, path: str, size: int, stream: BinaryIO | io.RawIOBase) -> None:
        entry = tarfile.TarInfo(f"{self.folder}/{path}")
        entry.size, entry.mode = size, 0o644
        self._file.addfile(entry, stream)
