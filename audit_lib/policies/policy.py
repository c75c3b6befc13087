"""A policy pack: what one jurisdiction counts, prints, says and does not let pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any, Final, Literal, TypeVar

from pydantic import Field, model_validator

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import SpecError
from audit_lib.policies.pack_schema import (
    Attestation,
    Attribute,
    Bound,
    Cells,
    Citation,
    Clock,
    Duty,
    Exclusion,
    Family,
    Gate,
    GateName,
    GlossaryTerm,
    Guidance,
    InForce,
    Level,
    NamedTexts,
    NotClaimed,
    PackChange,
    PackPart,
    PracticalTest,
    ProvenanceRule,
    RequiredField,
    Rounding,
    Switch,
    TableKind,
    Taxonomy,
)
from audit_lib.registry import did_you_mean
from audit_lib.spec import Groups
from audit_lib.translation import mark

WORDING = frozenset(
    {
        "title_audit", "title_experiment", "title_refused", "experiment", "experiment_recorded", "refused",
        "invalid_judge", "not_an_auditor", "unknown_note",
    }
)  # fmt: skip
"""Words that every pack has, because every page says them. Where a law's audit needs an auditor, a pack also has
``title_unsigned``: what a page is called before one has signed it."""


@dataclass(frozen=True, slots=True)
class Category:
    """One row of a table.

    Parameters
    ----------
    family : str
        Name of the table family.
    levels : mapping of str to str
        Attribute -> the policy's name of its category, in the family's order of attributes.
    label : str
        The row's header as it prints.
    """

    family: str
    levels: Mapping[str, str]
    label: str


class Policy(PackPart):
    """What one jurisdiction counts, prints and says.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> policy = load_policy("nyc_ll144")
    >>> [(f.name, len(policy.categories(f.name))) for f in policy.families]
    [('sex', 2), ('race_ethnicity', 7), ('intersectional', 14)]
    >>> policy.guidance.threshold, policy.exclusion.share
    (Fraction(4, 5), Fraction(1, 50))
    >>> policy.median
    'all'
    """

    schema_id: Literal["audit-policy/1"] = Field(alias="schema")
    name: str
    version: str
    as_of: date
    jurisdiction: str
    law: str
    short_law: str
    citations: tuple[Citation, ...] = Field(min_length=1)
    in_force: InForce | None = None
    binds: Bound | None = None
    not_claimed: tuple[NotClaimed, ...] = ()
    changes: tuple[PackChange, ...] = ()
    taxonomy: Taxonomy | None = None
    further_attributes: bool = False
    attributes: tuple[Attribute, ...]
    families: tuple[Family, ...]
    tables: tuple[TableKind, ...]
    guidance: Guidance
    exclusion: Exclusion
    cells: Cells
    rounding: Rounding
    switches: tuple[Switch, ...]
    provenance: ProvenanceRule
    gates: tuple[Gate, ...] = ()
    clocks: tuple[Clock, ...] = Field(min_length=1)
    practical_tests: tuple[PracticalTest, ...] = ()
    duties: tuple[Duty, ...] = ()
    wording: dict[str, str]
    caveats: NamedTexts
    experiment_caveats: NamedTexts
    glossary: tuple[GlossaryTerm, ...]
    required_fields: tuple[RequiredField, ...]
    attestations: tuple[Attestation, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Policy:
        if missing := sorted(WORDING - set(self.wording)):
            raise ValueError(f"wording lacks {', '.join(missing)}")
        if self.attestations and "title_unsigned" not in self.wording:
            raise ValueError("wording lacks title_unsigned: what a page is called before an auditor attests")
        if bool(self.attributes) != bool(self.families) or bool(self.attributes) != (
            self.taxonomy is not None
        ):
            raise ValueError("attributes, families and taxonomy are given together, or all left to the spec")
        if [clock.kind for clock in self.clocks].count("validity") != 1:
            raise ValueError("clocks needs exactly one of kind validity")
        return self

    @property
    def digest(self) -> str:
        """The SHA-256 (hex) of the whole pack, with all that it extends."""
        return sha256(canonical_json(_said(self.model_dump(mode="json", by_alias=True))))

    @property
    def is_free(self) -> bool:
        """Whether attributes and table families are those of the spec, as no law lists them."""
        return self.taxonomy is None

    def of(self, groups: Groups, switches: Mapping[str, str]) -> Policy:
        """Return the pack as it stands for one spec: its switches set, and its tables if it lists none.

        Raises
        ------
        SpecError
            If a switch or its value does not exist.

        Examples
        --------
        >>> from audit_lib.policies import load_policy
        >>> from audit_lib.spec import Groups
        >>> groups = Groups(attributes={"age": ["under_40", "over_40"]}, reference={"age": "under_40"},
        ...                 provenance="self_reported")
        >>> [row.label for row in load_policy("generic").of(groups, {}).categories("age")]
        ['under_40', 'over_40']
        """
        changes: dict[str, object] = {}
        if switches:
            own = {name: self.switch(name) for name in switches}
            for name, value in switches.items():
                if value not in own[name].options:
                    near = did_you_mean(value, list(own[name].options))
                    raise SpecError(f"report.switches.{name}: {value!r} is no way that it can stand{near}")
            changes["switches"] = tuple(
                switch.model_copy(update={"value": switches[switch.name]})
                if switch.name in switches
                else switch
                for switch in self.switches
            )
        if self.is_free:
            changes |= _free(groups)
        elif self.further_attributes:
            further = _of_spec(groups, set(groups.attributes) - set(self.attribute_names))
            changes |= {
                "attributes": (*self.attributes, *further),
                "families": (*self.families, *map(_own_family, further)),
            }
        return self.model_copy(update=changes) if changes else self

    def gate(self, name: GateName) -> Gate | None:
        """Return a gate, or None where this jurisdiction has no such rule."""
        return next((gate for gate in self.gates if gate.name == name), None)

    def clock(self, kind: str) -> Clock:
        """Return the first clock of a kind.

        Raises
        ------
        SpecError
            If the pack has none.
        """
        for clock in self.clocks:
            if clock.kind == kind:
                return clock
        raise SpecError(f"policy {self.name!r}: no clock is of kind {kind!r}")

    @property
    def validity_days(self) -> int:
        """The validity in days, a month as 30 and a year as 365: the careful reading.

        `audit_lib.policies.clocks.valid_until` goes by the calendar.
        """
        clock = self.clock("validity")
        return (clock.amount or 1) * {"months": 30, "years": 365}.get(str(clock.unit), 1)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """Attributes that a spec must carry to fill every table."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def small_cell(self) -> int:
        """Rows with fewer people than this are marked."""
        return self.cells.small

    @property
    def median(self) -> str:
        """Whose scores make the median: ``all`` or ``known``."""
        return self.switch("median").value

    def switch(self, name: str) -> Switch:
        """Return a switch by name.

        Raises
        ------
        SpecError
            If the pack has no such switch.
        """
        return _named(name, self.switches, "switch", self.name)

    def family(self, name: str) -> Family:
        """Return a table family by name.

        Raises
        ------
        SpecError
            If the pack has no such family.
        """
        return _named(name, self.families, "table family", self.name)

    def table(self, kind: str) -> TableKind:
        """Return a kind of table (``selection``, ``scoring``) by name.

        Raises
        ------
        SpecError
            If the pack has no such kind.
        """
        return _named(kind, self.tables, "kind of table", self.name)

    def attribute(self, name: str) -> Attribute:
        """Return an attribute by name.

        Raises
        ------
        SpecError
            If the pack has no such attribute.
        """
        return _named(name, self.attributes, "attribute", self.name)

    def categories(self, family: str) -> tuple[Category, ...]:
        """Return the rows of a table family, in the order in which they print.

        Examples
        --------
        >>> from audit_lib.policies import load_policy
        >>> rows = load_policy("nyc_ll144").categories("intersectional")
        >>> rows[1].label, dict(rows[1].levels)
        ('Male, White', {'sex': 'Male', 'race': 'White'})
        """
        names = self.family(family).attributes
        combinations = product(*(self.attribute(name).categories for name in names))
        return tuple(
            Category(
                family,
                dict(zip(names, (level.name for level in levels), strict=True)),
                ", ".join(level.label if len(levels) == 1 else level.name for level in levels),
            )
            for levels in combinations
        )


_OFTEN_NAMED: Final = (
    mark("Age"), mark("Disability"), mark("Ethnicity"), mark("Gender"), mark("Nationality"), mark("Race"),
    mark("Religion"), mark("Sex"),
    mark("ethnicity"), mark("gender"), mark("nationality"), mark("race"), mark("sex"),
    mark("female"), mark("male"), mark("woman"), mark("man"), mark("women"), mark("men"),
    mark("Black"), mark("Hispanic"),
)  # fmt: skip
"""Attributes and levels that specs often name, so that a page in another language does not name half in English."""


_LATER: Final = {"in_force", "binds", "not_claimed", "changes", "further_attributes", "since"}
"""Keys that packs did not have before: where one is not said, the pack's digest is what it was."""


def _said(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _said(value) for key, value in node.items() if value or key not in _LATER}
    return [_said(one) for one in node] if isinstance(node, list) else node


def _of_spec(groups: Groups, names: Collection[str]) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(
            name=name,
            title=_words(name).capitalize(),
            categories=tuple(
                Level(name=category)
                for category in dict.fromkeys(
                    groups.categories.get(name, {}).get(level, level) for level in levels
                )
            ),
        )
        for name, levels in groups.attributes.items()
        if name in names
    )


def _own_family(one: Attribute) -> Family:
    return Family(
        name=one.name, title=one.title, attributes=(one.name,), cite=mark("groups.attributes of the spec")
    )


def _free(groups: Groups) -> dict[str, object]:
    """Attributes and families of the spec: each attribute by itself, then all of them together."""
    attributes = _of_spec(groups, groups.attributes)
    families = [_own_family(one) for one in attributes]
    if len(attributes) > 1:
        families.append(
            Family(
                name="intersectional",
                title=mark("Intersectional categories"),
                attributes=tuple(a.name for a in attributes),
                cite=mark("groups.attributes of the spec"),
            )
        )
    return {"attributes": attributes, "families": tuple(families)}


def _words(name: str) -> str:
    return name.replace("_", " ")


Named = TypeVar("Named", Attribute, Family, TableKind, Switch)


def _named(name: str, parts: tuple[Named, ...], what: str, pack: str) -> Named:
    for part in parts:
        if part.name == name:
            return part
    raise SpecError(
        f"policy {pack!r}: no {what} is named {name!r}{did_you_mean(name, [p.name for p in parts])}"
    )
