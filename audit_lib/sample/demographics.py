"""Attributes of applicants: values become the spec's levels, and what is not known is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.coded import CodedTexts
from audit_lib.documents.sample import SampledDemographics
from audit_lib.errors import ColumnTypeError, DuplicateIdError, MissingColumnError, SpecError
from audit_lib.policies import policy_of
from audit_lib.registry import did_you_mean
from audit_lib.sample.labels import BLANK, FEWEST_NAMED, bounded, level_of, levels_by_label
from audit_lib.sample.row_checks import RowChecks
from audit_lib.sample.tables import Record, TableFile
from audit_lib.spec import AuditSpec

DemographicValue = str | None

MOSTLY_UNKNOWN: Final = 0.5
"""Share of people of unknown level above which a warning is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """The attributes of every prompt of the window, before and after they become levels.

    Parameters
    ----------
    matched : array of bool, optional
        Whether the person is in the demographics; None: everybody is, where the source itself has them.
    raw, levels : dict of str to CodedTexts
        Attribute -> the value as written, and the level of the spec or None.
    origin : dict of str to str
        Path and SHA-256 of the demographics file, where there is one.
    """

    matched: NDArray[np.bool_] | None
    raw: dict[str, CodedTexts]
    levels: dict[str, CodedTexts]
    origin: dict[str, str]

    def account(self, people: NDArray[np.int64], spec: AuditSpec) -> SampledDemographics:
        """Count people, each once, by a row of each: matched, unmatched, and unknown by value.

        ``unknown`` counts whoever has no level, for whatever reason; ``unknown_values`` those whose value is no
        level. A value is named if the spec declares it or the policy has such a category, and else only if it looks
        like one and several people have it: never an address, a number or a person's name.
        """
        known = _public(spec)
        matched = np.ones(len(people), np.bool_) if self.matched is None else self.matched[people]
        axes = [axis for axis in self.levels if axis not in spec.groups.axes_of_probabilities]
        raw = {axis: column.take(people) for axis, column in self.raw.items()}
        levels = {axis: column.take(people) for axis, column in self.levels.items()}
        without = {axis: levels[axis].equal(None) for axis in axes}
        unknown: dict[str, Counter[str]] = {axis: Counter() for axis in axes}
        for axis, values in unknown.items():
            for value, number in raw[axis].take(np.flatnonzero(without[axis] & matched)).counts().items():
                values[value or BLANK] += number
        read_as = _read_as(raw, levels, spec)
        return SampledDemographics(
            path=self.origin.get("path"),
            sha256=self.origin.get("sha256"),
            people=len(people),
            matched=int(matched.sum()),
            unmatched=int((~matched).sum()),
            unknown={axis: int(without[axis].sum()) for axis in axes},
            read_as=read_as if any(read_as.values()) else None,
            unknown_values={
                axis: bounded(counts, known, fewest=FEWEST_NAMED) for axis, counts in unknown.items()
            },
            provenance=spec.groups.provenance,
        )


def _read_as(
    raw: Mapping[str, CodedTexts], levels: Mapping[str, CodedTexts], spec: AuditSpec
) -> dict[str, dict[str, str]]:
    """Return, by attribute, labels that mean a level, though the spec does not list them -> that level."""
    found: dict[str, dict[str, str]] = {}
    for axis, column in levels.items():
        listed = {} if spec.demographics is None else spec.demographics.values.get(axis, {})
        found[axis] = {
            label: level
            for label, level in sorted(raw[axis].pairs(column), key=str)
            if label and level is not None and label != level and label not in listed
        }
    return found


def attributes(spec: AuditSpec, applications: pa.ChunkedArray, own: Mapping[str, CodedTexts]) -> Attributes:
    """Return the attributes of the prompts: joined by application id, or the source's `own`.

    Nobody is dropped: an applicant who is not in the file, and a value that is no level, is None.

    Raises
    ------
    DuplicateIdError
        If the demographics name one applicant twice; names both lines, never the id.
    SpecError
        If the section leaves out an attribute, or maps a value to what is no level.
    InputError
        If the file has a fault (see `errors`).
    """
    labels, declared = levels_by_label(spec), frozenset(spec.groups.unknown_values or ())
    raw, matched, origin = dict(own), None, dict[str, str]()
    values: Mapping[str, Mapping[str, str]] = {}
    if spec.demographics is not None:
        _check(spec)
        values = spec.demographics.values
        coded = CodedTexts.of(applications)
        people, origin = _read(spec, frozenset(one for one in coded.words if one is not None))
        matched = np.array([one in people for one in coded.words], np.bool_)[coded.codes]
        raw = {
            axis: coded.mapped(lambda one, axis=axis: people.get(one or "", {}).get(axis))  # type: ignore[misc]
            for axis in spec.groups.axes
        }

    def level(axis: str, value: DemographicValue) -> DemographicValue:
        meant = values.get(axis, {})
        if value in declared and value not in meant:
            return None
        return meant.get(value or "") or level_of(value, spec.groups.attributes[axis], labels[axis])

    levels = {
        axis: raw[axis].mapped(lambda value, axis=axis: level(axis, value))  # type: ignore[misc]
        for axis in spec.groups.attributes
    }
    return Attributes(matched=matched, raw=raw, levels=levels, origin=origin)


def warnings(found: SampledDemographics, declared: Sequence[str] = ()) -> Iterator[str]:
    """Say what is wrong with the demographics of ``sample.json``, though nothing stops the audit.

    Values that are `declared` as unknown (``groups.unknown_values``) are as they should be.
    """
    people = found.people
    for axis, unknown in found.unknown.items():
        if people and unknown / people > MOSTLY_UNKNOWN:
            yield (
                f"WARNING: {axis} is unknown for {unknown} of {people} people: what is measured rests on the others; "
                "look at demographics.columns, demographics.values and the ids"
            )
    for axis, values in found.unknown_values.items():
        strange = {
            value: count for value, count in values.items() if value != BLANK and value not in declared
        }
        if strange:
            named = ", ".join(repr(value) for value in sorted(strange, key=lambda v: (-strange[v], v))[:5])
            yield (
                f"WARNING: {axis}: {sum(strange.values())} people have a value that is no level of the spec: {named}"
                f"{' and others' if len(strange) > 5 else ''}; map it in demographics.values or add the level"
            )


def _check(spec: AuditSpec) -> None:
    section = spec.demographics
    if section is None:
        return
    for axis in spec.groups.axes:
        if axis not in section.columns:
            raise SpecError(f"demographics.columns: no column for the attribute {axis!r}; add it")
    for key, mapping in (("columns", section.columns), ("values", section.values)):
        for axis in mapping:
            if axis not in spec.groups.axes:
                near = did_you_mean(axis, list(spec.groups.axes))
                raise SpecError(f"demographics.{key}.{axis}: not an attribute{near}")
    for axis, values in section.values.items():
        for level in values.values():
            if level not in spec.groups.attributes[axis]:
                near = did_you_mean(level, spec.groups.attributes[axis])
                raise SpecError(f"demographics.values.{axis}: {level!r} is not a level of it{near}")


def _read(
    spec: AuditSpec, wanted: frozenset[str]
) -> tuple[dict[str, dict[str, DemographicValue]], dict[str, str]]:
    section = spec.demographics
    if section is None:
        return {}, {}
    file = TableFile(spec.path(section.path))
    checks = RowChecks(spec)
    places: dict[str, str] = {}
    people: dict[str, dict[str, DemographicValue]] = {}
    for record in file:
        _check_columns(record, [section.id_column, *section.columns.values()])
        person = _cell(record, section.id_column)
        if not person:
            raise ColumnTypeError(
                f"{record.where}: column {section.id_column!r} is empty; every row needs an id"
            )
        if person in places:
            raise DuplicateIdError(
                f"{record.where}: its {section.id_column} was already used at {places[person]}; "
                "an applicant has one row in the demographics"
            )
        places[person] = record.where
        values = {axis: _cell(record, column) for axis, column in sorted(section.columns.items())}
        if person in wanted:
            for axis, value in values.items():
                checks.category(axis, value, record.where, section.values.get(axis, {}))
            people[person] = values
    return people, {"path": section.path, "sha256": file.sha256}


def _check_columns(record: Record, columns: Sequence[str]) -> None:
    lacking = [column for column in columns if column not in record.values]
    if not lacking:
        return
    near = did_you_mean(lacking[0], sorted(record.values)) if len(lacking) == 1 else ""
    named = ", ".join(map(repr, lacking))
    has = f"; the file has {', '.join(sorted(record.values))}" if len(lacking) > 1 else ""
    what = "column" if len(lacking) == 1 else f"{len(lacking)} columns:"
    raise MissingColumnError(
        f"{record.where}: {what} {named} {'is' if len(lacking) == 1 else 'are'} missing{near}{has}; correct "
        f"{'it' if len(lacking) == 1 else 'them'} in demographics"
    )


def _cell(record: Record, column: str) -> DemographicValue:
    value = record.values[column]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # ids and category codes are often numbers
    if value is not None and not isinstance(value, str):
        raise ColumnTypeError(f"{record.where}: column {column!r} should be text, is {type(value).__name__}")
    return value


def _public(spec: AuditSpec) -> frozenset[str]:
    """Values that tell nobody's secret: those that the spec declares as unknown, and the policy's own categories."""
    policy = policy_of(spec)
    of_policy = (level.name for name in policy.attribute_names for level in policy.attribute(name).categories)
    return frozenset((*of_policy, *(spec.groups.unknown_values or ())))
