"""Policy packs: one dated, cited YAML file a jurisdiction, loaded and checked.

Categories, thresholds, digits, wording and the way each ambiguity of a law is resolved live in these
files and nowhere in code. Stages ask the pack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Annotated, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean

__all__ = ["Category", "Policy", "load_policy", "policy_names"]


def _fraction(value: object) -> object:
    # YAML has no fractions: "4/5" stays exact, 0.8 would not.
    return Fraction(value) if isinstance(value, str) else value


Exact = Annotated[Fraction, BeforeValidator(_fraction)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Citation(_Part):
    """A source of law or guidance, and when it is from."""

    id: str
    title: str
    publisher: str
    dated: str
    url: str | None


class Level(_Part):
    """One category of one attribute."""

    name: str
    qualifier: str | None = None

    @property
    def label(self) -> str:
        """The name as it prints: ``White (Not Hispanic or Latino)``."""
        return self.name if self.qualifier is None else f"{self.name} ({self.qualifier})"


class Attribute(_Part):
    """An attribute of people that a spec must carry, such as ``sex``."""

    name: str
    title: str
    categories: tuple[Level, ...]


class Family(_Part):
    """A family of tables: by sex, by race/ethnicity, or by both."""

    name: str
    title: str
    attributes: tuple[str, ...]
    cite: str


class TableKind(_Part):
    """A kind of table: what is counted, and what the count is called."""

    name: Literal["selection", "scoring"]
    title: str
    rate: str
    count: str
    formula: str
    cite: str


class Guidance(_Part):
    """A threshold that guides a reader and that the law itself does not set."""

    name: str
    threshold: Exact
    cite: str
    wording: str


class Exclusion(_Part):
    """Share of the data under which a category may be left out."""

    share: Exact
    cite: str
    wording: str


class Cells(_Part):
    """When a row rests on too few people, and what is done about it."""

    small: int
    display: Literal["mark", "suppress"]
    wording: str


class Rounding(_Part):
    """Digits after the point, and the rule by which the last one is made."""

    rate_percent: int
    ratio: int
    rule: str


class Switch(_Part):
    """An ambiguity of the law, and the way it stands here."""

    name: str
    value: str
    options: tuple[str, ...]
    question: str
    options_text: dict[str, str]
    reason: str
    cite: str

    @model_validator(mode="after")
    def _check(self) -> Switch:
        if self.value not in self.options:
            raise ValueError(
                f"switch {self.name!r} is {self.value!r}{did_you_mean(self.value, list(self.options))}"
            )
        if set(self.options_text) != set(self.options):
            raise ValueError(f"switch {self.name!r}: options_text must describe each of {list(self.options)}")
        return self


class ProvenanceRule(_Part):
    """What a page may be called, by how the demographics are known."""

    audit: tuple[str, ...]
    experiment: tuple[str, ...]
    refused: tuple[str, ...]
    cite: str


class Term(_Part):
    """An entry of the glossary."""

    term: str
    text: str


class RequiredField(_Part):
    """One duty of the law, as a line of its checklist."""

    id: str
    where: str
    duty: str
    cite: str
    condition: str


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


class Policy(_Part):
    """What one jurisdiction counts, prints and says.

    Examples
    --------
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
    attributes: tuple[Attribute, ...]
    families: tuple[Family, ...]
    tables: tuple[TableKind, ...]
    guidance: Guidance
    exclusion: Exclusion
    cells: Cells
    rounding: Rounding
    switches: tuple[Switch, ...]
    provenance: ProvenanceRule
    validity_days: int
    posting_months: int
    notice_business_days: int
    wording: dict[str, str]
    caveats: tuple[str, ...]
    experiment_caveats: tuple[str, ...]
    glossary: tuple[Term, ...]
    required_fields: tuple[RequiredField, ...]

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


Part = TypeVar("Part", Attribute, Family, TableKind, Switch)


def _named(name: str, parts: tuple[Part, ...], what: str, pack: str) -> Part:
    for part in parts:
        if part.name == name:
            return part
    raise SpecError(
        f"policy {pack!r}: no {what} is named {name!r}{did_you_mean(name, [p.name for p in parts])}"
    )


def policy_names() -> list[str]:
    """Return the names of the packs, sorted."""
    folder = files(__name__)
    return sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )


@cache
def load_policy(name: str) -> Policy:
    """Load a policy pack by name.

    Raises
    ------
    SpecError
        If no pack has that name (the message names the nearest one), or the pack breaks a rule.

    Examples
    --------
    >>> load_policy("nyc_l144")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: no policy is named 'nyc_l144'; did you mean 'nyc_ll144'?
    """
    names = policy_names()
    if name not in names:
        raise SpecError(f"no policy is named {name!r}{did_you_mean(name, names)}")
    return parse_policy(files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")


def parse_policy(text: str, where: str) -> Policy:
    """Check the text of a pack; `where` is what errors name.

    Raises
    ------
    SpecError
        If it is not YAML or breaks a rule; every fault is named with its key.
    """
    try:
        policy = Policy.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise SpecError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise SpecError(
            "\n".join(f"{where}: {'.'.join(str(p) for p in f['loc'])}: {f['msg']}" for f in faults)
        ) from None
    return policy
