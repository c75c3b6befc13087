"""How firm the findings are: what one decision, a missing answer or another stratum could change."""

from __future__ import annotations

from collections.abc import Iterator

from audit_lib.documents.estimates import defined
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.documents.rate_tables import FlipFlop
from audit_lib.report.blocks import Cell, Column, Fold, Row, Table
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.numbers import UNDEFINED, count, interval, p_value, signed
from audit_lib.report.table_names import category_name, kind_name, table_name
from audit_lib.results import Undefined
from audit_lib.translation import Filled, t


def agreement(content: Content) -> Fold | None:
    """Whether ratios differ between the strata, and whether pooling turns a difference round."""
    alpha = content.spec.measure.alpha
    rows = []
    for entry in content.metrics.heterogeneity:
        if not isinstance(entry, RatioHeterogeneity):
            continue
        test, simpson = entry.breslow_day, entry.simpson
        p = None if isinstance(test, Undefined) else defined(test.p_value)
        known = None if isinstance(simpson, Undefined) else simpson
        turned = known is not None and known.reversed
        rows.append(
            Row(
                t(
                    "{group} against {reference}",
                    group=category_name(entry.label),
                    reference=category_name(entry.comparator),
                ),
                (
                    Cell(kind_name(content.policy, entry.table)),
                    Cell(count(len(entry.strata)) if entry.strata else t("hidden")),
                    Cell(t(UNDEFINED) if p is None else p_value(p, alpha)),
                    Cell(
                        t(UNDEFINED) if known is None else f"{known.lower}, {known.equal}, {known.higher}",
                        mark="\N{BLACK LEFT-POINTING TRIANGLE} " + t("turned round") if turned else "",
                        tone="flag" if turned else "plain",
                    ),
                ),
            )
        )
    if not rows:
        return None
    columns = (
        Column(t("Comparison"), numeric=False),
        Column(t("Table"), numeric=False),
        Column(t("Strata")),
        Column(t("Breslow-Day p")),
        Column(t("Strata where it is lower, equal, higher")),
    )
    notes = (
        t(
            "A small p says that the odds ratio differs between the strata, so that the pooled ratio hides something."
        ),
        t(
            "Turned round: the pooled difference has the other sign than that within strata (Simpson's paradox)."
        ),
    )
    return Fold(
        t("Do the strata agree?"), (Table(t("Agreement of the strata"), columns, tuple(rows), notes),)
    )


def one_other_decision(content: Content, table: ExactTable) -> Table:
    """What one other decision, or the missing answers, could change."""
    policy = content.policy
    dash = "\N{EN DASH}"
    rows = []
    for row in table.rows:
        impact = row.adverse_impact
        short = None if impact is None or isinstance(impact.shortfall, Undefined) else impact.shortfall
        flip = None if impact is None or isinstance(impact.flip_flop, Undefined) else impact.flip_flop
        rows.append(
            Row(
                category_name(row.label),
                (
                    Cell(number_of(row)),
                    Cell(dash if short is None else signed(-short.pooled, 1)),
                    Cell(_flips(flip) if flip else dash),
                ),
            )
        )
    return Table(
        t("{table}: how firm", table=table_name(policy, table)),
        (
            Column(t("Category"), numeric=False),
            Column(t("Assessed")),
            Column(t("More or fewer selected than expected")),
            Column(t("One different selection"), numeric=False),
        ),
        tuple(rows),
        (
            t(
                "Expected: the selections of the category and of the comparator together, shared out at their common "
                "rate."
            ),
        ),
    )


def bounds(content: Content) -> Iterator[Table]:
    """What the ratios could be, had the missing answers been any."""
    policy, dash = content.policy, "\N{EN DASH}"
    digits, threshold = policy.rounding.ratio, policy.guidance.threshold
    for table in content.headline:
        moved = [(row, (row.missing, row.unknown)) for row in table.rows]
        if not any(found is not None and found.n for _, both in moved for found in both):
            continue
        rows = []
        for row, both in moved:
            cells = [Cell(number_of(row))]
            for found in both:
                cells.append(Cell(dash if found is None else count(found.n)))
                ends = None if found is None or not found.n else found.ratio_bounds
                cells.append(
                    Cell(
                        dash
                        if ends is None or isinstance(ends, Undefined)
                        else interval(*ends, digits, threshold)
                    )
                )
            rows.append(Row(category_name(row.label), tuple(cells)))
        title = Filled(", ").join([table_name(policy, table), *([table.where] if table.stratum else [])])
        yield Table(
            t("{table}: missing-data bounds", table=title),
            (
                Column(t("Category"), numeric=False),
                Column(t("Assessed")),
                Column(t("Without an answer")),
                Column(t("Ratio if all or none of these had been selected")),
                Column(t("Of unknown category")),
                Column(t("Ratio if all of these were in the category")),
            ),
            tuple(rows),
            (
                t(
                    "Bounds over the comparator's rate as it is. They need no assumption, and are therefore wide."
                ),
            ),
        )


def number_of(row: ExactRow) -> str:
    """People assessed in a row, or that the policy hides them."""
    return t("hidden") if row.hidden else count(row.n)


def _flips(flip: FlipFlop) -> str:
    """Which of the two findings one selection, moved between the category and the comparator, reverses."""
    if flip.threshold_reverses and flip.significance_reverses:
        return t("changes the guideline's side and significance")
    if flip.threshold_reverses:
        return t("changes the guideline's side")
    return t("changes significance") if flip.significance_reverses else t("changes nothing")
