"""``sample.json``: what was drawn from which sources, and how many people's demographics are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from audit_lib.typed_json import OPTIONAL, Count, Typed

AVAILABLE = "available"
DRAWN = "drawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile(Typed):
    """What was read from one input of a source."""

    path: str
    """Its name; of a file, as the spec writes it."""
    sha256: str
    """Of the file's bytes, or of what else was read."""
    rows_read: Count
    rows_in_window: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Typed):
    """A file of requests that belongs to a source."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedModel(Typed):
    """A model that the data name, or None for rows that name none."""

    model: str | None
    rows: Count
    sampled: Count
    audited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurred(Typed):
    """When the first and the last of the sampled decisions were taken, and how many do not say."""

    first: str
    last: str
    not_stated: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDemographics(Typed):
    """How many sampled people have demographics, and from where."""

    path: str | None = field(default=None, metadata=OPTIONAL)
    """Of the file of demographics, where there is one."""
    sha256: str | None = field(default=None, metadata=OPTIONAL)
    people: Count
    matched: Count
    unmatched: Count
    unknown: Mapping[str, Count]
    read_as: Mapping[str, Mapping[str, str]] | None = field(default=None, metadata=OPTIONAL)
    """Attribute -> value of the data that means a level though the spec does not list it -> that level."""
    unknown_values: Mapping[str, Mapping[str, Count]]
    provenance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRead(Typed):
    """A complete run of another window, and what is known of what it read."""

    run: str
    """Window and beginning of the spec's digest."""
    sha256: str
    """Of its record of what it read; of its sample where it has none."""
    all_it_read: bool
    """False: it drew from what it read before such records were kept, so only what it drew is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBefore(Typed):
    """Each prompt is audited once over all windows: what was left out as read before, and what came late."""

    late_days: Count
    earlier: tuple[EarlierRead, ...]
    rows_read_before: Count
    """Of the window, left out: a complete run of another window has read their unit."""
    rows_late: Count
    """Older than the window, of a window that is audited, and read by none: audited with this one."""


class Drawn(NamedTuple):
    """A stratum: its values by column, and how many units of it there were and were drawn."""

    levels: dict[str, str | int | None]
    available: Count
    drawn: Count

    def as_dict(self) -> dict[str, str | int | None]:
        """JSON form."""
        return {**self.levels, AVAILABLE: self.available, DRAWN: self.drawn}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Typed):
    """``sample.json``."""

    rows: Count
    window: str
    sources: tuple[SourceFile, ...]
    batch_inputs: tuple[InputFile, ...] | None = field(default=None, metadata=OPTIONAL)
    requests_without_a_line: Count | None = field(default=None, metadata=OPTIONAL)
    source: Mapping[str, JsonValue] | None = field(default=None, metadata=OPTIONAL)
    """What a source of another package says of what it read."""
    read_before: ReadBefore | None = field(default=None, metadata=OPTIONAL)
    unit: str
    models: tuple[RecordedModel, ...] | None
    occurred: Occurred | None
    strata: tuple[Mapping[str, str | int | None], ...]
    """The value of each column of the stratum, and how many units were ``available`` and ``drawn``."""
    demographics: SampledDemographics | None

    def drawn(self) -> list[Drawn]:
        """Return the strata, counts and columns told apart."""
        return [
            Drawn(
                {name: value for name, value in stratum.items() if name not in (AVAILABLE, DRAWN)},
                int(stratum[AVAILABLE] or 0),
                int(stratum[DRAWN] or 0),
            )
            for stratum in self.strata
        ]
