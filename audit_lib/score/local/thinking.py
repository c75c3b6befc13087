"""Whether a model thinks before it answers, as its chat template shows, and how that is switched off.

A label's probability is asked for where the answer begins. Where a model would think first, its probabilities there
are those of a thought's first word, not of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Wish = Literal["closed", "none", "on"]
"""What a spec says of thinking: close an empty thought, the model does not think, or let it think."""

SWITCHES: Final = ("enable_thinking", "thinking", "enable_reasoning", "think", "reasoning")
_TAGS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
_CHANNEL, _FINAL, _TURN = "<|channel|>", "<|channel|>final<|message|>", "<|start|>assistant"

Render = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """What is done about a model's thinking.

    Attributes
    ----------
    choice : str
        ``none``: the template shows none, or the spec says so; ``off``: switched off by `switch`; ``closed``: an
        empty thought is written before the answer; ``final``: the channel of answers is opened; ``on``; ``unknown``:
        the template knows thoughts, and no way to leave them out.
    kwargs : dict
        Given to the template.
    before_answer : str
        Written after the generation prompt.
    """

    choice: Literal["none", "off", "closed", "final", "on", "unknown"]
    kwargs: Mapping[str, Any]
    before_answer: str = ""


def open_thought(text: str) -> str | None:
    """Return the tag that closes the thought in which a text ends, or None.

    Examples
    --------
    >>> open_thought("<|assistant|><think>"), open_thought("<think></think>Yes")
    ('</think>', None)
    """
    return next((end for begin, end in _TAGS if text.rfind(begin) > text.rfind(end)), None)


def thinking_of(template: str, render: Render, wish: Wish | None, given: Mapping[str, Any]) -> Thinking:
    """Return what is done about thinking.

    Parameters
    ----------
    template : str
        The chat template.
    render : callable
        Keyword arguments of the template -> a user's turn with the generation prompt, or None if it cannot be rendered.
    wish : {"closed", "none", "on"} or None
        What the spec says.
    given : mapping
        The spec's own keyword arguments, which win.
    """
    plain = render(given)
    switch = next(
        (
            name
            for name in SWITCHES
            if re.search(rf"\b{name}\b", template)
            and render({name: True, **given}) != render({name: False, **given})
        ),
        None,
    )
    if switch in given:
        wish = wish or ("on" if given[str(switch)] else None)
    if wish == "on":
        return Thinking(choice="on", kwargs={**({switch: True} if switch else {}), **given})
    kwargs = {**({switch: False} if switch and wish != "none" else {}), **given}
    prompt = (plain if wish == "none" else render(kwargs)) or ""
    closing = open_thought(prompt)
    tags = next(((begin, end) for begin, end in _TAGS if begin in template or end in template), None)
    if wish == "closed" and (closing or tags):
        empty = f"\n{closing}\n\n" if closing else "{}\n\n{}\n\n".format(*(tags or ("", "")))
        return Thinking(choice="closed", kwargs=kwargs, before_answer=empty)
    if closing:
        return Thinking(choice="unknown", kwargs=kwargs)
    if wish == "none":
        return Thinking(choice="none", kwargs=kwargs)
    if switch:
        return Thinking(choice="off", kwargs=kwargs)
    if _CHANNEL in template and prompt.endswith(_TURN):
        return Thinking(choice="final", kwargs=kwargs, before_answer=_FINAL)
    answered = any(prompt.rstrip().endswith(end) for _, end in _TAGS)
    return Thinking(choice="unknown" if tags and not answered else "none", kwargs=kwargs)
