"""Which differences have the most evidence: tests below alpha once adjusted for their number, and a table's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import adjusted_p, first_p
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import Text, strong, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.leading import distinguishable
from audit_lib.report.numbers import count, guarded, p_value
from audit_lib.report.sections.estimates import against, mark_of
from audit_lib.results import Undefined

_MOST_NAMED: Final = 3


def strongest_evidence(content: Content) -> list[Text]:
    """Name the first of the differences below alpha after the adjustment, those of the whole audit before others."""
    family = content.metrics.multiplicity
    if isinstance(family, Undefined) or not family.family_size or not family.findings.holm:
        return []
    remain, alpha = family.findings.holm, family.alpha
    found = sorted(
        (bool(stratum), holm, number, words)
        for number, (holm, stratum, words) in enumerate(_adjusted(content))
        if holm < alpha
    )
    named = [words for *_, words in found[: min(_MOST_NAMED, remain)]]
    if not named:
        return []
    more = f"; and {count(remain - len(named))} more" if remain > len(named) else ""
    apart = ", but not for the choice of the comparator" if content.tables else ""
    return [
        text(
            strong(f"Below {alpha:g} once adjusted for {count(family.family_size)} tests{apart}. "),
            f"{count(remain)}: {'; '.join(named)}{more}.",
        )
    ]


def _adjusted(content: Content) -> Iterator[tuple[float, Mapping[str, str], str]]:
    """Yield the adjusted p-value of each test, its stratum, and what it compares."""
    digits, guidance = content.policy.rounding.ratio, content.policy.guidance
    alpha = content.spec.measure.alpha

    def after(holm: float) -> str:
        return f"adjusted p {p_value(holm, alpha)}"

    seen = set()
    for table in content.tables:
        counts = tuple((row.n, row.selected) for row in table.rows)
        for row in table.rows:
            holm = adjusted_p(row.estimate)
            # The same counts in tables of two kinds are one hypothesis of the family.
            hypothesis = (table.family, table.where, row.label, counts)
            if holm is not None and isinstance(row.ratio, Fraction) and hypothesis not in seen:
                seen.add(hypothesis)
                best = table.row(str(table.comparator))
                yield (
                    holm,
                    table.stratum,
                    f"{row.label} ({row.selected} of {row.n}) against {best.label} ({best.selected} of {best.n}), "
                    f"{content.policy.table(table.kind).title.lower()}, {table.where}, ratio "
                    f"{guarded(row.ratio, digits, guidance.threshold)}, {after(holm)}",
                )
    for e in content.metrics.estimates:
        holm = adjusted_p(e)
        if holm is not None:
            parts = [
                record_of(e.metric).title,
                against(e),
                in_words(e.stratum),
                mark_of(e),
                after(holm),
            ]
            yield holm, e.stratum, ", ".join(part for part in parts if part)
    for entry in content.metrics.heterogeneity:
        holm = adjusted_p(entry)
        if holm is not None:
            name = record_of(entry.metric).title
            if isinstance(entry, RatioHeterogeneity):
                name = f"{entry.label} against {entry.comparator}"
            yield holm, {"compared": "strata"}, f"agreement of strata on {name}, {after(holm)}"


def distinguishable_ratios(content: Content) -> str:
    """Name the headline ratios that differ from 1 by their test and by the interval that allows for picking."""
    digits, guidance = content.policy.rounding.ratio, content.policy.guidance
    alpha = content.spec.measure.alpha
    found = [
        f"{guarded(row.ratio, digits, guidance.threshold)} of {row.label} ({row.selected} of {row.n}; "
        f"{content.policy.table(table.kind).title.lower()}, {table.where})"
        for table in content.headline
        for row in table.rows
        if isinstance(row.ratio, Fraction) and (p := first_p(row.estimate)) is not None and p < alpha
        if distinguishable(row)
    ]
    if not found:
        return ""
    more = f"; and {count(len(found) - _MOST_NAMED)} more" if len(found) > _MOST_NAMED else ""
    lead = " In its own table, by that interval and by its test, each of these is distinguishable: "
    return f"{lead}{'; '.join(found[:_MOST_NAMED])}{more}."
