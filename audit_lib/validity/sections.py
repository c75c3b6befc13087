"""The study as sections of a page: its own, or that of a panel of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit_lib.documents.validity import Correlation, ValidityStudy
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Heading,
    Notice,
    Paragraph,
    Row,
    Section,
    Table,
    text,
)
from audit_lib.report.numbers import UNDEFINED, count, decimal, p_value
from audit_lib.results import Interval, Undefined
from audit_lib.translation import t
from audit_lib.validity import charts
from audit_lib.validity.cells import ends, heading, reason, settings, value_cell
from audit_lib.validity.charts import metrics_of
from audit_lib.validity.model_sections import answers, models, selection
from audit_lib.validity.pair_limits import VALIDITY_LIMIT
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import Setting
from audit_lib.validity.verdict import sentence_of, title_of

WEAK = 0.01
"""Correlations with a p-value above this are marked, as in Chen, Ji and Evans (arXiv:2408.01285)."""

_FEW = 6


def validity_sections(study: ValidityStudy, panel: ScoredPanel) -> tuple[Section, ...]:
    """Return the sections of a study, in the language spoken now.

    Parameters
    ----------
    study : ValidityStudy
        The document.
    panel : ScoredPanel
        The scores that it was made from: distributions and their shapes are drawn from these.
    """
    made = (
        Section("best", t("Which metric foretells the gaps best"), tuple(_best(study))),
        Section("validity", t("Predictive validity"), tuple(_validity(study))),
        Section("points", t("Metric against measured gap"), tuple(_scatters(study))),
        Section("by-group", t("Predictive validity by group"), tuple(_by_group(study))),
        Section("selection", t("Choosing the fairer model"), tuple(selection(study))),
        Section("scores", t("Score distributions"), tuple(_scores(panel))),
        answers(study),
        Section("models", t("Models of the panel"), tuple(models(study))),
        Section(
            "reading-validity", t("How to read it"), (Bullets(tuple(text(one) for one in _reading(study))),)
        ),
    )
    return tuple(one for one in made if one is not None)


def validity_section(study: ValidityStudy | Undefined) -> Section:
    """Return the study as one section, for a page about the models themselves; `validity_sections` says all of it.

    Of what was not studied it says why.
    """
    if isinstance(study, Undefined):
        why = t(
            "Which metric foretells the gaps of these models was not studied: {reason}.", reason=study.reason
        )
        return Section(
            "validity", t("Which metric foretells the gaps best"), (Notice(t("Not studied"), text(why)),)
        )
    blocks: list[Block] = list(_best(study))
    for one in settings(study):
        blocks += [Heading(heading(study, one)), charts.correlation_by_k(study, one.task, one.gap)]
        found = [
            c
            for c in study.correlations
            if (c.task, c.gap, c.group, c.job) == (one.task, one.gap, None, None)
        ]
        blocks.append(_by_quota(study, found, t("{gap}: correlation by quota", gap=heading(study, one))))
    blocks.append(
        Paragraph(
            text(
                t(
                    "By group and job, model selection and score distributions: `audit validity` of these runs."
                )
            )
        )
    )
    return Section("validity", t("Which metric foretells the gaps best"), tuple(blocks))


def _best(study: ValidityStudy) -> Iterator[Block]:
    best = study.best
    yield Paragraph(text(sentence_of(best)), lead=True)
    if best.models < _FEW:
        yield Notice(
            t("Few models"),
            text(
                t(
                    "{models} models say little about other models: their intervals are wide, and draws of so few "
                    "repeat each other. The order of the metrics holds for these models.",
                    models=best.models,
                )
            ),
        )
    columns = (
        Column(t("Metric"), numeric=False), Column(t("Mean correlation")), Column(t("Interval over models")),
        Column(t("Leads in draws of the models")), Column(t("On rounds not seen")),
        Column(t("Its interval over models")),
    )  # fmt: skip
    rows = tuple(
        Row(
            title_of(one.metric),
            (
                value_cell(one.mean_r),
                Cell(ends(one.interval)),
                Cell("\N{EN DASH}" if one.share_best is None else f"{one.share_best:.1%}"),
                value_cell(one.held_out),
                Cell(ends(one.held_out_interval)),
            ),
        )
        for one in best.contenders
    )
    notes = (
        t(
            "Mean of Pearson's r over {settings} settings of task, gap and quota; {undefined} more have no "
            "correlation.",
            settings=best.settings,
            undefined=best.undefined_settings,
        ),
        t(
            "The metric that leads was picked after looking. How sure the choice is, the draws say: {draws} times as "
            "many models are drawn from these with replacement ({undefined} draws had no correlation).",
            draws=count(best.draws),
            undefined=count(best.undefined_draws),
        ),
        t(
            "On rounds not seen: the metric is taken from one random half of the rounds and the gap from the other; "
            "mean of {splits} halves. What the correlation loses there is noise that metric and gap share. No choice "
            "is sure unless its correlation there is the highest, and above 0 by its interval.",
            splits=best.splits,
        ),
    )
    yield Table(t("Metrics, from the highest mean correlation on"), columns, rows, notes)


def _validity(study: ValidityStudy) -> Iterator[Block]:
    yield Paragraph(
        text(
            t(
                "Pearson's correlation of a metric with the gap that the allocation shows, over all models, jobs and "
                "groups. A metric without direction is compared with the gap's size. The interval is over models."
            )
        )
    )
    for one in settings(study):
        yield Heading(heading(study, one))
        yield charts.correlation_by_k(study, one.task, one.gap)
        found = [
            c
            for c in study.correlations
            if (c.task, c.gap, c.group, c.job) == (one.task, one.gap, None, None)
        ]
        yield _by_quota(study, found, t("{gap}: correlation by quota", gap=heading(study, one)))
        detail = tuple(
            _detail([c for c in found if c.metric == metric], f"{heading(study, one)}: {title_of(metric)}")
            for metric in metrics_of(study)
        )
        yield Fold(t("Both intervals, n and p of each correlation"), detail)
        by_job = _jobs(study, one)
        if by_job:
            yield Fold(t("By job"), by_job)


def _by_quota(study: ValidityStudy, found: Sequence[Correlation], caption: str) -> Table:
    columns = (Column(t("Metric"), numeric=False), *(Column(f"k = {k}") for k in study.quotas))
    rows = tuple(
        Row(title_of(metric), tuple(_r_cell(c) for c in found if c.metric == metric))
        for metric in metrics_of(study)
    )
    n = max((c.n for c in found), default=0)
    notes = [
        t("{n} points at most, of {models} models.", n=n, models=max((c.models for c in found), default=0))
    ]
    left_out = max((c.left_out for c in found), default=0)
    if left_out:
        notes.append(
            t(
                "{n} points are left out: their models answered more than {limit} of pairs inconsistently.",
                n=left_out,
                limit=f"{VALIDITY_LIMIT:.0%}",
            )
        )
    return Table(caption, columns, rows, tuple(notes))


def _r_cell(one: Correlation) -> Cell:
    if isinstance(one.r, Undefined):
        return Cell(t(UNDEFINED), note=one.r.reason, tone="muted")
    weak = isinstance(one.p_value, float) and one.p_value > WEAK
    return Cell(decimal(one.r), mark=f"p > {WEAK:g}" if weak else "", note=ends(one.interval))


def _detail(found: Sequence[Correlation], caption: str) -> Table:
    columns = (
        Column("k", numeric=False), Column("r"), Column("p"), Column(t("Interval over models")),
        Column(t("Fisher, points as independent")), Column("n"), Column(t("Models")), Column(t("Left out")),
        Column(t("Undefined")),
    )  # fmt: skip
    rows = tuple(
        Row(
            str(one.k),
            (
                value_cell(one.r),
                Cell(p_value(one.p_value, WEAK)),
                Cell(ends(one.interval), note=reason(one.interval)),
                Cell(ends(one.interval_of_points)),
                Cell(count(one.n)),
                Cell(count(one.models)),
                Cell(count(one.left_out)),
                Cell(count(one.undefined_points)),
            ),
        )
        for one in found
    )
    methods = dict.fromkeys(one.interval.method for one in found if isinstance(one.interval, Interval))
    return Table(caption, columns, rows, tuple(methods)[:1])


def _jobs(study: ValidityStudy, setting: Setting) -> tuple[Block, ...]:
    of_jobs = [
        c for c in study.correlations if (c.task, c.gap) == (setting.task, setting.gap) and c.job is not None
    ]
    jobs = dict.fromkeys(str(c.job) for c in of_jobs)
    return tuple(
        _by_quota(
            study, [c for c in of_jobs if c.job == job], f"{heading(study, setting)}: {job.replace('_', ' ')}"
        )
        for job in jobs
    )


def _scatters(study: ValidityStudy) -> Iterator[Block]:
    yield Paragraph(
        text(t("One point a model, job and group. A metric that foretells the gap puts them on a line."))
    )
    for one in settings(study):
        yield Heading(heading(study, one))
        shown = [c.metric for c in study.best.contenders[:2]]
        yield from (charts.scatter(study, metric, one) for metric in shown)
        others = tuple(
            charts.scatter(study, metric, one) for metric in metrics_of(study) if metric not in shown
        )
        if others:
            yield Fold(t("The other metrics"), others)


def _by_group(study: ValidityStudy) -> Iterator[Block]:
    if len(study.groups) < 2:
        yield Paragraph(
            text(t("There is one group besides the reference; the correlations above are its own."))
        )
        return
    yield Paragraph(
        text(
            t(
                "Each group on its own has few points, one a model and job: intervals are wide and marks often open."
            )
        )
    )
    for one in settings(study):
        yield Heading(heading(study, one))
        yield charts.correlation_by_group(study, one)
        of_groups = [
            c for c in study.correlations if (c.task, c.gap) == (one.task, one.gap) and c.group is not None
        ]
        tables = tuple(
            _by_quota(study, [c for c in of_groups if c.group == group], f"{heading(study, one)}: {group}")
            for group in study.groups
        )
        yield Fold(t("All quotas, by group"), tables)


def _scores(panel: ScoredPanel) -> Iterator[Block]:
    yield Paragraph(
        text(
            t(
                "A mean is moved by a few extreme scores and by the unit of the scores, a place in a pool is not: the "
                "more skewed a model's scores, the further the two may part."
            )
        )
    )
    for task in panel.tasks:
        if len(panel.tasks) > 1:
            yield Heading(task)
        yield charts.moments(panel, task)
        drawn = tuple(
            charts.distributions(panel, one.label, task) for one in panel.models if one.task == task
        )
        yield Fold(t("Scores by group, of each model"), drawn)


def _reading(study: ValidityStudy) -> Iterator[str]:
    yield t(
        "A correlation says that the metric orders models, jobs and groups as the gap does, not that either is small."
    )
    yield t(
        "p takes points as independent, as the paper does. Points of one model go together, so p and Fisher's interval "
        "are too hopeful; the interval over models leaves out one model at a time."
    )
    yield t(
        "No p-value is adjusted for the number of correlations. Which metric leads depends on the panel: where scores "
        "are ranks, a difference of means foretells gaps as well as a rank index does."
    )
    yield t(
        "Metrics compared with the equal opportunity gap see the qualified alone; they competed in the whole round."
    )
    if study.source == "table" and not study.same_pools:
        yield t(
            "The table does not show that all models judged the same candidates in the same rounds, so a difference "
            "between models may be one of candidates."
        )
    yield t("All numbers, with n, both intervals and the points, are in validity.json and in the CSV files.")
