"""How firm the findings are: what one decision, a missing answer or another stratum could change."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from audit_lib.documents.estimates import defined
from audit_lib.documents.metrics import RatioHeterogeneity
from audit_lib.documents.rate_tables import FlipFlop
from audit_lib.plan.power_limits import NOT_PROMISED
from audit_lib.report.blocks import Cell, Column, Fold, Row, Table
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.numbers import UNDEFINED, count, half_up, interval, p_value, signed
from audit_lib.results import Undefined


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
        kind = content.policy.table(entry.table).title
        rows.append(
            Row(
                f"{entry.label} against {entry.comparator}",
                (
                    Cell(kind),
                    Cell(count(len(entry.strata)) if entry.strata else "hidden"),
                    Cell(UNDEFINED if p is None else p_value(p, alpha)),
                    Cell(
                        UNDEFINED if known is None else f"{known.lower}, {known.equal}, {known.higher}",
                        mark="\N{BLACK LEFT-POINTING TRIANGLE} turned round" if turned else "",
                        tone="flag" if turned else "plain",
                    ),
                ),
            )
        )
    if not rows:
        return None
    columns = (
        Column("Comparison", numeric=False),
        Column("Table", numeric=False),
        Column("Strata"),
        Column("Breslow-Day p"),
        Column("Strata where it is lower, equal, higher"),
    )
    notes = (
        "A small p says that the odds ratio differs between the strata, so that the pooled ratio hides something.",
        "Turned round: the pooled difference has the other sign than that within strata (Simpson's paradox).",
    )
    return Fold("Do the strata agree?", (Table("Agreement of the strata", columns, tuple(rows), notes),))


def firmness(content: Content, table: ExactTable) -> Table:
    """What one other decision, or the missing answers, could change."""
    policy = content.policy
    digits, dash = policy.rounding.ratio, "\N{EN DASH}"
    rows = []
    for row in table.rows:
        impact = row.adverse_impact
        short = None if impact is None or isinstance(impact.shortfall, Undefined) else impact.shortfall
        flip = None if impact is None or isinstance(impact.flip_flop, Undefined) else impact.flip_flop
        detectable = None if impact is None else defined(impact.smallest_detectable_ratio)
        rows.append(
            Row(
                row.label,
                (
                    Cell(number_of(row)),
                    Cell(dash if short is None else signed(-short.pooled, 1)),
                    Cell(_flips(flip) if flip else dash),
                    Cell(dash if detectable is None else half_up(Fraction(detectable), digits)),
                ),
            )
        )
    return Table(
        f"{policy.table(table.kind).title}, {policy.family(table.family).title.lower()}: how firm",
        (
            Column("Category", numeric=False),
            Column("Assessed"),
            Column("More or fewer selected than expected"),
            Column("One different selection", numeric=False),
            Column("Smallest detectable ratio"),
        ),
        tuple(rows),
        (
            "Expected: the selections of the category and of the comparator together, shared out at their common rate.",
            f"Smallest detectable ratio: nominal power {content.spec.measure.power:g}, two-sided at "
            f"{content.spec.measure.alpha:g}, for independent people. {NOT_PROMISED}",
        ),
    )


def bounds(content: Content) -> Iterator[Table]:
    """What the ratios could be, had the missing answers been any."""
    policy, dash = content.policy, "\N{EN DASH}"
    digits, threshold = policy.rounding.ratio, policy.guidance.threshold
    for table in content.headline:
        rows = []
        for row in table.rows:
            cells = [Cell(number_of(row))]
            for found in (row.missing, row.unknown):
                cells.append(Cell(dash if found is None else count(found.n)))
                ends = (
                    None if found is None or isinstance(found.ratio_bounds, Undefined) else found.ratio_bounds
                )
                known = found is not None and found.n and ends is not None
                cells.append(Cell(interval(*ends, digits, threshold) if ends is not None and known else dash))
            rows.append(Row(row.label, tuple(cells)))
        if all(cell.text in (dash, "0") for row in rows for cell in row.cells[1:]):
            continue
        where = f", {table.where}" if table.stratum else ""
        title = f"{policy.table(table.kind).title}, {policy.family(table.family).title.lower()}{where}"
        yield Table(
            f"{title}: missing-data bounds",
            (
                Column("Category", numeric=False),
                Column("Assessed"),
                Column("Without an answer"),
                Column("Ratio if all or none of these had been selected"),
                Column("Of unknown category"),
                Column("Ratio if all of these were in the category"),
            ),
            tuple(rows),
            ("Bounds over the comparator's rate as it is. They need no assumption, and are therefore wide.",),
        )


def number_of(row: ExactRow) -> str:
    """People assessed in a row, or that the policy hides them."""
    return "hidden" if row.hidden else count(row.n)


def _flips(flip: FlipFlop) -> str:
    """Which of the two findings one selection, moved between the category and the comparator, reverses."""
    names = {"the guideline's side": flip.threshold_reverses, "significance": flip.significance_reverses}
    reversed_ = [words for words, turned in names.items() if turned]
    return f"changes {' and '.join(reversed_)}" if reversed_ else "changes nothing"
