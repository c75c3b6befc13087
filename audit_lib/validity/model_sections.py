"""Sections about the models themselves: who is fairer, what answers about pairs look like, where scores are from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from audit_lib.documents.validity import Gain, ModelSelection, StudiedModel, ValidityStudy
from audit_lib.report.blocks import Block, Cell, Column, Fold, Heading, Paragraph, Row, Section, Table, text
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval
from audit_lib.results import Undefined
from audit_lib.translation import t
from audit_lib.validity import charts
from audit_lib.validity.cells import heading, settings
from audit_lib.validity.charts import metrics_of
from audit_lib.validity.pair_limits import SELECTION_LIMIT, VALIDITY_LIMIT
from audit_lib.validity.verdict import title_of


def selection(study: ValidityStudy) -> Iterator[Block]:
    """Yield how well each metric lists models from the fairest on."""
    yield Paragraph(
        text(
            t(
                "Models are listed by the root mean square of the metric over the groups, the fairest first, and "
                "judged by the measured gap. NDCG is 1 where the list begins as the gaps say. The paper does not say "
                "which gain a model of ideal rank r brings, so both readings are here: of M models, "
                "M \N{MINUS SIGN} r, or M + 1 \N{MINUS SIGN} r."
            )
        )
    )
    for one in settings(study):
        yield Heading(heading(study, one))
        for gain in get_args(Gain):
            yield charts.ndcg_curve(study, one, gain)
            found = [
                s
                for s in study.selection
                if (s.task, s.gap, s.gain, s.length) == (one.task, one.gap, gain, 1)
            ]
            yield _first_listed(study, found, gain, heading(study, one))
        yield Fold(
            t("Models ranked by each metric and by the gap"),
            tuple(charts.rankings(study, metric, one) for metric in metrics_of(study)),
        )


def _first_listed(study: ValidityStudy, found: Sequence[ModelSelection], gain: Gain, gap: str) -> Table:
    columns = (Column(t("Metric"), numeric=False), *(Column(f"k = {k}") for k in study.quotas))
    rows = tuple(
        Row(title_of(metric), tuple(_ndcg_cell(s) for s in found if s.metric == metric))
        for metric in metrics_of(study)
    )
    first = found[0]
    words = (
        t("NDCG at 1, gain M \N{MINUS SIGN} rank")
        if gain == "distance"
        else t("NDCG at 1, gain M + 1 \N{MINUS SIGN} rank")
    )
    notes = [
        t(
            "Mean over {jobs} jobs, and the lowest and highest of them; {models} models, {left_out} left out. A list "
            "in random order has {chance} on average. No interval is known that holds for the order of so few models.",
            jobs=first.jobs,
            models=first.models,
            left_out=first.left_out,
            chance=decimal(first.chance),
        )
    ]
    return Table(f"{gap}: {words}", columns, rows, tuple(notes))


def _ndcg_cell(one: ModelSelection) -> Cell:
    if isinstance(one.ndcg, Undefined):
        return Cell(t(UNDEFINED), note=one.ndcg.reason, tone="muted")
    note = interval(one.low, one.high, 3)
    if one.undefined_jobs:
        note += "; " + t("{n} jobs undefined", n=one.undefined_jobs)
    return Cell(decimal(one.ndcg), note=note)


def answers(study: ValidityStudy) -> Section | None:
    """Return what the answers about pairs look like (the paper's Table 2), or None where none were asked."""
    asked = [one for one in study.models if one.answers is not None]
    if not asked:
        return None
    columns = (
        Column(t("Model"), numeric=False), Column(t("Questions")), Column(t("One named")), Column(t("Both equal")),
        Column(t("Not readable")), Column(t("Pairs")), Column(t("Flipped")), Column(t("Not consistent")),
        Column(t("Left out of"), numeric=False),
    )  # fmt: skip
    words = t(
        "Each pair was asked about in both orders. Models with more than {validity} of pairs inconsistent are left out "
        "of predictive validity, with more than {selection} of model selection, as in the paper: {n} and {m} of "
        "{models} here.",
        validity=f"{VALIDITY_LIMIT:.0%}",
        selection=f"{SELECTION_LIMIT:.0%}",
        n=sum(one.left_out_of_validity for one in asked),
        m=sum(one.left_out_of_selection for one in asked),
        models=len(asked),
    )
    table = Table(t("Answers about pairs, by model"), columns, tuple(_answer_row(one) for one in asked))
    return Section("pairs", t("Answers about pairs"), (Paragraph(text(words)), table))


def _answer_row(one: StudiedModel) -> Row:
    counts = one.answers
    if counts is None:
        raise ValueError(f"{one.label}: no pairs")

    def share(part: int, whole: int) -> Cell:
        return Cell(f"{part / whole:.1%}" if whole else t(UNDEFINED), note=count(part))

    out = [t("validity")] if one.left_out_of_validity else []
    out += [t("selection")] if one.left_out_of_selection else []
    return Row(
        one.label,
        (
            Cell(count(counts.prompts)),
            share(counts.regular, counts.prompts),
            share(counts.tie, counts.prompts),
            share(counts.unparsed, counts.prompts),
            Cell(count(counts.pairs)),
            share(counts.flipped, counts.pairs),
            share(counts.inconsistent, counts.pairs),
            Cell(", ".join(out) or "\N{EN DASH}"),
        ),
    )


def models(study: ValidityStudy) -> Iterator[Block]:
    """Yield who is in the panel, and where their scores are from."""
    columns = (
        Column(t("Model"), numeric=False), Column(t("Task"), numeric=False), Column(t("Jobs")), Column(t("Rounds")),
        Column(t("Scored")), Column(t("Without a group")), Column(t("Source"), numeric=False),
    )  # fmt: skip
    rows = tuple(
        Row(
            one.label,
            (
                Cell(one.task),
                Cell(count(len(one.jobs))),
                Cell(count(one.rounds)),
                Cell(t("{n} of {total}", n=count(one.scored), total=count(one.rows))),
                Cell(count(one.unknown_group)),
                Cell(
                    t("table") if one.manifest_sha256 is None else one.manifest_sha256[:16],
                    note=one.run or "",
                ),
            ),
        )
        for one in study.models
    )
    yield Table(t("Models"), columns, rows)
