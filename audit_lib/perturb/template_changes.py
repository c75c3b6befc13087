"""What a further task changes of the prompt: one thing, or several whose effects cannot be told apart.

An experiment learns from a task that differs in one thing what that thing does. Words cannot say how many things they
change, but where: changes in places with unchanged words between them are counted as several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from audit_lib.documents.design import TemplateChange
from audit_lib.perturb.template import Template, read_template
from audit_lib.spec import AuditSpec

NEAR: Final = 5
"""Unchanged words between two changes that count as one: a sentence that is put otherwise keeps some of its words."""
_MOST: Final = 12
"""Words of a change that are shown."""


def template_changes(base: Template, variant: Template) -> list[TemplateChange]:
    """Return the places in which a template differs from another, with the words that go and come there.

    Examples
    --------
    >>> base = [{"role": "user", "content": "A district: {{district}}. Rate the resume from 1 to 5: {{resume}}"}]
    >>> other = [{"role": "user", "content": "A district: {{other}}. Rate the resume from 1 to 5: {{resume}} Be fair."}]
    >>> [(one.taken, one.put) for one in template_changes(base, other)]
    [('{{district}}.', '{{other}}.'), ('', 'Be fair.')]
    """
    old, new = _words(base), _words(variant)
    places: list[tuple[int, int, int, int]] = []
    for kind, i, j, k, l in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():  # noqa: E741
        if kind == "equal":
            continue
        if places and i - places[-1][1] < NEAR:
            i, _, k, _ = places.pop()
        places.append((i, j, k, l))
    return [TemplateChange(taken=_shown(old[i:j]), put=_shown(new[k:l])) for i, j, k, l in places]  # noqa: E741


def task_changes(spec: AuditSpec, read: Callable[[str], bytes]) -> dict[str, tuple[TemplateChange, ...]]:
    """Return what each task of ``robustness.tasks`` changes of the prompt; prompts are in other words by intent.

    Parameters
    ----------
    spec : AuditSpec
        A valid one.
    read : callable
        Gives the design file of a key, such as ``prompt.template``.
    """
    if spec.robustness is None or spec.prompt is None:
        return {}
    base = read_template(read("prompt.template"))
    return {
        name: tuple(template_changes(base, read_template(read(f"robustness.tasks.{name}"))))
        for name in spec.robustness.tasks
    }


def several_changes(spec: AuditSpec, files: Mapping[str, bytes]) -> Iterator[str]:
    """Say which tasks change nothing, or more than one thing."""
    for name, changes in task_changes(spec, files.__getitem__).items():
        if not changes:
            yield f"robustness.tasks.{name} is the prompt itself, word for word; it shows noise and no other task"
        elif len(changes) > 1:
            places = "; ".join(
                f"{one.taken or 'nothing'!r} becomes {one.put or 'nothing'!r}" for one in changes
            )
            yield (
                f"robustness.tasks.{name} changes the prompt in {len(changes)} places ({places}): what an effect "
                "changes by has no single cause there; give each change a task of its own"
            )


def _words(template: Template) -> list[str]:
    return [
        word
        for turn in template
        for word in (f"{turn['role']}:", *turn["content"].split(), *turn.get("parts", "").split())
    ]


def _shown(words: list[str]) -> str:
    return " ".join(words[:_MOST]) + (" \N{HORIZONTAL ELLIPSIS}" if len(words) > _MOST else "")
