"""The part of `source` that says how the column of true outcomes is read."""

from __future__ import annotations

from pydantic import Field, model_validator

from audit_lib.spec.section import SpecSection, no_repeats


class Outcome(SpecSection):
    """How the column `outcome` is read: what turned out to be true of each person, where it is not 1 or 0."""

    positive: list[str] = Field(
        default_factory=list,
        description="Words that mean qualified, such as [Hired, Retained]; case makes no difference.",
    )
    negative: list[str] = Field(
        default_factory=list,
        description="Words that mean not qualified. A word in neither list is refused; an empty cell is not known.",
    )
    threshold: float | None = Field(
        None, description="Outcomes are numbers, and those at or above this one mean qualified."
    )
    classes: list[str] = Field(
        default_factory=list,
        description="Outcomes are the true classes, those of decision.classes; each is held against all others.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Outcome:
        ways = [bool(self.positive or self.negative), self.threshold is not None, bool(self.classes)]
        if sum(ways) != 1:
            raise ValueError("give one of positive and negative, threshold, or classes")
        if bool(self.positive) != bool(self.negative):
            raise ValueError("positive and negative are given together: nobody could err otherwise")
        words = [
            " ".join(word.split()).casefold() for word in (*self.positive, *self.negative, *self.classes)
        ]
        if "" in words:
            raise ValueError("holds no empty word: an empty cell is not known")
        no_repeats(words)
        return self
