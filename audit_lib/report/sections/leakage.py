"""Leakage: how well attributes can be told from the material alone, with names in it and without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from audit_lib.documents.estimates import defined, limits
from audit_lib.documents.metrics import Leakage, LeakageEstimate
from audit_lib.figures import Dot, forest
from audit_lib.report.blocks import Block, Cell, Chart, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content
from audit_lib.report.numbers import UNDEFINED, count, decimal
from audit_lib.report.sections.estimates import limits_of, reason_of
from audit_lib.results import Interval, Undefined
from audit_lib.translation import Filled, archived, known, mark, t

_TITLE: Final = mark("Leakage")
_WORDS: Final = mark(
    "How well each level of an attribute can be told from all others by the material alone: the area under the ROC "
    "curve of a penalised logistic regression on numbers made of the texts, of applications that it was not fitted "
    "to. 0.5 is chance and 1 is certainty. A value near 0.5 says that this predictor finds nothing; another may find "
    "more. Each interval stands by itself: among many, some miss 0.5 by chance alone."
)
_HIDDEN: Final = mark(
    "Not printed: the policy hides small groups, and the numbers beside each prediction could reveal them."
)
_MODEL: Final = "model"
_KIND: Final = "kind"
"""What a classifier says of itself."""
_STATES: Final = {False: mark("as it is"), True: mark("redacted")}


def leakage(content: Content) -> Section | None:
    """Make the section, or none where the spec asks for no prediction."""
    if content.spec.leakage is None:
        return None
    measured = content.metrics.leakage
    if measured is None:
        return Section("leakage", t(_TITLE), (Paragraph(text(t(_HIDDEN))),))
    blocks: list[Block] = [Paragraph(text(t(_WORDS)))]
    blocks += _chart(measured.estimates, content.spec.measure.level)
    blocks.append(_table(measured))
    return Section("leakage", t(_TITLE), tuple(blocks))


def _in_pairs(estimates: Sequence[LeakageEstimate]) -> list[LeakageEstimate]:
    """What was there, and what is left of it, one below the other."""
    keys = [(e.material, e.attribute, e.level) for e in estimates]
    order = list(dict.fromkeys(key[:2] for key in keys))
    levels = list(dict.fromkeys(keys))
    places = sorted(range(len(keys)), key=lambda i: (order.index(keys[i][:2]), levels.index(keys[i]), i))
    return [estimates[place] for place in places]


def _chart(estimates: Sequence[LeakageEstimate], level: float) -> Iterable[Block]:
    rows: dict[str, list[Dot]] = {}
    for e in _in_pairs(estimates):
        rows.setdefault(f"{_material(e)}: {known(e.attribute)}", []).append(_dot(e))
    drawn = [dot for dots in rows.values() for dot in dots if dot.value is not None]
    if not drawn:
        return
    lowest = min(x for dot in drawn for x in (dot.value, dot.low) if x is not None)
    span = (max(0.0, min(0.4, lowest - 0.05)), 1.0)
    wide, narrow = (forest(rows, title=t(_TITLE), parity=0.5, span=span, width=w) for w in (760, 360))
    caption = [t("AUC out of sample, with {level:%} intervals; the line at 0.5 is chance.", level=level)]
    if any(dot.hollow for dot in drawn):
        caption.append(t("Open marks: redacted."))
    yield Chart(wide, narrow, Filled(" ").join(caption))


def _material(e: LeakageEstimate) -> str:
    return known(e.material.replace("_", " "))


def _dot(e: LeakageEstimate) -> Dot:
    value, ends = defined(e.value), limits(e.interval)
    drawn = None if value is None else ends
    return Dot(
        label=f"{known(e.level)}, {t(_STATES[e.redacted])}",
        value=value,
        printed=decimal(e.value),
        low=None if drawn is None else drawn.low,
        high=None if drawn is None else drawn.high,
        hollow=e.redacted,
    )


def _table(measured: Leakage) -> Table:
    columns = (
        Column(t("Material"), numeric=False), Column(t("State"), numeric=False),
        Column(t("Told from all others"), numeric=False), Column("AUC"), Column(t("Interval")),
        Column(t("n, level")), Column("n"), Column(t("Applications")),
    )  # fmt: skip
    rows = []
    for e in _in_pairs(measured.estimates):
        gone = isinstance(e.value, Undefined)
        cells = (
            Cell(t(_STATES[e.redacted])),
            Cell(f"{known(e.attribute)}: {known(e.level)}"),
            Cell(
                decimal(e.value),
                mark=t("small group") if "small_cell" in e.flags and not gone else "",
                note=reason_of(e),
            ),
            Cell(limits_of(e, sign=False)),
            Cell(t(UNDEFINED) if gone else count(e.n_group)),
            Cell(t(UNDEFINED) if gone else count(e.n)),
            Cell(t(UNDEFINED) if gone else count(e.applications)),
        )
        rows.append(Row(_material(e), cells, note=", ".join(e.fields)))
    return Table(t(_TITLE), columns, tuple(rows), _notes(measured))


def _notes(measured: Leakage) -> tuple[str, ...]:
    made = measured.embedding
    name = made.get(_MODEL, made[_KIND])
    if measured.split == "half":
        made_of = t(
            "Texts as numbers: {name}. Ridge penalty {penalty:g}; fitted to one half of the applications, and told of "
            "the other. Of two levels one is told: the other's AUC is the same.",
            name=known(str(name)),
            penalty=measured.penalty,
        )
    else:
        made_of = t(
            "Texts as numbers: {name}. Ridge penalty {penalty:g}; {split}, each application whole in one. Of two "
            "levels one is told: the other's AUC is the same.",
            name=known(str(name)),
            penalty=measured.penalty,
            split=_split(measured.split),
        )
    notes = [
        made_of,
        *dict.fromkeys(_method(ends) for e in measured.estimates if (ends := limits(e.interval)) is not None),
    ]
    if (parts := max((e.longest_in_parts for e in measured.estimates), default=1)) > 1:
        notes.append(
            t(
                "Texts longer than the classifier reads were cut into parts (at most {parts}), and their mean taken.",
                parts=parts,
            )
        )
    return tuple(notes)


def _split(folds: str) -> str:
    """Return how many parts the applications were split into, from what the archive says: a number and ``folds``."""
    return t("{n} folds", n=folds.split()[0])


def _method(ends: Interval) -> str:
    return t("Interval: {method}.", method=archived(re.sub(", t[(][0-9.]+[)]", "", ends.method)))
