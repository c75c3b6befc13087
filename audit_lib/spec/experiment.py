"""The sections ``robustness`` and ``manipulation``: what an experiment asks beside its ordinary questions."""

from __future__ import annotations

from pydantic import Field, model_validator

from audit_lib.spec.section import Name, Section


class Robustness(Section):
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


class Manipulation(Section):
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
