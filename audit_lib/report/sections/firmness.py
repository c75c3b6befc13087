"""How firm the findings are: what one decision, a missing answer or another stratum could change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from audit_lib.plan.power_limits import NOT_PROMISED
from audit_lib.report.blocks import Cell, Column, Fold, Row, Table
from audit_lib.report.content import Content, RateTable, TableRow, in_words
from audit_lib.report.numbers import UNDEFINED, count, half_up, interval, p_value, signed


def agreement(content: Content) -> Fold | None:
    """Whether ratios differ between the strata, and whether pooling turns a difference round."""
    alpha = content.spec.measure.alpha
    rows = []
    for entry in content.metrics.get("heterogeneity", []):
        if "table" not in entry:
            continue
        test, simpson = _known(entry["breslow_day"]), _known(entry["simpson"])
        p = test.get("p_value")
        kind = content.policy.table(entry["table"]).title
        rows.append(
            Row(
                f"{entry['label']} against {entry['comparator']}",
                (
                    Cell(kind),
                    Cell(count(len(entry["strata"])) if entry["strata"] else "hidden"),
                    Cell(p_value(p, alpha) if isinstance(p, float) else UNDEFINED),
                    Cell(
                        f"{simpson['lower']}, {simpson['equal']}, {simpson['higher']}"
                        if simpson
                        else UNDEFINED,
                        mark="\N{BLACK LEFT-POINTING TRIANGLE} turned round"
                        if simpson.get("reversed")
                        else "",
                        tone="flag" if simpson.get("reversed") else "plain",
                    ),
                ),
                note=in_words(entry.get("within") or {}),
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


def firmness(content: Content, table: RateTable) -> Table:
    """What one other decision, or the missing answers, could change."""
    policy = content.policy
    digits, dash = policy.rounding.ratio, "\N{EN DASH}"
    rows = []
    for row in table.rows:
        impact = row.beyond.get("adverse_impact") or {}
        pooled = _known(impact.get("shortfall")).get("pooled")
        flip = _known(impact.get("flip_flop"))
        detectable = impact.get("smallest_detectable_ratio")
        rows.append(
            Row(
                row.label,
                (
                    Cell(number_of(row)),
                    Cell(signed(-pooled, 1) if isinstance(pooled, float) else dash),
                    Cell(_flips(flip) if flip else dash),
                    Cell(half_up(Fraction(detectable), digits) if isinstance(detectable, float) else dash),
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
            for part in ("missing", "unknown"):
                found = row.beyond.get(part) or {}
                n, limits = found.get("n"), found.get("ratio_bounds")
                cells.append(Cell(count(n) if isinstance(n, int) else dash))
                known = isinstance(limits, list) and n
                words = interval(limits[0], limits[1], digits, threshold) if limits and known else dash
                cells.append(Cell(words))
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


def number_of(row: TableRow) -> str:
    """People assessed in a row, or that the policy hides them."""
    return "hidden" if row.hidden else count(row.n)


def _known(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) and "undefined" not in value else {}


def _flips(flip: Mapping[str, Any]) -> str:
    """Which of the two findings one selection, moved between the category and the comparator, reverses."""
    names = {"threshold_reverses": "the guideline's side", "significance_reverses": "significance"}
    reversed_ = [words for key, words in names.items() if flip[key]]
    return f"changes {' and '.join(reversed_)}" if reversed_ else "changes nothing"
