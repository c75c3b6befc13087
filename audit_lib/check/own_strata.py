"""Comparisons of strata in a ``report.json`` of ours: their counts are those of the tables, and the rest follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_estimates import LOOSE, JsonObject, close, contradiction, is_number


def of_strata(metrics: JsonObject) -> Iterator[SummaryFinding]:
    """Yield what of the comparisons of strata does not follow from the tables of the strata."""
    counted = {
        (table["kind"], table["family"], _key(table["stratum"]), row["label"]): (row["selected"], row["n"])
        for table in metrics["tables"]
        for row in table["rows"]
    }
    for i, one in enumerate(metrics.get("heterogeneity", ())):
        where = f"heterogeneity[{i}]"
        simpson = one["simpson"]
        if "table" not in one:
            yield from _of_signs(simpson, where)
            continue
        strata = [part["counts"] for part in one["strata"] if isinstance(part.get("counts"), list)]
        if len(strata) != len(one["strata"]):
            continue
        for part in one["strata"]:
            pairs = [
                counted.get((one["table"], one["family"], _key(part["stratum"]), one[who]))
                for who in ("label", "comparator")
            ]
            told = part["counts"][:2], part["counts"][2:]
            for pair, stated in zip(pairs, told, strict=True):
                if pair is not None and None not in pair and list(pair) != list(stated):
                    yield contradiction(where, str(one["label"]), "counts", stated, list(pair))
        yield from _of_simpson(simpson, strata, where)
        yield from _of_breslow_day(one["breslow_day"], strata, where)


def _key(stratum: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(name), str(value)) for name, value in stratum.items()))


def _of_simpson(stated: JsonObject, strata: Sequence[Sequence[int]], where: str) -> Iterator[SummaryFinding]:
    both = [one for one in strata if one[1] and one[3]]
    if "undefined" in stated or not both:
        return
    x1, n1, x2, n2 = (sum(column) for column in zip(*both, strict=True))
    pooled = Fraction(x1, n1) - Fraction(x2, n2)
    gaps = [Fraction(a, n) - Fraction(b, m) for a, n, b, m in both]
    weights = [Fraction(n * m, n + m) for _, n, _, m in both]
    adjusted = sum((g * w for g, w in zip(gaps, weights, strict=True)), Fraction(0)) / sum(weights)
    turned = pooled * adjusted < 0
    against = [gap for gap in gaps if gap * pooled > 0]
    expected: dict[str, Any] = {
        "reversed": turned,
        "complete": turned and not against,
        "pooled_gap": pooled,
        "adjusted_gap": adjusted,
        "lower": sum(gap < 0 for gap in gaps),
        "equal": sum(gap == 0 for gap in gaps),
        "higher": sum(gap > 0 for gap in gaps),
    }
    for name, value in expected.items():
        fine = close(stated[name], value) if isinstance(value, Fraction) else stated[name] == value
        if not fine:
            yield contradiction(where, "", f"simpson.{name}", stated[name], value)


def _of_signs(stated: JsonObject, where: str) -> Iterator[SummaryFinding]:
    """Of estimates, whose errors in the strata are not in the document."""
    if "undefined" in stated:
        return
    turned = stated["pooled"] * stated["adjusted"] < 0
    against = stated["higher"] if stated["pooled"] > 0 else stated["lower"]
    for name, value in (("reversed", turned), ("complete", turned and not against)):
        if stated[name] != value:
            yield contradiction(where, "", f"simpson.{name}", stated[name], value)


def _of_breslow_day(
    test: JsonObject, strata: Sequence[Sequence[int]], where: str
) -> Iterator[SummaryFinding]:
    used = [(a, n, b, m) for a, n, b, m in strata if n and m and 0 < a + b < n + m]
    if not is_number(test.get("statistic")) or len(used) < 2:
        return
    if test["n"] != (people := sum(n + m for _, n, _, m in used)):
        yield contradiction(where, "", "n of Breslow-Day", test["n"], people)
    up = sum(Fraction(a * (m - b), n + m) for a, n, b, m in used)
    down = sum(Fraction(b * (n - a), n + m) for a, n, b, m in used)
    if not up or not down:
        return
    odds = float(up / down)
    squares = deviations = variances = 0.0
    for a, n, b, m in used:
        expected = _expected(odds, n, m, a + b)
        cells = expected, n - expected, a + b - expected, m - a - b + expected
        variance = 1 / sum(1 / cell for cell in cells)
        squares += (a - expected) ** 2 / variance
        deviations += a - expected
        variances += variance
    value = squares - deviations**2 / variances
    if not math.isclose(test["statistic"], value, rel_tol=LOOSE, abs_tol=LOOSE):
        yield contradiction(where, "", "Breslow-Day", test["statistic"], value)


def _expected(odds: float, n: int, m: int, selected: int) -> float:
    """Selected people of the first group who give this odds ratio with these margins, by bisection."""
    low, high = float(max(0, selected - m)), float(min(n, selected))
    for _ in range(200):
        middle = (low + high) / 2
        if middle * (m - selected + middle) < odds * (n - middle) * (selected - middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2
