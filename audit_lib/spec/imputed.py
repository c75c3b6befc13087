"""The part of `groups` that says how levels are known of people who were not asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from audit_lib.registry import did_you_mean
from audit_lib.spec.section import SpecSection, no_repeats


class ImputedGroups(SpecSection):
    """How the levels of an attribute are known of people who were not asked; one of the two."""

    probabilities: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda given: not given,
        description="Level -> column of source.fields with each person's probability of it, such as {Black: p_black, "
        "White: p_white}. All levels have one; of each person they sum to 1. The attribute needs no column then.",
    )
    counts: dict[str, dict[str, Annotated[int, Field(ge=0, strict=True)]]] = Field(
        default_factory=dict,
        exclude_if=lambda given: not given,
        description="A classifier's label, as the attribute's column has it -> level -> how many people with this "
        "label truly belong to it, in a sample of people like those audited: {Black: {Black: 80, White: 20}, White: "
        "{Black: 15, White: 185}}.",
    )

    @model_validator(mode="after")
    def _one(self) -> ImputedGroups:
        if bool(self.probabilities) == bool(self.counts):
            raise ValueError("give one of probabilities and counts")
        no_repeats(list(self.probabilities.values()))
        return self

    def check(self, attribute: str, levels: Sequence[str]) -> None:
        """Refuse shares that are not of all levels, or of what is none."""
        rows = {"counts": self.counts} | {f"counts.{label}": own for label, own in self.counts.items()}
        for where, named in {"probabilities": self.probabilities, **rows}.items():
            for level in named:
                if level not in levels:
                    near = did_you_mean(level, list(levels))
                    raise ValueError(f"imputed.{attribute}.{where}: {level!r} is not a level of it{near}")
        for where, named in (("probabilities", self.probabilities), ("counts", self.counts)):
            if named and (lacking := [level for level in levels if level not in named]):
                raise ValueError(f"imputed.{attribute}.{where}: says nothing of {', '.join(lacking)}")
        for label, own in self.counts.items():
            if not sum(own.values()):
                raise ValueError(f"imputed.{attribute}.counts.{label}: nobody was counted")
