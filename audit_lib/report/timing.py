"""When the plan was made, against when the answers were given that the audit is of."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from audit_lib.documents.sample import Occurred
from audit_lib.report.content import Content
from audit_lib.report.numbers import count, day
from audit_lib.translation import Filled, mark, t

Order = Literal["before", "during", "after", "unknown"]

_ORDER: Final[dict[Order, str]] = {
    "before": mark("All of this was written down before any of these decisions was taken."),
    "during": mark(
        "All of this was written down when some of these decisions had been taken and others not yet."
    ),
    "after": mark(
        "All of this was written down after these decisions had been taken, so whoever wrote it could have known them."
    ),
    "unknown": mark(
        "All of this was written down after these decisions were recorded, and the data do not say when they were "
        "taken, so nothing shows that it was not made with them in view."
    ),
}
_POWER: Final[dict[Order, str]] = {
    "before": mark("before the decisions were taken"),
    "during": mark("after some of the decisions were taken, before this audit read any"),
    "after": mark("after the decisions were taken, before this audit read them"),
    "unknown": mark("before this audit read the decisions; when they were taken is not stated"),
}


def plan_words(content: Content) -> str:
    """Say when the plan was written, and that it is fixed."""
    order = _order(content)
    if order is None:
        return t(
            "All of this was written down before the model was asked anything, and its digest names the run: changing "
            "any of it makes another run."
        )
    said = [t("The decisions were recorded, and no model was asked for them again.")]
    if content.sample.occurred is not None:
        said.append(_taken(content, content.sample.occurred))
    said.append(t(_ORDER[order]))
    said.append(
        t(
            "This audit read them only afterwards, and the plan's digest names the run: changing any of it makes "
            "another run."
        )
    )
    return Filled(" ").join(said)


def _taken(content: Content, occurred: Occurred) -> str:
    """Say when the decisions were taken."""
    first, last, without = occurred.first, occurred.last, occurred.not_stated
    days = {"first": _day(first), "last": _day(last)}
    some = {"without": count(without), "rows": count(content.sample.rows)}
    if days["first"] == days["last"]:
        if without:
            return t(
                "They were taken on {first} (UTC); {without} of {rows} do not say when.",
                first=days["first"],
                **some,
            )
        return t("They were taken on {first} (UTC).", first=days["first"])
    if without:
        return t(
            "They were taken from {first} to {last} (UTC); {without} of {rows} do not say when.",
            **days,
            **some,
        )
    return t("They were taken from {first} to {last} (UTC).", **days)


def plan_title(content: Content) -> str:
    """Name the section; what a plan fixes after the decisions it is about, it does not fix beforehand."""
    early = _order(content) in (None, "before")
    return t("Decisions taken beforehand") if early else t("What the plan fixes")


def power_words(content: Content) -> str:
    """Say when the power was computed."""
    order = _order(content)
    return t("before the model was asked") if order is None else t(_POWER[order])


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
    return day(datetime.fromisoformat(instant))
