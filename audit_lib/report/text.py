"""The statutory tables as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from audit_lib.policies import Policy
from audit_lib.report.numbers import UNDEFINED, guarded, interval, percent
from audit_lib.report.suppress import GIVES_AWAY


def tables_text(metrics: Mapping[str, Any], policy: Policy) -> str:
    """Return the headline's tables of ``metrics.json`` as text; of what a policy hides, pass what may be printed.

    Ratios print one more decimal than rates. ``*`` marks a ratio below the policy's guidance, ``!`` a row
    with fewer people than the spec's small cell.
    """
    tables = metrics["tables"]
    if not tables:
        return "no rate table was measured"
    headline = set(tables[0]["stratum"])
    lines: list[str] = []
    if metrics["experiment"]:
        lines += [policy.wording["title_experiment"], ""]
    for table in tables:
        if set(table["stratum"]) == headline:
            lines += [*_table(table, policy), ""]
    guidance = policy.guidance
    lines.append(
        f"* below the {guidance.name} ({guidance.cite})"
        + ("" if guidance.own else f", which {policy.short_law} does not set")
        + "   ! small cell"
    )
    if metrics.get("suppressed", {}).get("cells"):
        lines.append(metrics["suppressed"]["reason"])
    return "\n".join(lines)


def _table(table: Mapping[str, Any], policy: Policy) -> list[str]:
    kind, digits = policy.table(table["kind"]), policy.rounding
    where = ", ".join(f"{key} {value}" for key, value in table["stratum"].items())
    title = f"{kind.title}, {policy.family(table['family']).title.lower()}{f' ({where})' if where else ''}"
    best = next((row for row in table["rows"] if row["label"] == table["comparator"]), None)
    cells = [["category", "n", kind.count.lower(), "rate", "impact ratio", "interval, comparator held fixed"]]
    for row in table["rows"]:
        if row.get("suppressed"):
            cells.append([row["label"], *["hidden"] * 4, ""])
            continue
        estimate, limits = row["impact_ratio"], row["impact_ratio"]["interval"]
        ratio = "hidden" if estimate["value"] == {"undefined": GIVES_AWAY} else UNDEFINED
        if best is not None and not isinstance(estimate["value"], Mapping):
            exact = Fraction(row["selected"], row["n"]) / Fraction(best["selected"], best["n"])
            ratio = guarded(exact, digits.ratio, policy.guidance.threshold)
        marks = ("*" if row["four_fifths_flag"] else "") + ("!" if "small_cell" in estimate["flags"] else "")
        cells.append(
            [
                row["label"],
                str(row["n"]),
                str(row["selected"]),
                percent(Fraction(row["selected"], row["n"]), digits.rate_percent) if row["n"] else UNDEFINED,
                ratio + marks,
                "" if "undefined" in limits else interval(limits["low"], limits["high"], digits.ratio),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    lines = [title]
    for first, *others in cells:
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        lines.append("  " + "  ".join(padded).rstrip())
    if table["unknown"]:
        lines.append(f"  {table['unknown']} more of unknown category are not in the table")
    if table.get("undersized_rounds"):
        lines.append(
            f"  in {table['undersized_rounds']} rounds everybody was selected: no more candidates than places"
        )
    if table["tied_rounds"]:
        lines.append(f"  the last place was drawn by lot in {table['tied_rounds']} rounds")
    return lines
