"""Robustness and manipulation checks: the same versions under other prompts and tasks, and questions about them.

A correspondence experiment stands on one wording of one question. Here each version is asked again with further
templates (``prompt:NAME``: other words; ``task:NAME``: another task), and the model is asked which attributes it
perceives (``check:ATTRIBUTE``). All of it is the spec's; the rows stand beside the ordinary ones in the table of
variants, and no ordinary metric sees them. Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086, sections on
robustness and on perceived demographics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit_lib.backends import BACKENDS
from audit_lib.errors import SpecError, UnknownSlotError
from audit_lib.perturb.template import Template, has_parts, is_reply, read_template, render, turn_slots
from audit_lib.records import CHECK, VARIATION
from audit_lib.registry import did_you_mean
from audit_lib.run import Run
from audit_lib.spec import AuditSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """What is asked about each version beside the ordinary question.

    Parameters
    ----------
    templates : mapping of str to list of dict
        Variation -> the messages.
    """

    templates: Mapping[str, Template]

    @classmethod
    def from_run(cls, run: Run) -> Further:
        """Read the templates that the plan archived."""
        return cls(
            templates={
                variation: read_template(run.design_file(key)) for variation, key in _keys(run.spec).items()
            }
        )

    def rows(self, row: Mapping[str, Any], fields: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the further rows about a version; they compete with nobody.

        Raises
        ------
        UnknownSlotError
            If a template has a slot that no field fills.
        """
        for variation, template in self.templates.items():
            try:
                messages = render(template, fields)
            except UnknownSlotError as error:
                raise UnknownSlotError(
                    f"{variation}: the template's {error}; list it in source.fields"
                ) from None
            yield {
                **row,
                "round_id": None,
                "variant_id": f"{row['variant_id']}/{variation}",
                VARIATION: variation,
                "messages": messages,
            }


def asks_further(spec: AuditSpec) -> bool:
    """Tell whether the spec asks anything beside its ordinary questions."""
    return bool(_keys(spec))


def _check_parts(spec: AuditSpec, files: Mapping[str, bytes]) -> None:
    """Refuse images and files in a template of a backend that would leave them out."""
    if BACKENDS.get(spec.model.backend).takes_parts or spec.model.answers_are_recorded:
        return
    for key in ("prompt.template", *_keys(spec).values()):
        if key not in files or not has_parts(read_template(files[key])):
            continue
        able = ", ".join(name for name, one in BACKENDS if one.takes_parts)
        raise SpecError(
            f"{key}: has images or files (`parts`), which backend {spec.model.backend} does not pass on; "
            f"backends that do: {able}"
        )


def check_further(spec: AuditSpec, files: Mapping[str, bytes]) -> None:
    """Check the templates of ``robustness`` and ``manipulation``.

    Raises
    ------
    SpecError
        If the task gives no score to compare, an attribute is not one of the groups', or a slot is not known.
    """
    _check_parts(spec, files)
    keys = _keys(spec)
    if not keys:
        return
    section = next(iter(keys.values())).split(".")[0]
    if spec.task != "pointwise":
        raise SpecError(
            f"{section}: asks the model again about each candidate alone: it is for task pointwise (pairwise audits "
            "ask both orders of each pair anyway)"
        )
    _check_attributes(spec)
    known = [*spec.source.fields, "name"]
    for variation, key in keys.items():
        try:
            template = read_template(files[key])
        except SpecError as error:
            raise SpecError(str(error).replace("prompt.template", key, 1)) from None
        for slot in (slot for part in template if not is_reply(part) for slot in turn_slots(part)):
            if slot not in known:
                raise SpecError(
                    f"{key}: slot {{{{{slot}}}}} is not in source.fields{did_you_mean(slot, known)}"
                )
        if variation.startswith(CHECK) and any(map(is_reply, template)):
            raise SpecError(
                f"{key}: a question about an attribute has one answer; leave out the turn {{{{reply}}}}"
            )


def _check_attributes(spec: AuditSpec) -> None:
    asked = spec.manipulation
    if asked is None:
        return
    for axis in asked.questions:
        if axis not in spec.groups.attributes:
            raise SpecError(
                f"manipulation.questions: {axis!r} is not an attribute"
                f"{did_you_mean(axis, list(spec.groups.attributes))}"
            )
        plain = [label.strip().casefold() for label in asked.labels(axis, spec.groups.attributes[axis])]
        if len(set(plain)) < len(plain):
            raise SpecError(
                f"manipulation.answers: two answers about {axis} are the same; the check could not tell them apart"
            )


def _keys(spec: AuditSpec) -> dict[str, str]:
    """Return variation -> key of its template among the design files."""
    keys: dict[str, str] = {}
    if spec.robustness is not None:
        keys |= {f"prompt:{name}": f"robustness.prompts.{name}" for name in spec.robustness.prompts}
        keys |= {f"task:{name}": f"robustness.tasks.{name}" for name in spec.robustness.tasks}
    if spec.manipulation is not None:
        keys |= {f"{CHECK}{axis}": f"manipulation.questions.{axis}" for axis in spec.manipulation.questions}
    return keys
