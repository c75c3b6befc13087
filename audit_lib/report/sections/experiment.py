"""A correspondence experiment: effects, what is noise, what the model perceived; and adverse impact of real people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from audit_lib.documents.estimates import adjusted_p, defined, first_p, interval_method
from audit_lib.documents.parameters import (
    ATTRIBUTE,
    DEGREES_OF_FREEDOM,
    MEAN_ABSOLUTE_DIFFERENCE,
    OUTCOME_SD,
    REPEATS,
    THRESHOLD,
    UNCHANGED,
    VARIATION,
    WITHOUT_SCORE,
)
from audit_lib.measure.experiment.regression import FEW
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.method_words import method_words
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval, p_or_dash
from audit_lib.report.sections.estimates import (
    against,
    count_of,
    dot_of,
    forest_chart,
    limits_of,
    mark_of,
    reason_of,
    remarks_of,
    tone_of,
    value_of,
    variation_in_words,
)
from audit_lib.report.sections.experiment_names import both_scopes, jobs, names
from audit_lib.report.verdict_words import verdict_cell
from audit_lib.results import Estimate
from audit_lib.translation import known, mark, t

OWN_SECTION: Final = frozenset(
    {"standardised_effect", "noise_floor", "manipulation_agreement", "adverse_impact_ratio"}
)
"""Metrics that this section prints, and no other."""

_EFFECTS: Final = mark(
    "Effect of each attribute on the score, in standard deviations of the score, with the other attributes held "
    "equal. Errors allow for the versions of one application being answered alike; where a group or its reference "
    "stands in fewer than {few} applications, or in more of which few hold most of its versions, and not all come in "
    "all versions, they are CR2, with Satterthwaite's degrees of freedom. An effect marked "
    "as inside the noise floor is no larger than what the noise of the answers alone gives, measured by asking the "
    "same again: the same regression, of the differences. Only effects as asked have controls, and so a floor. Each "
    "row is in units of its own standard deviation, which is printed."
)
_NOISE: Final = mark(
    "What a change that should change nothing did: the mean difference between a control and the same text as it was "
    "first asked, in the same unit. A control asks the same again; a format sets the same words out otherwise, which "
    "may move all groups alike. Repeats of a version show the noise of the model's answers by themselves: the same "
    "text about the same person. The unit is estimated from the same applications, and intervals allow for that; those "
    "of effects take it as fixed, as the method does that they follow: they are in the unit of these scores."
)
_PERCEIVED: Final = mark(
    "The model was asked for the attribute of each version. Where it does not tell the groups apart, that no "
    "difference was found is no evidence of none: below the spec's floor an effect whose interval holds 0 is marked as "
    "uninterpretable. One whose interval leaves 0 out is marked as not named: the model treated the groups "
    "differently, whatever it said when asked. All are printed and counted. Answers of doubt, refusals, "
    "answers that could not be read and errors of asking are no mismatches, and are counted apart. Gaps, ratios and "
    "ranks of an attribute that is not perceived are read in the same way, wherever they are in this report. A "
    "question that shows the whole dossier says what can be perceived there, not in a task that leaves parts of it out."
)
_IMPACT: Final = mark(
    "Real applicants: the share of each group rated at or above each threshold, over the reference's. The reference "
    "is fixed, not the group with the highest share. The thick bar is the 70% interval."
)
_EXPECTED: Final = mark(
    "Here a score is the mean of the ratings, each weighted by the probability that the model gives it, and a "
    "threshold is met by that mean: somebody rated 4 with a probability of 0.6, and else 3, does not reach 4."
)
_SAID: Final = "said "
"""Before the level that the model named, in the parameters of an agreement."""
_NO_LEVEL: Final = {
    "unsure": mark("unsure"),
    "refused": mark("refused"),
    "unread": mark("unread"),
    "error": mark("error"),
}
"""Answers that name no level."""


def experiment(content: Content) -> Section | None:
    """Make the section, or none where none of its metrics was computed."""
    parts = (
        ("standardised_effect", t("Standardised effects"), t(_EFFECTS, few=FEW), _effects),
        ("noise_floor", t("Noise floor"), t(_NOISE), _noise),
        ("manipulation_agreement", t("Manipulation check"), t(_PERCEIVED), _perceived),
        ("adverse_impact_ratio", t("Adverse impact by threshold"), t(_IMPACT), _impact),
    )
    blocks: list[Block] = []
    for metric, title, words, draw in parts:
        by_stratum = _by_stratum(content.estimates(metric))
        if not by_stratum:
            continue
        blocks += [Heading(title), Paragraph(text(words))]
        if metric == "adverse_impact_ratio" and _of_labels(content):
            blocks.append(Paragraph(text(t(_EXPECTED))))
        headline = set(content.spec.measure.strata[0])
        for where, estimates in by_stratum.items():
            if {key for key, _ in where} == headline:
                blocks += draw(content, title, estimates, True)
            else:
                name = f"{title}: {in_words(dict(where))}"
                blocks.append(Fold(name, tuple(draw(content, name, estimates, False))))
        if metric == "standardised_effect":
            blocks += [*names(content), *jobs(content)]
    # Ratings of real applicants are no experiment.
    title = t("Correspondence experiment") if content.is_experiment else t("Ratings at thresholds")
    return Section("experiment", title, tuple(blocks)) if blocks else None


def _of_labels(content: Content) -> bool:
    spec = content.spec
    return spec.task == "pointwise" and spec.prompt is not None and spec.prompt.read == "labels"


def _by_stratum(estimates: Iterable[Estimate]) -> dict[tuple[tuple[str, str], ...], list[Estimate]]:
    found: dict[tuple[tuple[str, str], ...], list[Estimate]] = {}
    for e in estimates:
        found.setdefault(tuple(e.stratum.items()), []).append(e)
    return found


def _effects(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    by: dict[str, list[Estimate]] = {}
    for e in estimates:
        by.setdefault(str(e.parameters.get(VARIATION, "none")), []).append(e)
    if chart:
        groups = {variation_in_words(name): [dot_of(e) for e in found] for name, found in by.items()}
        measure = content.spec.measure
        if measure.inner_level is None:
            caption = t(
                "{title}, with {level:%} intervals; the line at 0 is parity.",
                title=title,
                level=measure.level,
            )
        else:
            caption = t(
                "{title}, with {level:%} (thin) and {inner:%} (thick) intervals; the line at 0 is parity.",
                title=title,
                level=measure.level,
                inner=measure.inner_level,
            )
        yield from forest_chart(title, groups, 0.0, caption)
    columns = (
        Column(t("Group against reference, as asked"), numeric=False), Column(t("Effect")), Column(t("Interval")),
        Column("p"), Column(t("p adjusted for all tests")), Column(t("Verdict"), numeric=False),
        Column(t("n, group")), Column(t("n, reference")),
    )  # fmt: skip
    rows = [
        Row(
            against(e),
            (
                Cell(value_of(e), mark=mark_of(e), note=reason_of(e), tone=tone_of(e)),
                Cell(limits_of(e)),
                *_p(content, e),
                verdict_cell(e),
                Cell(count_of(e.n_group)),
                Cell(count_of(e.n_reference)),
            ),
            note=variation_in_words(name),
        )
        for name, found in by.items()
        for e in found
    ]
    notes = (*_method(estimates), *remarks_of(estimates))
    yield Table(t("{title}: sensitivity", title=title), columns, tuple(rows), notes)
    yield from both_scopes(content, title, by, explained=chart)
    yield _basis(title, by)


def _basis(title: str, by: Mapping[str, Sequence[Estimate]]) -> Table:
    """Print what each effect rests on; beside the effects it would be more than a page is wide."""
    columns = (
        Column(t("Group against reference, as asked"), numeric=False), Column(t("SD of the score")),
        Column(t("Degrees of freedom")), Column(t("Applications")), Column(t("Without a score")),
        Column(t("Attribute unknown")),
    )  # fmt: skip
    rows = []
    for name, found in by.items():
        for e in found:
            own = e.parameters
            cells = (
                Cell(decimal(float(own[OUTCOME_SD])) if OUTCOME_SD in own else t(UNDEFINED)),
                Cell(_freedom(e)),
                Cell(count_of(e.clusters)),
                Cell(count_of(own.get(WITHOUT_SCORE))),
                Cell(count_of(own.get(f"{next(iter(e.group), '')} unknown"))),
            )
            rows.append(Row(against(e), cells, note=variation_in_words(name)))
    return Table(t("{title}: what they rest on", title=title), columns, tuple(rows))


def _noise(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    again = [e for e in estimates if e.parameters.get(VARIATION) == REPEATS]
    if again:
        yield _repeats(title, again)
    if len(again) < len(estimates):
        yield _controls(title, [e for e in estimates if e not in again])


def _repeats(title: str, estimates: Sequence[Estimate]) -> Table:
    """Print how much the answers to one version differ."""
    columns = (
        Column(t("Asked again"), numeric=False), Column(t("SD of the answers")), Column(t("Interval")),
        Column(t("SD of the score")), Column(t("Degrees of freedom")), Column(t("All answers alike")),
        Column(t("Versions")), Column(t("Applications")),
    )  # fmt: skip
    rows = []
    for e in estimates:
        own = e.parameters
        cells = (
            Cell(value_of(e, sign=False), note=reason_of(e)),
            Cell(limits_of(e, sign=False)),
            Cell(decimal(float(own[OUTCOME_SD])) if OUTCOME_SD in own else t(UNDEFINED)),
            Cell(count_of(own.get(DEGREES_OF_FREEDOM))),
            Cell(count_of(own.get(UNCHANGED))),
            Cell(count_of(e.n)),
            Cell(count_of(e.clusters)),
        )
        rows.append(Row(t("each version {times} times", times=own.get(REPEATS)), cells))
    return Table(t("{title}: repeats", title=title), columns, tuple(rows), _method(estimates))


def _controls(title: str, estimates: Sequence[Estimate]) -> Table:
    columns = (
        Column(t("Control"), numeric=False), Column(t("Mean difference")), Column(t("Interval")),
        Column(t("Mean absolute difference")), Column(t("Unchanged")), Column(t("Controls")),
        Column(t("Applications")),
    )  # fmt: skip
    rows = []
    for e in estimates:
        own = e.parameters
        spread = own.get(MEAN_ABSOLUTE_DIFFERENCE)
        same = own.get(UNCHANGED)
        cells = (
            Cell(value_of(e), note=reason_of(e)),
            Cell(limits_of(e)),
            Cell(decimal(float(spread)) if spread is not None else t(UNDEFINED)),
            Cell(count(int(same)) if same is not None else t(UNDEFINED)),
            Cell(count_of(e.n)),
            Cell(count_of(e.clusters)),
        )
        rows.append(Row(variation_in_words(str(own.get(VARIATION, "control"))), cells))
    return Table(title, columns, tuple(rows), _method(estimates))


def _perceived(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    floor = content.spec.checks.minimum_agreement
    for axis in dict.fromkeys(str(e.parameters.get(ATTRIBUTE, "")) for e in estimates):
        found = [e for e in estimates if e.parameters.get(ATTRIBUTE, "") == axis]
        said = list(dict.fromkeys(key for e in found for key in e.parameters if key.startswith(_SAID)))
        kinds = [*said, *_NO_LEVEL]
        rows = []
        for e in found:
            value = defined(e.value)
            low = value is not None and value < floor
            agreed = t(UNDEFINED) if value is None else f"{value:.1%}"
            cells = [
                Cell(
                    agreed,
                    mark=t("below the floor") if low else "",
                    note=reason_of(e),
                    tone="flag" if low else "plain",
                ),
                Cell(limits_of(e, sign=False)),
                *(Cell(count(int(e.parameters[kind])) if kind in e.parameters else "") for kind in kinds),
            ]
            meant = known(e.group[axis]) if axis in e.group else t("all versions")
            rows.append(Row(meant, tuple(cells)))
        columns = (
            Column(t("Meant"), numeric=False), Column(t("Named as meant")), Column(t("Interval")),
            *(Column(_answer(kind)) for kind in kinds),
        )  # fmt: skip
        floored = t("The spec's floor is {floor:%} (checks.minimum_agreement).", floor=floor)
        yield Table(f"{title}: {known(axis)}", columns, tuple(rows), (*_method(found), floored))


def _answer(kind: str) -> str:
    """Return how answers of one kind to the question for the attribute are headed."""
    if kind in _NO_LEVEL:
        return t(_NO_LEVEL[kind])
    return t("said: {answer}", answer=known(kind.removeprefix(_SAID)))


def _impact(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    by: dict[float, list[Estimate]] = {}
    for e in estimates:
        by.setdefault(float(e.parameters.get(THRESHOLD, 0)), []).append(e)
    if chart:
        groups = {_rated(at): [dot_of(e, sign=False) for e in found] for at, found in by.items()}
        caption = t(
            "{title}, with {level:%} (thin) and 70% (thick) intervals; 1 is parity.",
            title=title,
            level=content.spec.measure.level,
        )
        yield from forest_chart(title, groups, 1.0, caption)
    columns = (
        Column(t("Group against reference, threshold"), numeric=False), Column(t("Ratio")), Column(t("Interval")),
        Column(t("70% interval")), Column("p"), Column(t("p adjusted for all tests")),
        Column(t("Verdict"), numeric=False), Column(t("n, group")), Column(t("n, reference")),
    )  # fmt: skip
    rows = []
    for at, found in by.items():
        for e in found:
            inner = next(iter(e.intervals), None)
            rows.append(
                Row(
                    against(e),
                    (
                        Cell(value_of(e, sign=False), note=reason_of(e)),
                        Cell(limits_of(e, sign=False)),
                        Cell(t(UNDEFINED) if inner is None else interval(inner.low, inner.high, 3)),
                        *_p(content, e),
                        verdict_cell(e),
                        Cell(count_of(e.n_group)),
                        Cell(count_of(e.n_reference)),
                    ),
                    note=_rated(at),
                )
            )
    yield Table(title, columns, tuple(rows), _method(estimates))


def _rated(at: float) -> str:
    return t("rated {at:g} or more", at=at)


def _p(content: Content, e: Estimate) -> tuple[Cell, Cell]:
    alpha = content.spec.measure.alpha
    return Cell(p_or_dash(first_p(e), alpha)), Cell(p_or_dash(adjusted_p(e), alpha))


def _freedom(e: Estimate) -> str:
    df = e.parameters.get(DEGREES_OF_FREEDOM)
    return t(UNDEFINED) if df is None else decimal(float(df), 1)


def _method(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    # Degrees of freedom, which differ from row to row, have a column.
    said = (
        method_words(e.method, interval_method(e), freedom=DEGREES_OF_FREEDOM not in e.parameters)
        for e in estimates
    )
    return tuple(list(dict.fromkeys(said))[:2])
