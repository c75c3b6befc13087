"""Which differences have the most evidence: tests below alpha once adjusted for their number, and a table's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import AnyEstimate, adjusted_p, first_p
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Text, strong, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.leading import distinguishable
from audit_lib.report.numbers import count, guarded, p_value
from audit_lib.report.sections.estimates import against, mark_of
from audit_lib.report.table_names import category_name, kind_name
from audit_lib.report.verdict_words import shown_verdict
from audit_lib.results import Undefined
from audit_lib.translation import t, tn

_MOST_NAMED: Final = 3


def strongest_evidence(content: Content) -> list[Text]:
    """Name the first of the differences below alpha after the adjustment, those of the whole audit before others."""
    family = content.metrics.multiplicity
    if isinstance(family, Undefined) or not family.family_size or not family.findings.holm:
        return []
    alpha = family.alpha
    found = sorted(
        (bool(stratum), holm, number, words)
        for number, (holm, stratum, words) in enumerate(_adjusted(content))
        if holm < alpha
    )
    few = sum(_rests_on_few(one, alpha) for one in _every(content))
    remain = max(family.findings.holm - few, len(found[:_MOST_NAMED]))
    named = [words for *_, words in found[: min(_MOST_NAMED, remain)]]
    if not named:
        return []
    listed = _listed(named, remain)
    title = t("Below {alpha:g} once adjusted for {tests:,} tests.", alpha=alpha, tests=family.family_size)
    said = [f"{count(remain)}: {listed}."]
    if few:
        said.append(
            tn(
                "{n:,} more rests on too few people to be a finding.",
                "{n:,} more rest on too few people to be findings.",
                few,
            )
        )
    return [text(strong(f"{title} "), " ".join(said))]


def _every(content: Content) -> Iterator[AnyEstimate]:
    yield from (row.estimate for table in content.tables for row in table.rows)
    yield from content.metrics.estimates


def _rests_on_few(one: AnyEstimate, alpha: float) -> bool:
    """Whether a test is below alpha once adjusted, and its verdict finds nothing."""
    verdict, holm = shown_verdict(one), adjusted_p(one)
    return verdict is not None and not verdict.found and holm is not None and holm < alpha


def _listed(named: list[str], number: int) -> str:
    """List the first of some things, and how many more there are."""
    listed = "; ".join(named[:_MOST_NAMED])
    more = number - len(named[:_MOST_NAMED])
    return t("{listed}; and {n:,} more", listed=listed, n=more) if more else listed


def _adjusted(content: Content) -> Iterator[tuple[float, Mapping[str, str], str]]:
    """Yield the adjusted p-value of each test, its stratum, and what it compares."""
    digits, guidance = content.policy.rounding.ratio, content.policy.guidance
    alpha = content.spec.measure.alpha

    seen = set()
    for table in content.tables:
        counts = tuple((row.n, row.selected) for row in table.rows)
        for row in table.rows:
            holm = adjusted_p(row.estimate)
            # The same counts in tables of two kinds are one hypothesis of the family.
            hypothesis = (table.family, table.where, row.label, counts)
            few = _rests_on_few(row.estimate, alpha)
            if holm is not None and not few and isinstance(row.ratio, Fraction) and hypothesis not in seen:
                seen.add(hypothesis)
                best = table.row(str(table.comparator))
                yield (
                    holm,
                    table.stratum,
                    t(
                        "{category} ({selected} of {n}) against {top} ({top_selected} of {top_n}), {table}, {where}, "
                        "ratio {ratio}, adjusted p {p}",
                        category=category_name(row.label),
                        selected=row.selected,
                        n=row.n,
                        top=category_name(best.label),
                        top_selected=best.selected,
                        top_n=best.n,
                        table=kind_name(content.policy, table.kind).lower(),
                        where=table.where,
                        ratio=guarded(row.ratio, digits, guidance.threshold),
                        p=p_value(holm, alpha),
                    ),
                )
    for e in content.metrics.estimates:
        holm = adjusted_p(e)
        if holm is not None and not _rests_on_few(e, alpha):
            parts = [
                t(record_of(e.metric).title),
                against(e),
                in_words(e.stratum),
                mark_of(e),
                t("adjusted p {p}", p=p_value(holm, alpha)),
            ]
            yield holm, e.stratum, ", ".join(part for part in parts if part)
    for entry in content.metrics.heterogeneity:
        holm = adjusted_p(entry)
        if holm is not None:
            name = t(record_of(entry.metric).title)
            if isinstance(entry, RatioHeterogeneity):
                name = t(
                    "{group} against {reference}",
                    group=category_name(entry.label),
                    reference=category_name(entry.comparator),
                )
            words = t("agreement of strata on {what}, adjusted p {p}", what=name, p=p_value(holm, alpha))
            yield holm, {"compared": "strata"}, words


def distinguishable_ratios(content: Content) -> str:
    """Name the headline ratios that differ from 1 by their test and by the interval that allows for picking."""
    digits, guidance = content.policy.rounding.ratio, content.policy.guidance
    alpha = content.spec.measure.alpha
    found = [
        t(
            "{ratio} of {category} ({selected} of {n}; {table}, {where})",
            ratio=guarded(row.ratio, digits, guidance.threshold),
            category=category_name(row.label),
            selected=row.selected,
            n=row.n,
            table=kind_name(content.policy, table.kind).lower(),
            where=table.where,
        )
        for table in content.headline
        for row in table.rows
        if isinstance(row.ratio, Fraction) and (p := first_p(row.estimate)) is not None and p < alpha
        if distinguishable(row)
    ]
    if not found:
        return ""
    return t(
        "In its own table, by that interval and by its test, each of these is distinguishable: {ratios}.",
        ratios=_listed(found, len(found)),
    )
