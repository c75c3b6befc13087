"""The statutory tables, or what else was measured, as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from audit_lib.measure.metric import about
from audit_lib.policies import Policy
from audit_lib.report.content import Content
from audit_lib.report.numbers import UNDEFINED, guarded, interval, percent
from audit_lib.report.rate_table import in_words
from audit_lib.report.sections.estimates import (
    against,
    count_of,
    limits_of,
    mark_of,
    reason_of,
    value_of,
    variation_in_words,
)
from audit_lib.report.sections.summary import leaders
from audit_lib.report.suppress import GIVES_AWAY


def tables_text(metrics: Mapping[str, Any], policy: Policy) -> str:
    """Return the headline's tables of ``metrics.json`` as text; of what a policy hides, pass what may be printed.

    Ratios print one more decimal than rates. ``*`` marks a ratio below the policy's guidance, ``!`` a row
    with fewer people than the spec's small cell.
    """
    tables = metrics["tables"]
    if not tables:
        return _estimates_text(metrics)
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


def leading_text(content: Content) -> str:
    """Return what leads the page: of each kind of table the ratio with the most evidence, or that none can lead."""
    return "\n".join(f"{one.label}: {one.value}\n  {one.detail}" for one in leaders(content))


def _table(table: Mapping[str, Any], policy: Policy) -> list[str]:
    kind, digits = policy.table(table["kind"]), policy.rounding
    where = ", ".join(f"{key} {value}" for key, value in table["stratum"].items())
    title = f"{kind.title}, {policy.family(table['family']).title.lower()}{f' ({where})' if where else ''}"
    best = next((row for row in table["rows"] if row["label"] == table["comparator"]), None)
    cells = [["category", "n", kind.count.lower(), "rate", "impact ratio", "interval, comparator picked"]]
    for row in table["rows"]:
        if row.get("suppressed"):
            cells.append([row["label"], *["hidden"] * 4, ""])
            continue
        estimate = row["impact_ratio"]
        limits = next((i for i in estimate.get("intervals", ()) if i["kind"] == "simultaneous"), None)
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
                ""
                if limits is None or row["label"] == table["comparator"]
                else interval(limits["low"], limits["high"], digits.ratio, policy.guidance.threshold),
            ]
        )
    lines = [title, *_in_columns(cells)]
    if table["unknown"]:
        lines.append(f"  {table['unknown']} more of unknown category are not in the table")
    if table.get("undersized_rounds"):
        lines.append(
            f"  in {table['undersized_rounds']} rounds everybody was selected: no more candidates than places"
        )
    if table["tied_rounds"]:
        lines.append(f"  the last place was drawn by lot in {table['tied_rounds']} rounds")
    return lines


def _in_columns(cells: list[list[str]]) -> list[str]:
    """Set a heading and rows in columns; the first is text, the others are numbers."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in [cells[0], ["-" * width for width in widths], *cells[1:]]:
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        lines.append("  " + "  ".join(padded).rstrip())
    return lines


def _estimates_text(metrics: Mapping[str, Any]) -> str:
    """What an audit without rate tables measured: its estimates in the first of its strata, and its leakage."""
    found = metrics["estimates"]
    first = set(found[0]["stratum"]) if found else set()
    by: dict[str, list[Mapping[str, Any]]] = {}
    for e in found:
        if set(e["stratum"]) == first:
            by.setdefault(
                ", ".join(filter(None, [about(e["metric"]).title, in_words(e["stratum"])])), []
            ).append(e)
    lines: list[str] = []
    for name, own in by.items():
        reasons = dict.fromkeys(filter(None, map(reason_of, own)))
        lines += [name, *_in_columns([_HEAD, *map(_estimate, own)]), *(f"  {words}" for words in reasons), ""]
    if told := metrics.get("leakage"):
        cells = [["material", "AUC", "interval", "n"]]
        for e in told["estimates"]:
            state = "redacted" if e["redacted"] else "as it is"
            name = f"{e['material']}, {state}, {e['attribute']}: {e['level']}"
            cells.append(
                [in_words({"": name}), value_of(e, sign=False), limits_of(e, sign=False), str(e["n"])]
            )
        lines += ["Leakage", *_in_columns(cells), ""]
    return "\n".join(lines).rstrip() or "nothing was measured"


_HEAD: Final = ["group against reference", "value", "interval", "p", "n", "marks"]


def _estimate(e: Mapping[str, Any]) -> list[str]:
    p = next((test["p_value"] for test in e["tests"]), None)
    varied = str(e["parameters"].get("variation", "none"))
    whom = against(e) if e["group"] else str(e["parameters"].get("attribute", "all rows"))
    what = whom + ("" if varied == "none" else f", {variation_in_words(varied)}")
    marks = ", ".join(filter(None, [mark_of(e), "small cell" if "small_cell" in e["flags"] else ""]))
    printed_p = f"{p:.3f}" if isinstance(p, float | int) else ""
    sign = about(e["metric"]).signed
    return [what, value_of(e, sign=sign), limits_of(e, sign=sign), printed_p, count_of(e["n"]), marks]
