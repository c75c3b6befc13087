"""When the plan was made, against when the answers were given that the audit is of."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from audit_lib.report.content import Content
from audit_lib.report.numbers import count

Order = Literal["before", "during", "after", "unknown"]

_ORDER: Final[dict[Order, str]] = {
    "before": "before any of these decisions was taken",
    "during": "when some of these decisions had been taken and others not yet",
    "after": "after these decisions had been taken, so whoever wrote it could have known them",
    "unknown": "after these decisions were recorded, and the data do not say when they were taken, so nothing shows "
    "that it was not made with them in view",
}
_POWER: Final[dict[Order, str]] = {
    "before": "before the decisions were taken",
    "during": "after some of the decisions were taken, before this audit read any",
    "after": "after the decisions were taken, before this audit read them",
    "unknown": "before this audit read the decisions; when they were taken is not stated",
}


def plan_words(content: Content) -> str:
    """Say when the plan was written, in a sentence."""
    order = _order(content)
    if order is None:
        return (
            "All of this was written down before the model was asked anything, and its digest names the run: "
        )
    occurred = content.sample.occurred
    taken = ""
    if occurred is not None:
        first, last = _day(occurred.first), _day(occurred.last)
        when = f"on {first}" if first == last else f"from {first} to {last}"
        without = occurred.not_stated
        rest = f"; {count(without)} of {count(content.sample.rows)} do not say when" if without else ""
        taken = f" They were taken {when} (UTC){rest}."
    return (
        f"The decisions were recorded, and no model was asked for them again.{taken} All of this was written down "
        f"{_ORDER[order]}. This audit read them only afterwards, and the plan's digest names the run: "
    )


def plan_title(content: Content) -> str:
    """Name the section; what a plan fixes after the decisions it is about, it does not fix beforehand."""
    return "Decisions taken beforehand" if _order(content) in (None, "before") else "What the plan fixes"


def power_words(content: Content) -> str:
    """Say when the power was computed."""
    order = _order(content)
    return "before the model was asked" if order is None else _POWER[order]


def _order(content: Content) -> Order | None:
    """Return where the plan stands among the recorded decisions; None where a live model was asked."""
    if not content.spec.model.answers_are_recorded:
        return None
    occurred = content.sample.occurred
    if occurred is None:
        return "unknown"
    first, last = datetime.fromisoformat(occurred.first), datetime.fromisoformat(occurred.last)
    if content.planned_at > last:
        return "after"
    if content.planned_at > first:
        return "during"
    return "unknown" if occurred.not_stated else "before"


def _day(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%-d %B %Y}"
