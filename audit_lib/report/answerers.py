"""Which models answered, by the names that they answered under, against the one that the spec names."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.sample import RecordedModel
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.translation import Filled, t, tn, tp

_MOST: Final = 5


def whose(content: Content) -> str:
    """Say whose decisions were examined: the named model's, and by what names it answered where they are others."""
    name, others = content.spec.model.name, _others(content)
    if not others:
        return name
    named = [f"{one}: {count(n)}" if len(content.served) > 1 else one for one, n in content.served.items()]
    listed = Filled(", ").join(named[:_MOST])
    if len(named) > _MOST:
        return t(
            "{name} (answered by {models} and {n:,} more)", name=name, models=listed, n=len(named) - _MOST
        )
    return t("{name} (answered by {models})", name=name, models=listed)


def answered_by(content: Content) -> str:
    """List the models that answered, with their rows, and the rows that name none or are not audited."""
    said = [
        tn("{model}: {n:,} row", "{model}: {n:,} rows", n, model=name) for name, n in content.served.items()
    ] or [tp("of models", "none")]
    said += [
        tn(
            "{n:,} row of the data name no model, and count as {model}",
            "{n:,} rows of the data name no model, and count as {model}",
            entry.sampled,
            model=content.spec.model.name,
        )
        for entry in _recorded(content)
        if entry.model is None
    ]
    words = Filled("; ").join(said)
    left_out = [entry for entry in _recorded(content) if not entry.audited]
    if not left_out:
        return words
    listed = ", ".join(f"{entry.model} ({count(entry.rows)})" for entry in left_out)
    return t("{words}. Left out, as model.served does not list them: {models}", words=words, models=listed)


def _others(content: Content) -> list[str]:
    return [name for name in content.served if name != content.spec.model.name]


def _recorded(content: Content) -> tuple[RecordedModel, ...]:
    return (content.sample.models or ()) if content.spec.model.answers_are_recorded else ()
