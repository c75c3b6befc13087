"""The sections ``robustness``, ``manipulation`` and ``leakage``: what is asked beside the ordinary questions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from audit_lib.spec.section import Name, SpecSection, no_repeats


class Robustness(SpecSection):
    """Further templates that each version is asked with. Effects are estimated in each; nothing else sees them."""

    prompts: dict[Name, str] = Field(
        default_factory=dict,
        description="Name -> template file that asks the same in other words; `audit paraphrase` writes one.",
    )
    tasks: dict[Name, str] = Field(
        default_factory=dict,
        description="Name -> template file that asks for something else: no summary, the resume alone, another place, "
        "an instruction to follow EEOC guidance.",
    )


class Manipulation(SpecSection):
    """Questions that ask the audited model which attribute it perceives in each version."""

    questions: dict[Name, str] = Field(
        min_length=1,
        description="Attribute -> template file of the question; it fills the slots of a version.",
    )
    answers: dict[Name, dict[str, str]] = Field(
        default_factory=dict,
        description="Attribute -> (level -> the answer that names it), where that is not the level itself.",
    )
    unsure: str | None = Field(
        None, description="Answer offered to a model that cannot tell; counted apart. Null: none is offered."
    )

    @model_validator(mode="after")
    def _check(self) -> Manipulation:
        if extra := sorted(self.answers.keys() - self.questions.keys()):
            raise ValueError(f"answers names {extra[0]!r}, for which questions has no template")
        return self

    def labels(self, attribute: str, levels: list[str]) -> tuple[str, ...]:
        """Return the answers to the question about an attribute: its levels, in the spec's order, then doubt."""
        own = self.answers.get(attribute, {})
        return (*(own.get(level, level) for level in levels), *([] if self.unsure is None else [self.unsure]))


class Material(SpecSection):
    """What one prediction is made from: fields of the source, set one below the other."""

    unredacted: list[str] = Field(
        default_factory=list, description="Fields with names, pronouns and the like as they are shown."
    )
    redacted: list[str] = Field(default_factory=list, description="The same without them.")

    @model_validator(mode="after")
    def _check(self) -> Material:
        if not (self.unredacted or self.redacted):
            raise ValueError("names no field; list some in unredacted, in redacted, or in both")
        return self


class Leakage(SpecSection):
    """How well each attribute can be told from the material alone. No score is looked at."""

    materials: dict[Name, Material] = Field(
        min_length=1,
        description="Name -> its fields, such as resume, transcript, and both together. A persona's slots are filled "
        "as the model is shown them.",
    )
    attributes: list[Name] | None = Field(None, description="Attributes to predict; null: all.")
    embedding: Name = Field(
        "minilm",
        description="What turns a text into numbers: `minilm`, or `words` (counts of words; needs no model).",
    )
    split: Literal["folds", "half"] = Field(
        "folds",
        description="Predict each fold of the applications from the others, or one half from the other half.",
    )
    folds: Annotated[int, Field(ge=2, le=100)] = Field(10, description="Folds, where split is folds.")

    @model_validator(mode="after")
    def _check(self) -> Leakage:
        no_repeats(self.attributes or [])
        return self
