"""Counts, rates, medians and impact ratios of ``metrics.json``, from the rows of ``scores.csv``."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, Callable, Dict, List, Sequence, Tuple

from verifier.files import Files
from verifier.scores import PATH, STATUSES, Cell, Key, Median, Scores, median_of, path_of_scores, read_scores
from verifier.strict_json import OddError

METRICS = "metrics/metrics.json"
_RATIO = re.compile(r"[0-9]{1,20}(?:[./][0-9]{1,20})?")
_SWITCHES = {
    "median": "all",
    "unknown": "available_case",
    "comparator": "highest_included",
    "exclusion_base": "known",
}
Part = List[Tuple[Dict[str, str], Key, Cell]]


class Design:
    """What of the plan says how rows are counted."""

    def __init__(self, files: Files) -> None:
        spec, plan = files.json("plan/spec.json"), files.json("plan/plan.json")
        groups = spec["groups"]
        self.levels = {axis: list(levels) for axis, levels in groups["attributes"].items()}
        self.categories = groups.get("categories") or {}
        self.decision = spec["decision"]
        self.task = spec["task"]
        ratio = str(plan["thresholds"]["guidance_ratio"])
        if not _RATIO.fullmatch(ratio):  # "1e99999999" would be computed in full
            raise OddError("the plan's guidance_ratio is no ratio")
        self.guideline = Fraction(ratio)
        self.switches = dict(_SWITCHES)
        if "report/report.json" in files:
            for one in files.json("report/report.json")["switches"]:
                self.switches[one["name"]] = one["value"]

    def category(self, axis: str, level: str) -> str | None:
        """Return the policy's category of a level; None where it is not known."""
        if level not in self.levels.get(axis, ()):
            return None
        found: str = self.categories.get(axis, {}).get(level, level)
        return found


def recount(files: Files) -> None:
    """Count everything again that follows from the rows, and find what is otherwise."""
    verdict = files.verdict
    if METRICS not in files:
        return
    if METRICS in files.withheld:
        verdict.notes.append("nothing was counted again: this copy is handed on without the metrics")
        return
    if not path_of_scores(files):
        verdict.notes.append(
            f"{PATH}: is not there, as in runs of earlier versions: nothing was counted again"
        )
        return
    try:
        design, metrics = Design(files), files.json(METRICS)
        tables = metrics["tables"]
        names = dict.fromkeys([*design.levels, *(n for t in tables for n in _stratum(t)), *_strata(metrics)])
        scores = read_scores(files, list(names), by_round=design.decision["rule"] == "top_k")
    except OddError as error:
        verdict.find("recount", PATH, str(error))
        return
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        verdict.find("recount", METRICS, f"cannot be held against the rows ({type(error).__name__})")
        return
    try:
        _check_decisions(files, design, scores)
        _check_rows(files, design, scores, metrics)
        for place, table in enumerate(tables):
            _check_table(files, design, scores, table, f"tables[{place}]", tables)
        _check_groups(files, design, scores, metrics)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        verdict.find("recount", METRICS, f"cannot be held against the rows ({type(error).__name__})")
        return
    verdict.recounted += ["decisions", "counts", "rates", "medians", "impact ratios", "mean scores"]


def _stratum(table: dict[str, Any]) -> dict[str, str]:
    """Return by what a table's rows are chosen; a classification says what is counted, not of whom."""
    return {
        name: level
        for name, level in table["stratum"].items()
        if not (name == "classification" and table.get("classification") is not None)
    }


def _strata(metrics: dict[str, Any]) -> list[str]:
    found = [name for one in (*metrics["missingness"], *metrics["scores"]) for name in one["stratum"]]
    return found + ["classification"] * any(
        one.get("classification") is not None for one in metrics["tables"]
    )


def _check_decisions(files: Files, design: Design, scores: Scores) -> None:
    """Who is selected follows from the scores by the rule of the plan."""
    rule = design.decision["rule"]
    wrong = 0
    if rule == "threshold":
        threshold = design.decision["threshold"]
        wrong = _decided_otherwise(scores, lambda score: score >= threshold)
    elif rule == "above_median":
        median = median_of(score for cell in scores.cells.values() for score in cell.scores)
        wrong = 0 if median is None else _decided_otherwise(scores, median.is_above)
    elif rule == "top_k":
        places = design.decision.get("k") or 1
        firsts = design.task == "listwise"
        wrong = sum(_is_wrong(people, places, firsts) for people in scores.rounds.values())
    elif rule == "none":
        wrong = sum(cell.people for key, cell in scores.cells.items() if key.selected)
    if wrong:
        what = "rounds" if rule == "top_k" else "rows"
        files.verdict.find(
            "recount", PATH, f"{wrong} {what} hold other decisions than {rule} makes of their scores"
        )


def _decided_otherwise(scores: Scores, is_selected: Callable[[float], bool]) -> int:
    """Count the rows whose decision is not what the rule makes of their score; without a score there is none."""
    wrong = 0
    for key, cell in scores.cells.items():
        right = sum(str(int(is_selected(score))) == key.selected for score in cell.scores)
        wrong += len(cell.scores) - right + (cell.people - len(cell.scores) if key.selected else 0)
    return wrong


def _is_wrong(people: Sequence[tuple[float | None, str]], places: int, firsts: bool) -> bool:
    """Whether a round's places went to others than its highest scores, or to more or fewer people."""
    scored = [(score, said) for score, said in people if score is not None]
    others = [said for score, said in people if score is None]
    if firsts and any(others):
        return False  # a ranking that cannot be read in full may still say who is first
    chosen = [score for score, said in scored if said == "1"]
    left = [score for score, said in scored if said == "0"]
    if any(others) or len(chosen) + len(left) != len(scored) or len(chosen) != min(places, len(scored)):
        return True
    return bool(chosen and left) and min(chosen) < max(left)


def _check_rows(files: Files, design: Design, scores: Scores, metrics: dict[str, Any]) -> None:
    said, people = (
        metrics["rows"],
        [(dict(zip(scores.names, key.levels)), key, cell) for key, cell in scores.cells.items()],
    )
    _compare(files, "rows.total", said["total"], sum(cell.people for _, _, cell in people))
    for status in STATUSES:
        there = sum(cell.people for _, key, cell in people if key.status == status)
        _compare(files, f"rows.by_status.{status}", said["by_status"][status], there)
    unknown = sum(
        cell.people
        for levels, _, cell in people
        if any(levels[axis] not in known for axis, known in design.levels.items())
    )
    _compare(files, "rows.unknown_group", said["unknown_group"], unknown)


def _check_groups(files: Files, design: Design, scores: Scores, metrics: dict[str, Any]) -> None:
    """Statuses and mean scores of each group."""
    for place, one in enumerate(metrics["missingness"]):
        if one["group"] is None:
            continue
        part = scores.part({**one["stratum"], **one["group"]})
        _compare(files, f"missingness[{place}].n", one["n"], sum(cell.people for _, _, cell in part))
        for status in STATUSES:
            there = sum(cell.people for _, key, cell in part if key.status == status)
            _compare(files, f"missingness[{place}].{status}", one[status], there)
    for place, one in enumerate(metrics["scores"]):
        values = [s for _, _, cell in scores.part({**one["stratum"], **one["group"]}) for s in cell.scores]
        _compare(files, f"scores[{place}].n", one["n"], len(values))
        if values and len(values) == one["n"] and all(map(math.isfinite, values)):
            mean = math.fsum(values) / len(values)
            if abs(one["mean"] - mean) > 1e-9 * max(1.0, abs(mean)):
                files.verdict.find(
                    "recount", METRICS, f"scores[{place}].mean: {one['mean']!r}, the rows give {mean!r}"
                )


def _check_table(
    files: Files,
    design: Design,
    scores: Scores,
    table: dict[str, Any],
    where: str,
    tables: Sequence[dict[str, Any]],
) -> None:
    part = scores.part(_stratum(table))
    family = list(table["rows"][0]["category"])
    median = _median(design, part, table, where, files)
    counts: dict[tuple[str, ...], list[int]] = {}
    unknown = 0
    needed = family
    if design.switches["unknown"] == "list_wise":
        needed = list(
            dict.fromkeys(axis for other in tables for row in other["rows"] for axis in row["category"])
        )
    for levels, key, cell in part:
        states = _states(table, levels, key, cell, median)
        own = {axis: design.category(axis, levels[axis]) for axis in {*needed, *family}}
        if any(own[axis] is None for axis in needed):
            unknown += states[0] + states[1]
            continue
        found = counts.setdefault(tuple(str(own[axis]) for axis in family), [0, 0, 0])
        for state, people in enumerate(states):
            found[state] += people
    _check_counts(files, design, table, where, counts, unknown)
    if (
        table.get("tied_rounds") is not None
        and table["kind"] == "selection"
        and table.get("classification") is None
    ):
        lots = len(set().union(*(cell.lots for _, _, cell in part)))
        _compare(files, f"{where}.tied_rounds", table["tied_rounds"], lots)


def _median(design: Design, part: Part, table: dict[str, Any], where: str, files: Files) -> Median | None:
    if table["kind"] != "scoring":
        return None
    sample = [
        score
        for levels, _, cell in part
        if design.switches["median"] != "known"
        or all(levels[axis] in known for axis, known in design.levels.items())
        for score in cell.scores
    ]
    median = median_of(sample)
    _compare(files, f"{where}.median", table["median"], None if median is None else median.value)
    if median is not None:
        tied = sum(median.is_tied(score) for _, _, cell in part for score in cell.scores)
        _compare(files, f"{where}.median_ties", table["median_ties"], tied)
    return median


def _states(
    table: dict[str, Any], levels: dict[str, str], key: Key, cell: Cell, median: Median | None
) -> tuple[int, int, int]:
    """Return how many people of a cell are not selected, selected, and not assessed."""
    if table["kind"] == "scoring":
        above = 0 if median is None else sum(map(median.is_above, cell.scores))
        scored = 0 if median is None else len(cell.scores)
        return scored - above, above, cell.people - scored
    chosen = key.selected
    if table.get("classification") is not None:
        own = levels["classification"]
        chosen = "" if not own else str(int(own == table["classification"]))
    return tuple(cell.people if chosen == state else 0 for state in ("0", "1", ""))  # type: ignore[return-value]


def _check_counts(
    files: Files,
    design: Design,
    table: dict[str, Any],
    where: str,
    counts: dict[tuple[str, ...], list[int]],
    unknown: int,
) -> None:
    rows = table["rows"]
    places = [tuple(row["category"].values()) for row in rows]
    total = sum(sum(states[:2]) for states in counts.values())
    _compare(files, f"{where}.total", table["total"], total)
    _compare(files, f"{where}.unknown", table["unknown"], unknown)
    if len(set(places)) != len(places) or any(sum(counts[one]) and one not in places for one in counts):
        files.verdict.find("recount", METRICS, f"{where}: a category of the rows has no line, or two")
    for row, place in zip(rows, places):
        left, chosen, missing = counts.get(place, (0, 0, 0))
        name = f"{where}.{row['label']}"
        for key, there in (("n", left + chosen), ("selected", chosen)):
            _compare(files, f"{name}.{key}", row[key], there)
        _compare(files, f"{name}.missing.n", row["missing"]["n"], missing)
        _compare(files, f"{name}.unknown.n", row["unknown"]["n"], unknown)
        base = total + unknown if design.switches["exclusion_base"] == "all" else total
        _compare(files, f"{name}.share_of_data", row["share_of_data"], row["n"] / base if base else 0.0)
    _check_ratios(files, design, rows, where)
    if table.get("larger") is not None:
        by_label = {row["label"]: row for row in rows}
        for row in table["larger"]["rows"]:
            for key in ("n", "selected", "share_of_data"):
                _compare(files, f"{where}.larger.{row['label']}.{key}", row[key], by_label[row["label"]][key])
        _check_ratios(files, design, table["larger"]["rows"], f"{where}.larger")


def _check_ratios(files: Files, design: Design, rows: Sequence[dict[str, Any]], where: str) -> None:
    rates = [Fraction(row["selected"], row["n"]) if row["n"] else None for row in rows]
    compared = [
        rate
        for row, rate in zip(rows, rates)
        if rate is not None and (row["excluded"] is None or design.switches["comparator"] == "highest_of_all")
    ]
    best = max(compared) if compared else None
    for row, rate in zip(rows, rates):
        name = f"{where}.{row['label']}"
        ratio = None if rate is None or not best or row["excluded"] is not None else rate / best
        _compare(files, f"{name}.rate", _value(row["rate"]), None if rate is None else float(rate))
        _compare(
            files,
            f"{name}.impact_ratio",
            _value(row["impact_ratio"]),
            None if ratio is None else float(ratio),
        )
        below = None if ratio is None else ratio < design.guideline
        _compare(files, f"{name}.four_fifths_flag", row["four_fifths_flag"], below)


def _value(estimate: dict[str, Any]) -> float | None:
    value = estimate["value"]
    return None if isinstance(value, dict) else value


def _compare(files: Files, what: str, said: Any, there: Any) -> None:
    if said != there or isinstance(said, bool) != isinstance(there, bool):
        files.verdict.find("recount", METRICS, f"{what}: {said!r}, the rows give {there!r}")
