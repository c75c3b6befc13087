"""Sources: where prompts, or recorded decisions, are read from. One file each, registered with ``@SOURCES(name)``.

A source opens what it reads: files through `TableFile`, and anything else by itself. What it reads are records, each
with its place for messages; `Source.rows` makes our rows of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol

from audit_lib.errors import AuditError, InputError, SpecError
from audit_lib.options import Options, parse
from audit_lib.registry import Registry, is_whole
from audit_lib.sample.candidates import PromptRecord, candidate_rows
from audit_lib.sample.tables import Record, TableFile, unreadable
from audit_lib.spec import AuditSpec
from audit_lib.window import Window

FileKey = Literal["paths", "batch_inputs"]
"""The keys of the section ``source`` that name files."""


class Input(Protocol):
    """One thing that a source reads: a file, or the answer to a query; iterating reads it once, to its end."""

    @property
    def sha256(self) -> str:
        """Of all that was read; there once it was read to its end."""
        ...

    def __iter__(self) -> Iterator[Record]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNotes:
    """What a source tells besides its rows, once all of them were read.

    Attributes
    ----------
    document : dict
        Keys of ``sample.json``.
    counts : dict of str to int
        Counts of the stage.
    warnings : sequence of str
        What the user must know.
    """

    document: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()


class Source(ABC):
    """Gives the prompts, or the recorded decisions, of an audit.

    A subclass says what it reads (`inputs`); a record is a row of ours under the names that ``source.columns`` maps,
    unless it says otherwise (`reader`).

    Attributes
    ----------
    Options : type
        What ``source.options`` may hold.
    takes : tuple of {"paths", "batch_inputs"}
        The keys of the section ``source`` by which it takes files; the first of them must name some.
    rows : callable
        What makes our rows of a record.
    """

    Options: ClassVar[type[Options]] = Options
    takes: ClassVar[tuple[FileKey, ...]] = ()

    def __init__(self, spec: AuditSpec) -> None:
        source = spec.source
        self.spec = spec
        for key in ("paths", "batch_inputs"):
            if getattr(source, key) and key not in self.takes:
                able = [name for name, other in SOURCES if key in other.takes]
                raise SpecError(
                    f"source.{key}: would be ignored by kind {source.kind}; it is for {', '.join(able)}"
                )
        for key in self.takes[:1]:
            if not getattr(source, key):
                raise SpecError(f"source.{key}: name one file or more; kind {source.kind} reads them")
        self.options = parse(self.Options, source.options, "source.options", source.kind)
        self.rows = self.reader()

    @abstractmethod
    def inputs(self, window: Window) -> Iterable[tuple[str, Input]]:
        """Yield what is read for a window, with the name by which evidence and report call it: no secret in it.

        Records outside the window may be among them: they are left out, and counted.
        """

    def reader(self) -> Callable[[Record], list[PromptRecord]]:
        """Return what makes our rows of a record; here, of one that holds one candidate."""
        return candidate_rows(self.spec)

    def check(self) -> None:  # noqa: B027 - most have nothing to look for
        """Raise SpecError for what is wrong and can be seen without reading anything."""

    def unreadable(self) -> Iterator[AuditError]:
        """Yield an error for each input that cannot be opened now; nothing of it is read."""
        yield from ()

    def first(self) -> PromptRecord | None:
        """Return the first row; None where looking would leave this machine.

        Raises
        ------
        InputError
            If there is none, or the beginning has a fault.
        """
        return None

    def findings(self) -> SourceNotes:
        """Return what else there is to tell once all rows were read."""
        return SourceNotes()


class FileSource(Source):
    """Reads the tables that ``source.paths`` names, one after the other."""

    takes: ClassVar[tuple[FileKey, ...]] = ("paths",)

    def inputs(self, window: Window) -> Iterator[tuple[str, Input]]:
        """Yield each file under the name that the spec gives it."""
        for reference in self.spec.source.paths:
            yield reference, TableFile(self.spec.path(reference))

    def check(self) -> None:
        """Refuse files on this disk that are not there; what is at a URI shows when it is read."""
        for key, reference in self._named():
            path = self.spec.path(reference)
            if "://" not in path and not Path(path).is_file():
                raise SpecError(f"source.{key}: {reference} is not a file; it is looked for at {path}")

    def unreadable(self) -> Iterator[AuditError]:
        """Yield an error for each file that cannot be opened."""
        for key, reference in self._named():
            if (error := unreadable(f"source.{key}", reference, self.spec.path(reference))) is not None:
                yield error

    def first(self) -> PromptRecord | None:
        """Return the first row of files on this disk."""
        for reference in self.spec.source.paths:
            path = self.spec.path(reference)
            if "://" in path or not Path(path).is_file():
                return None
            for record in TableFile(path):
                for row in self.rows(record):
                    return row
        raise InputError(
            f"source.paths: {', '.join(self.spec.source.paths)}: there is no row to audit: the export is empty, or has "
            "a header only; write it again"
        )

    def _named(self) -> Iterator[tuple[FileKey, str]]:
        return ((key, reference) for key in self.takes for reference in getattr(self.spec.source, key))


SOURCES: Final[Registry[type[Source]]] = Registry(
    "sources", "audit_lib.sample.sources", lambda part: is_whole(part, Source)
)


def source_of(spec: AuditSpec) -> Source:
    """Return the source that a spec names, with its options checked.

    Raises
    ------
    SpecError
        If there is none of that name, an option is wrong, or ``source.columns`` maps what is not a column of ours.
    """
    kind = SOURCES.get(spec.source.kind)
    with SOURCES.naming(spec.source.kind):
        return kind(spec)
