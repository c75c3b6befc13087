"""How sure the findings are: the ratios that lead, what all verdicts come to, and what could have been found."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import defined, first_p
from audit_lib.plan.power_limits import THESE_NAMES, scope_of_names
from audit_lib.report.blocks import Block, Bullets, Figure, Figures, Section, Text, strong, text
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.exact_tables import tally
from audit_lib.report.leading import (
    Leading,
    convincing,
    distinguishable,
    holds_unplanned,
    leading,
    picked,
)
from audit_lib.report.numbers import guarded, interval
from audit_lib.report.table_names import category_name, kind_name
from audit_lib.report.verdict_words import counted, shown_verdict, verdict_words
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.translation import Filled, archived, t, tn

_MOST_NAMED: Final = 3


def summary(content: Content) -> Section | None:
    """Make the section; none where there is nothing to say of it."""
    cards, said = tuple(leaders(content)), tuple(_limits(content))
    blocks: list[Block] = [*([Figures(cards)] if cards else []), *([Bullets(said)] if said else [])]
    return Section("summary", t("How sure this is"), tuple(blocks)) if blocks else None


def leaders(content: Content) -> list[Figure]:
    """Return what leads the page, for each kind of table: the ratio with the most evidence, or that there is none."""
    by_kind = {
        kind: [table for table in content.headline if table.kind == kind] for kind in ("selection", "scoring")
    }
    return [_leader(content, kind, tables) for kind, tables in by_kind.items() if tally(tables).compared]


def _leader(content: Content, kind: str, tables: list[ExactTable]) -> Figure:
    """The ratio with the most evidence, or that none can lead."""
    found, name = leading(content, tables), kind_name(content.policy, kind).lower()
    if found.best is None:
        return Figure(
            t("Impact ratio, {table}", table=name),
            t("too few to tell"),
            Filled(" ").join([t("No ratio leads."), *_kept_back(content, found)]),
        )
    table, row, ratio = found.best
    top = table.row(str(table.comparator))
    words = [
        t(
            "{category}: {selected} of {n}, against {top_selected} of {top_n} ({top}).",
            category=category_name(row.label),
            selected=row.selected,
            n=row.n,
            top_selected=top.selected,
            top_n=top.n,
            top=category_name(top.label),
        )
    ]
    if (aside := table.aside) is not None:
        words.append(
            t(
                "The highest rate of all is that of {category}, {selected} of {n}: so few are set aside here, and the "
                "categories of at least {least} people compared with each other.",
                category=category_name(aside.label),
                selected=aside.selected,
                n=aside.n,
                least=found.least,
            )
        )
    if limits := picked(row):
        words.append(
            t(
                "{level:%} interval {interval}, comparator picked by the data.",
                level=content.spec.measure.level,
                interval=_between(content, limits),
            )
        )
    if (verdict := shown_verdict(row.estimate)) is not None:
        words.append(t("Verdict: {verdict}.", verdict=verdict_words(verdict)))
    if limits and not distinguishable(row) and not _found(row):
        words.append(
            t("Below the guideline, and not distinguishable from 1.")
            if row.below
            else t("Not below the guideline, and not distinguishable from 1.")
        )
    else:
        words.append(t("Below the guideline.") if row.below else t("Not below the guideline."))
    return Figure(
        t("Impact ratio with the most evidence, {table}", table=name),
        guarded(ratio, content.policy.rounding.ratio, content.policy.guidance.threshold),
        Filled(" ").join([*words, *_kept_back(content, found)]),
        "flag" if convincing(content, table, row) else "plain",
    )


def _kept_back(content: Content, found: Leading) -> list[str]:
    """Say which ratios cannot lead, and why."""
    words = []
    if found.few and found.few_below:
        words.append(
            tn(
                "{n:,} ratio rests on fewer than {least} people in one of its two groups, {below:,} of them below the "
                "guideline: these cannot lead.",
                "{n:,} ratios rest on fewer than {least} people in one of their two groups, {below:,} of them below "
                "the guideline: these cannot lead.",
                found.few,
                least=found.least,
                below=found.few_below,
            )
        )
    elif found.few:
        words.append(
            tn(
                "{n:,} ratio rests on fewer than {least} people in one of its two groups: these cannot lead.",
                "{n:,} ratios rest on fewer than {least} people in one of their two groups: these cannot lead.",
                found.few,
                least=found.least,
            )
        )
    if found.untold:
        words.append(
            tn(
                "{n:,} below the guideline is too few to tell, by the tests of {law}.",
                "{n:,} below the guideline are too few to tell, by the tests of {law}.",
                found.untold,
                law=t(content.policy.short_law),
            )
        )
    return words


def _between(content: Content, limits: Interval) -> str:
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    return interval(limits.low, limits.high, digits, threshold)


def _limits(content: Content) -> list[Text]:
    reading = _reading(content)
    items = [*([] if reading is None else [reading]), *_verdicts(content)]
    items += _family(content)
    basis = content.plan.power_basis
    known = basis is not None and basis.not_simulated is None
    detectable = [
        defined(entry.smallest_detectable)
        for entry in content.plan.power
        if known and entry.metric == "impact_ratio"
    ]
    numbers = [value for value in detectable if value is not None]
    if numbers:
        planned = t(
            "Before the model was asked, the plan simulated this audit: a ratio has to be as small as {low:.2f} to "
            "{high:.2f}, depending on the comparison, to be found in {power:%} of such audits.",
            low=min(numbers),
            high=max(numbers),
            power=content.plan.thresholds.power,
        )
        unseen = t("Differences of that size, and smaller ones more so, can be there and stay unseen.")
        items.append(
            text(strong(t("What this audit could have found.") + " "), Filled(" ").join((planned, unseen)))
        )
    elif detectable:
        items.append(
            text(
                strong(t("What this audit could have found.") + " "),
                t(
                    "Before the model was asked, the plan simulated this audit: of no comparison would it find even "
                    "a ratio of 0 in {power:%} of such audits.",
                    power=content.plan.thresholds.power,
                ),
            )
        )
    if (scope := scope_of_names(content.spec)) is not None:
        title = t("These names only.") if scope == THESE_NAMES else t("These names, and others.")
        items.append(text(strong(title + " "), t(scope)))
    return items


def _verdicts(content: Content) -> list[Text]:
    """How many comparisons of the headline have which verdict, and what the words say."""
    first = set(content.spec.measure.strata[0])
    said = counted(
        [
            *(row.estimate for table in content.headline for row in table.rows if row.n),
            *(e for e in content.metrics.estimates if set(e.stratum) == first),
        ]
    )
    return [] if said is None else [text(strong(said[0] + " "), said[1])]


def _family(content: Content) -> list[Text]:
    family = content.metrics.multiplicity
    if isinstance(family, Undefined) or not family.family_size:
        return []
    words = [
        t(
            "{below:,} of {tests:,} tests fall below {alpha:g} taken one by one; at most about {expected:.0f} would be "
            "expected to if nothing differed and every comparison had been fixed beforehand.",
            below=family.findings.unadjusted,
            tests=family.family_size,
            alpha=family.alpha,
            expected=family.alpha * family.family_size,
        ),
        tn("After the adjustment {n:,} does.", "After the adjustment {n:,} do.", family.findings.holm),
    ]
    if content.tables:
        words.append(
            t(
                "A test of an impact ratio allows for the comparator being the highest rate, picked by the data."
            )
        )
    return [text(strong(t("Many questions were asked.") + " "), Filled(" ").join(words))]


def _reading(content: Content) -> Text | None:
    """What the ratio that leads shows, once it is allowed for that the comparator was picked by the data."""
    best = leading(content, content.headline).best
    if best is None:
        return None
    table, row, _ = best
    where = f"{category_name(row.label)}, {table.where}"
    if not picked(row):
        return text(
            strong(t("How sure the leading ratio is, is not known.") + " "),
            t(
                "The comparator was picked after looking, and no interval that allows for this is printed: it would "
                "tell of hidden rows ({where}).",
                where=where,
            )
            if tally((table,)).hidden
            else t(
                "The comparator was picked after looking, and no interval that allows for this is defined ({where}).",
                where=where,
            ),
        )
    if not distinguishable(row) and _found(row):
        return text(
            strong(t("The leading ratio is distinguishable from 1 by its test only.") + " "),
            t(
                "The test, adjusted for all tests of the audit, finds a difference; the interval reaches 1 ({where}). "
                "The test goes by steps, from the category with the most evidence on, and the interval does not.",
                where=where,
            ),
        )
    if not distinguishable(row):
        reaches = t(
            "The comparator is the highest of several rates, picked after looking. The interval that allows for this "
            "reaches 1 ({where}).",
            where=where,
        )
        return text(
            strong(t("The leading ratio is not distinguishable from 1.") + " "),
            Filled(" ").join(filter(None, [reaches, _distinguishable_ratios(content)])),
        )
    if (verdict := shown_verdict(row.estimate)) is not None and not verdict.found:
        return text(
            strong(t("The leading ratio is distinguishable from 1 by its own interval only.") + " "),
            t(
                "That interval allows for the comparator having been picked after looking ({where}). The test, "
                "adjusted for all tests of the audit, finds no difference.",
                where=where,
            ),
        )
    if verdict is None and not holds_unplanned(content, row):
        return text(
            strong(t("The leading ratio is distinguishable from 1 by its own interval only.") + " "),
            t(
                "That interval allows for the comparator having been picked after looking ({where}). The plan has no "
                "such comparison, so that it has no verdict; its test does not hold for all tables of the audit.",
                where=where,
            ),
        )
    words = [
        t(
            "even where it is allowed for that the comparator was picked after looking ({where}).",
            where=where,
        ),
        *_method(row),
        t("Other tables were looked at too."),
    ]
    return text(strong(t("The leading ratio is distinguishable from 1") + " "), Filled(" ").join(words))


def _found(row: ExactRow) -> bool:
    """Whether the verdict on a ratio finds a difference."""
    verdict = shown_verdict(row.estimate)
    return verdict is not None and verdict.found


def _method(row: ExactRow) -> list[str]:
    return (
        [t("How: {method}.", method=archived(row.estimate.method))]
        if isinstance(row.estimate, Estimate)
        else []
    )


def _distinguishable_ratios(content: Content) -> str:
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
        ratios=_listed(found),
    )


def _listed(named: list[str]) -> str:
    """List the first of some things, and how many more there are."""
    listed = Filled("; ").join(named[:_MOST_NAMED])
    more = len(named) - len(named[:_MOST_NAMED])
    return t("{listed}; and {n:,} more", listed=listed, n=more) if more else listed
