"""The section ``perturb`` of a spec: counterfactual variants, and the design that deals them to applications."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from audit_lib.spec.section import Name, Share, SpecSection

_KEYS_OF_KIND: Final[dict[str, tuple[str, ...]]] = {
    "persona": (
        "names", "pronouns", "titles", "signals", "names_per_cell", "minimum_first_share", "minimum_last_share",
        "unique_first_names", "names_per_group",
    ),
    "lexicon": ("fields", "no_mention"),
}  # fmt: skip


class Perturb(SpecSection):
    """Counterfactual variants of each prompt. Without this section prompts are audited as they are."""

    kind: Name = Field(
        "persona",
        description="Perturbation: `persona` puts a name, title and pronouns into the slots; `lexicon` exchanges the "
        "words of `terms` in texts without slots.",
    )
    names: str | None = Field(
        None,
        description="Persona: CSV with first_name, last_name and a column for each attribute it signals.",
    )
    pronouns: str | None = Field(
        None, description="CSV with the cases of the pronoun for each level of an attribute."
    )
    titles: str | None = Field(None, description="CSV with the title for each level of an attribute.")
    signals: list[str] = Field(
        default_factory=list,
        description="Persona: further CSVs; columns that are attributes are the key, the others slots. One without "
        "an attribute is drawn without regard to group, such as a list of colleges.",
    )
    names_per_cell: Annotated[int, Field(ge=1)] = Field(
        1, description="Variants of each prompt in each group, each with another name."
    )
    minimum_first_share: Share | None = Field(
        None, description="Persona: least first_name_share of the names used; null: any."
    )
    minimum_last_share: Share | None = Field(
        None, description="Persona: least last_name_share of the names used; null: any."
    )
    unique_first_names: Literal["no", "within_group", "across_groups"] = Field(
        "no",
        description="Persona: keep a first name once in each group; `across_groups` also drops names that several "
        "groups share.",
    )
    names_per_group: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Persona: names kept of each group, chosen so that groups are alike in how long and, where the "
        "table says (first_name_bearers, last_name_bearers), how common they are; null: all.",
    )
    terms: dict[Name, str] = Field(
        default_factory=dict,
        description="Attribute -> CSV of its words: a column a level, a row for each set of counterparts; optional "
        "columns part (of speech) and case (`exact`). For `lexicon` what is exchanged; for any kind what the check of "
        "fairness through unawareness counts.",
    )
    fields: list[str] | None = Field(
        None, description="Lexicon: fields whose words are exchanged; null: all."
    )
    no_mention: Literal["refuse", "as_is"] = Field(
        "refuse",
        description="Lexicon: where no prompt mentions a group, refuse the audit, or ask the prompts as they are.",
    )
    design: Literal["full", "balanced_incomplete", "two_sample"] = Field(
        "full",
        description="Groups that each application is shown in: all; a block of `block_size`, every pair of groups "
        "equally often; or one.",
    )
    block_size: Annotated[int, Field(ge=2)] | None = Field(
        None, description="Groups in a block of a balanced incomplete design."
    )
    controls: bool = Field(
        False,
        description="Ask every variant a second time, unchanged, under another request id: the difference is the "
        "noise floor. No other metric counts these rows.",
    )
    formats: list[Literal["blank_lines", "bullets", "spaces"]] = Field(
        default_factory=list,
        description="Ask every variant again in another format. No metric of groups counts these rows.",
    )

    @field_validator("formats", "signals")
    @classmethod
    def _each_once(cls, value: list[Any]) -> list[Any]:
        if repeated := [one for place, one in enumerate(value) if one in value[:place]]:
            raise ValueError(f"{repeated[0]!r} is listed twice")
        return value

    @model_validator(mode="after")
    def _check(self) -> Perturb:
        if (self.design == "balanced_incomplete") != (self.block_size is not None):
            raise ValueError("block_size goes with design balanced_incomplete, and with no other")
        if self.kind == "lexicon" and not self.terms:
            raise ValueError("kind lexicon needs terms: a CSV for each attribute that prompts may mention")
        if self.kind == "persona" and self.names is None and not self.signals:
            raise ValueError("kind persona needs names, or signals that fill the slots")
        for kind, keys in _KEYS_OF_KIND.items():
            for key in keys:
                default = type(self).model_fields[key].get_default(call_default_factory=True)
                if self.kind in _KEYS_OF_KIND and self.kind != kind and getattr(self, key) != default:
                    raise ValueError(
                        f"{key} is for kind {kind} and would be ignored by {self.kind}; leave it out"
                    )
        return self
