"""The uncertainty that sampled scores have by themselves, by group, and what it means for the effects."""

from __future__ import annotations

import math
from collections.abc import Sequence

from audit_lib.documents.metrics import SamplingError
from audit_lib.report.blocks import Cell, Column, Row, Table
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal
from audit_lib.translation import t, tn

_DIGITS = 4


def sampling_errors(content: Content) -> Table | None:
    """Make the table, or none where no score was read from several answers."""
    found = content.metrics.sampling_errors
    if not found:
        return None
    rows = tuple(
        Row(
            in_words({**one.group, **one.stratum}),
            (
                Cell(count(one.n)),
                Cell(count(one.answers)),
                Cell(t(UNDEFINED) if one.of_score is None else decimal(one.of_score, _DIGITS)),
                Cell(t(UNDEFINED) if one.of_mean is None else decimal(one.of_mean, _DIGITS)),
            ),
        )
        for one in found
    )
    columns = (
        Column(t("Group"), numeric=False),
        Column(t("Scores")),
        Column(t("Answers")),
        Column(t("Standard error of one score")),
        Column(t("Standard error of the mean")),
    )
    return Table(t("Sampling error by group"), columns, rows, tuple(_notes(content, found)))


def _notes(content: Content, found: Sequence[SamplingError]) -> list[str]:
    notes = [
        t(
            "These scores were read from sampled answers, and would come out otherwise if the same questions were "
            "asked again. The standard error of one score is the root of the mean square over the group's scores, each "
            "by the spread of its own answers."
        )
    ]
    if content.spec.task != "pointwise":
        notes.append(
            t(
                "Candidates who are ranked together share an answer, so no error of a group's mean follows from those "
                "of its scores. The intervals of the effects, over rounds, hold the sampling error already."
            )
        )
    elif (gap := _widest(found)) is not None:
        notes.append(
            t(
                "By sampling alone, the gap between the means of two of these groups has a standard error of up to "
                "{gap}. The intervals of the effects hold this already: they are taken over applications, whose "
                "scores vary by it too.",
                gap=decimal(gap, _DIGITS),
            )
        )
    if without := sum(one.without for one in found):
        notes.append(
            tn(
                "{n:,} score was read from one answer, which shows no spread; it is not in this table.",
                "{n:,} scores were read from one answer each, which shows no spread; they are not in this table.",
                without,
            )
        )
    return notes


def _widest(found: Sequence[SamplingError]) -> float | None:
    """Return the largest standard error of a gap between two groups of one stratum."""
    of_strata: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for one in found:
        if one.of_mean is not None:
            of_strata.setdefault(tuple(sorted(one.stratum.items())), []).append(one.of_mean)
    gaps = [math.hypot(*sorted(errors)[-2:]) for errors in of_strata.values() if len(errors) > 1]
    return max(gaps, default=None)
