"""How a local model was asked: what its chat template asked for, and which ways of computing are its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from audit_lib.report.blocks import Text, text
from audit_lib.translation import Filled, mark, t

_WRITTEN: Final = {
    ("system", "folded"): mark(
        "The template has no system role: what the system says stands at the beginning of the user's turn."
    ),
    ("turns", "merged"): mark(
        "The template wants roles to alternate: turns of one role in a row were joined."
    ),
    ("begun_answer", "appended"): mark(
        "The template changes an answer that is begun: it was written after the template's own beginning of an answer."
    ),
}
_THINKING: Final = {
    "none": mark("none: the chat template knows none, or the spec says that this model does not think"),
    "off": mark("switched off by the chat template's own switch"),
    "closed": mark("an empty thought was written before each answer, as the spec asks"),
    "final": mark("none: the model was put where it writes its answer"),
    "on": mark("the model thinks before it answers, as the spec asks; its answers were read from texts"),
    "unknown": mark(
        "the chat template knows thoughts and has no switch; answers were begun in the prompt, or read from texts"
    ),
}
_WAYS: Final = {
    "tree": mark("shared beginnings packed into a tree"),
    "prefix": mark("one shared beginning"),
    "branches": mark("the model's own memory, copied where prompts branch"),
    "once": mark("one pass a prompt, its labels read from memory"),
    "cache": mark("a cache while texts are written"),
    "alone": mark("one request a pass"),
}


def how_it_was_asked(model: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    """Yield facts on a model of which ``model.json`` says how it was asked; none for others."""
    template = model.get("template")
    if isinstance(template, Mapping):
        yield t("Chat template, SHA-256"), text(str(template.get("sha256")))
        found = [t(words) for (key, value), words in _WRITTEN.items() if template.get(key) == value]
        yield (
            t("How prompts were written"),
            text(Filled(" ").join(found) or t("As the model's own chat template writes them.")),
        )
        if (words := _THINKING.get(str(template.get("thinking")))) is not None:
            yield t("Thinking before the answer"), text(t(words))
        if template.get("date") is not None:
            yield t("Date that the chat template writes"), text(str(template["date"]))
        if given := template.get("kwargs"):
            said = "; ".join(f"{name}: {_said(value)}" for name, value in sorted(given.items()))
            yield t("Given to the chat template"), text(said)
    if ways := model.get("ways"):
        told = Filled("; ").join(t(_WAYS[way]) if way in _WAYS else str(way) for way in ways)
        yield t("Ways of computing that agree with the model's own attention"), text(told)


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
