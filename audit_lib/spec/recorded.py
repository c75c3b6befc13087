"""What recorded decisions cannot answer: sections that put a question to a model which nobody asked.

A recorded decision is the answer to one question, the one that was put when it was taken. A number about any other
question (another name, another wording, the same again) would be made of that one answer, and always show none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from audit_lib.spec.audit import AuditSpec

RECORDED: Final = "recorded"
"""The backend that gives back the source's own answers; also the decision rule that takes them."""

_AGAIN: Final = (
    "asks a live model again, and is not for recorded decisions: each is one answer to one question"
)
_OUT: Final = "leave it out, or choose a backend that asks the model"


def unasked(spec: AuditSpec) -> str | None:
    """Say what a spec would count as an answer to a question that nobody put, and what to do; None where nothing.

    Parameters
    ----------
    spec : AuditSpec
        Any spec: one of recorded decisions that asks further questions, or of a live model that takes recorded ones.
    """
    if not spec.model.answers_are_recorded:
        if spec.prompt is None:
            return f"backend {spec.model.backend!r} needs a prompt section with a template"
        if spec.decision.class_field is None:
            return None
        return (
            "decision.class_field names groups that were recorded, and this model is asked anew: its own answers would "
            "not count. Leave class_field out (the answer's most probable label is then the group), or choose backend "
            "recorded"
        )
    perturb = spec.perturb
    questions = (
        (
            "task",
            spec.task == "pairwise",
            "pairwise asks a live model about every pair; recorded decisions are pointwise, or, where one answer ranks "
            "a list, listwise",
        ),
        ("perturb.controls", perturb is not None and perturb.controls, f"{_AGAIN}; {_OUT}"),
        ("perturb.formats", perturb is not None and bool(perturb.formats), f"{_AGAIN}; {_OUT}"),
        (
            "perturb",
            perturb is not None,
            "makes versions about which nobody was asked: with backend recorded each would get the answer to the "
            "original, and no group could differ from another. Choose a backend that asks the model, or leave the "
            "section out and give the groups of the people who were decided on (the section demographics, or columns "
            "of the source)",
        ),
        ("robustness", spec.robustness is not None, f"{_AGAIN}; {_OUT}"),
        ("manipulation", spec.manipulation is not None, f"{_AGAIN}; {_OUT}"),
        ("score.canaries", bool(spec.score.canaries), f"{_AGAIN}; {_OUT}"),
    )
    return next((f"{key} {why}" for key, given, why in questions if given), None)
