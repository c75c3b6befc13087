"""Who was answered: failures that fall on one group more than on another would bias every number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.documents.validation import Completeness, MassOfAll, VariationCompleteness
from audit_lib.records import CHECK, VARIATION
from audit_lib.score.reading.logprobs import BELOW
from audit_lib.validate.expectations import Expectation, between
from audit_lib.validate.lookup import looked_up

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import Checks, Groups


def completeness_by_group(
    scores: pd.DataFrame, variants: pd.DataFrame, groups: Groups
) -> tuple[Completeness, ...]:
    """Count the scores of each group by status.

    Returns
    -------
    tuple of Completeness
        The spec's groups in its order, then any with an unknown attribute, whose level is None.
        ``answered_share`` is None where n is 0. If an answer was not read because labels were hidden
        (`audit_lib.score.reading.logprobs`), how many: ``label_below_top``.
    """
    axes = list(groups.axes)
    rows = scores[["status", "detail"]].assign(
        **{axis: looked_up(scores["variant_id"], variants["variant_id"], variants[axis]) for axis in axes}
    )
    none: dict[str, int] = dict.fromkeys(STATUSES, 0)
    counts: dict[tuple[str | None, ...], dict[str, int]] = {}
    for group in () if groups.axes_of_probabilities else groups.cells():
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
        result.append(
            Completeness(
                group=dict(zip(axes, cell, strict=True)),
                n=n,
                **{status: statuses[status] for status in STATUSES},
                answered_share=answered / n if n else None,
            )
        )
    hidden = rows[rows["detail"].str.startswith(BELOW, na=False)]
    return tuple(replace(one, label_below_top=_hidden(one, hidden)) if len(hidden) else one for one in result)


def _hidden(one: Completeness, hidden: pd.DataFrame) -> int:
    """Count the rows of a group among those that were not read."""
    here = [
        hidden[axis].isna() if level is None else hidden[axis] == level for axis, level in one.group.items()
    ]
    return int(sum(map(all, zip(*here, strict=True))))


def completeness_by_variation(
    scores: pd.DataFrame, variants: pd.DataFrame, groups: Groups
) -> tuple[VariationCompleteness, ...]:
    """Count the scores of controls, other prompts and checks as `completeness_by_group` does, each by itself.

    Returns
    -------
    tuple of VariationCompleteness
        ``answered_gap``, between the groups' shares, is None without any row.
    """
    found = []
    for name, own in variants.groupby(VARIATION, observed=True, sort=True):
        cells = completeness_by_group(scores[scores["variant_id"].isin(own["variant_id"])], own, groups)
        found.append(
            VariationCompleteness(variation=str(name), groups=cells, answered_gap=answered_gap(cells))
        )
    return tuple(found)


def variation_suite(
    varied: Sequence[VariationCompleteness], checks: Checks
) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return the gaps of the variations, and what must hold.

    Checks are left out: a model that declines to say who somebody is, is a finding, and printed as one.
    """
    import pandas as pd

    gaps = [
        one.answered_gap
        for one in varied
        if one.answered_gap is not None and not one.variation.startswith(CHECK)
    ]
    summary = pd.DataFrame({"answered_gap": [max(gaps, default=float("nan"))]})
    return summary, [between("answered_gap", None, checks.maximum_answered_gap, severity="warning")]


def of_known_group(groups: Sequence[Completeness]) -> list[Completeness]:
    """Return the groups of which every level is known."""
    return [one for one in groups if None not in one.group.values()]


def answered_gap(groups: Sequence[Completeness]) -> float | None:
    """Return how far the shares of answers of the known groups lie apart; None without any row."""
    shares = [one.answered_share for one in of_known_group(groups) if one.answered_share is not None]
    return max(shares) - min(shares) if shares else None


def label_mass(scores: pd.DataFrame) -> MassOfAll | None:
    """Return mean and minimum of the probability that fell on the labels, or None without any."""
    masses = scores["label_mass"].dropna().tolist()
    if not masses:
        return None
    return MassOfAll(mean=math.fsum(masses) / len(masses), minimum=min(masses))


def completeness_suite(
    groups: Sequence[Completeness], mass: MassOfAll | None, checks: Checks
) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return a table of one row that sums the groups up, and what must hold in it."""
    import pandas as pd

    n = sum(group.n for group in groups)
    answered = sum(group.answered for group in groups)
    gap = answered_gap(groups)
    summary = pd.DataFrame(
        {
            "answered_share": [answered / n if n else 0.0],
            "answered_gap": [float("nan") if gap is None else gap],
            "groups_without_rows": [sum(group.n == 0 for group in of_known_group(groups))],
            "mean_label_mass": [mass.mean if mass is not None else float("nan")],
        }
    )
    return summary, [
        between("answered_share", checks.minimum_answered_share, None),
        between("answered_gap", None, checks.maximum_answered_gap),
        between("groups_without_rows", 0, 0, severity="warning"),
        between("mean_label_mass", checks.minimum_label_mass, None, severity="warning"),
    ]
