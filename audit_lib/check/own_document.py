"""A ``report.json`` of ours: its digests of itself, and what of its numbers follows from its counts.

Rates, ratios, shares, flags, Wilson's intervals, Fisher's p-values, standard deviations, the counts of findings and the
verdicts are held against the document's counts and p-values alone, by code that the measure does not share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

from audit_lib.canonical import pretty_json, sha256
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_estimates import (
    FISHER,
    LOOSE,
    JsonObject,
    close,
    contradiction,
    fisher,
    is_number,
    of_adverse_impact,
    of_errors,
    of_intervals,
    of_koopman,
    of_missingness,
)
from audit_lib.check.own_ranges import out_of_range
from audit_lib.check.own_strata import of_strata
from audit_lib.documents.report import Report
from audit_lib.errors import EvidenceError
from audit_lib.policies import load_policy, policy_names
from audit_lib.typed_json import decode_value

DIGESTS: Final = "digests"
_POOLED: Final = "difference of rates in standard deviations (pooled)"
_FOUND: Final = ("difference", "below_the_line")


def document_findings(document: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    """Yield what of a ``report.json`` is not as it was written, or does not follow from the rest of it."""
    yield from _digests(document)
    yield from _words(document)
    try:
        yield from _numbers(document)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, IndexError) as error:
        message = f"its numbers cannot be read as a report's ({type(error).__name__}: {error})"
        yield SummaryFinding(id="number_contradicted", message=message)
    yield from out_of_range(document)


def _digests(document: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    told = document.get(DIGESTS)
    if not isinstance(told, dict):
        message = (
            "its fields cannot be held against what was written: an older version wrote the document, or somebody took "
            "its digests out. Check its signature (audit verify-page)"
        )
        yield SummaryFinding(id="transcript_missing", message=message)
        return
    for name in dict.fromkeys((*told, *document)):
        if name == DIGESTS:
            continue
        found = sha256(pretty_json(document[name])) if name in document else "nothing"
        if told.get(name) != found:
            yield SummaryFinding(
                id="numeral_changed",
                column=name,
                printed=found,
                recomputed=str(told.get(name, "nothing")),
                message=f"the field {name!r} is not the one that the document has a digest of",
            )


_OF_ANOTHER_VERSION: Final = ("is not a key of this version", "is missing")


def _words(document: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    """What kind of interval, verdict or answer it is has words of its own, and a number its kind."""
    try:
        decode_value(Report, document, "report.json")
    except EvidenceError as error:
        if not any(words in str(error) for words in _OF_ANOTHER_VERSION):
            yield SummaryFinding(id="number_contradicted", message=f"{error}, which no report says")


def _numbers(document: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    metrics = document["metrics"]
    name = document["policy"]["name"]
    threshold = load_policy(name).guidance.threshold if name in policy_names() else Fraction(4, 5)
    for table in metrics["tables"]:
        where = _where(table)
        yield from _table(table, where, threshold)
        if isinstance(larger := table.get("larger"), dict):
            yield from _table({**larger, "total": None}, f"{where}, larger categories", threshold)
    yield from _family(metrics)
    yield from _verdicts(metrics)
    yield from of_strata(metrics)
    yield from of_missingness(metrics)
    yield from of_intervals(metrics)
    yield from of_errors(metrics, "metrics")
    yield from _headline(document, metrics["tables"])
    rows = metrics["rows"]
    by_status = sum(rows["by_status"].values())
    if rows["total"] != by_status:
        yield contradiction("rows", "", "total", rows["total"], by_status)


def _where(table: Mapping[str, Any]) -> str:
    return ", ".join([table["kind"], table["family"], *map(str, table["stratum"].values())])


def _table(table: Mapping[str, Any], where: str, threshold: Fraction) -> Iterator[SummaryFinding]:
    rows = [row for row in table["rows"] if isinstance(row.get("n"), int)]
    best = next((row for row in rows if row["label"] == table["comparator"]), None)
    for row in rows:
        yield from _row(row, best, where, threshold)
    known = sum(row["n"] for row in rows)
    if len(rows) == len(table["rows"]) and isinstance(table.get("total"), int) and table["total"] != known:
        yield contradiction(where, "", "total", table["total"], known)
    bases = {round(row["n"] / row["share_of_data"]) for row in rows if row.get("share_of_data")}
    for row in rows:
        share = row.get("share_of_data")
        if isinstance(share, float | int) and len(bases) > 1 and row["n"]:
            most = max(
                bases,
                key=lambda base: sum(close(one["share_of_data"], Fraction(one["n"], base)) for one in rows),
            )
            if not close(share, Fraction(row["n"], most)):
                yield contradiction(where, row["label"], "share_of_data", share, Fraction(row["n"], most))
    if best is not None and best["n"]:
        top = Fraction(best["selected"], best["n"])
        for row in rows:
            compared = _number(row.get("impact_ratio")) is not None
            if compared and row["n"] and Fraction(row["selected"], row["n"]) > top:
                yield contradiction(where, row["label"], "comparator", table["comparator"], row["label"])


def _number(estimate: object) -> float | None:
    value = estimate.get("value") if isinstance(estimate, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _row(
    row: JsonObject, best: JsonObject | None, where: str, threshold: Fraction
) -> Iterator[SummaryFinding]:
    label, n, selected = str(row["label"]), row["n"], row["selected"]
    if not 0 <= selected <= n:
        yield contradiction(where, label, "selected", selected, f"0 to {n}")
        return
    rate, ratio = row.get("rate"), row.get("impact_ratio")
    if (stated := _number(rate)) is not None and n:
        exact = Fraction(selected, n)
        if not close(stated, exact):
            yield contradiction(where, label, "rate", stated, exact)
        yield from _rate_interval(rate, selected, n, where, label)
    for name in ("n", "n_group"):
        if isinstance(rate, dict) and isinstance(rate.get(name), int) and rate[name] != n:
            yield contradiction(where, label, f"rate.{name}", rate[name], n)
    if best is not None and isinstance(ratio, dict):
        yield from _compared(ratio, row, best, where)
    stated = _number(ratio)
    exact_ratio = None
    if isinstance(ratio, dict) and stated is not None and best is not None and best["selected"] and n:
        exact_ratio = Fraction(selected * best["n"], n * best["selected"])
        if not close(stated, exact_ratio):
            yield contradiction(where, label, "impact_ratio", stated, exact_ratio)
        yield from _ratio(ratio, row, best, exact_ratio, where)
        if selected or best["selected"] < best["n"]:
            yield from of_koopman(ratio, row, best, where)
        yield from of_adverse_impact(row, best, where, threshold)
    flag = row.get("four_fifths_flag")
    if isinstance(flag, bool) and exact_ratio is not None and flag != (exact_ratio < threshold):
        yield contradiction(where, label, "four_fifths_flag", flag, exact_ratio < threshold)
    yield from _bounds(row, best, where)


def _bounds(row: JsonObject, best: JsonObject | None, where: str) -> Iterator[SummaryFinding]:
    """A rate with nobody missing is its own bounds; with somebody, all of them selected or none."""
    for name in ("missing", "unknown"):
        given = row.get(name)
        if not isinstance(given, dict) or not isinstance(given.get("rate_bounds"), list):
            continue
        more, (low, high) = given["n"], given["rate_bounds"]
        if not isinstance(low, float | int) or not isinstance(high, float | int) or not row["n"] + more:
            continue
        exact = Fraction(row["selected"], row["n"] + more), Fraction(row["selected"] + more, row["n"] + more)
        for what, stated, value in (("lower", low, exact[0]), ("upper", high, exact[1])):
            if not close(stated, value):
                yield contradiction(
                    where, str(row["label"]), f"{name}: {what} bound of the rate", stated, value
                )
        limits = given.get("ratio_bounds")
        if best is not None and best["selected"] and isinstance(limits, list):
            for what, stated, value in zip(("lower", "upper"), limits, exact, strict=True):
                over = value * Fraction(best["n"], best["selected"])
                if isinstance(stated, float | int) and not close(stated, over):
                    yield contradiction(
                        where, str(row["label"]), f"{name}: {what} bound of the ratio", stated, over
                    )


def _ends(interval: object) -> tuple[float, float] | None:
    if not isinstance(interval, dict) or "low" not in interval:
        return None
    low, high = interval["low"], interval["high"]
    return (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))


def _rate_interval(rate: Any, selected: int, n: int, where: str, label: str) -> Iterator[SummaryFinding]:
    ends = _ends(rate.get("interval"))
    if ends is None:
        return
    if rate["interval"]["method"] == "Wilson score":
        z = NormalDist().inv_cdf(0.5 + rate["interval"]["level"] / 2)
        middle, share = selected + z * z / 2, selected / n
        half = z * math.sqrt(n * share * (1 - share) + z * z / 4)
        wilson = (middle - half) / (n + z * z), (middle + half) / (n + z * z)
        for what, stated, value in zip(("low", "high"), ends, wilson, strict=True):
            if abs(stated - min(max(value, 0.0), 1.0)) > LOOSE:
                yield contradiction(where, label, f"rate.interval.{what}", stated, value)
    elif not ends[0] - LOOSE <= selected / n <= ends[1] + LOOSE:
        yield contradiction(where, label, "rate.interval", ends, selected / n)


def _compared(ratio: Any, row: JsonObject, best: JsonObject, where: str) -> Iterator[SummaryFinding]:
    """The people of a ratio, and of the tests of it, are those of its row and of the highest one."""
    both = row["n"] if row["label"] == best["label"] else row["n"] + best["n"]
    counts = {"n_group": row["n"], "n_reference": best["n"], "n": both}
    for name, value in counts.items():
        if isinstance(ratio.get(name), int) and ratio[name] != value:
            yield contradiction(where, str(row["label"]), f"impact_ratio.{name}", ratio[name], value)
    for test in ratio.get("tests", ()):
        if test["method"] in (FISHER, _POOLED) and test["n"] != both:
            yield contradiction(where, str(row["label"]), f"n of {test['name']}", test["n"], both)


def _ratio(
    ratio: Any, row: JsonObject, best: JsonObject, exact: Fraction, where: str
) -> Iterator[SummaryFinding]:
    label = str(row["label"])
    for interval in (ratio.get("interval"), *ratio.get("intervals", ())):
        ends = _ends(interval)
        if ends is not None and not ends[0] - LOOSE <= exact <= ends[1] + LOOSE:
            yield contradiction(where, label, "interval of the impact ratio", ends, exact)
    if row["label"] == best["label"]:
        return
    a, b, c, d = row["selected"], row["n"] - row["selected"], best["selected"], best["n"] - best["selected"]
    for test in ratio.get("tests", ()):
        p, statistic = test.get("p_value"), test.get("statistic")
        if test["method"] == FISHER and isinstance(p, float) and (exact_p := fisher(a, b, c, d)) is not None:
            value = float(exact_p)
            if abs(p - value) > LOOSE * max(value, LOOSE):
                yield contradiction(where, label, "p of Fisher's exact test", p, value)
            odds = Fraction(a * d, b * c) if b * c else None
            if odds is not None and isinstance(statistic, float) and not close(statistic, odds):
                yield contradiction(where, label, "odds ratio", statistic, odds)
        elif test["method"] == _POOLED and isinstance(statistic, float):
            pooled = (a + c) / (a + b + c + d)
            deviation = math.sqrt(pooled * (1 - pooled) * (1 / (a + b) + 1 / (c + d)))
            z = (a / (a + b) - c / (c + d)) / deviation if deviation else 0.0
            if not close(statistic, z):
                yield contradiction(where, label, "standard deviations", statistic, z)
            if isinstance(p, float) and abs(p - 2 * NormalDist().cdf(-abs(z))) > LOOSE:
                yield contradiction(
                    where, label, "p of standard deviations", p, 2 * NormalDist().cdf(-abs(z))
                )


def _family(metrics: Mapping[str, Any]) -> Iterator[SummaryFinding]:
    """No adjusted p-value is below its own; the counts of those below alpha; and the verdicts on them."""
    family = metrics.get("multiplicity")
    if not isinstance(family, dict) or not isinstance(family.get("family_size"), int):
        return
    tests = [one for one in _tested(metrics) if one[1] is not None]
    alpha = family["alpha"]
    if len(tests) == family["family_size"]:
        for where, p, adjusted, _ in tests:
            if adjusted is not None and p is not None and adjusted < p - LOOSE:
                yield contradiction(where, "", "p adjusted for all tests", adjusted, f"at least {p}")
        for name, count in (
            ("unadjusted", sum(p is not None and p < alpha for _, p, _, _ in tests)),
            ("holm", sum(adjusted is not None and adjusted < alpha for _, _, adjusted, _ in tests)),
        ):
            if family["findings"][name] != count:
                yield contradiction("multiplicity", "", f"findings.{name}", family["findings"][name], count)
    for table in metrics["tables"]:
        equal, adjusted = table.get("equal_rates"), table.get("multiplicity")
        if isinstance(equal, dict) and isinstance(adjusted, dict) and is_number(equal.get("p_value")):
            holm = adjusted["holm"]
            if adjusted["test"] == "equal_rates" and is_number(holm) and holm < equal["p_value"] - LOOSE:
                yield contradiction(_where(table), "", "p adjusted for all tests", holm, equal["p_value"])
    for where, _, adjusted, verdict in tests:
        if (
            adjusted is not None
            and isinstance(verdict, dict)
            and verdict["kind"] in _FOUND
            and adjusted >= alpha
        ):
            yield contradiction(where, "", "verdict", verdict["kind"], f"adjusted p {adjusted}")


def _verdicts(value: Any, where: str = "metrics") -> Iterator[SummaryFinding]:
    """Yield what is called equivalent and is not shown to be inside a margin."""
    if isinstance(value, list):
        for i, one in enumerate(value):
            yield from _verdicts(one, f"{where}[{i}]")
    elif isinstance(value, dict):
        verdict, held = value.get("verdict"), value.get("held")
        if isinstance(verdict, dict) and verdict.get("kind") == "equivalent":
            ends = _ends(held["interval"]) if isinstance(held, dict) else None
            if ends is None or not isinstance(held, dict):
                yield contradiction(where, "", "verdict", "equivalent", "undecided without an interval")
            else:
                of_ratio = str(value["metric"]).endswith("impact_ratio")
                inside = ends[0] >= held["margin"] if of_ratio else max(map(abs, ends)) <= held["margin"]
                if not inside:
                    yield contradiction(where, "", "verdict", "equivalent", f"undecided: {ends}")
        for name, one in value.items():
            yield from _verdicts(one, f"{where}.{name}")


def _tested(value: Any, where: str = "metrics") -> Iterator[tuple[str, float | None, float | None, Any]]:
    """Every entry with an adjusted p-value: where, its p, the adjusted one, and its verdict."""
    if isinstance(value, list):
        for i, one in enumerate(value):
            yield from _tested(one, f"{where}[{i}]")
    elif isinstance(value, dict):
        adjusted = value.get("multiplicity")
        # That all rates of a table are equal is implied by hypotheses of the family, and is none of its own.
        if isinstance(adjusted, dict) and "holm" in adjusted and adjusted["test"] != "equal_rates":
            p = _p_of(value, adjusted["test"])
            holm = adjusted["holm"]
            yield where, p, float(holm) if isinstance(holm, int | float) else None, value.get("verdict")
        for name, one in value.items():
            if name != "larger":  # compared because of what the data showed, and in no family
                yield from _tested(one, f"{where}.{name}")


def _p_of(entry: Mapping[str, Any], name: str) -> float | None:
    tests: Sequence[Any] = [
        *entry.get("tests", ()),
        *(one for one in entry.values() if isinstance(one, dict)),
    ]
    for test in tests:
        if (
            isinstance(test, dict)
            and test.get("name") == name
            and isinstance(test.get("p_value"), int | float)
        ):
            return float(test["p_value"])
    return None


def _headline(document: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> Iterator[SummaryFinding]:
    for kind, leader in document["headline"].items():
        counts = (leader["label"], leader["n"], leader["selected"])
        rows = [
            (r["label"], r.get("n"), r.get("selected"))
            for t in tables
            if t["kind"] == kind
            for r in t["rows"]
        ]
        pairs = {(n, selected) for _, n, selected in rows}
        if counts not in rows or (leader["comparator_n"], leader["comparator_selected"]) not in pairs:
            yield contradiction(
                "headline", str(leader["label"]), kind, counts, "no row of a table has these counts"
            )
