"""What of the estimates of a ``report.json`` of ours follows from its counts, or from other numbers of the estimate.

Koopman's limits are put into his equation, limits and p-values of t follow from an estimate and its error, a flip-flop
and a shortfall from two rows. Nothing of `audit_lib.stats` is used.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

from audit_lib.check.findings import SummaryFinding

_CLOSE: Final = 1e-12
LOOSE: Final = 1e-6
"""For limits and p-values, which are found by iteration."""
_MOST_FOR_FISHER: Final = 5000
_T: Final = re.compile(r"\bt\((\d+(?:\.\d+)?(?:e[+-]\d+)?)\)")
_NEAR: Final = (1 - 6e-4, 1 + 6e-4)
"""What degrees of freedom may be off, which are printed with four digits."""
_CHI_SQUARE: Final = re.compile(r"\bchi-square\((\d+)\)")
FISHER: Final = "Fisher's exact test"
KOOPMAN: Final = "Koopman score"

JsonObject = Mapping[str, Any]


def contradiction(where: str, row: str, what: str, printed: object, recomputed: object) -> SummaryFinding:
    """Return that a number is not the one that others give."""
    return SummaryFinding(
        id="number_contradicted",
        table=where,
        row=row,
        column=what,
        printed=str(printed),
        recomputed=str(float(recomputed) if isinstance(recomputed, Fraction) else recomputed),
        message=f"{what} does not follow from the document's other numbers",
    )


def close(stated: float, exact: Fraction | float) -> bool:
    """Whether a number is the exact one, up to the last digits that a float has."""
    return math.isclose(stated, exact, rel_tol=_CLOSE, abs_tol=_CLOSE)


def is_number(value: object) -> bool:
    """Whether it is a number: what is undefined or hidden is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- Two rows. ---


def of_koopman(ratio: JsonObject, row: JsonObject, best: JsonObject, where: str) -> Iterator[SummaryFinding]:
    """Yield limits of Koopman's interval that do not solve his equation."""
    interval = ratio.get("interval")
    if not isinstance(interval, Mapping) or interval.get("method") != KOOPMAN:
        return
    x1, n1, x2, n2 = row["selected"], row["n"], best["selected"], best["n"]
    if (x1 == n1 and x2 == n2) or not x2:
        return
    critical = NormalDist().inv_cdf(0.5 + interval["level"] / 2) ** 2
    for end, stated in (("low", interval["low"]), ("high", interval["high"])):
        if not x1 and end == "low":
            if stated:
                yield contradiction(where, str(row["label"]), "interval of the impact ratio, low", stated, 0)
        elif is_number(stated) and stated > 0:
            found = koopman(stated, x1, n1, x2, n2)
            if not math.isclose(found, critical, rel_tol=1e-4):
                what = f"interval of the impact ratio, {end}"
                yield contradiction(where, str(row["label"]), what, stated, f"another limit of {KOOPMAN}")


def koopman(ratio: float, x1: int, n1: int, x2: int, n2: int) -> float:
    """Return Pearson's chi-square of counts whose rates have this ratio (Koopman 1984, equation 2.1)."""
    both = n1 + n2
    b = ratio * (n1 + x2) + x1 + n2
    rate = (b - math.sqrt(max(b * b - 4 * both * ratio * (x1 + x2), 0.0))) / (2 * both * ratio)
    total = 0.0
    for x, n, p in ((x1, n1, ratio * rate), (x2, n2, rate)):
        if _CLOSE < p < 1 - _CLOSE:
            total += (x - n * p) ** 2 / (n * p * (1 - p))
        elif not close(x, n * round(p)):
            return math.inf
    return total


def fisher(a: int, b: int, c: int, d: int) -> Fraction | None:
    """Two-sided: all tables of these margins that are no more likely than this one; None where they are too many."""
    if a + b + c + d > _MOST_FOR_FISHER:
        return None
    first, second, chosen = a + b, c + d, a + c
    ways = {
        k: math.comb(first, k) * math.comb(second, chosen - k)
        for k in range(max(0, chosen - second), min(first, chosen) + 1)
    }
    # As usual, what differs from this table by rounding alone counts as equally likely.
    most = ways[a] * (10**7 + 1)
    return Fraction(sum(w for w in ways.values() if w * 10**7 <= most), math.comb(first + second, chosen))


def of_adverse_impact(
    row: JsonObject, best: JsonObject, where: str, threshold: Fraction
) -> Iterator[SummaryFinding]:
    """Yield what of a shortfall and of one selection more or less does not follow from the two rows."""
    given = row.get("adverse_impact")
    if not isinstance(given, Mapping) or row["label"] == best["label"] or not row["n"]:
        return
    x1, n1, x2, n2 = row["selected"], row["n"], best["selected"], best["n"]
    expected: dict[str, Any] = {}
    if "undefined" not in given["shortfall"]:
        expected["shortfall"] = {
            "pooled": Fraction(n1 * (x1 + x2), n1 + n2) - x1,
            "comparator": Fraction(n1 * x2, n2) - x1,
        }
    if "undefined" not in given["flip_flop"] and x2:
        expected["flip_flop"] = _flip_flop((x1, n1, x2, n2), threshold, given["alpha"])
    for name, values in expected.items():
        for key, value in values.items():
            stated = given[name][key]
            both = isinstance(value, Fraction) and is_number(stated)
            if not (close(stated, value) if both else stated == value):
                yield contradiction(where, str(row["label"]), f"{name}.{key}", stated, value)


def _flip_flop(counts: tuple[int, int, int, int], threshold: Fraction, alpha: float) -> dict[str, Any]:
    """Both findings, and what one selection that moves between the two groups makes of each."""
    ratio, p = _ratio(counts), _p(counts)
    found: dict[str, Any] = {"below_threshold": ratio < threshold, "ratio": ratio}
    moved = _moved(counts, 1 if ratio < threshold else -1)
    if moved is None:
        found |= {"threshold_reverses": False, "ratio_after": None}
    elif not moved[2]:
        found |= {"threshold_reverses": ratio < threshold, "ratio_after": None}
    else:
        after = _ratio(moved)
        found |= {"threshold_reverses": (after < threshold) != (ratio < threshold), "ratio_after": after}
    if p is None:
        return found
    found |= {"significant": _lower(counts, p, alpha), "p_value": p}
    moved = _moved(counts, 1 if found["significant"] else -1)
    if moved is None:
        return found | {"significance_reverses": False, "p_value_after": None}
    after_p = _p(moved)
    assert after_p is not None, "as many people as before"
    reverses = _lower(moved, after_p, alpha) != found["significant"]
    return found | {"significance_reverses": reverses, "p_value_after": after_p}


def _ratio(counts: tuple[int, int, int, int]) -> Fraction:
    x1, n1, x2, n2 = counts
    return Fraction(x1 * n2, n1 * x2)


def _p(counts: tuple[int, int, int, int]) -> Fraction | None:
    x1, n1, x2, n2 = counts
    return fisher(x1, n1 - x1, x2, n2 - x2)


def _lower(counts: tuple[int, int, int, int], p: Fraction, alpha: float) -> bool:
    x1, n1, x2, n2 = counts
    return x1 * n2 < x2 * n1 and float(p) < alpha


def _moved(counts: tuple[int, int, int, int], by: int) -> tuple[int, int, int, int] | None:
    x1, n1, x2, n2 = counts
    x1, x2 = x1 + by, x2 - by
    return (x1, n1, x2, n2) if 0 <= x1 <= n1 and 0 <= x2 <= n2 else None


# --- Estimates with an error. ---


def of_errors(value: Any, where: str) -> Iterator[SummaryFinding]:
    """Yield, of all that has an estimate and a standard error, limits and tests that do not follow from both."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield from of_errors(one, f"{where}[{i}]")
    elif isinstance(value, Mapping):
        if is_number(value.get("value")) and is_number(value.get("standard_error")):
            yield from _of_error(value, where)
        if is_number(value.get("p_value")) and is_number(value.get("statistic")):
            yield from _of_chi_square(value, where)
        for name, one in value.items():
            yield from of_errors(one, f"{where}.{name}")


def _of_error(estimate: JsonObject, where: str) -> Iterator[SummaryFinding]:
    test = next((one for one in estimate.get("tests", ()) if one["name"] == "t_test"), None)
    if test is None or not is_number(test["statistic"]) or (found := _T.search(test["method"])) is None:
        return
    df, error = float(found[1]), estimate["standard_error"]
    if df <= 0 or not error > 0:
        return
    from scipy.special import stdtr

    statistic = test["statistic"]
    location = estimate["value"]
    if estimate.get("scale") == "logit":
        places = [p for p in (location, (1 + location) / 2) if 0 < p < 1]
        locations = [math.log(p / (1 - p)) for p in places]
    else:
        locations = [location]
    if not any(close(statistic * error, one) for one in locations):
        yield contradiction(
            where, "", "value, standard error and t", statistic, [x / error for x in locations]
        )
        return
    p = test["p_value"]
    if is_number(p):
        value = 2 * float(stdtr(df, -abs(statistic)))
        ends = sorted(2 * float(stdtr(df * near, -abs(statistic))) for near in _NEAR)
        if not ends[0] - LOOSE * p <= p <= ends[1] + LOOSE * p:
            yield contradiction(where, "", "p of t", p, value)
    interval = estimate.get("interval")
    if isinstance(interval, Mapping) and interval.get("method") == test["method"]:
        yield from _of_t_limits(interval, statistic * error, error, df, estimate, where)


def _of_t_limits(
    interval: JsonObject, location: float, error: float, df: float, estimate: JsonObject, where: str
) -> Iterator[SummaryFinding]:
    from scipy.special import stdtrit

    t, *ends = (float(stdtrit(df * near, 0.5 + interval["level"] / 2)) for near in (1, *_NEAR))
    half, off = t * error, max(abs(end - t) for end in ends) * error
    for end, limit in (("low", location - half), ("high", location + half)):
        stated = interval[end]
        if not is_number(stated):
            continue
        value, slope = limit, 1.0
        if estimate.get("scale") == "logit":
            share = 1 / (1 + math.exp(-limit))
            signed = math.isclose(math.tanh(location / 2), estimate["value"], rel_tol=LOOSE, abs_tol=_CLOSE)
            value, slope = (2 * share - 1, 2.0) if signed else (share, 1.0)
        if abs(stated - value) > slope * (off + LOOSE * half + _CLOSE):
            yield contradiction(where, "", f"interval.{end}", stated, value)


def _of_chi_square(test: JsonObject, where: str) -> Iterator[SummaryFinding]:
    found = _CHI_SQUARE.search(str(test.get("method", "")))
    if found is None:
        return
    from scipy.special import chdtrc

    value = float(chdtrc(int(found[1]), max(test["statistic"], 0.0)))
    if not math.isclose(test["p_value"], value, rel_tol=LOOSE, abs_tol=1e-12):
        yield contradiction(where, "", "p of chi-square", test["p_value"], value)


# --- All of them. ---


def of_missingness(metrics: JsonObject) -> Iterator[SummaryFinding]:
    """Yield groups whose rows are not those of their statuses, and sums of groups that are not those of all rows."""
    everybody = {"n": 0, "decided_without_score": 0}
    hidden = False
    for i, one in enumerate(metrics.get("missingness", ())):
        statuses = [one.get(name) for name in ("ok", "unranked", "refused", "unparsed", "error")]
        if not all(map(is_number, (one.get("n"), *statuses, one.get("decided_without_score")))):
            hidden = True
            continue
        if one["n"] != sum(statuses):
            yield contradiction(f"missingness[{i}]", "", "n", one["n"], sum(statuses))
        if not one["stratum"]:
            everybody = {name: n + one[name] for name, n in everybody.items()}
    rows = metrics["rows"]
    told = {"n": rows["total"], "decided_without_score": rows.get("decided_without_score")}
    for name, n in everybody.items():
        if not hidden and everybody["n"] and is_number(told[name]) and told[name] != n:
            yield contradiction("missingness", "", name, told[name], n)


def of_intervals(metrics: JsonObject) -> Iterator[SummaryFinding]:
    """Yield levels, kinds and margins that are not those of all other intervals of their method or metric."""
    alike: dict[tuple[str, str], list[tuple[str, object]]] = {}
    for where, interval, held in _intervals(metrics, "metrics", None):
        method = re.sub(r"\d+(?:\.\d+)?", "#", str(interval["method"]))
        alike.setdefault(("kind", method), []).append((where, interval.get("kind")))
        if held is not None and interval["level"] != held:
            yield contradiction(where, "", "level", interval["level"], held)
        elif held is None:
            alike.setdefault(("level", ""), []).append((where, interval["level"]))
        if (
            method.startswith("ratio to the highest rate")
            and is_number(interval["high"])
            and interval["high"] > 1
        ):
            yield contradiction(where, "", "high", interval["high"], "at most 1")
    for where, metric, margin in _margins(metrics, "metrics"):
        alike.setdefault(("margin", metric), []).append((where, margin))
    for (what, _), given in alike.items():
        (usual, many), *others = Counter(value for _, value in given).most_common(2)
        if others and many > 5 * others[0][1]:
            yield from (
                contradiction(where, "", what, value, usual) for where, value in given if value != usual
            )


def _intervals(value: Any, where: str, held: float | None) -> Iterator[tuple[str, JsonObject, float | None]]:
    """Every interval, and the level of what is held against a margin by it."""
    if isinstance(value, Mapping):
        if "margin" in value and is_number(value.get("level")):
            held = value["level"]
        elif is_number(value.get("level")) and "method" in value:
            yield where, value, held
        for name, one in value.items():
            yield from _intervals(one, f"{where}.{name}", held)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield from _intervals(one, f"{where}[{i}]", held)


def _margins(value: Any, where: str) -> Iterator[tuple[str, str, float]]:
    if isinstance(value, Mapping):
        held = value.get("held")
        if isinstance(held, Mapping) and is_number(held.get("margin")):
            yield f"{where}.held", str(value.get("metric")), held["margin"]
        for name, one in value.items():
            yield from _margins(one, f"{where}.{name}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield from _margins(one, f"{where}[{i}]")
