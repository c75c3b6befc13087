"""What a policy pack may say, part by part. Unknown keys are refused."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from audit_lib.registry import did_you_mean


def _fraction(value: object) -> object:
    # YAML has no fractions: "4/5" stays exact, 0.8 would not.
    return Fraction(value) if isinstance(value, str) else value


Exact = Annotated[Fraction, BeforeValidator(_fraction)]

GateName = Literal[
    "provenance", "tool_invoked", "reliance", "test_data", "validity", "exclusion", "taxonomy", "counts", "positions"
]  # fmt: skip
CheckName = Literal[
    "audit_date", "data_source", "data_explained", "unknown_counted", "numbers_printed", "rates_printed",
    "ratios_printed", "first_use", "exclusions_justified", "test_data_explained", "classification_tables",
    "median_printed", "summary_posted", "posted_long_enough", "within_validity", "pooled_contributed",
    "test_data_allowed", "demographics_accepted", "independence_attested", "notice_given", "alternative_explained",
    "retention_published", "requests_explained", "model_described", "prompt_recorded", "plan_before_scores",
    "design_sealed", "demographics_known", "significance_beside", "purpose_stated", "missingness_by_group",
    "by_position", "result_acted_on", "human_review_stated", "system_data_kept", "post_codes_looked_at",
]  # fmt: skip


class PackPart(BaseModel):
    """A part of a pack: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


Sureness = Literal["primary", "secondary", "recalled"]
"""The source itself was read; somebody's account of it was; or it stands here from memory, to be looked up."""


class Citation(PackPart):
    """A source of law or guidance, when it is from, and how sure its reading is."""

    id: str
    title: str
    publisher: str
    dated: str
    url: str | None = None
    seen: Sureness


class InForce(PackPart):
    """Since when a law applies, and what is not settled about that day.

    Parameters
    ----------
    since : date
        First day.
    cite : str
        What says so.
    seen : {"primary", "secondary", "recalled"}
        How sure that is.
    doubt : str, optional
        What is not settled about it, in a sentence.
    """

    since: date
    cite: str
    seen: Sureness
    doubt: str | None = None


class Bound(PackPart):
    """Whom a law binds, in a sentence."""

    text: str
    cite: str
    seen: Sureness


class NotClaimed(PackPart):
    """What is said of a law and is not in it, or not known: this pack does not claim it."""

    name: str
    text: str
    cite: str


class PackChange(PackPart):
    """What one version of a pack changed, when, and by which source."""

    version: str
    day: date
    change: str
    source: str


class Taxonomy(PackPart):
    """Whose categories these are, and of which date."""

    name: str
    dated: date
    cite: str


class Clock(PackPart):
    """A period that the law sets, or says nothing about (`amount` null).

    Parameters
    ----------
    enforced : date, optional
        Since when it is enforced, where that is later than the law.
    since : date, optional
        Since when it applies, where that is another day than the law's.
    """

    name: str
    kind: Literal["validity", "posting", "notice", "answer", "retention"]
    what: str
    amount: int | None = Field(None, ge=1)
    unit: Literal["days", "business_days", "months", "years"] | None = None
    starts: str
    cite: str
    status: str
    seen: Sureness
    enforced: date | None = None
    since: date | None = None

    @model_validator(mode="after")
    def _check(self) -> Clock:
        if (self.amount is None) != (self.unit is None):
            raise ValueError(f"clock {self.name!r}: amount and unit are given together, or both null")
        return self


class Gate(PackPart):
    """Something that the law does not let pass, and its paragraph."""

    name: GateName
    cite: str
    wording: str


class Duty(PackPart):
    """What a regime asks of somebody, in a sentence; `since` where it applies from another day than the law."""

    id: str
    of: str
    text: str
    cite: str
    seen: Sureness
    since: date | None = None


class PracticalTest(PackPart):
    """A test that stands beside the threshold before a difference is called adverse impact."""

    name: Literal["threshold", "significance", "flip_flop", "small_numbers"]
    text: str
    cite: str


class Level(PackPart):
    """One category of one attribute."""

    name: str
    qualifier: str | None = None

    @property
    def label(self) -> str:
        """The name as it prints: ``White (Not Hispanic or Latino)``."""
        return self.name if self.qualifier is None else f"{self.name} ({self.qualifier})"


class Attribute(PackPart):
    """An attribute of people that a spec must carry, such as ``sex``."""

    name: str
    title: str
    categories: tuple[Level, ...]


class Family(PackPart):
    """A family of tables: by sex, by race/ethnicity, or by both."""

    name: str
    title: str
    attributes: tuple[str, ...]
    cite: str


class TableKind(PackPart):
    """A kind of table: what is counted, and what the count is called."""

    name: Literal["selection", "scoring"]
    title: str
    rate: str
    count: str
    formula: str
    cite: str


class Guidance(PackPart):
    """A threshold that guides a reader, and whose it is: mostly not the law's own."""

    name: str
    threshold: Exact
    cite: str
    standing: str
    """What it is under this law, in a few words, for notes under tables."""
    own: bool = False
    """Whether the law itself contains it."""
    wording: str


class Exclusion(PackPart):
    """Share of the data under which a category may be left out."""

    share: Exact
    cite: str
    wording: str


class Cells(PackPart):
    """When a row rests on too few people, and what is done about it."""

    small: int
    display: Literal["mark", "suppress"]
    wording: str


class Rounding(PackPart):
    """Digits after the point, and the rule by which the last one is made."""

    rate_percent: int
    ratio: int
    rule: str


class Switch(PackPart):
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


class ProvenanceRule(PackPart):
    """What a page may be called, by how the demographics are known."""

    audit: tuple[str, ...]
    experiment: tuple[str, ...]
    refused: tuple[str, ...]
    cite: str


def _texts(value: object) -> object:
    # In a file each has a name, so that a pack which extends another one can replace one of them.
    if isinstance(value, list | tuple):
        return [
            one["text"] if isinstance(one, dict) and set(one) == {"name", "text"} else one for one in value
        ]
    return value


NamedTexts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class GlossaryTerm(PackPart):
    """An entry of the glossary."""

    term: str
    text: str


class RequiredField(PackPart):
    """One duty of the law, as a line of its checklist; `since` where it applies from another day than the law."""

    id: str
    where: str
    duty: str
    cite: str
    condition: str
    check: CheckName
    since: date | None = None


class Attestation(PackPart):
    """A sentence that an auditor affirms before a sign-off."""

    id: str
    text: str
    cite: str
