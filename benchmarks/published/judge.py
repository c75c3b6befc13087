"""Does what was found name what is at fault? Written per kind of fault, on the texts of the findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

CAUGHT = ("error", "warning")
Test = Callable[[dict, dict], bool]
FACT = re.compile(r"F\d\d")
RACES = {
    "H": "hispanic",
    "W": "white",
    "B": "black",
    "P": "hawaiian",
    "A": "asian",
    "N": "alaska",
    "T": "two",
}
SEXES = {"M": ("male", "men"), "F": ("female", "women")}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def text_of(finding: dict) -> str:
    keys = ("id", "message", "table", "row", "column", "printed", "recomputed")
    return spaced(" ".join(str(finding[key]) for key in keys))


def spaced(text: str) -> str:
    """Whether a space may break makes no difference."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def says(pattern: str, *columns: str) -> Test:
    """The finding's name or sentence has the pattern, or it is on one of these fields of the checklist."""

    def test(finding: dict, label: dict) -> bool:
        said = f"{finding['id']} {finding['message']}"
        return bool(re.search(pattern, said, re.IGNORECASE)) or finding["column"] in columns

    return test


def number(finding: dict, label: dict) -> bool:
    """On a number, in a row of the table at fault, or one that prints the changed number."""
    if FACT.fullmatch(finding["column"]) or re.search(r"duplicate|missing", finding["id"]):
        return False
    if not label.get("category") or (label["to"] and spaced(label["to"]) in text_of(finding)):
        return True
    here = words(" ".join(finding[key] for key in ("row", "column", "table", "message")))
    return any(words(row) <= here for row in label["rows"])


def category(finding: dict, label: dict) -> bool:
    """On categories, and naming the one that lacks."""
    said = f"{finding['id']} {finding['message']}"
    if not re.search(r"categor|missing|absent|lack|duplicate|twice|row|sum|add|total", said, re.IGNORECASE):
        return False
    here = words(text_of(finding))
    named = words(label.get("race") or label["category"])
    plain = named - {"not", "or", "hispanic", "non", "latino", "latinx"} or named
    key = (label.get("key") or label["keys"][0])[0]
    if key in SEXES and re.search(r"no table by sex", said):  # one of two rows is no table
        return True
    return plain <= here or RACES.get(key, "-") in here or any(sex in here for sex in SEXES.get(key, ()))


def stale(finding: dict, label: dict) -> bool:
    """On the audit's age today; whether the first use lay within a year of an audit is another matter."""
    return finding["id"] != "use_before_audit" and says(r"year|stale|\bold\b|too_old", "F15")(finding, label)


def either(*tests: Test) -> Test:
    return lambda finding, label: any(test(finding, label) for test in tests)


SUMS = says("total|add up|sum")
RIGHT: dict[str, Test] = {
    "count of applicants": either(number, SUMS),
    "count of selected": either(number, SUMS),
    "rate": number,
    "ratio": number,
    "ratios over a row that is not the highest": number,
    "wrong highest category": says("highest|most selected|reference|comparison|best"),
    "rates that are no quotient": number,
    "duplicated category": either(says("duplicate|twice|more than once|repeat"), category),
    "missing table": says(
        "table.*(missing|absent|lack)|missing.*table|no table|(missing|absent|lack).*categor"
    ),
    "no audit date": says(r"date of (the|its)?.*audit|audit[ _]date", "F01"),
    "no distribution date": says("distribution", "F08"),
    "no number of unknown": says("unknown", "F04"),
    "no data source": says("source|explanation of the data", "F02", "F03"),
    "stale audit": stale,
    "no bias claimed": says("claim|no bias|passed|free of bias|certif|verdict"),
    "synthetic data": says("synthetic|random|simulat|generated|invented|scores_not_from_tool"),
    "vendor as auditor": says("auditor|independen|vendor", "F19"),
    "N/A for all counts": says("count|applicants|N/A|number of", "F05"),
    "impossible number": either(number, says("negative|impossible|exceed|more than|over 1|above 1")),
    "totals do not add up": SUMS,
    "swapped headers": either(number, says("swap|header|column|exceed|more")),
    "dropped: one family": category,
    "dropped: totals hold them": category,
    "dropped: everywhere": category,
}


def mark(finding: dict) -> tuple[str, ...]:
    return tuple(str(finding[key]) for key in ("id", "severity", "row", "column", "printed", "message"))


def judge(label: dict, found: list[dict], twin: list[dict]) -> str:
    """How a fault was met: by an error or a warning that names it, by another new finding (elsewhere), or missed."""
    old = Counter(mark(finding) for finding in twin if finding["severity"] in CAUGHT)
    new = []
    for finding in found:
        if finding["severity"] in CAUGHT:
            old[mark(finding)] -= 1
            if old[mark(finding)] < 0:
                new.append(finding)
    right = [finding for finding in new if RIGHT[label["kind"]](finding, label)]
    if not right:
        return "elsewhere" if new else "missed"
    return "error" if any(finding["severity"] == "error" for finding in right) else "warning"
