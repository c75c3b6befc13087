"""The figures of a study, each wide and narrow; one that cannot be drawn says why in its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from audit_lib import figures
from audit_lib.documents.validity import Correlation, Gain, Gap, Point, ValidityStudy
from audit_lib.errors import UndefinedMetricError
from audit_lib.report.blocks import Block, Chart, Paragraph, text
from audit_lib.results import Undefined
from audit_lib.translation import t
from audit_lib.validity.points import UNDIRECTED
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import Setting
from audit_lib.validity.verdict import title_of

_COLOURS = 8
"""Series that a figure can tell apart."""


def correlation_by_k(study: ValidityStudy, task: str, gap: Gap) -> Block:
    """Draw the correlation of each metric over the quotas."""
    found = [one for one in study.correlations if _whole(one, task, gap)]
    r = {title_of(name): [_number(c.r) for c in found if c.metric == name] for name in metrics_of(study)}
    p = {
        title_of(name): [_number(c.p_value) for c in found if c.metric == name] for name in metrics_of(study)
    }
    title = t("Correlation with the {gap}, by quota", gap=_in_sentence(gap))
    return _chart(
        title,
        t("Pearson's r over all models, jobs and groups; the table below has the intervals."),
        lambda w: figures.correlation_by_k(study.quotas, r, p, title=title, width=w),
    )


def correlation_by_group(study: ValidityStudy, setting: Setting) -> Block:
    """Draw the correlation of each metric for each group on its own."""
    found = [
        one
        for one in study.correlations
        if (one.task, one.gap, one.k) == (setting.task, setting.gap, setting.k) and one.group is not None
    ]
    r = {title_of(name): [_number(c.r) for c in found if c.metric == name] for name in metrics_of(study)}
    p = {
        title_of(name): [_number(c.p_value) for c in found if c.metric == name] for name in metrics_of(study)
    }
    title = t("Correlation with the {gap} at k = {k}, by group", gap=_in_sentence(setting.gap), k=setting.k)
    return _chart(
        title,
        t("Pearson's r of one group each, over models and jobs."),
        lambda w: figures.correlation_by_group(list(study.groups), r, p, title=title, width=w),
    )


def scatter(study: ValidityStudy, metric: str, setting: Setting) -> Block:
    """Draw a metric against the gap: a point a model, job and group."""
    points = points_of(study, setting)
    x = [_number(point.metrics[metric]) for point in points]
    y = [_number(point.gaps[str(setting.k)]) for point in points]
    if metric in UNDIRECTED:
        y = [abs(value) for value in y]
    series: list[str] | None = [point.model for point in points]
    if len(set(series or ())) > _COLOURS:
        series = [point.group for point in points] if len(study.groups) <= _COLOURS else None
    gap = title_of(setting.gap)
    words = t("size of the {gap}, k = {k}", gap=_in_sentence(setting.gap), k=setting.k)
    gap_name = words if metric in UNDIRECTED else t("{gap}, k = {k}", gap=gap, k=setting.k)
    title = t("{metric} against the measured gap", metric=title_of(metric))
    name = t("{metric} against {reference}", metric=title_of(metric), reference=study.reference)
    return _chart(
        title,
        t("A point is a group of one job, as one model treats it; k = {k}.", k=setting.k),
        lambda w: figures.metric_against_gap(
            x, y, series=series, title=title, metric_name=name, gap_name=gap_name, width=w
        ),
        points=bool(points),
    )


def ndcg_curve(study: ValidityStudy, setting: Setting, gain: Gain) -> Block:
    """Draw NDCG at N of each metric."""
    found = [
        one
        for one in study.selection
        if (one.task, one.gap, one.k, one.gain) == (setting.task, setting.gap, setting.k, gain)
    ]
    lengths = sorted({one.length for one in found})
    values = {
        title_of(name): [_number(one.ndcg) for one in found if one.metric == name]
        for name in metrics_of(study)
    }
    values[t("random order")] = [_number(one.chance) for one in found if one.metric == metrics_of(study)[0]]
    title = (
        t("Does the metric list the fairest models first? Gain M \N{MINUS SIGN} rank")
        if gain == "distance"
        else t("Does the metric list the fairest models first? Gain M + 1 \N{MINUS SIGN} rank")
    )
    return _chart(
        title,
        t("Mean over jobs, at k = {k}; the fairest models first.", k=setting.k),
        lambda w: figures.fairness_ndcg_curve(lengths, values, title=title, width=w),
    )


def rankings(study: ValidityStudy, metric: str, setting: Setting) -> Block:
    """Draw models ranked by a metric and by the gap: root mean square over jobs and groups."""
    points = points_of(study, setting)
    out = {one.label for one in study.models if one.task == setting.task and one.left_out_of_selection}
    labels = [label for label in dict.fromkeys(point.model for point in points) if label not in out]
    own = {label: [point for point in points if point.model == label] for label in labels}
    x = [_size([point.metrics[metric] for point in own[label]]) for label in labels]
    y = [_size([point.gaps[str(setting.k)] for point in own[label]]) for label in labels]
    title = t("Models ranked by {metric} and by the measured gap", metric=title_of(metric))
    gap = t("gap, k = {k}", k=setting.k)
    return _chart(
        title,
        t("Root mean square over jobs and groups; the smallest is the fairest."),
        lambda w: figures.rank_bump(
            labels, x, y, title=title, metric_name=title_of(metric), gap_name=gap, width=w
        ),
        points=bool(labels),
    )


def moments(panel: ScoredPanel, task: str) -> Block:
    """Draw skewness and kurtosis of each model's scores of each group."""
    labels = [one.label for one in panel.models if one.task == task]
    scores = {label: scores_by_group(panel, label, task) for label in labels}
    if len(labels) > _COLOURS and len(panel.groups) <= _COLOURS:
        # Groups have the colours then, and points the models' names.
        scores = {group: {label: scores[label][group] for label in labels} for group in panel.groups}
    scores = {
        outer: {name: own for name, own in inner.items() if own.size} for outer, inner in scores.items()
    }
    title = t("Shape of the score distributions")
    return _chart(
        title,
        t("One point a model and group, over all jobs; scores as the model gave them."),
        lambda w: figures.score_moments(
            {outer: inner for outer, inner in scores.items() if inner}, title=title, width=w
        ),
    )


def distributions(panel: ScoredPanel, label: str, task: str) -> Block:
    """Draw a model's scores by group, each over the reference's."""
    scores = {group: own for group, own in scores_by_group(panel, label, task).items() if own.size}
    title = t("Scores by group: {model}", model=label)
    return _chart(
        title,
        t("Over all jobs; the outline is the reference, {reference}.", reference=panel.reference),
        lambda w: figures.score_distributions(scores, panel.reference, title=title, width=w),
    )


def scores_by_group(panel: ScoredPanel, label: str, task: str) -> dict[str, NDArray[np.float64]]:
    """Return a model's scores of each group over all jobs; candidates without a score are left in as NaN."""
    parts = list(panel.of(label, task))
    return {
        group: np.concatenate([one.score[one.group == number] for one in parts])
        for number, group in enumerate(panel.groups)
    }


def metrics_of(study: ValidityStudy) -> tuple[str, ...]:
    """Return the metrics of a study, in their order."""
    return tuple(study.points[0].metrics)


def points_of(study: ValidityStudy, setting: Setting) -> list[Point]:
    """Return the points of a task and gap whose models are not left out."""
    out = {(one.label, one.task) for one in study.models if one.left_out_of_validity}
    return [
        point
        for point in study.points
        if point.task == setting.task and point.gap == setting.gap and (point.model, point.task) not in out
    ]


def _whole(one: Correlation, task: str, gap: Gap) -> bool:
    return one.task == task and one.gap == gap and one.job is None and one.group is None


def _chart(title: str, caption: str, draw: Callable[[int], str], *, points: bool = True) -> Block:
    try:
        if not points:
            raise UndefinedMetricError(t("every model is left out"))
        return Chart(draw(760), draw(360), caption)
    except UndefinedMetricError as error:
        return Paragraph(text(t("{figure}: not drawn, because {reason}.", figure=title, reason=error)))


def _number(value: float | Undefined) -> float:
    return math.nan if isinstance(value, Undefined) else value


def _size(values: Sequence[float | Undefined]) -> float:
    """Root mean square; NaN where a value is undefined."""
    known = [value for value in values if not isinstance(value, Undefined)]
    if not known or len(known) < len(values):
        return math.nan
    return float(np.sqrt(np.mean(np.square(known))))


def _in_sentence(gap: str) -> str:
    title = title_of(gap)
    return title[:1].lower() + title[1:]
