"""The verdict: what was found in the order of its evidence, on the first screen, each finding with where it is from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from audit_lib.documents.estimates import adjusted_p, limits
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.measure.metric import record_of
from audit_lib.report.answerers import whose
from audit_lib.report.blocks import (
    Block,
    FindingItem,
    FindingList,
    Heading,
    Notice,
    Paragraph,
    Section,
    Text,
    strong,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.exact_tables import tally
from audit_lib.report.findings import (
    DisagreementFinding,
    EstimateFinding,
    Finding,
    RankedFindings,
    RatioFinding,
    findings_of,
)
from audit_lib.report.leading import least, picked
from audit_lib.report.numbers import guarded, interval, p_value
from audit_lib.report.sections.estimates import against, limits_of, mark_of, value_of
from audit_lib.report.sections.experiment import OWN_SECTION
from audit_lib.report.sections.finding_bars import finding_bars
from audit_lib.report.sections.law import not_in_force, other_pack
from audit_lib.report.sections.subgroup_aucs import AUC
from audit_lib.report.sections.what_was_varied import experiment_words
from audit_lib.report.table_names import category_name
from audit_lib.report.verdict_words import shown_verdict, verdict_words
from audit_lib.translation import Filled, archived, capitalised, known, named, t, tn

_MOST: Final = 5
"""RankedFindings that fit one screen: those that are shown come first, and one that is open is always among them."""
_MOST_OPEN: Final = 3
_MOST_REASONS: Final = 2


def verdict(content: Content, sections: Iterable[Section]) -> Section:
    """Make the section; findings lead to those of `sections` that they are from."""
    findings, titles = findings_of(content), {section.id: section.title for section in sections}
    left = min(max(_MOST - len(findings.shown), 1), _MOST_OPEN)
    shown = findings.shown[: _MOST - bool(findings.open)]
    bars = finding_bars(content, [*shown, *findings.open[:left]])
    blocks: list[Block] = [*_notices(content), Paragraph(text(_lead(content)), lead=True)]
    blocks += _shown(content, findings, shown, titles, bars)
    blocks += _open(content, findings, findings.open[:left], titles, bars)
    blocks += _absent(findings)
    blocks.append(Paragraph(text(_reading(content, listed=bool(bars), drawn=any(bars.values())))))
    return Section("verdict", t("In short"), tuple(blocks))


def _notices(content: Content) -> list[Notice]:
    spec, policy = content.spec, content.policy
    notices = []
    if not spec.model.valid_judge:
        notices.append(Notice(t("This model is no valid judge"), text(t(policy.wording["invalid_judge"]))))
    if content.is_experiment:
        wording = "experiment" if spec.perturb is not None else "experiment_recorded"
        words = t(policy.wording[wording]).format(varied=experiment_words(content))
        notices.append(Notice(t("An experiment, not a bias audit"), text(words), "note"))
    elif content.is_refused:
        notices.append(
            Notice(t("Demographics that the law does not accept"), text(t(policy.wording["refused"])))
        )
    return notices + [one for one in (other_pack(content), not_in_force(content)) if one is not None]


def _lead(content: Content) -> str:
    rows = content.metrics.rows
    examined = t(
        "{total:,} decisions of {model} were examined over {groups} groups ({attributes}).",
        total=rows.total,
        model=whose(content),
        groups=len(content.spec.groups.cells()),
        attributes=Filled(", ").join(known(axis) for axis in content.spec.groups.axes),
    )
    answered = t("{answered:,} of them have an answer.", answered=rows.answered)
    return Filled(" ").join((examined, answered, _ratios(content)))


def _ratios(content: Content) -> str:
    """How many impact ratios of the headline are below the guideline, or why there are none."""
    found, guidance = tally(content.headline), content.policy.guidance
    if found.compared:
        first = tn(
            "{n} of {compared} impact ratios in the headline tables is below {threshold:g}, the {guideline}; "
            "comparators, whose ratio is 1, are not counted.",
            "{n} of {compared} impact ratios in the headline tables are below {threshold:g}, the {guideline}; "
            "comparators, whose ratio is 1, are not counted.",
            found.below,
            compared=found.compared,
            threshold=float(guidance.threshold),
            guideline=t(guidance.name),
        )
    elif found.hidden:
        first = t("No impact ratio is printed for these data.")
    elif not any(record_of(name).unit == "ratio" for name in content.spec.measure.metrics):
        first = t("The spec asks for no impact ratio.")
    elif any(e.imputed is not None for e in content.estimates("imputed_impact_ratio")):
        first = t("Groups are imputed: impact ratios have bounds and no value.")
    else:
        first = t("No impact ratio is defined for these data.")
    hidden = tn("{n:,} more is hidden.", "{n:,} more are hidden.", found.hidden) if found.hidden else ""
    return Filled(" ").join(filter(None, [first, hidden]))


def _shown(
    content: Content,
    findings: RankedFindings,
    printed: tuple[Finding, ...],
    titles: Mapping[str, str],
    bars: Mapping[int, str],
) -> Iterable[Block]:
    yield Heading(t("Differences shown: {n:,}", n=len(findings.shown)))
    if not printed:
        compared = findings.open or findings.open_in_parts or findings.equivalent
        words = (
            t("No difference is shown. That is not to say that there is none.")
            if compared
            else t("No comparison has a number, so that nothing could be shown.")
        )
        yield Paragraph(text(words))
    else:
        yield FindingList(tuple(_item(content, one, titles, bars) for one in printed))
    more = len(findings.shown) - len(printed)
    said = []
    if more:
        said.append(tn("{n:,} more is in the tables.", "{n:,} more are in the tables.", more))
    if findings.equivalent:
        said.append(
            tn(
                "{n:,} comparison is shown to be inside the plan's margin, which is not the same as equal.",
                "{n:,} comparisons are shown to be inside the plan's margin, which is not the same as equal.",
                findings.equivalent,
            )
        )
    if said:
        yield Paragraph(text(Filled(" ").join(said)))


def _open(
    content: Content,
    findings: RankedFindings,
    printed: tuple[Finding, ...],
    titles: Mapping[str, str],
    bars: Mapping[int, str],
) -> Iterable[Block]:
    if not findings.open and not findings.open_in_parts:
        return
    yield Heading(t("Left open: {n:,}", n=len(findings.open) + findings.open_in_parts))
    yield FindingList(
        tuple(_item(content, one, titles, bars) for one in printed), start=len(bars) - len(printed) + 1
    )
    words = [t("Open is no sign of equal treatment: there is too little evidence to tell.")]
    more = len(findings.open) - len(printed)
    if more:
        words.append(
            tn("{n:,} more of the whole audit is open.", "{n:,} more of the whole audit are open.", more)
        )
    few = sum(isinstance(one, RatioFinding) and one.few for one in findings.open)
    if few and content.policy.practical_tests:
        words.append(
            tn(
                "{n:,} of all these rests on too few people, fewer than {least} in a group or too few by the tests of "
                "{law}.",
                "{n:,} of all these rest on too few people, fewer than {least} in a group or too few by the tests of "
                "{law}.",
                few,
                least=least(content),
                law=t(content.policy.short_law),
            )
        )
    elif few:
        words.append(
            tn(
                "{n:,} of all these rests on fewer than {least} people in one of its two groups.",
                "{n:,} of all these rest on fewer than {least} people in one of their two groups.",
                few,
                least=least(content),
            )
        )
    if findings.open_in_parts:
        words.append(
            tn(
                "{n:,} is open in parts of the audit.",
                "{n:,} are open in parts of the audit.",
                findings.open_in_parts,
            )
        )
    yield Paragraph(text(Filled(" ").join(words)))


def _absent(findings: RankedFindings) -> Iterable[Block]:
    """What has no number at all, which is not the same as no difference."""
    missing = sum(findings.not_computed.values())
    if not missing and not findings.hidden:
        return
    yield Heading(t("Without a number: {n:,}", n=missing + findings.hidden))
    words = []
    if missing:
        first = [
            t("{reason} ({n:,})", reason=archived(reason), n=n)
            for reason, n in list(findings.not_computed.items())[:_MOST_REASONS]
        ]
        rest = missing - sum(list(findings.not_computed.values())[:_MOST_REASONS])
        listed = Filled("; ").join([*first, *([t("other reasons ({n:,})", n=rest)] if rest else [])])
        words.append(t("Could not be computed: {reasons}.", reasons=listed))
    if findings.hidden:
        words.append(
            tn(
                "{n:,} impact ratio is hidden, since it rests on few people or would tell of them.",
                "{n:,} impact ratios are hidden, since they rest on few people or would tell of them.",
                findings.hidden,
            )
        )
    words.append(t("Nothing is known of these; none of them counts as equal."))
    yield Paragraph(text(Filled(" ").join(words)))


def _reading(content: Content, *, listed: bool, drawn: bool) -> str:
    words = []
    if listed:
        words.append(
            t(
                "Order: shown before open, ratios below the line first, the whole audit before its parts; then by "
                "evidence."
            )
        )
    if drawn:
        words.append(
            t(
                "Bars: the number with its interval; solid line, no difference; dashed line, {threshold:g}.",
                threshold=float(content.policy.guidance.threshold),
            )
        )
    words.append(
        t(
            "An impact ratio says that rates differ. It does not say why, nor whether the difference is lawful."
        )
    )
    return Filled(" ").join(words)


def _item(
    content: Content, finding: Finding, titles: Mapping[str, str], bars: Mapping[int, str]
) -> FindingItem:
    said: dict[type[Finding], Callable[..., Text]] = {
        RatioFinding: _ratio_words,
        EstimateFinding: _estimate_words,
        DisagreementFinding: _disagreement_words,
    }
    place = _place(content, finding)
    return FindingItem(
        text=said[type(finding)](content, finding),
        link=(titles[place], f"#{place}") if place in titles else None,
        picture=bars[id(finding)],
    )


def _place(content: Content, finding: Finding) -> str:
    """Return the section where a finding comes from."""
    if isinstance(finding, RatioFinding):
        whole = content.spec.measure.strata[0] if content.spec.measure.strata else []
        return finding.table.kind if set(finding.table.stratum) == set(whole) else "strata"
    if isinstance(finding, DisagreementFinding) and isinstance(finding.entry, RatioHeterogeneity):
        return "strata"
    metric = (finding.estimate if isinstance(finding, EstimateFinding) else finding.entry).metric
    return "experiment" if metric in OWN_SECTION else "aucs" if metric == AUC else "differences"


def _ratio_words(content: Content, finding: RatioFinding) -> Text:
    table, row, digits = finding.table, finding.row, content.policy.rounding.ratio
    threshold, top = content.policy.guidance.threshold, table.row(str(table.comparator))
    words = [
        t(
            "{selected} of {n} against {top_selected} of {top_n} ({top}), {where}.",
            selected=row.selected,
            n=row.n,
            top_selected=top.selected,
            top_n=top.n,
            top=category_name(top.label),
            where=table.where,
        )
    ]
    if (ends := picked(row)) is not None:
        words.append(
            t(
                "{level:%} interval {interval}.",
                level=content.spec.measure.level,
                interval=interval(ends.low, ends.high, digits, threshold),
            )
        )
    words.append(_stand(content, finding, adjusted_p(row.estimate)))
    ratio = guarded(finding.ratio, digits, threshold)
    name = t("{category}: ratio {ratio}.", category=category_name(row.label), ratio=ratio)
    return text(strong(name + " "), Filled(" ").join(filter(None, words)))


def _estimate_words(content: Content, finding: EstimateFinding) -> Text:
    e = finding.estimate
    record = record_of(e.metric)
    value = value_of(e, sign=record.signed)
    name = Filled(", ").join(filter(None, [t(record.title), against(e), in_words(e.stratum), mark_of(e)]))
    words = []
    if limits(e.interval) is not None and e.imputed is None:
        words.append(
            t(
                "{level:%} interval {interval}.",
                level=content.spec.measure.level,
                interval=limits_of(e, sign=record.signed),
            )
        )
    words.append(_stand(content, finding, adjusted_p(e)))
    return text(
        strong(Filled(": ").join((name, named(value, "value"))) + ". "), Filled(" ").join(filter(None, words))
    )


def _disagreement_words(content: Content, finding: DisagreementFinding) -> Text:
    entry, alpha = finding.entry, content.spec.measure.alpha
    name = t(record_of(entry.metric).title)
    if isinstance(entry, RatioHeterogeneity):
        name = t(
            "{group} against {reference}",
            group=category_name(entry.label),
            reference=category_name(entry.comparator),
        )
    p = adjusted_p(entry)
    words = t("agreement of strata on {what}, adjusted p {p}", what=name, p=p_value(p or 0.0, alpha))
    return text(strong(t("The parts differ.") + " "), capitalised(words) + ".")


def _stand(content: Content, finding: RatioFinding | EstimateFinding, p: float | None) -> str:
    """Say what the verdict is, with the p-value that it rests on."""
    estimate = finding.row.estimate if isinstance(finding, RatioFinding) else finding.estimate
    said = shown_verdict(estimate)
    if isinstance(finding, RatioFinding) and finding.few:
        return t("Too few people to tell.")
    if said is None:
        return t("A difference.") if finding.standing == "shown" else t("Undecided.")
    words = verdict_words(said)
    words = f"{words[:1].upper()}{words[1:]}"
    if p is None or not said.found:
        return f"{words}."
    return t("{verdict} (adjusted p {p}).", verdict=words, p=p_value(p, content.spec.measure.alpha))
