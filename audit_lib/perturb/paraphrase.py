"""Paraphrases of a prompt template by back-translation: into another language and back, by a named model.

The result is a template file that a person reads before it is used (``robustness.prompts``): from then on the audit is
as deterministic as with any other template. Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086, use four such
prompts. This module asks nothing: who calls it gives the function that does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import yaml

from audit_lib.errors import BackendError, SpecError
from audit_lib.perturb.template import is_reply, read_template, slots

Translate = Callable[[Sequence[str]], list[str]]
"""Takes instructions with a text below each, gives the model's answers in their order."""

_THERE = (
    "Translate the text below into {language}. Keep every part in double braces, such as {{{{name}}}}, exactly as it "
    "is, and keep its line breaks. Reply with the translation alone.\n\n{text}"
)
_BACK = (
    "Translate the text below from {language} into English. Keep every part in double braces, such as {{{{name}}}}, "
    "exactly as it is, and keep its line breaks. Reply with the translation alone.\n\n{text}"
)


def back_translate(template: bytes, language: str, ask: Translate, *, name: str, made_by: str) -> bytes:
    """Return a template in other words.

    Parameters
    ----------
    template : bytes
        The template.
    language : str
        The language between, such as German.
    ask : callable
        Asks the model.
    name, made_by : str
        Name of the new template, and the model that made it; both are written into it.

    Returns
    -------
    bytes
        YAML. A last assistant's turn, with which the answer begins, stays as it is.

    Raises
    ------
    SpecError
        If the template is none, or has nothing to put into other words.
    BackendError
        If a slot was lost or doubled on the way: such a template would ask about nobody.

    Examples
    --------
    >>> plain = b"messages: [{role: user, content: 'Rate {{resume}}'}]"
    >>> made = back_translate(plain, "German", lambda texts: ["Judge {{resume}}"], name="second", made_by="m")
    >>> yaml.safe_load(made)["messages"]
    [{'role': 'user', 'content': 'Judge {{resume}}'}]
    """
    messages = read_template(template)
    last = len(messages) - 1
    turns = [
        i for i, m in enumerate(messages) if not is_reply(m) and not (i == last and m["role"] == "assistant")
    ]
    if not turns:
        raise SpecError("prompt.template: nothing to put into other words")
    there = ask([_THERE.format(language=language, text=messages[i]["content"]) for i in turns])
    back = ask([_BACK.format(language=language, text=text.strip()) for text in there])
    for i, text in zip(turns, back, strict=True):
        before, after = Counter(slots(messages[i]["content"])), Counter(slots(text))
        if before != after:
            changed = sorted((before - after) + (after - before))
            raise BackendError(
                f"message {i + 1} came back without its slots as they were ({', '.join(changed)}); ask a model that "
                "translates, or write the variant by hand"
            )
        messages[i] = {**messages[i], "content": text.strip()}
    document = {
        "name": name,
        "description": f"Back-translated through {language} by {made_by}. Read it before you use it.",
        "messages": messages,
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000).encode()
