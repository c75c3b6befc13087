"""The published ``tables.csv`` and ``report.json`` against ``metrics.json``; a hidden number is an empty one."""

from __future__ import annotations

import csv
from typing import Any

from verifier.files import Files
from verifier.recount import METRICS
from verifier.strict_json import OddError

REPORT, TABLES = "report/report.json", "report/tables.csv"
_ROUNDED = 5.1e-7


def check_report(files: Files) -> None:
    """Find published counts, rates and ratios that are not those that were measured."""
    if METRICS not in files or METRICS in files.withheld:
        return
    for path, check in ((REPORT, _check_json), (TABLES, _check_csv)):
        if path not in files:
            continue
        try:
            check(files, files.json(METRICS))
        except OddError as error:
            files.verdict.find("recount", path, str(error))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            files.verdict.find("recount", path, f"cannot be held against {METRICS} ({type(error).__name__})")


def _check_json(files: Files, metrics: dict[str, Any]) -> None:
    report = files.json(REPORT)
    plan = files.json("plan/plan.json")
    for name in ("audit", "spec_digest"):
        if report[name] != plan[name]:
            raise OddError(f"its {name} is not that of the plan")
    if report["policy"] != plan["policy"]:
        raise OddError("its policy is not that of the plan")
    printed, measured = report["metrics"]["tables"], metrics["tables"]
    if len(printed) != len(measured):
        raise OddError("has more or fewer tables than were measured")
    for place, (one, other) in enumerate(zip(printed, measured)):
        if any(one[name] != other[name] for name in ("kind", "family", "stratum")):
            raise OddError(f"metrics.tables[{place}] is another table than was measured")
        _check_rows(files, one["rows"], other["rows"], f"metrics.tables[{place}]")
    whole = [row for table in measured if not table["stratum"] for row in _all_rows(table)]
    for kind, said in (report["headline"] or {}).items():
        if isinstance(said, dict) and "n" in said and said["n"] is not None:
            counts = {(row["label"], row["selected"], row["n"]) for row in whole}
            if (said["label"], said["selected"], said["n"]) not in counts:
                files.verdict.find("recount", REPORT, f"headline.{kind}: its counts are in no table")


def _all_rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    larger = table.get("larger")
    return [*table["rows"], *(larger["rows"] if larger else ())]


def _check_rows(files: Files, printed: list[Any], measured: list[Any], where: str) -> None:
    if [row["label"] for row in printed] != [row["label"] for row in measured]:
        raise OddError(f"{where} has other categories than were measured")
    for one, other in zip(printed, measured):
        said = {"n": one["n"], "selected": one["selected"]}
        there = {"n": other["n"], "selected": other["selected"]}
        for name in ("rate", "impact_ratio"):
            said[name], there[name] = _number(one[name]), _number(other[name])
        for name, value in said.items():
            if value is not None and value != there[name]:
                what = f"{where}.{one['label']}.{name}: {value!r}, measured {there[name]!r}"
                files.verdict.find("recount", REPORT, what)


def _number(estimate: dict[str, Any]) -> float | None:
    value = estimate["value"]
    return None if isinstance(value, dict) else value


def _check_csv(files: Files, metrics: dict[str, Any]) -> None:
    text = files.read(TABLES).decode("utf-8")
    same = [(entry["stratum"], entry["same_as"]) for entry in metrics["strata_identical"]]
    wanted: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for table in metrics["tables"]:
        strata = [table["stratum"], *(own for own, other in same if other == table["stratum"])]
        for stratum in strata:
            for row in table["rows"]:
                wanted[table["kind"], table["family"], _pairs(stratum), row["label"]] = row
    seen = []
    try:
        lines = list(csv.DictReader(text.splitlines(True), strict=True))
    except csv.Error:
        raise OddError("is no table of comma-separated values") from None
    for line in lines:
        if line["kind"] == "auc":
            continue
        key = (line["kind"], line["family"], _plain(line["stratum"]), _plain(line["category"]))
        if key not in wanted:
            raise OddError(f"has a line for {key[3][:60]!a}, which was not measured")
        seen.append(key)
        row = wanted[key]
        where = f"{key[0]}, {key[1]}, {key[3]}"
        for name in ("n", "selected"):
            if line[name] and line[name] != str(row[name]):
                files.verdict.find("recount", TABLES, f"{where}: {name} {line[name]!a}, measured {row[name]}")
        for name in ("rate", "impact_ratio"):
            value = _number(row[name])
            if line[name] and (value is None or not abs(float(line[name]) - value) <= _ROUNDED):
                files.verdict.find("recount", TABLES, f"{where}: {name} {line[name]!a}, measured {value!r}")
    if len(seen) != len(set(seen)) or set(seen) != set(wanted):
        raise OddError("does not have one line for each category that was measured")


def _pairs(levels: dict[str, str]) -> str:
    return ";".join(f"{name}={level}" for name, level in levels.items())


def _plain(text: str) -> str:
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t\r") else text
