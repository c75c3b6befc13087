"""Who was answered: failures that fall on one group more than on another would bias every number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit_lib.records import ANSWERED, CHECK, STATUSES, VARIATION
from audit_lib.score.reading.logprobs import BELOW
from audit_lib.validate.expectations import Expectation, between

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import Checks, Groups


def completeness_by_group(
    scores: pd.DataFrame, variants: pd.DataFrame, groups: Groups
) -> list[dict[str, Any]]:
    """Count the scores of each group by status.

    Returns
    -------
    list of dict
        ``group``, ``n``, a count for each status, and ``answered_share`` (None where n is 0): the
        spec's groups in its order, then any with an unknown attribute, whose level is None. If an answer was
        not read because labels were hidden (`audit_lib.score.reading.logprobs`), how many: ``label_below_top``.
    """
    axes = list(groups.axes)
    people = variants.drop_duplicates("variant_id").set_index("variant_id")[axes]
    rows = scores[["variant_id", "status", "detail"]].join(people, on="variant_id")
    none: dict[str, int] = dict.fromkeys(STATUSES, 0)
    counts: dict[tuple[str | None, ...], dict[str, int]] = {}
    for group in groups.cells():
        counts[tuple(group[axis] for axis in axes)] = dict(none)
    tally = rows.groupby([*axes, "status"], dropna=False, sort=True).size()
    for key, count in tally.items():
        *levels, status = key if isinstance(key, tuple) else (key,)
        cell = tuple(level if isinstance(level, str) else None for level in levels)
        statuses = counts.setdefault(cell, dict(none))
        statuses[str(status)] = statuses.get(str(status), 0) + int(count)
    result = []
    for cell, statuses in counts.items():
        n = sum(statuses.values())
        answered = sum(statuses[status] for status in ANSWERED)
        entry: dict[str, Any] = {"group": dict(zip(axes, cell, strict=True)), "n": n}
        for status in STATUSES:
            entry[status] = statuses[status]
        entry["answered_share"] = answered / n if n else None
        result.append(entry)
    hidden = rows[rows["detail"].str.startswith(BELOW, na=False)]
    if len(hidden):
        for entry in result:
            here = [
                hidden[axis].isna() if level is None else hidden[axis] == level
                for axis, level in entry["group"].items()
            ]
            entry[BELOW] = int(sum(map(all, zip(*here, strict=True))))
    return result


def completeness_by_variation(
    scores: pd.DataFrame, variants: pd.DataFrame, groups: Groups
) -> list[dict[str, Any]]:
    """Count the scores of controls, other prompts and checks as `completeness_by_group` does, each by itself.

    Returns
    -------
    list of dict
        ``variation``, ``groups``, and ``answered_gap`` between the groups' shares (None without any row).
    """
    found = []
    for name, own in variants.groupby(VARIATION, observed=True, sort=True):
        cells = completeness_by_group(scores[scores["variant_id"].isin(own["variant_id"])], own, groups)
        found.append({"variation": str(name), "groups": cells, "answered_gap": _gap(cells)})
    return found


def variation_suite(varied: list[dict[str, Any]], checks: Checks) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return the gaps of the variations, and what must hold.

    Checks are left out: a model that declines to say who somebody is, is a finding, and printed as one.
    """
    import pandas as pd

    gaps = {v["variation"]: v["answered_gap"] for v in varied if not v["variation"].startswith(CHECK)}
    gaps = {name: gap for name, gap in gaps.items() if gap is not None}
    summary = pd.DataFrame({"answered_gap": [max(gaps.values(), default=float("nan"))]})
    return summary, [between("answered_gap", None, checks.maximum_answered_gap, severity="warning")]


def _gap(groups: list[dict[str, Any]]) -> float | None:
    known = [group for group in groups if None not in group["group"].values()]
    shares = [group["answered_share"] for group in known if group["n"]]
    return max(shares) - min(shares) if shares else None


def label_mass(scores: pd.DataFrame) -> dict[str, float] | None:
    """Return mean and minimum of the probability that fell on the labels, or None without any."""
    masses = scores["label_mass"].dropna().tolist()
    if not masses:
        return None
    return {"mean": math.fsum(masses) / len(masses), "minimum": min(masses)}


def completeness_suite(
    groups: list[dict[str, Any]], mass: dict[str, float] | None, checks: Checks
) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return a table of one row that sums the groups up, and what must hold in it."""
    import pandas as pd

    n = sum(group["n"] for group in groups)
    answered = sum(group[status] for group in groups for status in ANSWERED)
    known = [group for group in groups if None not in group["group"].values()]
    gap = _gap(groups)
    summary = pd.DataFrame(
        {
            "answered_share": [answered / n if n else 0.0],
            "answered_gap": [float("nan") if gap is None else gap],
            "groups_without_rows": [sum(group["n"] == 0 for group in known)],
            "mean_label_mass": [mass["mean"] if mass is not None else float("nan")],
        }
    )
    return summary, [
        between("answered_share", checks.minimum_answered_share, None),
        between("answered_gap", None, checks.maximum_answered_gap),
        between("groups_without_rows", 0, 0, severity="warning"),
        between("mean_label_mass", checks.minimum_label_mass, None, severity="warning"),
    ]
