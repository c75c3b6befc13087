"""Documents and tables without the numbers of hidden cells, nor what gives them away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from audit_lib.measure.statutory.categories import category_of
from audit_lib.policies import Policy
from audit_lib.report.rate_table import RateTable, TableRow
from audit_lib.report.suppress.cells import HIDDEN, Cell, Items, cell_of, items
from audit_lib.report.suppress.choose import hidden_cells
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec

GIVES_AWAY: Final = "hidden: it would tell the rate of a hidden row"
_GONE: Final = {"undefined": HIDDEN}
_NOTHING: Final[Mapping[str, Any]] = {
    "value": _GONE, "interval": _GONE, "n": None, "intervals": [], "tests": [], "flags": []
}  # fmt: skip
# What this module does not know the shape of may name any cell: it is not given back.
_KNOWN: Final = ("schema", "experiment", "rows", "strata_identical")
_OF_ALL_ROWS: Final = ("median", "median_ties", "tied_rounds", "undersized_rounds")
"""Of a table without any visible row, its people are all that is printed."""


def masked(table: RateTable, hidden: frozenset[Cell]) -> RateTable:
    """Return the table without the numbers of hidden rows, nor what gives them away.

    Where the comparator is hidden, no ratio is printed: a rate divided by its ratio is the comparator's rate.
    """
    where = items(table.stratum)
    gone = {row.label for row in table.rows if (where, items(row.levels)) in hidden}
    if not gone:
        rows = tuple(replace(row, estimate=_alone(row.estimate)) for row in table.rows)
        return replace(table, rows=rows) if hidden else table
    compared = _shown_comparator(table.comparator, gone)

    def mask(row: TableRow) -> TableRow:
        if row.label in gone:
            nothing = Undefined(HIDDEN)
            return replace(
                row, n=0, selected=0, share=nothing, rate=nothing, ratio=nothing, below=None, small=True,
                excluded=None, rate_estimate=_NOTHING, estimate=_NOTHING, beyond={}, hidden=True,
            )  # fmt: skip
        if compared:
            return replace(row, estimate=_without_others(row.estimate))
        # Why an empty or an excluded row has no ratio does not depend on the comparator.
        own = row.empty or row.excluded is not None
        ratio = row.ratio if own else Undefined(GIVES_AWAY)
        return replace(row, ratio=ratio, below=None, estimate=_NOTHING, beyond={}, ratio_hidden=not own)

    if len(gone) == len(table.rows):
        table = replace(table, median=None, median_ties=None, tied_rounds=None, undersized_rounds=None)
    comparator = table.comparator if compared else Undefined(GIVES_AWAY)
    return replace(table, comparator=comparator, rows=tuple(mask(row) for row in table.rows), larger=None)


def _without_others(estimate: Mapping[str, Any]) -> dict[str, Any]:
    """An impact ratio without what was computed from all rows: the wider interval, and p-values made larger."""
    return _alone(estimate) | {"intervals": [i for i in estimate["intervals"] if i["kind"] != "simultaneous"]}


def _shown_comparator(comparator: object, gone: Iterable[str]) -> bool:
    """Whether it may be said who the comparator is. That there is none says that nobody hidden was selected."""
    return isinstance(comparator, str) and comparator not in gone


def printable(
    metrics: Mapping[str, Any], spec: AuditSpec, policy: Policy
) -> tuple[Mapping[str, Any], frozenset[Cell]]:
    """Return what of ``metrics.json`` may be printed under the policy, and the cells that may not."""
    if policy.cells.display != "suppress":
        return metrics, frozenset()
    hidden = hidden_cells(metrics, spec, policy)
    return redacted(metrics, hidden, spec, policy), hidden


def redacted(
    metrics: Mapping[str, Any], hidden: frozenset[Cell], spec: AuditSpec, policy: Policy
) -> dict[str, Any]:
    """Return ``metrics.json`` without the numbers of hidden cells, nor what gives them away.

    Entries about hidden cells are left out whole: that one is there says that its group has people.
    """
    names = category_of(spec.groups, policy)
    hiding = {stratum for stratum, _ in hidden}
    by_levels = {levels for _, levels in hidden}
    kinds = {kind.name for kind in policy.tables}

    def sides(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [entry[side] for side in ("group", "reference") if entry.get(side)]

    def shown(entry: Mapping[str, Any]) -> bool:
        where = items(entry["stratum"])
        if where in hiding and _of_everybody(entry):
            return False
        return not any(cell_of(entry["stratum"], side, names) in hidden for side in sides(entry))

    def agreed(entry: Mapping[str, Any]) -> bool:
        found = sides(entry)
        return bool(found) and not any(cell_of({}, side, names)[1] in by_levels for side in found)

    document = {key: metrics[key] for key in _KNOWN if key in metrics}
    document["suppressed"] = {"cells": len(hidden), "reason": HIDDEN}
    tables = [table for table in metrics["tables"] if table["kind"] in kinds]
    document["tables"] = [_redacted_table(table, hidden) for table in tables] if hidden else tables
    for part in ("missingness", "label_mass", "scores"):
        document[part] = [
            e for e in metrics[part]
            if not e["group"] or cell_of(e["stratum"], e["group"], names) not in hidden
        ]  # fmt: skip
    if not hidden:
        return document | {key: metrics[key] for key in ("estimates", "heterogeneity", "multiplicity")}
    document["estimates"] = [_alone(e) for e in metrics["estimates"] if shown(e)]
    document["heterogeneity"] = [_alone(e) for e in metrics["heterogeneity"] if agreed(e)]
    # How many tests there were, and which p-values are smaller, counts hidden ones too.
    document["multiplicity"] = dict(_GONE)
    return document


def _of_everybody(estimate: Mapping[str, Any]) -> bool:
    """Whether all groups are in it; those among the best k of each round make up k."""
    return not estimate["group"] or "k" in estimate["parameters"]


def _alone(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "multiplicity"}


def _redacted_table(table: Mapping[str, Any], hidden: frozenset[Cell]) -> dict[str, Any]:
    where: Items = items(table["stratum"])
    gone = {row["label"] for row in table["rows"] if (where, items(row["category"])) in hidden}
    compared = not gone or _shown_comparator(table["comparator"], gone)
    rows = []
    for row in table["rows"]:
        if row["label"] in gone:
            rows.append(
                {k: row[k] if k in ("category", "label") else None for k in row}
                | {"rate": dict(_NOTHING), "impact_ratio": dict(_NOTHING), "suppressed": True}
            )
        elif compared:
            estimate = _without_others(row["impact_ratio"]) if gone else _alone(row["impact_ratio"])
            rows.append({**row, "impact_ratio": estimate})
        else:
            own = row["n"] == 0 or row["excluded"] is not None
            value = row["impact_ratio"]["value"] if own else {"undefined": GIVES_AWAY}
            kept = {k: v for k, v in row.items() if k not in ("missing", "unknown", "adverse_impact")}
            nothing = {**_NOTHING, "value": value, "interval": value}
            rows.append(kept | {"impact_ratio": nothing, "four_fifths_flag": None})
    shown = {**table, "rows": rows}
    if gone:
        shown["comparator"] = table["comparator"] if compared else {"undefined": GIVES_AWAY}
        shown.pop("larger", None)
    if len(gone) == len(rows):
        shown |= dict.fromkeys(_OF_ALL_ROWS)
    return shown


def redacted_sample(sample: Mapping[str, Any], spec: AuditSpec) -> dict[str, Any]:
    """Return ``sample.json`` with its strata added up over the attributes of people."""
    added: dict[Items, dict[str, Any]] = {}
    for stratum in sample["strata"]:
        kept = {k: v for k, v in stratum.items() if k not in (*spec.groups.axes, "available", "drawn")}
        entry = added.setdefault(items(kept), {**kept, "available": 0, "drawn": 0})
        for count in ("available", "drawn"):
            entry[count] += stratum[count]
    return {**sample, "strata": list(added.values())}


def redacted_validation(validation: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``validation.json`` without what named suites observed, and of the groups least and most answered."""
    suites = [
        {
            **suite,
            "expectations": [
                {**e, "observed": {"observed_value": "hidden"}}
                if e["column"] == "answered_gap" or "suite" in suite
                else e
                for e in suite["expectations"]
            ],
        }
        for suite in validation["suites"]
    ]
    kept = {
        key: value for key, value in validation.items() if key not in ("completeness", "beside", "label_mass")
    }
    return {**kept, "suites": suites}
