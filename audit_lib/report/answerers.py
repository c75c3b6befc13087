"""Which models answered, by the names that they answered under, against the one that the spec names."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.sample import RecordedModel
from audit_lib.report.content import Content
from audit_lib.report.numbers import count

_MOST: Final = 5


def whose(content: Content) -> str:
    """Say whose decisions were examined: the named model's, and by what names it answered where they are others."""
    name, others = content.spec.model.name, _others(content)
    if not others:
        return name
    named = [f"{one}: {count(n)}" if len(content.served) > 1 else one for one, n in content.served.items()]
    more = f" and {count(len(named) - _MOST)} more" if len(named) > _MOST else ""
    return f"{name} (answered by {', '.join(named[:_MOST])}{more})"


def answered_by(content: Content) -> str:
    """List the models that answered, with their rows, and the rows that name none or are not audited."""
    words = "; ".join(f"{name}: {_rows(n)}" for name, n in content.served.items()) or "none"
    for entry in _recorded(content):
        if entry.model is None:
            words += (
                f"; {_rows(entry.sampled)} of the data name no model, and count as {content.spec.model.name}"
            )
    left_out = [entry for entry in _recorded(content) if not entry.audited]
    if left_out:
        listed = ", ".join(f"{entry.model} ({count(entry.rows)})" for entry in left_out)
        words += f". Left out, as model.served does not list them: {listed}"
    return words


def _others(content: Content) -> list[str]:
    return [name for name in content.served if name != content.spec.model.name]


def _recorded(content: Content) -> tuple[RecordedModel, ...]:
    return (content.sample.models or ()) if content.spec.model.answers_are_recorded else ()


def _rows(number: int) -> str:
    return f"{count(number)} {'row' if number == 1 else 'rows'}"
