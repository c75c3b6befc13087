"""``design.json``: what the variants are, how groups were dealt to applications, and which prompts mention a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.typed_json import OPTIONAL, Count, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVariants(Typed):
    """How many variants a group has."""

    group: CategoryLevels
    variants: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioning(Typed):
    """How many prompts mention an attribute, or any; with a Wilson interval."""

    mentioning: Count
    share: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeMentioned(Typed):
    """How many prompts mention an attribute; with a Wilson interval."""

    attribute: str
    mentioning: Count
    share: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeOutside(Typed):
    """How many prompts mention an attribute where nothing is exchanged."""

    attribute: str
    mentioning: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Unawareness(Typed):
    """Which prompts mention a group (fairness through unawareness: none does)."""

    prompts: Count
    unaware: bool
    level: float
    any: Mentioning
    attributes: tuple[AttributeMentioned, ...]
    outside: tuple[AttributeOutside, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionsOfField(Typed):
    """How many prompts mention each kind of protected word in one field."""

    field: str
    any: Mentioning
    kinds: tuple[AttributeMentioned, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionsOfGroup(Typed):
    """How many prompts of a group, as the data know it, mention each kind of protected word."""

    group: CategoryLevels
    prompts: Count
    any: Mentioning
    kinds: tuple[AttributeMentioned, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedWord(Typed):
    """A word that was found, in how many prompts, and where for the first time; other words of the text are masked."""

    kind: str
    word: str
    prompts: Count
    field: str
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedMentions(Typed):
    """Which prompts, as they were sampled, mention protected words, by the lists that ship with the library.

    ``unaware`` is whether none does (fairness through unawareness); null where no prompt has a text, and where none
    does but some are in another language than the lists.
    """

    prompts: Count
    without_text: Count
    not_english: Count
    """Prompts without a mention in which a field is not in English: the lists are, so they tell nothing of these."""
    unaware: bool | None
    level: float
    any: Mentioning
    kinds: tuple[AttributeMentioned, ...]
    fields: tuple[MentionsOfField, ...]
    groups: tuple[MentionsOfGroup, ...]
    template: tuple[str, ...]
    """Kinds that the prompt template itself mentions: in every prompt."""
    words: tuple[ProtectedWord, ...]
    """The most frequent words of each kind."""
    lists: Mapping[str, str]
    """Kind -> SHA-256 of its list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution(Typed):
    """Which words that mention a group were exchanged."""

    prompts_varied: Count
    prompts_without_mention: Count
    prompts_with_words_that_stay: Count
    mentions: Count
    doubtful_mentions: Count
    mentions_left_alone: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupNames(Typed):
    """The names of a group: how many, how long, how many of them tell the group, and how common they are."""

    group: CategoryLevels
    eligible: Count
    """Names that the rules of the spec leave."""
    names: Count
    mean_first_name_letters: float
    mean_last_name_letters: float
    mean_first_name_share: float | None = field(default=None, metadata=OPTIONAL)
    mean_last_name_share: float | None = field(default=None, metadata=OPTIONAL)
    mean_first_name_bearers: float | None = field(default=None, metadata=OPTIONAL)
    mean_last_name_bearers: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesNeeded(Typed):
    """What a comparison could find with these names, applications and prompts, and how many it needs."""

    group: CategoryLevels
    reference: CategoryLevels
    names_group: Count
    names_reference: Count
    applications: Count
    prompts: float
    """Of an application, on average."""
    smallest_detectable: float
    """In standard deviations of the score, at the planned power."""
    names_needed: Count | None = field(default=None, metadata=OPTIONAL)
    """A side, with these applications; left out where no effect is stated, or no number is enough."""
    applications_needed: Count | None = field(default=None, metadata=OPTIONAL)
    """With these names."""
    prompts_needed: Count | None = field(default=None, metadata=OPTIONAL)
    """Of an application, with these names and applications."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDifference(Typed):
    """The largest difference between two groups' means, in standard deviations of all names."""

    all_eligible: float
    chosen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Names(Typed):
    """Which names were chosen."""

    groups: tuple[GroupNames, ...]
    largest_difference_in_sd: LargestDifference | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Personas(Typed):
    """Which prompts have a slot that tells a group."""

    prompts: Count
    prompts_alike_in_all_groups: Count
    lexicon_rows_not_used: Mapping[str, Mapping[str, Count]] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt(Typed):
    """Which groups each application is shown in."""

    kind: Literal["full", "balanced_incomplete", "two_sample"]
    block_size: Count | None
    exactly_balanced: bool
    groups: tuple[CategoryLevels, ...]
    applications_by_group: tuple[int, ...]
    concurrence: tuple[tuple[int, ...], ...]
    applications_by_position: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChange(Typed):
    """A place in which a further task differs from the prompt; the first words of what goes and comes."""

    taken: str
    put: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(Typed):
    """``design.json``."""

    perturbation: str
    groups: tuple[GroupVariants, ...]
    unknown_group: Count
    rounds: Count
    requests: Count
    names: Names | None = field(default=None, metadata=OPTIONAL)
    personas: Personas | None = field(default=None, metadata=OPTIONAL)
    ftu: Unawareness | None = field(default=None, metadata=OPTIONAL)
    protected_words: ProtectedMentions | None = field(default=None, metadata=OPTIONAL)
    substitution: Substitution | None = field(default=None, metadata=OPTIONAL)
    warnings: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    design: Dealt | None = field(default=None, metadata=OPTIONAL)
    names_needed: tuple[NamesNeeded, ...] | None = field(default=None, metadata=OPTIONAL)
    """Of standardised effects of personas with names."""
    variations: Mapping[str, Count] | None = field(default=None, metadata=OPTIONAL)
    tasks: Mapping[str, tuple[TemplateChange, ...]] | None = field(default=None, metadata=OPTIONAL)
    """By task of the robustness, in which places it changes the prompt."""
